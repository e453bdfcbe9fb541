//! The error type for making, changing or removing a scratch file system.

use std::io;
use std::path::Path;

use crate::held_path::shown;
use crate::invalid::InvalidMakeSpec;
use crate::still_used::StillUsed;

/// An operation on a scratch file system failed. The message contains the failed action, its
/// object, and the reason.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct MakeError {
    text: String,
    cause: Cause,
    is_left: bool,
}

/// Causes of an error that callers handle in different ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Signal,
    NoRoom,
    Other,
}

impl From<InvalidMakeSpec> for MakeError {
    fn from(invalid: InvalidMakeSpec) -> Self {
        Self::new(invalid.0)
    }
}

impl MakeError {
    pub(crate) fn new(text: String) -> Self {
        Self {
            text,
            cause: Cause::Other,
            is_left: false,
        }
    }

    /// Returns the error of a failed system call. The message begins with "cannot", followed by
    /// `what` and the path.
    pub(crate) fn io(what: &str, path: &Path, answer: impl Into<io::Error>) -> Self {
        let (path, answer) = (shown(path), answer.into());
        let mut error = Self::new(format!("cannot {what} {}: {answer}", path.display()));
        if answer.kind() == io::ErrorKind::StorageFull {
            error.cause = Cause::NoRoom;
        }
        error
    }

    /// Returns the error for an operation that a signal ended; `what` describes the operation.
    pub(crate) fn interrupted(what: &str) -> Self {
        Self {
            cause: Cause::Signal,
            ..Self::new(format!("{what} was ended because of a signal"))
        }
    }

    pub(crate) fn no_room(text: String) -> Self {
        Self {
            cause: Cause::NoRoom,
            ..Self::new(text)
        }
    }

    /// Returns the error for a file or directory of this program that another program has moved or
    /// replaced.
    pub(crate) fn exchanged(path: &Path) -> Self {
        let path = shown(path);
        Self::new(format!(
            "another program has moved or exchanged {}",
            path.display()
        ))
    }

    /// Returns the error for a mount point on which another program has mounted a file system.
    pub(crate) fn foreign_mount(path: &Path, why: &str) -> Self {
        let path = shown(path);
        Self::new(format!(
            "{} has a mount that was not made here: {why} (unmount it)",
            path.display()
        ))
    }

    /// Returns the error for a scratch file system that another program has mounted a second time.
    pub(crate) fn mounted_elsewhere(point: &Path) -> Self {
        let point = shown(point);
        Self::new(format!(
            "another program has mounted the file system on {} (unmount it)",
            point.display()
        ))
    }

    /// Returns the error for an image whose contents are needed while another process uses it.
    pub(crate) fn still_used(used: &StillUsed) -> Self {
        Self::new(format!(
            "the state of {} cannot be saved: {} is still used by {}",
            used.image.display(),
            used.device,
            used.users()
        ))
    }

    /// Returns the error for a directory whose entries could not all be removed.
    pub(crate) fn left(directory: &Path, left: &str) -> Self {
        let directory = directory.display();
        Self::new(format!(
            "cannot remove all of {directory}: {left} (then run 'postmark clean {directory}')"
        ))
    }

    /// Returns the error for the output of a program that cannot be parsed.
    pub(crate) fn answer(command: &str, answer: &str) -> Self {
        Self::new(format!(
            "'{command}' answered '{answer}', which is not understood"
        ))
    }

    /// Adds the error of a removal that followed this error.
    pub(crate) fn and_left(self, removal: &Self) -> Self {
        Self {
            text: format!("{}; then {removal}", self.text),
            is_left: true,
            ..self
        }
    }

    /// Whether a signal ended the failed operation.
    pub fn is_interrupted(&self) -> bool {
        self.cause == Cause::Signal
    }

    /// Whether files or mounts that were made before the failure still exist.
    pub fn is_left(&self) -> bool {
        self.is_left
    }

    /// Whether the failure is a lack of free space, so that a smaller size may succeed.
    pub fn is_no_room(&self) -> bool {
        self.cause == Cause::NoRoom
    }
}
