//! The workers of a workload: their number, their roles, and their pools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of workers, and whether they share pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "pools")]
pub enum Workers {
    /// Every worker uses a private pool.
    Private {
        /// The number of workers, which is also the number of pools.
        workers: u32,
    },
    /// Workers share pools: all workers share one pool, or groups of workers share one pool each.
    Shared {
        /// The number of workers per pool that change files.
        writers: u32,
        /// The number of workers per pool that only read.
        readers: u32,
        /// The number of pools, each of which has the given writers and readers; absent if there is
        /// one pool.
        #[serde(
            rename = "shared_pools",
            default = "one",
            skip_serializing_if = "is_one"
        )]
        #[schemars(range(min = 1))]
        pools: u32,
    },
}

fn one() -> u32 {
    1
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

/// What a worker may do with the files of its pool.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A worker with a private pool, which performs all operations.
    Worker,
    /// A worker of a shared pool that creates, changes and deletes files.
    Writer,
    /// A worker of a shared pool that only reads.
    Reader,
}

impl Role {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Writer => "writer",
            Self::Reader => "reader",
        }
    }
}

impl Workers {
    pub const ONE: Self = Self::Private { workers: 1 };

    /// Returns the total number of workers of all pools.
    pub fn count(self) -> u32 {
        match self {
            Self::Private { workers } => workers,
            Self::Shared { pools, .. } => self.of_a_pool().saturating_mul(pools),
        }
    }

    /// Returns the number of workers of each pool.
    pub fn of_a_pool(self) -> u32 {
        match self {
            Self::Private { .. } => 1,
            Self::Shared {
                writers, readers, ..
            } => writers.saturating_add(readers),
        }
    }

    pub fn pools(self) -> u32 {
        match self {
            Self::Private { workers } => workers,
            Self::Shared { pools, .. } => pools,
        }
    }

    /// Returns the number of a worker's pool; `None` if there is only one pool. Each of several
    /// pools has its own directory and different contents.
    pub fn pool_of(self, worker: u32) -> Option<u32> {
        (self.pools() > 1).then(|| worker / self.of_a_pool().max(1))
    }

    /// Returns a worker's number within the group of workers of its pool.
    pub fn within_pool(self, worker: u32) -> u32 {
        worker % self.of_a_pool().max(1)
    }

    /// Returns a worker's role. In each pool, writers have lower numbers than readers.
    pub fn role(self, worker: u32) -> Role {
        match self {
            Self::Private { .. } => Role::Worker,
            Self::Shared { writers, .. } if self.within_pool(worker) < writers => Role::Writer,
            Self::Shared { .. } => Role::Reader,
        }
    }

    pub fn is_shared(self) -> bool {
        matches!(self, Self::Shared { .. })
    }
}

/// Whether all workers use the same seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerSeeds {
    /// All workers use the same seed, as separate processes of the original PostMark do.
    Same,
    /// Each worker uses the sum of the seed and its own number.
    #[default]
    Offset,
}
