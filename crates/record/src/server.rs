//! Servers that an I/O engine contacts itself, and events in the communication with these servers.
//! Calls are not events: they are counted as messages ([`MessagesReading`]).

use core::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::MessagesReading;

/// How a server was contacted, and the limits that client and server negotiated before the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerRecord {
    /// The protocol, with its version if it has one: `nfs3`, `s3`.
    pub protocol: String,
    /// URL of the target, such as `nfs://server/export`.
    pub url: String,
    /// Address and port of the service.
    pub address: String,
    /// Port of the MOUNT service; absent if the protocol is not NFS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount_port: Option<u16>,
    /// Path on the server that was mounted; for S3, the bucket and the prefix.
    pub export: String,
    /// Number of connections of each worker.
    pub connections: u32,
    /// User ID in the AUTH_SYS credentials of each call; absent if the protocol is not NFS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// Group ID in the AUTH_SYS credentials of each call; absent if the protocol is not NFS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gid: Option<u32>,
    /// Whether connections used a local port below 1024; absent if the protocol is not NFS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub privileged_port: Option<bool>,
    /// Maximum number of bytes that a READ requested; absent if the protocol is not NFS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes_max: Option<u32>,
    /// Maximum number of bytes that a WRITE sent; absent if the protocol is not NFS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes_max: Option<u32>,
    /// Size of the list of entries that a READDIR or READDIRPLUS requested, in bytes; absent if the
    /// protocol is not NFS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listing_bytes: Option<u32>,
    /// Timeout of a reply, in milliseconds.
    pub timeout_ms: u64,
    /// Meaning of an acknowledged write, in the protocol's terms: `UNSTABLE`, `UNSTABLE, then
    /// COMMIT`, `DATA_SYNC` or `FILE_SYNC`. Names are always durable: by the protocol, an
    /// acknowledged change of a name is on the server's stable storage. Absent if the protocol
    /// defines no such meaning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stability: Option<String>,
    /// Region for which requests were signed; absent if the protocol is not S3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// How requests named the bucket: `path` or `virtual`; absent if the protocol is not S3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<String>,
    /// Whether signatures covered the bodies of requests: `signed` or `unsigned`; absent if the
    /// protocol is not S3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
    /// Object size, in bytes, above which objects were uploaded in parts of this size; absent if
    /// the protocol is not S3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_bytes: Option<u64>,
}

impl ServerRecord {
    /// Whether the server was reached over the loopback interface.
    pub fn is_on_this_machine(&self) -> bool {
        let address = self.address.parse::<SocketAddr>();
        address.is_ok_and(|address| address.ip().is_loopback())
    }

    /// Describes the server: protocol, address and export.
    pub fn one_line(&self) -> String {
        let Self {
            protocol,
            address,
            export,
            ..
        } = self;
        format!("{protocol} {address}:{export} (in user space)")
    }
}

/// Events between the program and its servers in a period, caused by the workers or by the run
/// itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerCounts {
    /// Number of connections that were opened.
    pub connections: u64,
    /// Number of connections that were opened because another connection was lost.
    pub reconnections: u64,
    /// Number of changes of the write verifier: the server had restarted, and may have lost
    /// uncommitted data.
    pub verifier_changes: u64,
    /// Bytes that were written again because the write verifier had changed.
    pub rewritten_bytes: u64,
    /// Number of operations for which it is unknown whether the server performed them, because the
    /// connection was lost before the reply.
    pub not_known: u64,
    /// Number of writes that the server made more durable than requested.
    pub stronger_answers: u64,
    /// Number of calls that were repeated, because the server asked for it (NFS3ERR_JUKEBOX), or
    /// because a removed entry had invalidated the page of a listing.
    pub delayed: u64,
    /// Number of replies that belonged to no request in flight, because the server repeated them.
    pub stray_replies: u64,
    /// Number of calls to other services (mounting, port mapper). The counts of messages exclude
    /// these calls.
    pub other_calls: u64,
    /// Number of answers that asked the client to slow down, such as `503 SlowDown` of S3.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slow_downs: u64,
    /// Number of creations before which the I/O engine asked whether the object exists. It asks if
    /// the S3 server cannot create an object on the condition that the object does not exist.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unconditional_creations: u64,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ServerRecord {
    /// Creates the record from the facts that an I/O engine reports.
    ///
    /// # Errors
    /// Returns an error if a fact is missing, or has another type.
    pub fn from_facts(facts: serde_json::Value) -> serde_json::Result<Self> {
        serde_json::from_value(facts)
    }
}

impl ServerCounts {
    /// Creates the counts from a function that returns the count for the name of a field.
    pub fn from_named(count_of: impl Fn(&str) -> u64) -> Self {
        let mut counts = Self::default();
        for (name, count) in counts.by_name() {
            *count = count_of(name);
        }
        counts
    }

    /// Adds the counts of two periods.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        let mut other = *other;
        for ((_, count), (_, more)) in self.by_name().into_iter().zip(other.by_name()) {
            *count = count.saturating_add(*more);
        }
        self
    }

    fn by_name(&mut self) -> [(&'static str, &mut u64); 11] {
        [
            ("connections", &mut self.connections),
            ("reconnections", &mut self.reconnections),
            ("verifier_changes", &mut self.verifier_changes),
            ("rewritten_bytes", &mut self.rewritten_bytes),
            ("not_known", &mut self.not_known),
            ("stronger_answers", &mut self.stronger_answers),
            ("delayed", &mut self.delayed),
            ("stray_replies", &mut self.stray_replies),
            ("other_calls", &mut self.other_calls),
            ("slow_downs", &mut self.slow_downs),
            ("unconditional_creations", &mut self.unconditional_creations),
        ]
    }
}

/// All communication between a run and its servers, from the first contact to the last call. The
/// totals include calls outside of phases, for example those that create and remove the run
/// directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerTotals {
    /// Calls to the file service, by procedure.
    pub messages: MessagesReading,
    /// Events in the communication other than calls, such as lost connections.
    pub counts: ServerCounts,
}
