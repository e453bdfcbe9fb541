//! **`too-short`** (DOUBTFUL, INVALID). The run was measured for too short a time. Linux's flusher
//! threads wake up every 5 s (`dirty_writeback_centisecs`, Documentation/admin-guide/sysctl/vm.rst)
//! and ext4 commits every 5 s (`commit`, Documentation/admin-guide/ext4.rst): 10 s include two of
//! each. A step of a sweep also takes at least 10 s. *Threshold*: less than 10 s (a hundredth less
//! is allowed). INVALID: less than 1 ms, because phases begin and end within tens of microseconds;
//! fewer than 100 operations, because their 99th percentile (nearest rank) is the maximum; or no
//! measured part (the run consisted only of its warm-up or of think time). *Evidence*: the time and
//! the operations of the measured segment; with `--transactions 0`, of the preparation. *What to
//! do*: use `--for` or more `--transactions`.

use super::rule::*;
use super::seen::Measured;

/// Measured time below which a run is DOUBTFUL, in nanoseconds: 10 s, the minimum length of a load
/// level.
const MIN_NS: u64 = 10_000_000_000;

/// Measured time below which a run is INVALID, in nanoseconds. Workers are woken about ten
/// microseconds after one another, so the start and the end of a phase with several workers take
/// about a tenth of 1 ms.
const INVALID_NS: u64 = 1_000_000;

/// Number of operations below which a run is INVALID: the 99th percentile (nearest rank) of fewer
/// than 100 latencies is their maximum.
const OPERATIONS_MIN: u64 = 100;

/// The measured time was too short, or the operations were too few.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct TooShort {
    /// The measured phase: `transactions`, or `prepare` if no transactions were requested.
    pub phase: Phase,
    /// Measured time, in nanoseconds.
    pub measured_ns: u64,
    /// Operations that completed in that time.
    pub operations: u64,
}

impl Rule for TooShort {
    fn find(_: &Record, seen: &Seen) -> Option<Self> {
        let Measured {
            phase,
            ns,
            operations,
        } = seen.measured?;
        // A hundredth less is accepted, because the measurement of a worker begins between two
        // transactions.
        let is_short = ns < MIN_NS / 100 * 99 || operations < OPERATIONS_MIN;
        is_short.then_some(Self {
            phase,
            measured_ns: ns,
            operations,
        })
    }

    fn level(&self) -> Level {
        Level::invalid_if(self.measured_ns < INVALID_NS || self.operations < OPERATIONS_MIN)
    }

    fn sentence(&self) -> String {
        let (measured, operations) = (seconds(self.measured_ns), self.operations);
        if self.measured_ns == 0 && self.phase == Phase::Transactions {
            return "The transactions ended during the warm-up, so nothing was measured."
                .to_owned();
        }
        if operations == 0 {
            return format!("Nothing was measured: no operation completed in {measured} s.");
        }
        let what = match self.phase {
            Phase::Transactions => "The transactions were measured",
            Phase::Prepare => "The preparation lasted",
            Phase::Delete => "The deletion lasted",
        };
        let why = if self.measured_ns < INVALID_NS {
            format!(
                "a phase of less than {} ms consists mostly of its start and end",
                INVALID_NS / 1_000_000
            )
        } else if operations < OPERATIONS_MIN {
            format!("fewer than {OPERATIONS_MIN} operations are too few for latencies")
        } else {
            format!(
                "a run of less than {} s may miss write-back and journal commits",
                MIN_NS / 1_000_000_000
            )
        };
        let need = match self.phase {
            Phase::Transactions if self.measured_ns < MIN_NS => format!(
                " {} s are about {} times as long.",
                MIN_NS / 1_000_000_000,
                roughly(MIN_NS as f64 / self.measured_ns as f64)
            ),
            _ => String::new(),
        };
        let operations = counted(operations, "operation");
        format!("{what} for {measured} s, {operations}: {why}.{need}")
    }

    fn advice(&self) -> &'static str {
        match self {
            Self { measured_ns: 0, .. } => "Use a shorter --warm-up, or more transactions.",
            Self { operations: 0, .. } => {
                "Measure longer (--for), or use less think time (--think)."
            }
            Self {
                phase: Phase::Transactions,
                ..
            } => "Measure longer: use --for or more --transactions.",
            _ => "Use more files.",
        }
    }
}

/// Rounds a factor up to two significant digits.
fn roughly(factor: f64) -> String {
    let digit = 10_f64.powf(factor.log10().floor() - 1.0);
    let rounded = (factor / digit).ceil() * digit;
    if rounded < 10.0 {
        format!("{rounded:.1}")
    } else {
        grouped(rounded as u64)
    }
}
