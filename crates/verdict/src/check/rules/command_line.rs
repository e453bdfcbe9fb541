//! Checks the spec against the one that the command line resolves to.

use spec::RunSpec;

use super::scope::{Findings, Rule};
use record::run::Record;

pub(super) fn check(record: &Record, resolved: Result<RunSpec, String>, found: &mut Findings) {
    let mut at = found.at(Rule::CommandLine, "record.spec");
    match resolved {
        Ok(mut resolved) => {
            // The resolved spec does not contain the command line itself.
            resolved.command_line.clone_from(&record.spec.command_line);
            at.same("", &record.spec, &resolved, "by the command line");
        }
        Err(why) => at.broken(".command_line", why),
    }
}
