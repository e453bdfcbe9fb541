//! **`skipped`** (DOUBTFUL, INVALID). Operations were not performed, because an earlier error had
//! damaged their file, or because the pool did not allow them (an append to a file of maximum size,
//! a read from an empty pool). Rates exclude them, and the remaining operations differ from the
//! requested mix and work on a different pool. *Threshold*: more than 1 % of the measured
//! operations (an achieved rate may be below the requested one by this share); INVALID: more than
//! 10 % (the drift that is allowed for a steady run). *Evidence*: counts of skipped operations by
//! reason, and of completed ones. A sweep is not judged: a level with more than 1 % of failed and
//! skipped operations is not sustained. *What to do*: remove the cause of the errors; if files have
//! their maximum size, use a range of sizes, or a mix with a larger `--size-max`; otherwise use
//! more files, or a mix that creates as often as it deletes.

use super::rule::*;
use super::steadiness::is_sweep;

/// Maximum share of skipped operations. It equals the 1 % by which an achieved rate may be below
/// the requested rate of an open loop.
const MAX: f64 = 0.01;

/// Share of skipped operations above which the run is INVALID. It equals the 10 % by which the rate
/// of a steady run may change.
const INVALID: f64 = 0.10;

/// Operations of the workload were not performed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Skipped {
    /// Skipped operations of the measured transactions, by reason.
    pub skipped: workload::Skipped,
    /// Operations of the measured transactions that completed.
    pub operations: u64,
    /// Share of skipped operations in all operations of the stream, from 0 to 1.
    pub fraction: f64,
}

impl Rule for Skipped {
    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let phase = record.actual.phase(Phase::Transactions)?;
        let fraction = phase.skipped_fraction();
        (fraction > MAX && !is_sweep(record)).then(|| Self {
            skipped: phase.skipped(),
            operations: phase.tried().0,
            fraction,
        })
    }

    /// If the transactions end after a time, their number and the share of skipped operations are
    /// not known before the run.
    fn foresee(planned: &Planned<'_>) -> Option<Foreseen<Self>> {
        let skipped = planned.record.plan.skipped;
        let operations = planned.operations(Phase::Transactions, |_| true);
        let all = operations.saturating_add(skipped.total());
        let reason = Self {
            skipped,
            operations,
            fraction: share(skipped.total(), all),
        };
        let is_found = reason.fraction > MAX && planned.is_exact() && !planned.is_sweep();
        is_found.then(|| Foreseen::new(reason, Occurs::Always))
    }

    fn level(&self) -> Level {
        Level::invalid_if(self.fraction > INVALID)
    }

    fn sentence(&self) -> String {
        let counts = self.skipped.counts();
        let parts: Vec<String> = counts
            .map(|(reason, count)| format!("{reason} {}", grouped(count)))
            .collect();
        let parts = match parts.is_empty() {
            true => String::new(),
            false => format!(" ({})", parts.join(", ")),
        };
        format!(
            "{} of the operations skipped{parts}, limit {}",
            percent(self.fraction),
            percent(MAX)
        )
    }

    fn advice(&self) -> &'static str {
        let half = self.skipped.total() / 2;
        if self.skipped.after_failure > half {
            "remove the reported cause of the errors"
        } else if self.skipped.at_maximum_size > half {
            "use a range of sizes, like --size 4KiB..64KiB, or a mix with a larger --size-max"
        } else {
            "use more files, or a mix that creates as often as it deletes"
        }
    }
}
