//! What shows who served a phase: counters of the kernel from before its first operation until
//! after its last, the same over the sync that followed, and how much of the pool was in memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::{Accounted, Fact};

use crate::server::ServerCounts;

/// The evidence of one phase. What it says of who served the operations is derived in the summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseEvidence {
    /// While it was performed, warm-ups included.
    pub performing: Accounted,
    /// While the file systems synced after it; nothing where they did not.
    pub syncing: Option<Accounted>,
    /// How much of the pool was in memory; nothing for phases that have no such sample.
    pub residency: Option<Residency>,
    /// What went to servers while it was performed, besides calls, which are among the messages;
    /// nothing where the storage speaks to no server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerCounts>,
}

/// How much of the pool was in memory before and after the transactions: a sample of at most 100
/// files and 1 % of the pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Residency {
    /// After the caches were dropped, where that was requested, and before the first operation.
    /// With `--cache cold` its files were opened before the caches were dropped.
    pub before: Fact<ResidencySample>,
    /// After the last operation and before the sync, of files that existed then.
    pub after: Fact<ResidencySample>,
}

/// The files of a sample, taken together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResidencySample {
    /// How many there are.
    pub files: u64,
    /// The pages of their contents.
    pub pages: u64,
    /// Those of them that were in the page cache.
    pub cached: u64,
    /// Those that were to be written (cachestat(2), since Linux 6.5).
    pub dirty: Fact<u64>,
    /// Those that were being written (likewise).
    pub under_write_back: Fact<u64>,
}
