//! Servers that a storage spoke to by itself, and what went between them apart from single calls,
//! which are among the messages.

use core::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::MessagesReading;

/// How a server was spoken to, and what was agreed with it before the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerRecord {
    /// The protocol with its version: `nfs3`.
    pub protocol: String,
    /// The target's URL.
    pub url: String,
    /// The address and port of the service.
    pub address: String,
    /// The port of the MOUNT service.
    pub mount_port: u16,
    /// The path that was mounted.
    pub export: String,
    /// Connections of each worker.
    pub connections: u32,
    /// The user as whom calls were made.
    pub uid: u32,
    /// The group as which calls were made.
    pub gid: u32,
    /// Whether connections left from a port below 1024.
    pub privileged_port: bool,
    /// The most bytes that a READ asked for.
    pub read_bytes_max: u32,
    /// The most bytes that a WRITE had.
    pub write_bytes_max: u32,
    /// The bytes of entries that a READDIR or a READDIRPLUS asked for.
    pub listing_bytes: u32,
    /// How long a reply was waited for, in milliseconds.
    pub timeout_ms: u64,
    /// What an acknowledged write means, in the protocol's words: `UNSTABLE`, `UNSTABLE, then
    /// COMMIT`, `DATA_SYNC` or `FILE_SYNC`. Names are durable by the protocol's rule: an
    /// acknowledged change of one is on the server's stable storage.
    pub stability: String,
}

impl ServerRecord {
    /// Whether it was reached over the loopback interface.
    pub fn is_on_this_machine(&self) -> bool {
        let address = self.address.parse::<SocketAddr>();
        address.is_ok_and(|address| address.ip().is_loopback())
    }

    /// The place in a few words.
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

/// What went between the program and its servers in a stretch of time, of the workers and of what
/// the run does besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerCounts {
    /// Connections that were opened.
    pub connections: u64,
    /// Those of them that were opened because one was lost.
    pub reconnections: u64,
    /// Changes of the write verifier: the server had restarted, and may have lost what was not
    /// committed.
    pub verifier_changes: u64,
    /// Bytes that were written again for that reason.
    pub rewritten_bytes: u64,
    /// Operations of which nobody knows whether the server has done them: the connection was lost
    /// before the reply.
    pub not_known: u64,
    /// Writes that the server made more durable than it was asked to.
    pub stronger_answers: u64,
    /// Calls that were made again as the server wanted: it asked for them later (NFS3ERR_JUKEBOX),
    /// or an entry that went away had spoilt the page of a listing.
    pub delayed: u64,
    /// Replies that belonged to no request in flight: repeated ones.
    pub stray_replies: u64,
    /// Calls of other services: mounting, the port mapper. They are not among the messages.
    pub other_calls: u64,
}

impl ServerRecord {
    /// The facts that an engine has named.
    ///
    /// # Errors
    /// Where one is missing, or of another type.
    pub fn from_facts(facts: serde_json::Value) -> serde_json::Result<Self> {
        serde_json::from_value(facts)
    }
}

impl ServerCounts {
    /// Each count by its name, which gives how many.
    pub fn from_named(count_of: impl Fn(&str) -> u64) -> Self {
        let mut counts = Self::default();
        for (name, count) in counts.by_name() {
            *count = count_of(name);
        }
        counts
    }

    /// The counts of two stretches together.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        let mut other = *other;
        for ((_, count), (_, more)) in self.by_name().into_iter().zip(other.by_name()) {
            *count = count.saturating_add(*more);
        }
        self
    }

    fn by_name(&mut self) -> [(&'static str, &mut u64); 9] {
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
        ]
    }
}

/// All that went between a run and its servers, from its first look at them to its last call: the
/// home's part, such as the marks of its directory and their removal, is in no phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerTotals {
    /// The calls of the file service, by procedure.
    pub messages: MessagesReading,
    /// What happened besides.
    pub counts: ServerCounts,
}
