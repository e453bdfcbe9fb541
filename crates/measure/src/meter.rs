//! What all operations of one kind did together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;

/// Counts of one kind of operation. Meters merge: associatively and commutatively.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Meter {
    /// Operations that were completed without an error.
    pub operations: u64,
    /// Bytes that those read or wrote.
    pub bytes: u64,
    /// Operations that failed; they count in no other number here.
    pub failed: u64,
    /// Operations that found their file removed by a worker elsewhere; they count in no other
    /// number here.
    #[serde(default)]
    pub missed: u64,
    /// From due to completed, of the operations above; from issued, where they were not due by
    /// themselves. Empty where latencies were not asked for.
    pub latency: Histogram,
    /// From issued to completed; nothing where that is the latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Histogram>,
}

impl Meter {
    /// Counts a completed operation.
    #[inline]
    pub fn count(&mut self, bytes: u64) {
        self.operations += 1;
        self.bytes += bytes;
    }

    /// Takes all of another meter in.
    pub fn merge(&mut self, other: &Self) {
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.failed += other.failed;
        self.missed += other.missed;
        self.latency.merge(&other.latency);
        match (&mut self.service, &other.service) {
            (Some(service), Some(more)) => service.merge(more),
            (service @ None, Some(more)) => *service = Some(more.clone()),
            (_, None) => {}
        }
    }
}
