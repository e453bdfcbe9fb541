//! What the worker loop and an engine say to each other, apart from any engine: no system call is
//! made here and no clock is read.
//!
//! The worker loop hands whole operations to a [`Session`], each with a [`Ticket`], and takes their
//! outcomes: at once from a session that performs one at a time, later from one that has several in
//! flight.
//!
//! The laws: an operation that completes with `Ok` was done wholly, and its bytes are exactly those
//! asked for. A failed one says at which step, why, and how many bytes had been moved. A creation
//! never opens a file that exists. A session allocates nothing while it performs.
//!
//! Of operations in flight the loop guarantees: no more than the engine's depth at once, and no
//! two of one session on one file, whether they share its name, a name that one of them gives or
//! takes, or the file that a link names. A session may thus perform them in any order. Listings are
//! of directories: what changes these may be in flight with them.

// Other programs may use it.
#![warn(missing_docs)]

use core::time::Duration;
use std::path::PathBuf;
use std::sync::Arc;

pub use action::{Action, NameKind};
pub use capability::{Bytes, Capability};
pub use durability::{Durability, DurabilityError};
pub use facts::{Cached, EngineFacts, NamespaceFacts, Targets};
pub use failure::{Cause, Errno, Failure, OperationOutcome};
pub use name::{Name, NameWriter};
pub use namespace::Identity;
pub use need::{Need, Unsupported};
pub use operation::{Operation, OperationKind, OwnedOperation};
pub use settings::{Location, Settings, Stopping};
pub use step::{NoSteps, Part, Step, Steps, When};
pub use ticket::Ticket;
pub use url::{Url, UrlError, UrlParameter, UrlSyntax, Values};

pub mod namespace;
pub mod server;

mod action;
mod capability;
mod durability;
mod facts;
mod failure;
mod held;
mod name;
mod need;
mod operation;
mod settings;
mod step;
mod ticket;
mod url;

/// What offsets, sizes and memory are multiples of in direct input and output. Every block device
/// that Linux has file systems on by default takes that.
pub const DIRECT_ALIGNMENT: usize = 4096;

/// What a session did with an operation that it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// It is done.
    Done(OperationOutcome),
    /// It is under way; [`Session::complete`] will give its outcome.
    InFlight,
}

/// What was in a directory that was listed, apart from entries whose names begin with a dot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// How many entries.
    pub entries: u64,
    /// The sum of the [`name_digest`]s of their names, so that their order does not matter.
    pub digest: u64,
}

impl Listing {
    /// Counts one more entry.
    #[inline]
    pub fn add(&mut self, name: &[u8]) {
        self.entries += 1;
        self.digest = self.digest.wrapping_add(name_digest(name));
    }

    /// Counts one entry less.
    #[inline]
    pub fn remove(&mut self, name: &[u8]) {
        self.entries -= 1;
        self.digest = self.digest.wrapping_sub(name_digest(name));
    }
}

/// A hash of a name: XXH3, 64 bits, of its bytes without any directory.
#[inline]
pub fn name_digest(name: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(name)
}

/// One worker's way to an engine.
pub trait Session {
    /// Whether every operation is done when [`submit`](Self::submit) returns, always.
    fn is_synchronous(&self) -> bool {
        true
    }

    /// Performs an operation, or begins to. It takes all that it needs of the operation before it
    /// returns: names and content are the loop's, which uses them for the next one. Never more
    /// are in flight than the [`depth`](Engine::depth) of the engine.
    fn submit(
        &mut self,
        ticket: Ticket,
        operation: &Operation<'_>,
        steps: &mut dyn Steps,
    ) -> Submitted;

    /// Waits until one of the operations in flight is done, for as long as it takes or so long at
    /// most. `None` when none is in flight, or none was done in that time.
    fn complete(
        &mut self,
        _limit: Option<Duration>,
        _steps: &mut dyn Steps,
    ) -> Option<(Ticket, OperationOutcome)> {
        None
    }

    /// What a read gave: all of it, or its last part where it did not fit into
    /// [`keep_contents_bytes`](Settings::keep_contents_bytes). `None` where nothing is kept. To be
    /// asked when the operation is done, before the next one is submitted or completed.
    fn content(&self, _ticket: Ticket) -> Option<&[u8]> {
        None
    }

    /// What a listing found; asked when a content is. `None` where the engine knows no names.
    fn listing(&self, _ticket: Ticket) -> Option<Listing> {
        None
    }

    /// All names in a directory, to explain a listing that is wrong. Not for measuring: it
    /// allocates. Others may be in flight.
    ///
    /// # Errors
    /// Where the directory could not be read.
    fn names(&mut self, _directory: Name<'_>) -> Result<Vec<Vec<u8>>, Failure> {
        Ok(Vec::new())
    }

    /// Has everything of a location's file system written to its device: syncfs(2).
    ///
    /// # Errors
    /// Where that failed.
    fn sync_file_system(&mut self, _location: usize) -> OperationOutcome {
        Ok(())
    }
}

/// A session could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory of a location could not be opened.
    #[error("cannot open the directory {}: {cause}", .directory.display())]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// What the system answered.
        cause: std::io::Error,
    },
    /// The path leads to another directory than it must.
    #[error("{} is not the directory with which the run began: it was moved, replaced or mounted \
        over", .0.display())]
    Moved(PathBuf),
    /// The thread cannot have the rights with which the locations are used.
    #[error("cannot act as user {user}: {cause} (run as that user, or add --allow-unsafe-target)")]
    Rights {
        /// Whose they are.
        user: u32,
        /// What the system answered.
        cause: std::io::Error,
    },
    /// The server cannot be used.
    #[error(transparent)]
    Server(#[from] server::Unreachable),
    /// No memory for a buffer.
    #[error("not enough memory for a buffer of {0} bytes (use smaller blocks)")]
    NoMemory(usize),
    /// The settings ask for what the engine does not have.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
}

/// A way of doing input and output.
pub trait Engine: Send + Sync {
    /// What is known of it.
    fn facts(&self) -> &'static EngineFacts;

    /// The name that options take.
    fn name(&self) -> &'static str {
        self.facts().name
    }

    /// How many operations of a session may be in flight at once; 1 where sessions are synchronous,
    /// and never more than [`FLIGHTS_MAX`](Ticket::FLIGHTS_MAX).
    fn depth(&self) -> usize {
        1
    }

    /// Whether the engine has what a workload needs. To be asked before the run starts: a session
    /// that is given an operation that the engine does not have panics.
    ///
    /// # Errors
    /// The first thing that it does not have.
    fn supports(&self, need: &Need) -> Result<(), Unsupported> {
        self.facts().supports(need)
    }

    /// Where the files of a run live that it performs operations on; `None` where it makes none.
    fn namespace(&self) -> Option<Arc<dyn namespace::Namespace>> {
        None
    }

    /// Opens a session, on the worker's own thread, which holds no open files of its own: all but
    /// standard input, output and error are closed there where the system lets a thread have a
    /// table of its own.
    ///
    /// # Errors
    /// Where the session cannot be had.
    fn open(&self, settings: &Settings) -> Result<Box<dyn Session>, OpenError>;
}
