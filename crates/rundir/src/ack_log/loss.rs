//! Kinds of losses of acknowledged operations, and errors that make verification impossible.

use std::fmt;
use std::io;
use std::path::Path;

use engine::Errno;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::Action;

use super::key::Key;

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
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
    /// The name in the acknowledgement log.
    #[serde(skip)]
    pub(crate) key: Key,
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
#[error("{message}")]
pub struct VerifyError {
    pub(crate) message: String,
    /// Whether a directory of the run does not exist, although the run did not remove it. All
    /// acknowledged operations in it are then lost.
    pub is_directory_lost: bool,
}

impl VerifyError {
    pub(crate) const fn new(message: String) -> Self {
        Self {
            message,
            is_directory_lost: false,
        }
    }

    /// Error for a failed system call that does not indicate a loss.
    pub(crate) fn system(what: &str, path: &Path, errno: Errno) -> Self {
        Self::new(format!(
            "cannot {what} {}: {} (mount the file system, and verify as the user of the run or as \
             root)",
            path.display(),
            io::Error::from(errno)
        ))
    }
}
