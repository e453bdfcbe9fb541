//! **`server-restarted`** (DOUBTFUL). With `--engine nfs`, the server answered with another write
//! verifier: it was restarted, and may have lost contents that were not committed. The client
//! writes them again. *Threshold*: one change. *Evidence*: `verifier_changes` and
//! `rewritten_bytes`. *What to do*: find out why the server was restarted, and repeat the run.

use super::rule::*;
use super::servers::server_counts;

/// A server was restarted during the run, and contents that the server may have lost were written
/// again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ServerRestarted {
    /// Changes of the server's write verifier.
    pub times: u64,
    /// Bytes that were written again, because the server may have lost them.
    pub rewritten_bytes: u64,
}

impl Rule for ServerRestarted {
    const ADVICE: &str = "see the server's log";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let counts = server_counts(record);
        (counts.verifier_changes > 0).then_some(Self {
            times: counts.verifier_changes,
            rewritten_bytes: counts.rewritten_bytes,
        })
    }

    fn sentence(&self) -> String {
        format!(
            "the server restarted (write verifier changed {}, {} written again)",
            counted(self.times, "time"),
            bytes(self.rewritten_bytes as f64)
        )
    }
}
