//! Why an operation failed, and at which step.

use crate::Step;

/// The system's number for an error.
pub use rustix::io::Errno;

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
    #[error("a write call wrote no bytes and returned no error")]
    NothingWritten,
    /// The file has another size than it must have.
    #[error("the file has {found} bytes instead of {expected}")]
    WrongSize {
        /// Its size.
        found: u64,
        /// What it should be.
        expected: u64,
    },
    /// The symbolic link says something else than it must say.
    #[error("the symbolic link has a different target than it was created with")]
    WrongTarget,
    /// The extended attribute is not what it must be.
    #[error("the extended attribute has a different value than it was set to")]
    WrongValue,
    /// The run stops: the operation was left between two calls.
    #[error("the run was stopped")]
    Stopped,
    /// The connection to the server was lost, and what it answers by now does not tell what had
    /// become of the request.
    #[error("the connection was lost before the reply: the server may have done it or not")]
    NotKnown,
    /// A reply that the protocol does not have.
    #[error("the server's reply could not be understood")]
    Garbled,
}

/// An operation that was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The step that failed.
    pub step: Step,
    /// Why.
    pub cause: Cause,
    /// Bytes moved before that, where the engine knows it: what a stream has really written it
    /// does not.
    pub moved_bytes: Option<u64>,
}

impl Failure {
    /// A step that the system has answered with an error, before any bytes were moved.
    pub fn system(step: Step, errno: Errno) -> Self {
        Self::wrong(step, Cause::System(errno))
    }

    /// An answer that is not what it must be.
    pub fn wrong(step: Step, cause: Cause) -> Self {
        Self {
            step,
            cause,
            moved_bytes: Some(0),
        }
    }

    /// The same failure after so many bytes.
    pub fn having_moved(self, moved_bytes: u64) -> Self {
        Self {
            moved_bytes: Some(moved_bytes),
            ..self
        }
    }

    /// The failure, but for the one that the stop of the run has caused.
    ///
    /// # Errors
    /// Where something has failed.
    pub fn unless_stopped(self) -> OperationOutcome {
        match self.cause {
            Cause::Stopped => Ok(()),
            _ => Err(self),
        }
    }

    /// The system's error, where there was one.
    pub fn errno(&self) -> Option<i32> {
        match self.cause {
            Cause::System(errno) => Some(errno.raw_os_error()),
            _ => None,
        }
    }
}

/// What became of an operation.
pub type OperationOutcome = Result<(), Failure>;
