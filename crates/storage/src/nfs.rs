//! `nfs`: NFS version 3 (RFC 1813) over TCP, spoken by this program itself: no kernel client, no cache of names, attributes
//! or data lies between an operation and the server.

use std::path::PathBuf;
use std::sync::Arc;

use contract::home::Home;
use contract::{
    Capability, Durability, Need, OpenError, Operation, OperationOutcome, Session, Settings, Steps, Storage, Submitted,
    Ticket, Unsupported,
};

/// The storage of this module. Clones are the same storage.
#[derive(Clone, Debug)]
pub struct Nfs {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    depth: usize,
    targets: Vec<PathBuf>,
}

/// A worker's session of it.
#[derive(Debug)]
pub struct NfsSession(core::convert::Infallible);

impl Nfs {
    /// Whose sessions have so many operations in flight, on the servers of these targets: each is the text of a URL,
    /// `nfs://host/path`.
    pub fn new(depth: usize, targets: &[PathBuf]) -> Self {
        Self {
            shared: Arc::new(Shared {
                depth: depth.clamp(1, Ticket::FLIGHTS_MAX),
                targets: targets.to_vec(),
            }),
        }
    }
}

impl Storage for Nfs {
    type Session = NfsSession;

    fn name(&self) -> &'static str {
        "nfs"
    }

    fn depth(&self) -> usize {
        self.shared.depth
    }

    fn supports(&self, need: &Need) -> Result<(), Unsupported> {
        let storage = self.name();
        let lacks = |capability| matches!(capability, Capability::ExtendedAttributes | Capability::Cache);
        if let Some(operation) = need.operations.iter().find(|kind| lacks(kind.needs())) {
            return Err(Unsupported::Operation {
                storage,
                operation: *operation,
            });
        }
        if let Durability::Batch(_) = need.durability {
            return Err(Unsupported::Durability {
                storage,
                durability: need.durability,
            });
        }
        if need.direct {
            return Err(Unsupported::Direct { storage });
        }
        Ok(())
    }

    fn home(&self) -> Option<Arc<dyn Home>> {
        None
    }

    fn open(&self, _: &Settings) -> Result<NfsSession, OpenError> {
        Err(OpenError::Directory {
            directory: self.shared.targets.first().cloned().unwrap_or_default(),
            cause: std::io::ErrorKind::Unsupported.into(),
        })
    }
}

impl Session for NfsSession {
    const IS_SYNCHRONOUS: bool = false;

    fn submit<S: Steps>(&mut self, _: Ticket, _: &Operation<'_>, _: &mut S) -> Submitted {
        match self.0 {}
    }

    fn complete<S: Steps>(&mut self, _: Option<core::time::Duration>, _: &mut S) -> Option<(Ticket, OperationOutcome)> {
        match self.0 {}
    }
}
