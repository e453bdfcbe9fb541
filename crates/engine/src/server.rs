//! What is known of servers that a storage speaks to by itself, and what it has counted of that.

use crate::Durability;

/// How a server was spoken to, and what was agreed with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerFacts {
    /// The protocol with its version: `nfs3`.
    pub protocol: &'static str,
    /// The target's URL.
    pub url: String,
    /// The address and port of the service, as it was found.
    pub address: String,
    /// The port of the MOUNT service.
    pub mount_port: u16,
    /// The path that was mounted, as the server got it.
    pub export: String,
    /// Connections of each session.
    pub connections: u32,
    /// The user as whom calls are made.
    pub uid: u32,
    /// The group as which calls are made.
    pub gid: u32,
    /// Whether connections leave from a port below 1024.
    pub privileged_port: bool,
    /// The most bytes that a READ asks for.
    pub read_bytes_max: u32,
    /// The most bytes that a WRITE has.
    pub write_bytes_max: u32,
    /// The bytes of entries that a READDIR or a READDIRPLUS asks for.
    pub listing_bytes: u32,
    /// How long a reply is waited for, in milliseconds.
    pub timeout_ms: u64,
}

/// Calls of one procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallCount {
    /// The procedure's name in its protocol: `LOOKUP`.
    pub procedure: &'static str,
    /// Requests, each counted once, when it leaves for the first time.
    pub calls: u64,
    /// Transmissions of requests beyond the first.
    pub repetitions: u64,
    /// Bytes of the requests with their headers, of all transmissions.
    pub sent_bytes: u64,
    /// Bytes of the replies with their headers.
    pub received_bytes: u64,
}

/// What went between a storage and its servers since it was made, of all sessions and the home
/// together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerTraffic {
    /// The procedures of the file service that were called, a line each.
    pub calls: Vec<CallCount>,
    /// Calls of other services: mounting, the port mapper.
    pub other_calls: u64,
    /// Bytes of contents that READ replies brought.
    pub read_bytes: u64,
    /// Bytes of contents that WRITE requests took, those that were written again included.
    pub written_bytes: u64,
    /// Connections that were opened.
    pub connections: u64,
    /// Connections that were opened because one was lost.
    pub reconnections: u64,
    /// Changes of the write verifier: the server had restarted, and may have lost what was not
    /// committed.
    pub verifier_changes: u64,
    /// Bytes that were written again for that reason.
    pub rewritten_bytes: u64,
    /// Operations of which nobody knows whether the server has done them.
    pub not_known: u64,
    /// Writes that the server made more durable than it was asked to.
    pub stronger_answers: u64,
    /// Calls that were made again as the server wanted: it asked for them later, or an entry that
    /// went away had spoilt the page of a listing.
    pub delayed: u64,
    /// Replies that belonged to no request in flight: repeated ones.
    pub stray_replies: u64,
}

/// How durable contents are asked to be, in the words of NFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stability {
    /// A WRITE is answered when the server has the bytes in its memory.
    Unstable,
    /// The same, and a COMMIT behind the last WRITE of an operation.
    UnstableThenCommit,
    /// A WRITE is answered when its bytes, and what is needed to find them, are on stable storage.
    DataSync,
    /// A WRITE is answered when its bytes and all attributes are on stable storage.
    FileSync,
}

impl Stability {
    /// What a policy of durability comes to; `None` where the protocol has nothing for it.
    pub const fn of(durability: Durability) -> Option<Self> {
        match durability {
            Durability::None => Some(Self::Unstable),
            Durability::Fdatasync | Durability::Fsync | Durability::FsyncDirectory => {
                Some(Self::UnstableThenCommit)
            }
            Durability::ODsync => Some(Self::DataSync),
            Durability::OSync => Some(Self::FileSync),
            Durability::Batch(_) => None,
        }
    }

    /// The protocol's words for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unstable => "UNSTABLE",
            Self::UnstableThenCommit => "UNSTABLE, then COMMIT",
            Self::DataSync => "DATA_SYNC",
            Self::FileSync => "FILE_SYNC",
        }
    }
}

/// A server that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {doing} {of}: {why}")]
pub struct Unreachable {
    /// What was being done, in words that `of` can follow: `connect to`, `mount`.
    pub doing: &'static str,
    /// The server or the directory.
    pub of: String,
    /// What the server or the system answered, and what to do about it.
    pub why: String,
}
