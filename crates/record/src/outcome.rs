//! The outcome of a run, or of one of its ranks: complete, interrupted, failed or unfinished.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a run ended. All outcomes except `complete` mean that the record is partial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All phases were completed.
    Complete,
    /// A signal ended the run; the record is partial.
    Interrupted {
        /// Number of the signal, as in signal(7).
        signal: i32,
    },
    /// A target directory was unmounted, moved or replaced during the run; the record is partial.
    PlaceGone {
        /// What happened to the directory, and what failed because of it.
        why: String,
    },
    /// The run failed; the record is partial.
    Failed {
        /// The failed operation, its object, the system's answer, and what to do.
        why: String,
    },
    /// The program was killed, or its machine stopped, before the run ended; or the run has not
    /// ended yet. The record contains the phases, and for a sweep the load levels, that were
    /// completed.
    Unfinished,
}
