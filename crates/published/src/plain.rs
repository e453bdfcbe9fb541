//! Tests whether a run was plain: its rate was not limited, it began and ended with an empty
//! directory, and it performed all of its transactions. All published runs were plain, so only
//! plain runs are comparable with them.

use record::{Outcome, Record, Stop};
use workload::Workload;

/// Returns the first reason why a run was not plain, or `None` for a plain run.
pub fn why_not_plain(record: &Record) -> Option<&'static str> {
    let drive = &record.spec.drive;
    let is_ended_otherwise = record.spec.workload.transactions() == Workload::ENDLESS
        || drive.stop != Stop::Transactions;
    [
        (
            record.actual.outcome != Outcome::Complete,
            "the run did not complete: its rates cover only a part of the workload",
        ),
        (
            drive.sweep.is_some(),
            "the run was a sweep (--sweep): it has rates for each load level, not for the run",
        ),
        (
            drive.rate().is_some(),
            "the run had a fixed rate (--rate), so it does not show how fast the system is",
        ),
        (
            is_ended_otherwise,
            "the transactions ended by time or steady state (--for, --steady), not by their number",
        ),
        (
            !drive.warm_up.is_zero(),
            "the run had a warm-up (--warm-up): its rates cover only a part of its transactions",
        ),
        (
            record.spec.keeping.reuse,
            "the run used the pool of an earlier run (--reuse), so it created no files at its \
             start",
        ),
        (
            record.spec.keeping.keep,
            "the run kept its pool for a later run (--keep), so it deleted no files at its end",
        ),
    ]
    .into_iter()
    .find_map(|(holds, why)| holds.then_some(why))
}
