//! Rules of consistency between the numbers of a record. They do not repeat the checks of
//! [`record::read`]. Each submodule contains the rules about one subject. A rule compares two parts
//! of a record that express the same fact in different ways.

mod classic;
mod columns;
mod command_line;
mod counters;
mod counts;
mod durations;
mod environment;
mod evidence;
mod laws;
mod lengths;
mod loads;
mod over_time;
mod parts;
mod scope;
mod stream;
mod threads;
mod times;

use record::run::Record;
use spec::RunSpec;

pub(super) use self::scope::Findings;
use self::scope::scopes;
pub use self::scope::{BrokenRule, Rule};

/// Checks a record. Sums over its numbers do not overflow, because reading a record checks this.
pub(super) fn check(record: &Record, resolved: Option<Result<RunSpec, String>>) -> Findings {
    let mut found = Findings::default();
    if let Some(resolved) = resolved {
        command_line::check(record, resolved, &mut found);
    }
    stream::check(record, &mut found);
    parts::check(record, &mut found);
    loads::check(record, &mut found);
    environment::check(record, &mut found);
    counts::errors(record, &mut found);
    counts::names(record, &mut found);
    classic::check(record, &mut found);
    for scope in scopes(record) {
        times::check(&scope, &mut found);
        counters::check(&scope, &mut found);
        for (index, phase) in scope.phases.iter().enumerate() {
            let place = scope.place(index);
            parts::phase(&scope, phase, &place, &mut found);
            counts::phase(&scope, phase, &place, &mut found);
            lengths::phase(&scope, index, &place, &mut found);
            durations::phase(&scope, phase, &place, &mut found);
            over_time::phase(&scope, phase, &place, &mut found);
        }
    }
    found
}
