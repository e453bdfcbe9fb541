//! **`nearly-full`** (DOUBTFUL). The file system is nearly full. Allocators search longer if little
//! space is free; FFS kept 10 % free for that reason (McKusick, Joy, Leffler, Fabry: A Fast File
//! System for UNIX, 1984). *Threshold*: above 90 %. *Evidence*: the used share of a location's
//! space (`fill_fraction`) plus its part of the pool's contents. File systems in memory are not
//! judged. *What to do*: use a smaller pool or a larger file system.

use system::{Class, Target};
use workload::Action;

use super::memory::pool_bytes;
use super::rule::*;

/// Maximum used share of a file system's space. Above this share, allocators search longer.
const MAX: f64 = 0.90;

/// A location's file system was more than 90 % full, including the pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct NearlyFull {
    /// Directory of the location.
    pub path: String,
    /// Used share of the file system's space, including the pool, from 0 to 1.
    pub fraction: f64,
}

impl Rule for NearlyFull {
    const ADVICE: &str = "use a smaller pool or a larger file system";

    /// Includes the pool in the used space. Ignores file systems in memory, which have no allocator
    /// that searches.
    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let weights = record
            .locations
            .iter()
            .map(|location| u64::from(location.weight));
        let weights: u64 = weights.sum();
        // A pool that an earlier run created is already part of the used space.
        let added = match record.actual.phase(Phase::Prepare) {
            Some(_) => pool_bytes(record),
            None => 0,
        };
        record.locations.iter().find_map(|location| {
            let target = location.target.known()?;
            let pool = added as f64 * f64::from(location.weight) / weights.max(1) as f64;
            Self::of_target(&location.directory, target, pool)
        })
    }

    fn foresee(planned: &Planned<'_>) -> Option<Foreseen<Self>> {
        let weights = planned.spec().workload.location_weights();
        let all: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
        let plan = &planned.record.plan;
        let added = match planned.spec().keeping.reuse {
            true => 0,
            false => plan.tally(Phase::Prepare, Action::Create).bytes,
        };
        let mut targets = planned.record.targets.iter().zip(weights);
        let found = targets.find_map(|(target, weight)| {
            let pool = added as f64 * f64::from(*weight) / all.max(1) as f64;
            Self::of_target(&target.path, target, pool)
        })?;
        Some(Foreseen::new(found, Occurs::Always))
    }

    fn sentence(&self) -> String {
        format!(
            "the file system of {} is {} full with the pool, limit {}",
            self.path,
            percent(self.fraction),
            percent(MAX)
        )
    }
}

impl NearlyFull {
    /// Checks one target. `pool_bytes` is the size of the part of the pool that the run adds to the
    /// target.
    fn of_target(path: &str, target: &Target, pool_bytes: f64) -> Option<Self> {
        let (filled, space) = (target.fill_fraction.known()?, target.space.known()?);
        let taken = pool_bytes / (*space.total_bytes.known()?).max(1) as f64;
        let fraction = (filled + taken).min(1.0);
        let is_judged = target.class != Fact::Known(Class::Memory) && fraction > MAX;
        is_judged.then(|| Self {
            path: path.to_owned(),
            fraction,
        })
    }
}
