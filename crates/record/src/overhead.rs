//! Overhead of the program in a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Repetition of the run's stream on the I/O engine `null`, which performs no operations. The time
/// of this repetition is the overhead of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Overhead {
    /// Number of workers in the repetition: as many as in the run, but at most one per available
    /// processor.
    pub workers: u32,
    /// Number of files in each pool of the repetition: as many as in the run, up to a limit.
    pub files: u64,
    /// Number of transactions in the repetition: as many as in the run, up to a limit.
    pub transactions: u64,
    /// Number of operations in the repeated transactions.
    pub operations: u64,
    /// Overhead of one operation, in nanoseconds: the sum of all workers' times divided by the
    /// number of operations.
    pub ns_per_operation: f64,
}
