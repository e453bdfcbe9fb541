//! `nfs`: NFS version 3 (RFC 1813) over TCP, spoken by this program itself: no kernel client, no
//! cache of names, attributes or data lies between an operation and the server.
//!
//! Every operation is made of the calls that it needs and no others. A file is looked up by each
//! operation that is done to it (the table in `docs/specification.md` has the calls); handles are
//! kept of directories alone, which a session looks up once. A call is sent again only where its
//! connection was lost, and that is counted; where the answer to a repeated call does not tell what
//! the first one had done, the operation fails as one of which nobody knows
//! ([`Cause::NotKnown`](engine::Cause)).
//!
//! Blocks are not the protocol's: a READ or WRITE moves as much as the server prefers, up to 1 MiB.

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
    Cached, Capability, Durability, Engine, EngineFacts, NamespaceFacts, OpenError, Session,
    Settings, Targets, Ticket,
};

use namespace::NfsNamespace;
use session::NfsSession;
use shared::{NfsShared, PROTOCOL};

/// What is known of it before a run.
pub static FACTS: EngineFacts = EngineFacts {
    name: "nfs",
    help: "Calls of NFS version 3 that the program makes itself, without any cache of this \
           machine: the default of targets like nfs://server/export",
    targets: Targets::Urls(&url::SYNTAX),
    protocol: Some(PROTOCOL),
    depth_max: 1024,
    capabilities: &[
        Capability::Contents,
        Capability::Ranges,
        Capability::Names,
        Capability::Replacement,
        Capability::Attributes,
        Capability::Links,
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
    namespace: Some(NamespaceFacts {
        identity: true,
        birth: false,
        locks: false,
    }),
};

/// The engine of this module. Clones are the same engine.
#[derive(Clone, Debug)]
pub struct Nfs {
    shared: Arc<NfsShared>,
}

impl Nfs {
    /// How long a reply is waited for, or a server that is gone.
    pub const TIMEOUT: Duration = Duration::from_secs(20);

    /// Whose sessions have so many operations in flight, on the servers of these targets: each is
    /// the text of a [`Url`](engine::Url). What is none is refused when it is
    /// opened.
    pub fn new(depth: usize, targets: &[PathBuf]) -> Self {
        Self::with_timeout(depth, targets, Self::TIMEOUT)
    }

    /// The same that waits otherwise: for a reply, for a server that is gone, and for one that asks
    /// to be asked later.
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
