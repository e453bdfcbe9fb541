//! The spec against the one that the words of its command line come to.

use spec::RunSpec;

use super::scope::{Findings, Rule};
use record::run::Record;

pub(super) fn check(record: &Record, resolved: Result<RunSpec, String>, found: &mut Findings) {
    match resolved {
        Ok(mut resolved) => {
            // The words do not say themselves.
            resolved.command_line.clone_from(&record.spec.command_line);
            let place = "record.spec";
            found
                .at(Rule::CommandLine, place)
                .same(&record.spec, &resolved, "by the command line");
        }
        Err(why) => found.broken(Rule::CommandLine, "record.spec.command_line", why),
    }
}
