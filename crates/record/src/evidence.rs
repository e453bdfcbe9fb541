//! Evidence of whether the page cache, a device or a server performed the operations of a phase.
//! The evidence consists of counters during the phase and the following sync, and of a sample of
//! the pool's pages in the page cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::{Accounted, Fact};

use crate::server::ServerCounts;

/// Evidence of one phase. From this evidence the summary derives whether operations were served by
/// the page cache, by a device or by a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseEvidence {
    /// Counters from before the first operation of the phase to after the last one, including
    /// warm-ups.
    pub performing: Accounted,
    /// Counters during the sync of the file systems after the phase; null without a sync.
    pub syncing: Option<Accounted>,
    /// Sample of how much of the pool was in the page cache; null for phases without a sample.
    pub residency: Option<Residency>,
    /// Connections, repeated calls and other events between the program and its servers during the
    /// phase. Calls are counted in `performing.messages`. Absent if the I/O engine contacts no
    /// server itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerCounts>,
}

/// How much of the pool was in the page cache before and after the transactions. A sample of files
/// is examined: at most 100, and at most 1 % of the pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Residency {
    /// Sample before the first operation. If the run dropped the caches, they were dropped before
    /// the sample was taken. With `--cache cold` the sampled files were opened before the caches
    /// were dropped.
    pub before: Fact<ResidencySample>,
    /// Sample after the last operation and before the sync, for sampled files that still existed.
    pub after: Fact<ResidencySample>,
}

/// Numbers of pages of all sampled files together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResidencySample {
    /// Number of sampled files.
    pub files: u64,
    /// Number of pages of the sampled files' contents.
    pub pages: u64,
    /// Number of pages of the sampled files that were in the page cache.
    pub cached: u64,
    /// Number of pages of the sampled files that waited to be written (cachestat(2), since Linux
    /// 6.5).
    pub dirty: Fact<u64>,
    /// Number of pages of the sampled files that were being written (cachestat(2), since Linux
    /// 6.5).
    pub under_write_back: Fact<u64>,
}
