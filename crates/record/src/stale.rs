//! How long it took until one rank saw what another had done.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names and contents that an operation of another rank had acknowledged, and that were not seen at
/// once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stale {
    /// How many there were.
    pub count: u64,
    /// After what time the last of them was seen, from the first look at it, in nanoseconds.
    pub longest_ns: u64,
    /// Which one that was.
    pub path: String,
    /// What was seen of it first.
    pub what: String,
}

impl Stale {
    /// Those of both together.
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
