//! Errors of making, changing or removing a scratch file system.

use std::io;
use std::path::Path;

use crate::held_path::shown;
use crate::invalid::InvalidMakeSpec;

/// A scratch file system could not be made, changed or removed. The text contains what failed on
/// what, and why.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct MakeError {
    text: String,
    cause: Cause,
    is_left: bool,
}

/// Causes that callers distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// A signal ended the operation.
    Signal,
    /// The file system below is full.
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

    /// A failed system call. `what` completes "cannot ..."; the path follows it.
    pub(crate) fn io(what: &str, path: &Path, answer: impl Into<io::Error>) -> Self {
        let (path, answer) = (shown(path), answer.into());
        let mut error = Self::new(format!("cannot {what} {}: {answer}", path.display()));
        if answer.kind() == io::ErrorKind::StorageFull {
            error.cause = Cause::NoRoom;
        }
        error
    }

    /// A signal ended a command or another operation; `what` describes it.
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

    /// Another file or directory has replaced one of ours.
    pub(crate) fn exchanged(path: &Path) -> Self {
        let path = shown(path);
        Self::new(format!(
            "another program has moved or exchanged {}",
            path.display()
        ))
    }

    /// The mount on a path was not made by this program.
    pub(crate) fn foreign_mount(path: &Path, why: &str) -> Self {
        let path = shown(path);
        Self::new(format!(
            "{} has a mount that was not made here: {why} (unmount it)",
            path.display()
        ))
    }

    /// Some entries of a scratch file system's directory could not be removed.
    pub(crate) fn left(directory: &Path, left: &str) -> Self {
        let directory = directory.display();
        Self::new(format!(
            "cannot remove all of {directory}: {left} (then run 'postmark clean {directory}')"
        ))
    }

    /// The output of a program could not be parsed.
    pub(crate) fn answer(command: &str, answer: &str) -> Self {
        Self::new(format!(
            "'{command}' answered '{answer}', which is not understood"
        ))
    }

    /// This error, and another one from removing what was made before it.
    pub(crate) fn and_left(self, removal: &Self) -> Self {
        Self {
            text: format!("{}; then {removal}", self.text),
            is_left: true,
            ..self
        }
    }

    /// Whether a signal ended the operation.
    pub fn is_interrupted(&self) -> bool {
        self.cause == Cause::Signal
    }

    /// Whether some of what was made before the failure still exists.
    pub fn is_left(&self) -> bool {
        self.is_left
    }

    /// Whether the file system below had no free space left.
    pub fn is_no_room(&self) -> bool {
        self.cause == Cause::NoRoom
    }
}
