//! What a workload asks of an engine, and what an engine says that lacks it.

use crate::{Durability, OperationKind, Settings};

/// What a workload is going to ask of an engine.
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

/// Something that an engine does not have. Nothing else is done in its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--storage {engine} {lack}")]
pub struct Unsupported {
    /// The engine.
    pub(crate) engine: &'static str,
    /// What it lacks, and what to do.
    pub(crate) lack: String,
}
