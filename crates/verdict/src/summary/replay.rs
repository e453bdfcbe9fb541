//! How a replay compares with its trace.

use record::run::{PhaseRecord, Record};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::Phase;
use workload::replay::Timing;

/// How a replay compares with its trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplaySummary {
    /// Operations that the replay has.
    pub operations: u64,
    /// Operations, calls and lines of the trace that are left out.
    pub left_out: u64,
    /// Their share (0 to 1) of all that the trace has: the replay's operations and those left out.
    pub left_out_fraction: f64,
    /// Time from the first to the last operation of the trace in nanoseconds; null if the trace has
    /// no times.
    pub traced_ns: Option<u64>,
    /// Measured time of the replay in nanoseconds; null if it did not begin.
    pub replayed_ns: Option<u64>,
    /// Difference of the two times, divided by the time of the trace. Null unless operations start
    /// at their times in the trace.
    pub timing_inaccuracy: Option<f64>,
}

pub(super) fn summary(record: &Record) -> Option<ReplaySummary> {
    let replay = record.spec.workload.replay()?;
    let left_out = replay.deviations.iter().filter(|one| one.is_left_out);
    let left_out = left_out.fold(0_u64, |sum, one| sum.saturating_add(one.count));
    let all = replay.operations.saturating_add(left_out);
    let replayed_ns = record
        .actual
        .phase(Phase::Transactions)
        .map(PhaseRecord::measured_ns);
    let times = replay
        .traced_ns
        .filter(|traced_ns| *traced_ns > 0)
        .zip(replayed_ns);
    let times = times.filter(|_| replay.timing == Timing::Traced);
    Some(ReplaySummary {
        operations: replay.operations,
        left_out,
        left_out_fraction: left_out as f64 / all.max(1) as f64,
        traced_ns: replay.traced_ns,
        replayed_ns,
        timing_inaccuracy: times.map(|(traced_ns, replayed_ns)| {
            traced_ns.abs_diff(replayed_ns) as f64 / traced_ns as f64
        }),
    })
}
