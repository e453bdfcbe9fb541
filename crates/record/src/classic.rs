//! What the original's report is made of: counts, whole seconds, and sums of bytes as its editions
//! add them up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::{Edition, End};

/// The figures of one run, as the original keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassicFigures {
    /// Whose report it is.
    pub edition: Edition,
    /// Why the transactions ended; when out of files, the original prints no report.
    pub end: End,
    /// Wall clock in whole seconds of the epoch: creations begin.
    pub began_s: i64,
    /// The same: transactions begin.
    pub transactions_began_s: i64,
    /// The same: transactions have ended.
    pub transactions_ended_s: i64,
    /// The same: everything is deleted.
    pub ended_s: i64,
    /// Transactions asked for: rates are of these.
    pub transactions: u64,
    /// Files created before the transactions.
    pub created_alone: u64,
    /// Files created in transactions.
    pub created_mixed: u64,
    /// Files read.
    pub read: u64,
    /// Files appended to.
    pub appended: u64,
    /// Files deleted after the transactions.
    pub deleted_alone: u64,
    /// Files deleted in transactions.
    pub deleted_mixed: u64,
    /// Bytes read, as the edition adds them up: 1.0 in whole numbers, 1.5 in 32-bit floats.
    pub bytes_read: f64,
    /// Bytes written, likewise.
    pub bytes_written: f64,
}
