//! What is lost, and why nothing can be said.

use std::fmt;
use std::io;
use std::path::Path;

use engine::Errno;
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
#[error("{0}")]
pub struct VerifyError(pub(crate) String);

impl VerifyError {
    /// The system gave an error that says nothing of the run's files.
    pub(crate) fn system(what: &str, path: &Path, errno: Errno) -> Self {
        Self(format!(
            "cannot {what} {}: {} (mount the file system, and verify as the user of the run or as \
             root)",
            path.display(),
            io::Error::from(errno)
        ))
    }
}
