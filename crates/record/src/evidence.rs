//! Evidence of what served a phase: counters during the phase and during the sync after it, and the
//! part of the pool in the page cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::{Accounted, Fact};

use crate::server::ServerCounts;

/// Evidence of one phase. The summary derives from it what served the operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseEvidence {
    /// Counters from before the first operation to after the last one, including warm-ups.
    pub performing: Accounted,
    /// Counters during the sync of the file systems after the phase; null without a sync.
    pub syncing: Option<Accounted>,
    /// The part of the pool in the page cache; null for phases without such a sample.
    pub residency: Option<Residency>,
    /// Connections, repeated calls and other events between the program and its servers during the
    /// phase. Calls are counted as messages. Absent if the I/O engine contacts no server itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerCounts>,
}

/// The part of the pool in the page cache, before and after the transactions: a sample of at most
/// 100 files and at most 1 % of the pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Residency {
    /// Before the first operation, but after the caches were dropped, if that was requested. With
    /// `--cache cold` the sampled files were opened before the caches were dropped.
    pub before: Fact<ResidencySample>,
    /// After the last operation and before the sync, for files that still existed.
    pub after: Fact<ResidencySample>,
}

/// Pages of the sampled files, summed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResidencySample {
    /// Number of files.
    pub files: u64,
    /// Number of pages of the files' contents.
    pub pages: u64,
    /// Number of these pages in the page cache.
    pub cached: u64,
    /// Number of these pages that waited to be written (cachestat(2), since Linux 6.5).
    pub dirty: Fact<u64>,
    /// Number of these pages that were being written (cachestat(2), since Linux 6.5).
    pub under_write_back: Fact<u64>,
}
