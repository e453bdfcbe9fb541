//! Whether a run was a plain one: as fast as it went, from an empty directory to an empty one,
//! until its transactions were done. Nothing else was published, and nothing else belongs into a
//! table with what was.

use record::{Outcome, Record, Stop};
use workload::Workload;

/// Why a run's rates are not those of a plain run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotPlain {
    /// It was interrupted, or failed.
    #[error("the run did not complete: its rates cover only a part of the workload")]
    Partial,
    /// Its rates are of steps.
    #[error("the run was a sweep (--sweep): it has rates for each step, not for the run")]
    Sweep,
    /// It waited between transactions.
    #[error("the run had a fixed rate (--rate), so it does not show how fast the system is")]
    Paced,
    /// Its transactions had no number, or did not decide.
    #[error(
        "the transactions ended by time or steady state (--for, --steady), not by their number"
    )]
    EndedOtherwise,
    /// A part of its transactions is not in its rates.
    #[error("the run had a warm-up (--warm-up): its rates cover only a part of its transactions")]
    WarmedUp,
    /// Its files were there before.
    #[error(
        "the run used the pool of an earlier run (--reuse), so it created no files at its start"
    )]
    Reused,
    /// Its files are still there.
    #[error("the run kept its pool for a later run (--keep), so it deleted no files at its end")]
    Kept,
}

/// The first reason why a run is no plain one; nothing where it is.
pub fn why_not_plain(record: &Record) -> Option<NotPlain> {
    let drive = &record.spec.drive;
    let is_ended_otherwise = record.spec.workload.transactions() == Workload::ENDLESS
        || drive.stop != Stop::Transactions;
    [
        (
            record.actual.outcome != Outcome::Complete,
            NotPlain::Partial,
        ),
        (drive.sweep.is_some(), NotPlain::Sweep),
        (drive.rate().is_some(), NotPlain::Paced),
        (is_ended_otherwise, NotPlain::EndedOtherwise),
        (!drive.warm_up.is_zero(), NotPlain::WarmedUp),
        (record.spec.keeping.reuse, NotPlain::Reused),
        (record.spec.keeping.keep, NotPlain::Kept),
    ]
    .into_iter()
    .find_map(|(holds, why)| holds.then_some(why))
}
