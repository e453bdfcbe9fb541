//! **`cache-not-dropped`** (DOUBTFUL, INVALID). The caches were dropped, but files of the pool were
//! still in memory. Memory serves reads of these files, although a cold cache was requested.
//! *Threshold*: with `--cache cold` or `cold-data`, more than 10 % of the sampled pages (the drift
//! that is allowed for a steady run); INVALID: more than 50 %. Each phase of a workload is judged
//! by its own cache state, and the worst counts. *Evidence*: the pages of the
//! [residency](evidence.md) sample that were in the page cache when the transactions began. *What
//! to do*: use a file system that drops its cache; make sure that no other program uses the pool.

use spec::Cache;

use super::rule::*;

/// Maximum share of the sampled pages that is in the page cache after the cache was dropped. It
/// equals the 10 % by which the rate of a steady run may change.
const MAX: f64 = 0.10;

/// If a greater share of the sampled pages is in the page cache, the run is INVALID, because most
/// of the pool was not dropped.
const INVALID: f64 = 0.50;

/// The caches were dropped, but a part of the pool was in the page cache when the transactions
/// began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct CacheNotDropped {
    /// The requested cache state: `cold` or `cold-data`.
    pub cache: String,
    /// Pages of the sample that were in the page cache.
    pub cached: u64,
    /// All pages of the sampled files, cached or not.
    pub pages: u64,
}

impl Rule for CacheNotDropped {
    const ADVICE: &str =
        "check that the file system drops its cache (tmpfs and some FUSE servers do not)";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let caches = record.spec.caches();
        let phases = record.actual.sweep_steps.iter().zip(&caches);
        let of_phases = phases.filter_map(|(step, cache)| Some((step.transactions()?, *cache)));
        let mut found: Vec<Self> = match record.spec.phases() {
            [] => Vec::from_iter(Self::of(
                record.actual.phase(Phase::Transactions)?,
                caches[0],
            )),
            _ => of_phases
                .filter_map(|(phase, cache)| Self::of(phase, cache))
                .collect(),
        };
        let by_share = |one: &Self, other: &Self| {
            let [one, other] = [one, other].map(|of| share(of.cached, of.pages));
            one.total_cmp(&other)
        };
        found.sort_by(by_share);
        found.pop()
    }

    fn level(&self) -> Level {
        Level::invalid_if(share(self.cached, self.pages) > INVALID)
    }

    fn sentence(&self) -> String {
        format!(
            "--cache {}, but the page cache had {} of a sample of the pool, limit {}",
            self.cache,
            percent(share(self.cached, self.pages)),
            percent(MAX)
        )
    }
}

impl CacheNotDropped {
    /// Judges the transactions of a run, or of a phase of the workload.
    fn of(phase: &PhaseRecord, cache: Cache) -> Option<Self> {
        let evidence = phase.evidence.as_ref()?;
        let sample = evidence.residency.as_ref()?.before.known()?;
        let is_cold = matches!(cache, Cache::Cold | Cache::ColdData);
        (is_cold && share(sample.cached, sample.pages) > MAX).then(|| Self {
            cache: cache.name().to_owned(),
            cached: sample.cached,
            pages: sample.pages,
        })
    }
}
