//! What is lost, and why nothing can be said.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use workload::Action;

/// How an acknowledged operation is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// What was made is not there.
    Missing,
    /// What was removed is there.
    StillThere,
    /// The contents are not those that were written.
    Torn,
    /// The size is not the one that was acknowledged.
    WrongSize,
}

impl LossKind {
    /// The kind's name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::StillThere => "still there",
            Self::Torn => "torn",
            Self::WrongSize => "wrong size",
        }
    }
}

/// A path whose last acknowledged operation is not what is found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// The operation that was acknowledged last: on the name where that is wrong, on the file
    /// where its contents or its size are.
    pub what: Action,
    /// The path.
    pub path: String,
    /// What was found, in words.
    pub why: String,
    /// What is wrong.
    pub kind: LossKind,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}: {}: {}",
            self.what.name(),
            self.kind.name(),
            self.path,
            self.why
        )
    }
}

/// Nothing can be said.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The system gave an error that says nothing of the run's files.
    #[error("cannot {what} {}: {answer} (mount the file system, and verify as the user of the run \
        or as root)", .path.display())]
    System {
        /// What was being done.
        what: &'static str,
        /// To what.
        path: PathBuf,
        /// What the system answered.
        answer: io::Error,
    },
    /// The acknowledgement log cannot be read.
    #[error("cannot read the acknowledgement log {}: {answer} (use the file that the run had as \
        --ack-log)", .path.display())]
    AckLog {
        /// The acknowledgement log.
        path: PathBuf,
        /// What the system answered.
        answer: io::Error,
    },
    /// The file is no acknowledgement log that this program understands.
    #[error("{} is not an acknowledgement log of postmark: {why} (use the file that the run had \
        as --ack-log)", .path.display())]
    NotAnAckLog {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The acknowledgement log was changed after it was written.
    #[error(
        "the acknowledgement log {} is damaged in line {line}: {why} (use an undamaged copy, or \
            repeat the run)",
        .path.display()
    )]
    Damaged {
        /// The acknowledgement log.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        why: String,
    },
    /// The run's directory is not there.
    #[error(
        "cannot find the run directory {name} in {}, and the run did not remove it (mount the \
            file system, and use the --target of the run; if {} is that directory, the run \
            directory and all its files are lost)",
        .path.display(), .path.display()
    )]
    NoDirectory {
        /// Where it was looked for.
        path: PathBuf,
        /// Its name.
        name: String,
    },
}

impl VerifyError {
    pub(crate) fn system(what: &'static str, path: &Path, answer: io::Error) -> Self {
        Self::System {
            what,
            path: path.to_owned(),
            answer,
        }
    }
}
