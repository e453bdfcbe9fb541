//! The numbers of the original PostMark's report: counts, whole seconds, and bytes as its editions
//! sum them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::{Edition, End};

/// Numbers of the original PostMark's report for one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassicFigures {
    /// The edition that defines the report.
    pub edition: Edition,
    /// Why the transactions ended. If the pool ran out of files, the original prints no report.
    pub end: End,
    /// Wall clock when the creations began, in whole seconds since 1970.
    pub began_s: i64,
    /// Wall clock when the transactions began, in whole seconds since 1970.
    pub transactions_began_s: i64,
    /// Wall clock when the transactions had ended, in whole seconds since 1970.
    pub transactions_ended_s: i64,
    /// Wall clock when all files were deleted, in whole seconds since 1970.
    pub ended_s: i64,
    /// Number of requested transactions, which the report divides by time.
    pub transactions: u64,
    /// Number of files created before the transactions.
    pub created_alone: u64,
    /// Number of files created in transactions.
    pub created_mixed: u64,
    /// Number of files read.
    pub read: u64,
    /// Number of files appended to.
    pub appended: u64,
    /// Number of files deleted after the transactions.
    pub deleted_alone: u64,
    /// Number of files deleted in transactions.
    pub deleted_mixed: u64,
    /// Bytes read, as the edition sums them: 1.0 in whole numbers, 1.5 in 32-bit floats.
    pub bytes_read: f64,
    /// Bytes written, summed in the same way.
    pub bytes_written: f64,
}
