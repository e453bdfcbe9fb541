//! `uring`: the calls of `posix`, as requests to the kernel's io_uring. A worker has a ring, and up
//! to `--depth` operations in flight.
//!
//! The requests of an operation are linked to a chain. The kernel opens a file in the ring's own
//! table of files, reads or writes, and closes the file. The program does not wait for each
//! request. Requests are passed to the kernel together, by the call that waits for completions.
//! Before Linux 5.17, a chain cannot use a file that it opens, so each request waits for the
//! previous one.
//!
//! An operation for which the kernel has no request, such as a listing, is performed by the system
//! calls of `posix` while other operations are in flight. `ring::Kernel` asks the kernel which
//! requests it has.

mod chain;
mod completion;
mod flight;
mod plan;
mod ring;
mod session;
mod stage;

use std::sync::Arc;

use engine::namespace::Namespace;
use engine::{
    Engine, EngineFacts, Need, OpenError, OperationKind, Session, Settings, Ticket, Unsupported,
};

use crate::kernel_namespace::KernelNamespace;
use crate::posix;
use ring::Ring;
use session::UringSession;

pub static FACTS: EngineFacts = EngineFacts {
    name: "uring",
    help: "The calls of posix as requests to io_uring, up to --depth operations of a worker in \
           flight",
    depth_max: 1024,
    ..posix::FACTS
};

/// The `uring` engine, which opens a ring for each worker.
#[derive(Clone, Copy, Debug)]
pub struct Uring {
    depth: usize,
    /// Whether chains and the ring's own table of files are used, if the kernel supports them.
    chains: bool,
}

impl Uring {
    /// Creates an engine whose sessions keep up to `depth` operations in flight.
    pub fn new(depth: usize) -> Self {
        Self {
            depth: depth.clamp(1, FACTS.depth_max.min(Ticket::FLIGHTS_MAX)),
            chains: true,
        }
    }

    /// Makes requests one after the other, as on kernels before Linux 5.17.
    pub fn without_chains(self) -> Self {
        Self {
            chains: false,
            ..self
        }
    }

    fn ring(&self) -> Result<Ring, Unsupported> {
        Ring::open(self.depth, self.chains).map_err(|refusal| FACTS.lacks(refusal))
    }
}

impl Engine for Uring {
    fn facts(&self) -> &'static EngineFacts {
        &FACTS
    }

    fn depth(&self) -> usize {
        self.depth
    }

    /// Also opens a ring of the size that a session needs. If the kernel refuses the ring, the run
    /// is thus rejected before it starts.
    fn supports(&self, need: &Need) -> Result<(), Unsupported> {
        FACTS.supports(need)?;
        self.ring().map(drop)
    }

    /// The kinds for which this kernel's io_uring has no request; empty if the kernel refuses a
    /// ring.
    fn plain_operations(&self) -> Vec<OperationKind> {
        let Ok(Ring { kernel, .. }) = self.ring() else {
            return Vec::new();
        };
        let all = OperationKind::ALL.into_iter();
        all.filter(|kind| !kernel.performs(*kind)).collect()
    }

    fn namespace(&self) -> Option<Arc<dyn Namespace>> {
        Some(Arc::new(KernelNamespace::default()))
    }

    fn open(&self, settings: &Settings) -> Result<Box<dyn Session>, OpenError> {
        let ring = || self.ring();
        Ok(Box::new(UringSession::open(ring, self.depth, settings)?))
    }
}
