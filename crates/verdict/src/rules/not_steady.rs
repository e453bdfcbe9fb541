//! **`not-steady`** (DOUBTFUL). The rate changed during the measurement, by more than its noise
//! explains. Only DOUBTFUL, because no steady state was requested. *Threshold*: the least-squares
//! line through the rates rises or falls by more than 10 % of the average, or the rates of five
//! equal parts of the time differ by more than 20 %; these are the limits of SNIA (Solid State
//! Storage Performance Test Specification 2.0.1, steady state). The change must also exceed the one
//! that a constant rate shows by chance: in 1 % of runs for the line (Student's t, two-sided), and
//! in 0.1 % of runs for the parts (Tukey's studentized range). *Evidence*: in a closed loop, the
//! operations of each whole measured second in which all workers worked. They are averaged to at
//! most 20 batch means (Schmeiser 1982). The test of the line uses the variance of these means
//! about the line, and the test of the parts uses their variance within the parts. Noise is also
//! estimated by renewal theory, and the larger estimate is used: n operations whose latencies have
//! the coefficient of variation c have the variance c²·n (Cox: Renewal Theory, 1962). For
//! exponential latencies this is a Poisson process. Not judged if there are fewer than 6 such
//! seconds, or if an operation took longer than a fifth of the time; the report states the reason.
//! Open loops are not judged, because the arrivals determine their rate. The full report shows the
//! drift and its noise. If the noise is above the limit, a small change would not have been found.
//! The reason names the kind of operation that contributed most to the change (`drifting`): of the
//! kinds whose mean latency changed by more than 10 % between the first and the last fifth of these
//! seconds, the one with the largest change of the mean, multiplied by its number of operations. It
//! also names what took at least half of the change of the time per operation: the program's
//! processor time in the kernel or in user mode, or the time in which the device was busy
//! (multiplied by the number of workers, because all may wait for it). If calls were timed, it
//! names the call that took most of the operation's time. *What to do*: if operations slow down,
//! the file system is not in a steady state: use a new file system, or compare only runs of equal
//! length. Otherwise use a warm-up or a longer run.

use super::latency_drift::LatencyDrift;
use super::rule::*;
use super::steadiness::{Steadiness, judged};

/// The rate changed during the measurement, by more than its noise explains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct NotSteady {
    /// The change, with its limits.
    pub found: Steadiness,
    /// The operation whose latency changed; null if no latency changed, or if it is not known.
    pub drifting: Option<LatencyDrift>,
}

impl Rule for NotSteady {
    fn find(record: &Record, seen: &Seen) -> Option<Self> {
        let found = *seen.steadiness.known()?;
        let phase = judged(record)?;
        (phase.steady.is_none() && !found.is_steady()).then(|| Self {
            found,
            drifting: LatencyDrift::find(phase, record.spec.workload.workers.count()),
        })
    }

    fn sentence(&self) -> String {
        let numbers = self.found.in_numbers();
        match &self.drifting {
            None => numbers,
            Some(drifting) if drifting.is_slower() => format!(
                "{}, {numbers}: the file system is not in a steady state",
                drifting.clause()
            ),
            Some(drifting) => format!("{}, {numbers}", drifting.clause()),
        }
    }

    fn advice(&self) -> &'static str {
        match &self.drifting {
            Some(drifting) if drifting.is_slower() => {
                "use a new file system, or compare only runs of equal length"
            }
            Some(_) => "use --warm-up",
            None => "use --warm-up or a longer --for",
        }
    }
}
