//! The failures of operations: the cause and the call that failed.

use crate::Step;

/// An error number of the operating system (`errno`), as defined by the crate `rustix`.
pub use rustix::io::Errno;

/// The reason why an operation failed: an error of the system or a server, a wrong result, or the
/// stop of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// A system call returned this error, or a server returned a status that was converted to this
    /// error.
    #[error("{0}")]
    System(Errno),
    /// A read reached the end of the file before the requested number of bytes.
    #[error("the file ended after {read} of {expected} bytes")]
    EndedEarly {
        /// Number of bytes before the end of the file.
        read: u64,
        /// Number of bytes that were requested.
        expected: u64,
    },
    /// write(2), or WRITE of NFS, returned 0, although bytes remained to be written.
    #[error("a write call wrote no bytes and returned no error")]
    NothingWritten,
    /// The file's size differs from the size that the workload expects. Stats check the size, and
    /// so do complete reads whose contents are verified.
    #[error("the file has {found} bytes instead of {expected}")]
    WrongSize {
        /// The actual size in bytes, as the file system or the server reports it.
        found: u64,
        /// The size in bytes that the workload expects.
        expected: u64,
    },
    /// readlinkat(2), or READLINK of NFS, returned another target than the symbolic link was
    /// created with.
    #[error("the symbolic link has a different target than it was created with")]
    WrongTarget,
    /// A directory contains other files than the workload expects.
    #[error("the directory contains {found} files instead of {expected}, or files of other names")]
    WrongFiles {
        /// The number of files in the directory.
        found: u64,
        /// The number of files that the workload expects.
        expected: u64,
    },
    /// fgetxattr(2) returned another value than the run has set.
    #[error("the extended attribute has a different value than it was set to")]
    WrongValue,
    /// The run is stopping, so the operation ended between two calls.
    #[error("the run was stopped")]
    Stopped,
    /// The connection to the server was lost, and the reply to the repeated request does not show
    /// whether the first request was executed.
    #[error("the connection was lost before the reply: the server may have done it or not")]
    NotKnown,
    /// The server's reply violates the protocol.
    #[error("the server's reply could not be understood")]
    Garbled,
}

/// The failure of an operation: the `Step` that failed, the cause, and the number of bytes moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The first `Step` that failed; a later failure to close the file is not reported.
    pub step: Step,
    /// A system error, or the wrong result of a call that returned no error.
    pub cause: Cause,
    /// Number of bytes moved before the failure; `None` if not available, for example for buffered
    /// streams.
    pub moved_bytes: Option<u64>,
}

impl Failure {
    /// Creates the failure of a call that returned this system error and moved no bytes.
    pub fn system(step: Step, errno: Errno) -> Self {
        Self::wrong(step, Cause::System(errno))
    }

    /// Creates a failure with this `Step` and cause, and with 0 moved bytes.
    pub fn wrong(step: Step, cause: Cause) -> Self {
        Self {
            step,
            cause,
            moved_bytes: Some(0),
        }
    }

    /// Sets the number of bytes moved before the failure.
    pub fn having_moved(self, moved_bytes: u64) -> Self {
        Self {
            moved_bytes: Some(moved_bytes),
            ..self
        }
    }

    /// Returns `Ok` if the operation failed only because the run is stopping.
    ///
    /// # Errors
    /// Returns the failure for any other cause.
    pub fn unless_stopped(self) -> OperationOutcome {
        match self.cause {
            Cause::Stopped => Ok(()),
            _ => Err(self),
        }
    }

    /// The system's error number (`errno`); `None` if the cause is not an error of a system call or
    /// a server.
    pub fn errno(&self) -> Option<i32> {
        match self.cause {
            Cause::System(errno) => Some(errno.raw_os_error()),
            _ => None,
        }
    }
}

/// The result of an operation: success, or the failure with its `Step` and cause.
pub type OperationOutcome = Result<(), Failure>;
