//! The spec against the one that the words of its command line come to.

use spec::RunSpec;

use super::scope::{Findings, Rule};
use record::run::Record;

pub(super) fn check(record: &Record, resolved: Result<RunSpec, String>, found: &mut Findings) {
    let mut at = found.at(Rule::CommandLine, "record.spec");
    match resolved {
        Ok(mut resolved) => {
            // The words do not say themselves.
            resolved.command_line.clone_from(&record.spec.command_line);
            at.same("", &record.spec, &resolved, "by the command line");
        }
        Err(why) => at.broken(".command_line", why),
    }
}
