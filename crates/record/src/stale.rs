//! Delays until a rank saw the operations of another rank.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Changes of names and contents that were acknowledged to one rank, but that another rank did not
/// see at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stale {
    /// Number of names that were not seen at once.
    pub count: u64,
    /// The longest time from the first check of a name until it was seen, in nanoseconds.
    pub longest_ns: u64,
    /// The path with the longest time.
    pub path: String,
    /// Difference between the acknowledged state and the state at the first check of `path`.
    pub what: String,
}

impl Stale {
    /// Adds the counts of two ranks, and keeps the longer time with its path.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let count = self.count.saturating_add(other.count);
        let longest = if other.longest_ns > self.longest_ns {
            other
        } else {
            self
        };
        Self { count, ..longest }
    }
}
