//! The interface between the worker loop and I/O engines, independent of any engine. This crate
//! makes no system calls and reads no clock.
//!
//! The worker loop submits whole operations to a [`Session`], each with a [`Ticket`], and receives
//! their outcomes. A synchronous session returns the outcome at once. A session with several
//! operations in flight returns it later.
//!
//! Rules for engines: an operation that completes with `Ok` was performed completely, and moved
//! exactly the requested bytes. A failure names the `Step` at which the operation failed, the
//! cause, and the number of bytes moved before the failure. Creation never opens an existing file.
//! A session allocates no memory while it performs operations.
//!
//! Rules for the worker loop: at most [`depth`](Engine::depth) operations of a session are in
//! flight, and never two of them on the same file. Two operations are on the same file if they
//! share a name, including names that they create or remove. Two operations are also on the same
//! file if one operation uses a link to the file of another operation. A session may thus perform
//! operations in flight in any order. A listing may be in flight together with operations that
//! change its directory.

// Other programs may use this crate, so every public item needs documentation.
#![warn(missing_docs)]

use core::time::Duration;
use std::path::PathBuf;
use std::sync::Arc;

pub use action::{Action, NameKind};
pub use capability::{Bytes, Capability};
pub use durability::{Durability, DurabilityError, FileSync, OperationSyncs};
pub use facts::{Cached, EngineFacts, NamespaceFacts, Targets};
pub use failure::{Cause, Errno, Failure, OperationOutcome};
pub use listing::{Listing, name_digest};
pub use name::{Name, NameWriter};
pub use namespace::Identity;
pub use need::{Need, Unsupported};
pub use operation::{Operation, OperationKind, OwnedOperation};
pub use policies::{Policies, PoliciesError};
pub use promise::Promise;
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
mod listing;
mod name;
mod need;
mod operation;
mod policies;
mod promise;
mod settings;
mod step;
mod ticket;
mod url;

/// Sizes, offsets and memory addresses of direct I/O must be multiples of this number of bytes.
/// This alignment is sufficient for every block device on which Linux mounts file systems by
/// default.
pub const DIRECT_ALIGNMENT: usize = 4096;

/// The result of [`Session::submit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// The operation is already complete, as always in a synchronous session.
    Done(OperationOutcome),
    /// The operation is in flight; [`Session::complete`] will return its outcome.
    InFlight,
}

/// The interface through which one worker uses an engine.
pub trait Session {
    /// Whether every operation is complete when [`submit`](Self::submit) returns.
    fn is_synchronous(&self) -> bool {
        true
    }

    /// Performs or starts an operation. The session copies all parameters that it needs later,
    /// because the worker loop reuses the buffers of names and contents afterwards. The worker loop
    /// keeps at most [`depth`](Engine::depth) operations in flight.
    fn submit(
        &mut self,
        ticket: Ticket,
        operation: &Operation<'_>,
        steps: &mut dyn Steps,
    ) -> Submitted;

    /// Sets the syncs of the next operation, instead of those of its durability policy. Engines
    /// that have no syncs of single operations ignore this.
    fn sync_next(&mut self, _syncs: OperationSyncs) {}

    /// Waits until an operation in flight completes, at most for `limit`; a limit of `None` is
    /// endless. Returns `None` if no operation is in flight, or if no operation completed in time.
    fn complete(
        &mut self,
        _limit: Option<Duration>,
        _steps: &mut dyn Steps,
    ) -> Option<(Ticket, OperationOutcome)> {
        None
    }

    /// Returns the contents of a completed read, or only their last part if they exceed
    /// [`keep_contents_bytes`](Settings::keep_contents_bytes). `None` if contents are not kept. The
    /// contents remain valid until the next call of `submit` or `complete`.
    fn content(&self, _ticket: Ticket) -> Option<&[u8]> {
        None
    }

    /// Returns the result of a completed listing, which remains valid until the next call of
    /// `submit` or `complete`. `None` if the engine stores no names.
    fn listing(&self, _ticket: Ticket) -> Option<Listing> {
        None
    }

    /// Returns all names in a directory, to explain a wrong listing. The time of this call is not
    /// measured, because the call allocates memory. Other operations may be in flight.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be read.
    fn names(&mut self, _directory: Name<'_>) -> Result<Vec<Vec<u8>>, Failure> {
        Ok(Vec::new())
    }

    /// Syncs the file system of a location: syncfs(2).
    fn sync_file_system(&mut self, _location: usize) -> OperationOutcome {
        Ok(())
    }
}

/// The reason why [`Engine::open`] cannot open a session.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory of a location cannot be opened.
    #[error("cannot open the directory {}: {cause}", .directory.display())]
    Directory {
        /// [`Location::path`], the directory that contains the files.
        directory: PathBuf,
        /// The system's error, such as a missing directory or permission.
        cause: std::io::Error,
    },
    /// The path leads to another directory than at the start of the run.
    #[error("{} is not the directory with which the run began: it was moved, replaced or mounted \
        over", .0.display())]
    Moved(PathBuf),
    /// The thread cannot act as the user whose rights the locations require.
    #[error("cannot act as user {user}: {cause} (run as that user, or add --allow-unsafe-target)")]
    Rights {
        /// The numeric ID of the user as whom the thread should act.
        user: u32,
        /// The system's error, such as `EPERM`.
        cause: std::io::Error,
    },
    /// The server of a target cannot be reached, or it rejects the mount.
    #[error(transparent)]
    Server(#[from] server::Unreachable),
    /// A buffer of this number of bytes cannot be allocated.
    #[error("not enough memory for a buffer of {0} bytes (use smaller blocks)")]
    NoMemory(usize),
    /// The engine lacks the durability policy or direct I/O of the settings.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
}

/// A method of performing operations, such as system calls or a network protocol.
pub trait Engine: Send + Sync {
    /// Facts about the engine that do not depend on a run.
    fn facts(&self) -> &'static EngineFacts;

    /// The engine's name, as the value of the option `--engine`.
    fn name(&self) -> &'static str {
        self.facts().name
    }

    /// The maximum number of operations that a session keeps in flight: 1 for synchronous sessions,
    /// and at most [`FLIGHTS_MAX`](Ticket::FLIGHTS_MAX).
    fn depth(&self) -> usize {
        1
    }

    /// Checks that the engine supports everything that a workload needs. Callers check this before
    /// the run starts, because a session panics if it gets an unsupported operation.
    ///
    /// # Errors
    /// Describes the first need that the engine does not support.
    fn supports(&self, need: &Need) -> Result<(), Unsupported> {
        self.facts().supports(need)
    }

    /// The kinds of operations that the engine performs by ordinary system calls, because its own
    /// interface lacks requests for them on this machine. Reports list these kinds.
    fn plain_operations(&self) -> Vec<OperationKind> {
        Vec::new()
    }

    /// The namespace that contains the engine's files; `None` if the engine creates no files.
    fn namespace(&self) -> Option<Arc<dyn namespace::Namespace>> {
        None
    }

    /// Opens a session on the worker's own thread. The thread must not hold open files, because an
    /// engine may give the thread a separate table of open files. The engine then closes all
    /// descriptors in this table except standard input, output and error.
    ///
    /// # Errors
    /// Returns an error if the session cannot be opened.
    fn open(&self, settings: &Settings) -> Result<Box<dyn Session>, OpenError>;
}
