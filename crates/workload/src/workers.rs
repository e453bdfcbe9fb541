//! Workers of a workload: how many there are, and which pool and role each has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who shares a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "pools")]
pub enum Workers {
    /// Every worker has a pool of its own.
    Private {
        /// How many workers.
        workers: u32,
    },
    /// All work on one pool, or so many on each of several.
    Shared {
        /// How many change files.
        writers: u32,
        /// How many only look.
        readers: u32,
        /// How many pools there are, each with as many writers and readers; left out where that is
        /// 1.
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

/// What a worker of a shared pool does.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Everything: its pool is its own.
    Worker,
    /// It changes files.
    Writer,
    /// It only looks.
    Reader,
}

impl Role {
    /// The role's name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Writer => "writer",
            Self::Reader => "reader",
        }
    }
}

impl Workers {
    /// One worker with a pool of its own.
    pub const ONE: Self = Self::Private { workers: 1 };

    /// How many workers there are.
    pub fn count(self) -> u32 {
        match self {
            Self::Private { workers } => workers,
            Self::Shared { pools, .. } => self.of_a_pool().saturating_mul(pools),
        }
    }

    /// How many work on one pool.
    pub fn of_a_pool(self) -> u32 {
        match self {
            Self::Private { .. } => 1,
            Self::Shared {
                writers, readers, ..
            } => writers.saturating_add(readers),
        }
    }

    /// How many pools there are.
    pub fn pools(self) -> u32 {
        match self {
            Self::Private { workers } => workers,
            Self::Shared { pools, .. } => pools,
        }
    }

    /// The number of a worker's pool, where there are several: its files lie in a directory of
    /// their own, and their contents are told apart.
    pub fn pool_of(self, worker: u32) -> Option<u32> {
        (self.pools() > 1).then(|| worker / self.of_a_pool().max(1))
    }

    /// A worker's number among those of its pool.
    pub fn within_pool(self, worker: u32) -> u32 {
        worker % self.of_a_pool().max(1)
    }

    /// What a worker does; in each pool writers come before readers.
    pub fn role(self, worker: u32) -> Role {
        match self {
            Self::Private { .. } => Role::Worker,
            Self::Shared { writers, .. } if self.within_pool(worker) < writers => Role::Writer,
            Self::Shared { .. } => Role::Reader,
        }
    }

    /// Whether all work on one pool.
    pub fn is_shared(self) -> bool {
        matches!(self, Self::Shared { .. })
    }
}

/// Where the workers' generators begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerSeeds {
    /// All at the seed, as several started processes would.
    Same,
    /// Each at the seed plus its own number.
    #[default]
    Offset,
}
