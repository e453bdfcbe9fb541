//! Why a file system could not be made, changed or removed.

use std::io;
use std::path::Path;

use crate::held_path::shown;
use crate::invalid::InvalidMakeSpec;

/// A file system could not be made, changed or removed: what failed on what, and why.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct MakeError {
    text: String,
    cause: Cause,
    is_left: bool,
}

/// What callers tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// A signal has ended what was being made.
    Signal,
    /// There is no room for what was to be written.
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

    /// An error of a system call.
    pub(crate) fn io(what: &str, path: &Path, answer: impl Into<io::Error>) -> Self {
        let (path, answer) = (shown(path), answer.into());
        let mut error = Self::new(format!("cannot {what} {}: {answer}", path.display()));
        if answer.kind() == io::ErrorKind::StorageFull {
            error.cause = Cause::NoRoom;
        }
        error
    }

    /// A signal has ended a command line, or what is said in words.
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

    /// Something else has the name of what was made.
    pub(crate) fn exchanged(path: &Path) -> Self {
        let path = shown(path);
        Self::new(format!(
            "another program has moved or exchanged {}",
            path.display()
        ))
    }

    /// What is mounted on a path was not mounted by this program.
    pub(crate) fn foreign_mount(path: &Path, why: &str) -> Self {
        let path = shown(path);
        Self::new(format!(
            "{} has a mount that was not made here: {why} (unmount it)",
            path.display()
        ))
    }

    /// What is left in the directory of a made file system, and why.
    pub(crate) fn left(directory: &Path, left: &str) -> Self {
        let directory = directory.display();
        Self::new(format!(
            "cannot remove all of {directory}: {left} (then run 'postmark clean {directory}')"
        ))
    }

    /// A program answered with something that is not understood.
    pub(crate) fn answer(command: &str, answer: &str) -> Self {
        Self::new(format!(
            "'{command}' answered '{answer}', which is not understood"
        ))
    }

    /// The same, after which what was made so far could not be removed either.
    pub(crate) fn and_left(self, removal: &Self) -> Self {
        Self {
            text: format!("{}; then {removal}", self.text),
            is_left: true,
            ..self
        }
    }

    /// Whether a signal has ended what was being made.
    pub fn is_interrupted(&self) -> bool {
        self.cause == Cause::Signal
    }

    /// Whether something that was made before the failure is still there.
    pub fn is_left(&self) -> bool {
        self.is_left
    }

    /// Whether the system had no room left for what was being written.
    pub fn is_no_room(&self) -> bool {
        self.cause == Cause::NoRoom
    }
}
