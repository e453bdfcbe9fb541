//! **`connections-lost`** (DOUBTFUL). With `--engine nfs` or `s3`, connections to the server were
//! lost and opened again. With `nfs`, the client repeats the requests that were in flight, and
//! their latencies include the time without a connection. With `s3`, the operations of these
//! requests fail. *Threshold*: one lost connection. *Evidence*: `reconnections` of the
//! [messages](evidence.md). *What to do*: look at the network and at the server's log.

use super::rule::*;
use super::servers::server_counts;

/// Connections to a server were lost. Requests in flight on these connections were answered late or
/// not at all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ConnectionsLost {
    /// Number of connections that were opened again.
    pub times: u64,
}

impl Rule for ConnectionsLost {
    const ADVICE: &str = "see the network and the server's log";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let times = server_counts(record).reconnections;
        (times > 0).then_some(Self { times })
    }

    fn sentence(&self) -> String {
        format!(
            "{} to the server lost, so latencies include reconnection",
            counted(self.times, "connection")
        )
    }
}
