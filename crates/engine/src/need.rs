//! The requirements of a workload, and the error of an engine that does not meet them.

use crate::{Action, OperationKind, Policies, Settings};

/// The operations and settings that a workload requires of an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// The kinds of operations; empty if only settings are checked ([`Need::of_settings`]).
    pub operations: Vec<OperationKind>,
    /// The weights of the mix, for the advice to a user; empty without a single mix.
    pub mix: Vec<(Action, u32)>,
    /// The required policies. For a batch, the number of operations is irrelevant.
    pub durability: Policies,
    /// Whether contents bypass the page cache (direct I/O).
    pub direct: bool,
}

impl Need {
    /// Returns the requirements of a session's settings; `operations` is empty, because settings do
    /// not include operations.
    pub fn of_settings(settings: &Settings) -> Self {
        Self {
            operations: Vec::new(),
            mix: Vec::new(),
            durability: settings.durability.clone(),
            direct: settings.direct,
        }
    }
}

/// The error for a requirement that an engine does not support. The engine uses no substitute, so
/// the caller must reject the run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--engine {engine} {lack}")]
pub struct Unsupported {
    /// The value of `--engine`, with which the message begins.
    pub(crate) engine: &'static str,
    /// A description of the missing support, and what to do about it.
    pub(crate) lack: String,
}
