//! **`fits-in-memory`** (DOUBTFUL). A cold cache was requested, but the pool fits in memory.
//! Repeated reads then come from memory: the rate is between those of a cold and a warm cache, and
//! depends on the length of the run. *Threshold*: with `--cache cold` or `cold-data`, the pool's
//! contents are no larger than memory (or the control group's limit), and less than 90 % of the
//! bytes read came from the device, or that share is not known. *Evidence*: the contents of the
//! pool, the memory, and the bytes that the device served. *What to do*: use a larger pool, or use
//! each file only once.

use workload::Action;
use workload::popularity::Popularity;

use super::memory::{pool_bytes, says_cold};
use super::rule::*;
use crate::summary::reads::{self, ReadsServed};

/// A cold cache was requested, but the pool fits in the page cache, so that repeated reads are
/// warm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct FitsInMemory {
    /// The requested cache state: `cold` or `cold-data`.
    pub cache: String,
    /// Bytes of the pool's contents when the transactions began.
    pub pool_bytes: u64,
    /// Bytes that the page cache can hold.
    pub cache_bytes: u64,
}

impl Rule for FitsInMemory {
    const ADVICE: &str = "use --working-set 4x or --popularity shuffled";

    /// A pool that fits in the page cache is read from the device once, and repeated reads are
    /// warm. If the device served the share that a cold cache requires, few reads were repeated,
    /// and the rule does not apply.
    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let served_by = reads::of_transactions(record);
        let fraction = served_by.as_ref().and_then(ReadsServed::fetched_fraction);
        if !says_cold(&record.spec) || fraction.is_some_and(|fraction| fraction >= reads::COLD_MIN)
        {
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

    /// With random draws, at least a third of the reads are repeated once the transactions have
    /// read as often as the pools have files. With the popularity `shuffled`, each file is read
    /// once before reads are repeated.
    fn foresee(planned: &Planned<'_>) -> Option<Foreseen<Self>> {
        let (spec, plan) = (planned.spec(), &planned.record.plan);
        let mix = spec.workload.mix();
        let is_shuffled = mix.is_some_and(|mix| mix.popularity == Popularity::Shuffled);
        let reads = planned.operations(Phase::Transactions, Action::moves_bytes_in);
        if !says_cold(spec) || is_shuffled || reads == 0 {
            return None;
        }
        let cache_bytes = planned.cache_bytes()?;
        let pool_bytes = plan.tally(Phase::Prepare, Action::Create).bytes;
        let repeated = planned.files() as f64 * plan.transactions as f64 / reads as f64;
        let occurs = planned.reaches(repeated)?;
        let reason = Self {
            cache: spec.cache.name().to_owned(),
            pool_bytes,
            cache_bytes,
        };
        (pool_bytes <= cache_bytes).then(|| Foreseen::new(reason, occurs))
    }

    fn sentence(&self) -> String {
        format!(
            "--cache {}, but the pool of {} fits in the page cache of {}",
            self.cache,
            bytes(self.pool_bytes as f64),
            bytes(self.cache_bytes as f64)
        )
    }
}
