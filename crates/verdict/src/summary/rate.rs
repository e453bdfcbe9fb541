use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A count of completed work or of bytes, and the same count per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rate {
    /// Number of transactions, operations, files or bytes.
    pub count: u64,
    /// The count a second; null if no time passed.
    pub per_second: Option<f64>,
}

impl Rate {
    pub(super) fn over(count: u64, ns: u64) -> Self {
        Self {
            count,
            per_second: (ns > 0).then(|| count as f64 * 1e9 / ns as f64),
        }
    }
}
