//! What the program itself costs in a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The run's stream performed once more on the null storage, which does nothing: what remains is
/// the program itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Overhead {
    /// Workers: the run's own, but no more than there are processors for them.
    pub workers: u32,
    /// Files of each pool: the run's own, up to a limit.
    pub files: u64,
    /// Transactions that were performed, of all workers: the run's own, up to a limit.
    pub transactions: u64,
    /// Operations that these were made of, of all workers.
    pub operations: u64,
    /// A worker's time for one operation, in nanoseconds: the times of all workers over all
    /// operations.
    pub ns_per_operation: f64,
}
