//! **`fits-in-memory`** (DOUBTFUL). The cache was to be cold, and the pool fits in it. What is read
//! for the second time comes from memory: the rate lies between cold and warm, and depends on the
//! length of the run. *Threshold*: with `--cache cold` or `cold-data`, the pool's contents are no
//! larger than memory (or the control group's limit), and less than 90 % of what reads returned
//! came from the device, or that is not known. *Evidence*: the contents of the pool, the memory,
//! and the bytes that the device served. *What to do*: use a larger pool, or each file once.

use super::memory::{pool_bytes, says_cold};
use super::rule::*;
use crate::summary::reads::{self, ReadsServed};

/// The run says that its cache is cold, and what it works on fits there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct FitsInMemory {
    /// What was asked of the cache.
    pub cache: String,
    /// Bytes of the pool's contents when the transactions began.
    pub pool_bytes: u64,
    /// Bytes that the cache can hold.
    pub cache_bytes: u64,
}

impl Rule for FitsInMemory {
    const ADVICE: &str = "Make the pool larger than the cache (--working-set 4x), or use each file \
                          once (--popularity shuffled).";

    /// What fits is read from the device once; the more is read twice, the less is cold. Where as
    /// much came from there as a cold cache needs, little was read twice.
    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let served_by = reads::of_transactions(record);
        let fraction = served_by.as_ref().and_then(ReadsServed::fetched_fraction);
        if !says_cold(record) || fraction.is_some_and(|fraction| fraction >= reads::COLD_MIN) {
            return None;
        }
        let cache_bytes = record.host.cache_limit_bytes().into_known()?;
        let pool_bytes = pool_bytes(record);
        (pool_bytes <= cache_bytes).then(|| Self {
            cache: record.spec.cache.name().to_owned(),
            pool_bytes,
            cache_bytes,
        })
    }

    fn sentence(&self) -> String {
        format!(
            "The run has --cache {}, but its pool of {} fits in the page cache of {}: the cache \
             serves repeated reads.",
            self.cache,
            bytes(self.pool_bytes as f64),
            bytes(self.cache_bytes as f64)
        )
    }
}
