//! `nfs`: NFS version 3 (RFC 1813) over TCP, with this program's own client. Between an operation
//! and the server, there is neither a kernel client nor a cache of names, attributes or data.
//!
//! An operation makes only the calls that it needs. Each operation looks up its file
//! (`docs/reference/nfs.md` lists the calls). Only handles of directories are cached; a session
//! looks up each directory once. A call is repeated only if its connection was lost, and the
//! repetition is counted. If the reply to a repeated call does not show whether the first call
//! succeeded, the operation fails with [`Cause::NotKnown`](engine::Cause).
//!
//! The protocol has no blocks: a READ or WRITE moves as many bytes as the server prefers, up to 1
//! MiB.

mod convert;
mod durable;
mod namespace;
mod session;
mod shared;
mod url;
mod verifiers;

use core::time::Duration;
use std::path::PathBuf;
use std::sync::Arc;

use engine::namespace::Namespace;
use engine::{
    Cached, Capability, Durability, Engine, EngineFacts, NamespaceFacts, OpenError, Promise,
    Session, Settings, Targets, Ticket,
};

use namespace::NfsNamespace;
use session::NfsSession;
use shared::{NfsShared, PROTOCOL};

pub static FACTS: EngineFacts = EngineFacts {
    name: "nfs",
    help: "Calls of NFS version 3 that the program makes itself, without any cache of this \
           machine: the default of targets like nfs://server/export",
    targets: Targets::Urls(&url::SYNTAX),
    protocol: Some(PROTOCOL),
    depth_max: 1024,
    capabilities: &[
        Capability::Contents,
        Capability::Appends,
        Capability::Ranges,
        Capability::Sizes,
        Capability::Names,
        Capability::Replacement,
        Capability::Attributes,
        Capability::Links,
        Capability::Trees,
    ],
    cache: Cached::None,
    direct: false,
    durability: &[
        Durability::None,
        Durability::Fdatasync,
        Durability::Fsync,
        Durability::FsyncDirectory,
        Durability::ODsync,
        Durability::OSync,
    ],
    // RFC 1813, 4.7: changes of names and attributes are stable when the server replies.
    promise: Promise::Names,
    namespace: Some(NamespaceFacts {
        identity: true,
        birth: false,
        locks: false,
    }),
};

/// The `nfs` engine. Clones share counters and targets.
#[derive(Clone, Debug)]
pub struct Nfs {
    shared: Arc<NfsShared>,
}

impl Nfs {
    /// The time limit for a reply, and for connecting to a lost server again.
    pub const TIMEOUT: Duration = Duration::from_secs(20);

    /// Creates an engine whose sessions keep up to `depth` operations in flight. Each target is the
    /// text of a [`Url`](engine::Url); an invalid URL is rejected when the target is opened.
    pub fn new(depth: usize, targets: &[PathBuf]) -> Self {
        Self::with_timeout(depth, targets, Self::TIMEOUT)
    }

    /// Creates an engine with another time limit. The limit applies to a reply, to connecting to a
    /// lost server again, and to a server that answers NFS3ERR_JUKEBOX.
    pub fn with_timeout(depth: usize, targets: &[PathBuf], timeout: Duration) -> Self {
        let depth = depth.clamp(1, Ticket::FLIGHTS_MAX);
        Self {
            shared: Arc::new(NfsShared::new(depth, targets, timeout)),
        }
    }
}

impl Engine for Nfs {
    fn facts(&self) -> &'static EngineFacts {
        &FACTS
    }

    fn depth(&self) -> usize {
        self.shared.depth
    }

    fn namespace(&self) -> Option<Arc<dyn Namespace>> {
        Some(Arc::new(NfsNamespace::new(Arc::clone(&self.shared))))
    }

    fn open(&self, settings: &Settings) -> Result<Box<dyn Session>, OpenError> {
        Ok(Box::new(NfsSession::open(&self.shared, settings)?))
    }
}
