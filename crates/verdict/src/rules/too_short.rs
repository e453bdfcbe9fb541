//! **`too-short`** (DOUBTFUL, INVALID). The run was measured for too short a time. Linux's flusher
//! threads wake up every 5 s (`dirty_writeback_centisecs`, Documentation/admin-guide/sysctl/vm.rst)
//! and ext4 commits every 5 s (`commit`, Documentation/admin-guide/ext4.rst): 10 s include two of
//! each. A level of a sweep also takes at least 10 s. *Threshold*: less than 10 s (a hundredth less
//! is allowed). INVALID: less than 1 ms, because phases begin and end within tens of microseconds;
//! fewer than 100 operations, because their 99th percentile (nearest rank) is the maximum; or no
//! measured part (the run consisted only of its warm-up or of think time). *Evidence*: the time and
//! the operations of the measured segment; with `--transactions 0`, of the preparation. *What to
//! do*: use `--for 10s` or more `--transactions`; for a preparation, use more files; for a replay,
//! use a longer trace.

use spec::Stop;
use workload::Workload;

use super::rule::*;
use super::seen::Measured;

/// Measured time below which a run is DOUBTFUL, in nanoseconds: 10 s, the minimum length of a load
/// level.
const MIN_NS: u64 = 10_000_000_000;

/// Measured time below which a run is INVALID, in nanoseconds. Start and end of a phase with
/// several workers take tens of microseconds, because workers are woken one after the other, about
/// 10 µs apart.
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
    /// Time from the start of the first measured segment to the end of the last, in nanoseconds.
    pub measured_ns: u64,
    /// Operations that completed in that time.
    pub operations: u64,
    /// Whether a number of transactions was requested; absent if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_counted: bool,
    /// Whether the run was the replay of a trace; absent if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_replay: bool,
}

impl Rule for TooShort {
    fn find(record: &Record, seen: &Seen) -> Option<Self> {
        let Measured {
            phase,
            ns,
            operations,
        } = seen.measured?;
        // A worker's measurement begins between two of its transactions, so the measured time may
        // be slightly shorter than the requested time.
        let is_short = is_short(ns) || operations < OPERATIONS_MIN;
        is_short.then_some(Self {
            phase,
            measured_ns: ns,
            operations,
            is_counted: record.spec.workload.transactions() != Workload::ENDLESS,
            is_replay: record.spec.workload.replay().is_some(),
        })
    }

    /// Estimates the time of a requested number of transactions from the expected rate.
    fn foresee(planned: &Planned<'_>) -> Option<Foreseen<Self>> {
        let spec = planned.spec();
        if planned.is_sweep() {
            return None;
        }
        let phase = match spec.workload.transactions() {
            0 => Phase::Prepare,
            _ => Phase::Transactions,
        };
        let operations = planned.operations(phase, |_| true);
        let measured = |measured_ns| Self {
            phase,
            measured_ns,
            operations,
            is_counted: planned.requested().is_some(),
            is_replay: spec.workload.replay().is_some(),
        };
        if planned.requested().is_some() && operations < OPERATIONS_MIN {
            let operations = counted(operations, "operation");
            return Some(Foreseen {
                sentence: format!("{operations}, at least {OPERATIONS_MIN}"),
                reason: measured(MIN_NS),
                occurs: Occurs::Always,
            });
        }
        if phase == Phase::Prepare {
            if spec.keeping.reuse {
                return None;
            }
            let ns = nanoseconds(planned.record.time.as_ref()?.prepare_s?);
            return is_short(ns).then(|| Foreseen::new(measured(ns), Occurs::Always));
        }
        if let Stop::After(length) = spec.drive.stop {
            let ns = nanoseconds(length.as_secs_f64());
            if is_short(ns) {
                return Some(Foreseen::new(measured(ns), Occurs::Always));
            }
        }
        let all = planned.requested()?;
        let warm_up_s = spec.drive.warm_up.as_secs_f64();
        let occurs = Occurs::Above(all / (warm_up_s + MIN_NS as f64 / 1e9));
        let Some(rate) = planned.rate() else {
            let min = MIN_NS / 1_000_000_000;
            return Some(Foreseen {
                sentence: format!("less than {min} s measured"),
                reason: measured(MIN_NS - 1),
                occurs,
            });
        };
        let ns = nanoseconds(all / rate - warm_up_s);
        is_short(ns).then(|| Foreseen::new(measured(ns), occurs))
    }

    fn level(&self) -> Level {
        Level::invalid_if(self.measured_ns < INVALID_NS || self.operations < OPERATIONS_MIN)
    }

    fn sentence(&self) -> String {
        let measured = latency(self.measured_ns as f64);
        let operations = counted(self.operations, "operation");
        let what = match self.phase {
            Phase::Transactions => "measured",
            Phase::Prepare => "of preparation",
            Phase::Delete => "of deletion",
        };
        if self.measured_ns == 0 && self.phase == Phase::Transactions {
            "the transactions ended during the warm-up".to_owned()
        } else if self.operations == 0 {
            format!("no operation completed in {measured}")
        } else if self.measured_ns >= INVALID_NS && self.operations < OPERATIONS_MIN {
            format!("{operations} in {measured} {what}, at least {OPERATIONS_MIN}")
        } else {
            let min = MIN_NS / 1_000_000_000;
            format!("{measured} {what}, at least {min} s")
        }
    }

    fn advice(&self) -> &'static str {
        match self {
            Self {
                is_replay: true, ..
            } => "use a longer trace",
            Self { measured_ns: 0, .. } => "use a shorter --warm-up, or more transactions",
            Self { operations: 0, .. } => "use a longer --for, or less think time (--think)",
            Self {
                phase: Phase::Prepare | Phase::Delete,
                ..
            } => "use more files",
            Self {
                measured_ns: MIN_NS..,
                is_counted: true,
                ..
            } => "use more --transactions, or a longer --for without --transactions",
            Self {
                is_counted: true, ..
            } => "use more --transactions, or --for 10s without --transactions",
            Self {
                measured_ns: ..MIN_NS,
                ..
            } => "use --for 10s",
            _ => "use a longer --for",
        }
    }
}

/// Whether a measured time is more than 1 % below [`MIN_NS`].
fn is_short(ns: u64) -> bool {
    ns < MIN_NS / 100 * 99
}

/// Converts seconds to nanoseconds; the result is 0 for negative times.
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}
