//! Kinds of losses of acknowledged operations, and errors that make verification impossible.

use std::fmt;
use std::io;
use std::path::Path;

use engine::Errno;
use serde::Serialize;
use workload::Action;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// A created name does not exist.
    Missing,
    /// A removed name still exists.
    StillThere,
    /// The contents or the type of the entry differ from those that were written.
    Torn,
    /// The size differs from the acknowledged size.
    WrongSize,
}

impl LossKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::StillThere => "still there",
            Self::Torn => "torn",
            Self::WrongSize => "wrong size",
        }
    }
}

/// A path whose state does not match its last acknowledged operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// The last acknowledged operation on the name; if the contents or size are wrong, the last
    /// acknowledged operation on the file.
    pub what: Action,
    pub path: String,
    /// The state in which verification found the path, as a sentence.
    pub why: String,
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

/// The log cannot be compared with the directories; contains the error message.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct VerifyError(pub(crate) String);

impl VerifyError {
    /// Error for a failed system call that does not indicate a loss.
    pub(crate) fn system(what: &str, path: &Path, errno: Errno) -> Self {
        Self(format!(
            "cannot {what} {}: {} (mount the file system, and verify as the user of the run or as \
             root)",
            path.display(),
            io::Error::from(errno)
        ))
    }
}
