//! What a workload asks of a storage, and what a storage says that lacks it.

use crate::{Durability, OperationKind, Settings};

/// What a workload is going to ask of a storage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// The operations in it.
    pub operations: Vec<OperationKind>,
    /// How durable they are to be.
    pub durability: Durability,
    /// Whether contents go past the page cache.
    pub direct: bool,
}

impl Need {
    /// What the settings of a session ask for.
    pub fn of_settings(settings: &Settings) -> Self {
        Self {
            operations: Vec::new(),
            durability: settings.durability,
            direct: settings.direct,
        }
    }
}

/// Something that a storage does not have. Nothing else is done in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    /// An operation.
    #[error("--storage {storage} cannot perform '{operation}' (use --storage posix or raw)")]
    Operation {
        /// The storage.
        storage: &'static str,
        /// What it lacks.
        operation: OperationKind,
    },
    /// A policy of durability.
    #[error(
        "--storage {storage} cannot provide --durability {durability} (use --storage posix or \
         raw, or a policy of none, fdatasync, fsync, fsync+dir, batch:N)"
    )]
    Durability {
        /// The storage.
        storage: &'static str,
        /// What it lacks.
        durability: Durability,
    },
    /// Input and output past the page cache.
    #[error("--storage {storage} cannot do direct I/O (use --storage posix)")]
    Direct {
        /// The storage.
        storage: &'static str,
    },
    /// An operation that a protocol has no call for.
    #[error(
        "--storage {storage} cannot perform '{operation}': {protocol} has no call for it (leave \
         it out of --mix)"
    )]
    NoCall {
        /// The storage.
        storage: &'static str,
        /// What it lacks.
        operation: OperationKind,
        /// The protocol's name.
        protocol: &'static str,
    },
    /// A policy of durability that a protocol has nothing for.
    #[error(
        "--storage {storage} cannot provide --durability {durability}: {protocol} cannot sync a \
         file system (use none, fdatasync, fsync, fsync+dir, o-dsync or o-sync)"
    )]
    NoSync {
        /// The storage.
        storage: &'static str,
        /// What it lacks.
        durability: Durability,
        /// The protocol's name.
        protocol: &'static str,
    },
    /// No page cache that could be passed by.
    #[error("--storage {storage} has no page cache that --direct could bypass (remove --direct)")]
    NoCache {
        /// The storage.
        storage: &'static str,
    },
}
