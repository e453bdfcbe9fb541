//! What can go wrong while a file system is made, kept up and removed.

use std::io;
use std::path::{Path, PathBuf};

use crate::cannot::CannotMake;
use crate::held_path::shown;
use crate::invalid::InvalidMakeSpec;

/// Something failed. Each text says what was done to what, what the system answered, and what to do
/// where that is known.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// The description contradicts itself.
    #[error(transparent)]
    Invalid(#[from] InvalidMakeSpec),
    /// Something is missing: nothing was made.
    #[error(transparent)]
    Cannot(#[from] CannotMake),
    /// A system call failed.
    #[error("cannot {what} {}: {answer}", path.display())]
    Io {
        /// What was being done, as a verb.
        what: &'static str,
        /// To what.
        path: PathBuf,
        /// The system's answer.
        #[source]
        answer: io::Error,
    },
    /// A program could not be started.
    #[error("cannot start '{command}': {answer}")]
    NotStarted {
        /// The command line.
        command: String,
        /// The system's answer.
        #[source]
        answer: io::Error,
    },
    /// A program failed.
    #[error("'{command}' failed with exit status {status}: {answer}")]
    Failed {
        /// The command line.
        command: String,
        /// Its exit status.
        status: i32,
        /// What it wrote to standard error, or to standard output where that is empty, in one
        /// line.
        answer: String,
    },
    /// A program was killed by a signal.
    #[error("'{command}' was killed by signal {signal}")]
    Killed {
        /// The command line.
        command: String,
        /// The signal.
        signal: i32,
    },
    /// A program did not end in its time, and was killed.
    #[error(
        "'{command}' did not end within {limit_s} s and was killed (is the device or the file \
         system below it hanging?)"
    )]
    Hung {
        /// The command line.
        command: String,
        /// The time that it had, in seconds.
        limit_s: u64,
    },
    /// A signal has ended what was being made.
    #[error("{what} was ended because of a signal")]
    Interrupted {
        /// What was being done: a command line, or in words.
        what: String,
    },
    /// The directory is not where it was made.
    #[error("another program has moved {} to {}, where no run finds it (leave it where it was \
        made)", from.display(), to.display())]
    Moved {
        /// Where it was made.
        from: PathBuf,
        /// Where it is.
        to: PathBuf,
    },
    /// Something else has the name of what was made.
    #[error("another program has moved or exchanged {}", path.display())]
    Exchanged {
        /// The name.
        path: PathBuf,
    },
    /// A tmpfs has no image that could be copied.
    #[error("a tmpfs has no states (use a kind of file system with an image)")]
    NoStates,
    /// A program answered with something that is not understood.
    #[error("'{command}' answered '{answer}', which is not understood")]
    Answer {
        /// The command line.
        command: String,
        /// What it wrote to standard output.
        answer: String,
    },
    /// The file system is not mounted any more.
    #[error("another process has unmounted {}", path.display())]
    MountGone {
        /// Where it was mounted.
        path: PathBuf,
    },
    /// What is mounted there was not mounted by this program.
    #[error("{} has a mount that was not made here: {why} (unmount it)", path.display())]
    MountForeign {
        /// Where it is mounted.
        path: PathBuf,
        /// What is mounted, and what was expected.
        why: String,
    },
    /// A loop device stays in use.
    #[error("{device} over {} is still in use (end what uses it, then run 'postmark clean')",
        image.display())]
    LoopBusy {
        /// The device.
        device: String,
        /// Its image.
        image: PathBuf,
    },
    /// There is no saved state of that name.
    #[error("no saved state '{0}' (save it first)")]
    NoState(String),
    /// The name of a state cannot be one.
    #[error(
        "invalid name of a state '{0}': expected 1 to 32 lower-case letters, digits and hyphens"
    )]
    StateName(String),
    /// A saved state is not as large as what it would be restored to.
    #[error("{} has {found_bytes} bytes, expected {expected_bytes} (remove the made file system \
        and make it again)", path.display())]
    StateSize {
        /// The file of the state.
        path: PathBuf,
        /// What it has.
        found_bytes: u64,
        /// What it should have.
        expected_bytes: u64,
    },
    /// Something could not be removed.
    #[error("cannot remove all of {}: {left} (then run 'postmark clean {}')", directory.display(),
        directory.display())]
    Left {
        /// The directory of the made file system.
        directory: PathBuf,
        /// What is left and why.
        left: String,
    },
    /// Making failed, and then removing what was made so far.
    #[error("{error}; then {removal}")]
    AndLeft {
        /// Why making failed.
        error: Box<MakeError>,
        /// Why removal failed.
        removal: Box<MakeError>,
    },
}

impl MakeError {
    /// An error of a system call.
    pub(crate) fn io(what: &'static str, path: &Path, answer: impl Into<io::Error>) -> Self {
        Self::Io {
            what,
            path: shown(path),
            answer: answer.into(),
        }
    }

    /// Whether a signal has ended what was being made.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Interrupted { .. } => true,
            Self::AndLeft { error, .. } => error.is_interrupted(),
            _ => false,
        }
    }

    /// Whether the system had no room left for what was being written.
    pub fn is_no_room(&self) -> bool {
        match self {
            Self::Io { answer, .. } => answer.kind() == io::ErrorKind::StorageFull,
            Self::Cannot(CannotMake::NoRoom { .. }) => true,
            Self::AndLeft { error, .. } => error.is_no_room(),
            _ => false,
        }
    }
}
