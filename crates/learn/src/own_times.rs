//! The time of all workers that is not part of operations.

use std::collections::BTreeMap;

use engine::Action;
use serde::Serialize;

/// The time of all workers that is not part of operations, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct OwnTimes {
    /// Time in which workers computed or used other files, by the operation that followed.
    pub compute_ns: BTreeMap<Action, u64>,
    /// Time in which workers waited for other threads and processes, or for messages. A workload
    /// has no such waits.
    pub wait_ns: u64,
    /// Time in calls of operations.
    pub operation_ns: u64,
    /// An estimate of the time that the tracer added to calls, which is in none of the other times.
    pub tracer_ns: u64,
    /// The number of traced calls.
    pub calls: u64,
    /// The processor time of the source without the tracer, to which the time of computing was
    /// adapted; `None` if it is not known.
    pub cpu_ns: Option<u64>,
}

impl OwnTimes {
    /// The factor by which the traced time of computing is multiplied, so that it and the time in
    /// operations together are `cpu_ns`.
    pub fn factor(&self, cpu_ns: u64) -> f64 {
        let compute_ns = self
            .compute_ns
            .values()
            .fold(0_u64, |sum, ns| sum.saturating_add(*ns));
        cpu_ns as f64 / compute_ns.saturating_add(self.operation_ns).max(1) as f64
    }
}
