//! The size of the pool.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rules::pool_bytes;
use record::run::Record;

/// The pools of all workers when the transactions began.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PoolSummary {
    /// Bytes of the contents of all files. For a pool that an earlier run created, this is the
    /// expected size.
    pub bytes: u64,
    /// `bytes`, divided by the memory that the page cache can use (the machine's memory, or the
    /// limit of the control group). Null if this memory is not known, and for a run on several
    /// hosts, because each host has its own memory.
    pub memory_fraction: Option<f64>,
}

pub(super) fn summary(record: &Record) -> PoolSummary {
    let bytes = pool_bytes(record);
    let hosts = record
        .cluster
        .as_ref()
        .map_or(1, |cluster| cluster.hosts.len());
    let memory = record.host.cache_limit_bytes().into_known();
    let memory = memory.filter(|memory| *memory > 0 && hosts <= 1);
    PoolSummary {
        bytes,
        memory_fraction: memory.map(|memory| bytes as f64 / memory as f64),
    }
}
