//! Why a campaign cannot begin or go on.

use archive::ArchiveError;

/// Why a campaign cannot begin or go on, in words for the user.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing was touched.
    #[error("{0}")]
    Refused(String),
    /// Runs may have been performed.
    #[error("{0}")]
    Failed(String),
}

impl From<ArchiveError> for Error {
    fn from(error: ArchiveError) -> Self {
        Self::Refused(error.to_string())
    }
}
