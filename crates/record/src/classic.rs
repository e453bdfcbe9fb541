//! Numbers of the report of the original PostMark: counts, times in whole seconds, and sums of
//! bytes. PostMark 1.0 and 1.5 add bytes with different types of numbers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::{Edition, End};

/// Numbers of the original PostMark's report for one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassicFigures {
    /// Version of the original PostMark that prints this report: 1.0 or 1.5.
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
    /// Number of requested transactions. The report divides this number by the duration of the
    /// transactions to get a rate.
    pub transactions: u64,
    /// Number of files created before the transactions.
    pub created_alone: u64,
    /// Number of files created in transactions.
    pub created_mixed: u64,
    /// Number of reads in transactions, each of a whole file.
    pub read: u64,
    /// Number of appends in transactions.
    pub appended: u64,
    /// Number of files deleted after the transactions.
    pub deleted_alone: u64,
    /// Number of files deleted in transactions.
    pub deleted_mixed: u64,
    /// Sum of the bytes read. PostMark 1.0 adds whole numbers, PostMark 1.5 adds 32-bit floats.
    pub bytes_read: f64,
    /// Sum of the bytes written, with the same type of number as `bytes_read`.
    pub bytes_written: f64,
}
