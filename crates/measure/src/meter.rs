use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;

/// The counts and latencies of one kind of operation. Merging is associative and commutative.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Meter {
    /// Operations that completed without an error.
    pub operations: u64,
    /// Bytes that these operations read or wrote.
    pub bytes: u64,
    /// Operations that failed. No other field includes them.
    pub failed: u64,
    /// Always 0. Version 1 of the schema of records requires this field.
    #[serde(default)]
    pub missed: u64,
    /// Response times from the due time to completion, or from issue to completion if operations
    /// have no due times. Empty if latencies were not requested.
    pub latency: Histogram,
    /// Service times from issue to completion; absent if `latency` contains the service times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Histogram>,
    /// Latencies of operations on whole trees, each divided by the number of files that the
    /// operation copied or removed; absent for other operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_file: Option<Histogram>,
}

impl Meter {
    #[inline]
    pub fn count(&mut self, bytes: u64) {
        self.operations += 1;
        self.bytes += bytes;
    }

    pub fn merge(&mut self, other: &Self) {
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.failed += other.failed;
        self.latency.merge(&other.latency);
        merge(&mut self.service, other.service.as_ref());
        merge(&mut self.per_file, other.per_file.as_ref());
    }
}

fn merge(all: &mut Option<Histogram>, more: Option<&Histogram>) {
    match (all, more) {
        (Some(all), Some(more)) => all.merge(more),
        (all @ None, Some(more)) => *all = Some(more.clone()),
        (_, None) => {}
    }
}
