//! How a run, or a rank of one, ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every phase was performed to its end.
    Complete,
    /// A signal ended it; everything in the record is partial.
    Interrupted {
        /// The signal's number.
        signal: i32,
    },
    /// Its place was unmounted, moved or replaced while it went on; everything in the record is
    /// partial.
    PlaceGone {
        /// What became of the place, and what failed because of it.
        why: String,
    },
    /// It failed; everything in the record is partial.
    Failed {
        /// What was being done, to what, what the system answered, and what to do.
        why: String,
    },
    /// The program ended before the run did: it was killed, or its machine went down; or it goes on
    /// still. The record has the phases, and of a sweep the steps, that were completed by then.
    Unfinished,
}
