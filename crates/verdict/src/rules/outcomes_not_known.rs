//! **`outcomes-not-known`** (INVALID). With `--engine nfs` or `s3`, the connection was lost between
//! the request and the reply of an operation that must not be repeated. So it is not known whether
//! the server performed the operation. Such an operation counts as failed, and its file is not used
//! again. *Threshold*: one such operation. *Evidence*: `not_known`. *What to do*: repeat the run.

use super::rule::*;
use super::servers::server_counts;

/// The outcome of some operations is not known: the server may have performed them or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct OutcomesNotKnown {
    /// Number of such operations. They count as failed.
    pub operations: u64,
}

impl Rule for OutcomesNotKnown {
    const LEVEL: Level = Level::Invalid;
    const ADVICE: &str = "repeat the run";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let operations = server_counts(record).not_known;
        (operations > 0).then_some(Self { operations })
    }

    fn sentence(&self) -> String {
        let operations = counted(self.operations, "operation");
        format!("outcome of {operations} unknown, because a connection was lost before the reply")
    }
}
