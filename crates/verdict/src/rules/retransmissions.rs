//! **`retransmissions`** (DOUBTFUL). Requests to a server were sent again. An NFS client waits 60 s
//! over TCP before it sends again (`timeo`, nfs(5)): one such wait outweighs thousands of requests.
//! *Threshold*: more than 0.1 % of the requests. *Evidence*: the [messages](evidence.md). *What to
//! do*: use a network without losses, and a server that is not overloaded.

use super::rule::*;
use crate::summary::evidence::phase_evidence;

/// Maximum share of requests that are sent again. An NFS client waits 60 s over TCP before it sends
/// again, so one such wait in a thousand requests outweighs all other requests.
const MAX: f64 = 0.001;

/// Requests to a server were sent again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Retransmissions {
    /// The mount point or the share whose requests were counted.
    pub of: String,
    /// Transmissions beyond the first of a request.
    pub retransmissions: u64,
    /// Requests sent, without retransmissions.
    pub requests: u64,
}

impl Rule for Retransmissions {
    const ADVICE: &str = "look for lost packets or an overloaded server";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let phases = record.actual.all_phases();
        let counters = phases.filter_map(|phase| Some(phase_evidence(record, phase)?.messages));
        counters.flatten().find_map(|sent| {
            let (requests, retransmissions) = (*sent.requests.known()?, sent.retransmissions?);
            (share(retransmissions, requests) > MAX).then_some(Self {
                of: sent.of,
                retransmissions,
                requests,
            })
        })
    }

    fn sentence(&self) -> String {
        format!(
            "{} of the requests to the server of {} sent again ({} of {}), limit {}",
            percent(share(self.retransmissions, self.requests)),
            sanitize(&self.of),
            grouped(self.retransmissions),
            grouped(self.requests),
            percent(MAX)
        )
    }
}
