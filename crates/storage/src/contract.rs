//! What the worker loop and a storage say to each other.
//!
//! The laws: an operation that completes with `Ok` was done wholly, and its bytes are exactly those asked for.
//! A failed one says at which step, why, and how many bytes had been moved. A creation never opens a file that
//! exists. A session keeps the order of operations on one file. It allocates nothing while it performs.

use std::ffi::CStr;
use std::fmt;
use std::path::PathBuf;

/// Where an operation's file or directory is, in the forms that storages want.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    /// The whole path, as the user's words begin it.
    pub path: &'a CStr,
    /// The number of the location that it lies in.
    pub location: usize,
    /// The part of `path` behind the location.
    pub relative: &'a CStr,
}

/// A whole operation.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a> {
    /// Make a file that is not there and write `content`, in blocks.
    Create {
        /// The new file.
        name: Name<'a>,
        /// What is written.
        content: &'a [u8],
    },
    /// Write `content` behind the end of a file that is there, in blocks.
    Append {
        /// The file.
        name: Name<'a>,
        /// What is written.
        content: &'a [u8],
    },
    /// Read a file of `bytes` bytes from its start, in blocks.
    Read {
        /// The file.
        name: Name<'a>,
        /// Its size.
        bytes: u64,
    },
    /// Remove a file's name.
    Delete {
        /// The file.
        name: Name<'a>,
    },
    /// Make a directory that is not there, mode 0700.
    MakeDirectory {
        /// The directory.
        name: Name<'a>,
    },
    /// Remove an empty directory.
    RemoveDirectory {
        /// The directory.
        name: Name<'a>,
    },
}

impl<'a> Operation<'a> {
    /// What the operation is done to.
    pub fn name(&self) -> Name<'a> {
        match self {
            Self::Create { name, .. }
            | Self::Append { name, .. }
            | Self::Read { name, .. }
            | Self::Delete { name }
            | Self::MakeDirectory { name }
            | Self::RemoveDirectory { name } => *name,
        }
    }
}

/// A part of an operation that ends at a moment of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The file is open.
    Open,
    /// Everything is written.
    Write,
    /// Everything is read.
    Read,
    /// The file is closed.
    Close,
    /// The name is gone.
    Unlink,
    /// The directory is there.
    MakeDirectory,
    /// The directory is gone.
    RemoveDirectory,
}

impl Step {
    /// The step's name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Write => "write",
            Self::Read => "read",
            Self::Close => "close",
            Self::Unlink => "unlink",
            Self::MakeDirectory => "mkdir",
            Self::RemoveDirectory => "rmdir",
        }
    }
}

/// Told of every step as it ends. Generic, so that one that does nothing compiles to nothing.
pub trait Steps {
    /// A step has ended well.
    fn ended(&mut self, step: Step);
}

/// Nobody wants to know.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSteps;

impl Steps for NoSteps {
    #[inline(always)]
    fn ended(&mut self, _: Step) {}
}

/// The system's number for an error.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(pub i32);

impl Errno {
    /// The calling thread's last error.
    pub fn last() -> Self {
        Self(std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        std::io::Error::from_raw_os_error(self.0).fmt(f)
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Errno({}: {self})", self.0)
    }
}

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// The system answered with an error.
    #[error("{0}")]
    System(Errno),
    /// The file ended before its size.
    #[error("the file ended after {read} of {expected} bytes")]
    EndedEarly {
        /// Bytes that were there.
        read: u64,
        /// Bytes that should have been.
        expected: u64,
    },
    /// A write call took nothing, and gave no error.
    #[error("a write call took no bytes and gave no error")]
    NothingWritten,
}

/// An operation that was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The step that failed.
    pub step: Step,
    /// Why.
    pub cause: Cause,
    /// Bytes moved before that, where the storage knows it: what a stream has really written it does not.
    pub moved_bytes: Option<u64>,
}

impl Failure {
    pub(crate) fn system(step: Step, errno: Errno) -> Self {
        Self {
            step,
            cause: Cause::System(errno),
            moved_bytes: Some(0),
        }
    }

    pub(crate) fn having_moved(self, moved_bytes: u64) -> Self {
        Self {
            moved_bytes: Some(moved_bytes),
            ..self
        }
    }

    /// The system's error, where there was one.
    pub fn errno(&self) -> Option<i32> {
        match self.cause {
            Cause::System(Errno(number)) => Some(number),
            Cause::EndedEarly { .. } | Cause::NothingWritten => None,
        }
    }
}

/// What became of an operation.
pub type Outcome = Result<(), Failure>;

/// The loop's name for an operation that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(pub u64);

/// What a session did with an operation that it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// It is done.
    Done(Outcome),
    /// It is under way; [`Session::complete`] will give its outcome.
    InFlight,
}

/// One worker's way to a storage.
pub trait Session {
    /// How many operations may be in flight at once. 1: each is done when [`submit`](Self::submit) returns.
    fn depth(&self) -> usize {
        1
    }

    /// Performs an operation, or begins to.
    fn submit<S: Steps>(&mut self, ticket: Ticket, operation: &Operation<'_>, steps: &mut S) -> Submitted;

    /// Waits for an operation in flight; `None` when there is none.
    fn complete<S: Steps>(&mut self, _steps: &mut S) -> Option<(Ticket, Outcome)> {
        None
    }
}

/// A place that files lie in.
#[derive(Clone, Debug)]
pub struct Location {
    /// The directory.
    pub directory: PathBuf,
}

/// What a session needs to know before its first operation.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes of one read call.
    pub read_block_bytes: usize,
    /// Bytes of one write call.
    pub write_block_bytes: usize,
    /// The locations, in their order.
    pub locations: Vec<Location>,
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
    /// No memory for a buffer.
    #[error("no memory for a read buffer of {0} bytes: give a smaller read block")]
    NoMemory(usize),
}

/// A way of doing input and output.
pub trait Storage: Sync {
    /// What a worker gets.
    type Session: Session;

    /// The name that options take.
    fn name(&self) -> &'static str;

    /// Opens a session, on the worker's own thread.
    ///
    /// # Errors
    /// Where the session cannot be had.
    fn open(&self, settings: &Settings) -> Result<Self::Session, OpenError>;
}
