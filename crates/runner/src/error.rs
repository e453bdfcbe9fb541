//! Reasons for refusing a run.

use std::path::PathBuf;
use std::time::Duration;

use engine::Unsupported;
use engine::server::Unreachable;
use spec::ConfigError;
use workload::WorkloadError;

use rundir::prepare::PrepareError;

/// Why a call on the target returned no result.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    #[error("cannot start a thread: {0} (raise the limit: ulimit -u, pids.max)")]
    NoThread(std::io::Error),
    /// The thread that performed the call ended without a result.
    #[error("internal error (this is a bug in postmark: please report it with the text above)")]
    Broken,
    /// The call did not return within this time limit.
    #[error("the file system did not answer for {} s (check its server or device)", .0.as_secs())]
    Late(Duration),
}

/// The reason for refusing a run. If [`left_something`](Refused::left_something) is false, nothing
/// was changed on the target.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The I/O engine does not support an operation or option.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The run's directory cannot be created or claimed.
    #[error(transparent)]
    Place(#[from] PrepareError),
    /// Free space or inodes do not suffice.
    #[error("{0}")]
    NoRoom(String),
    #[error("{0}")]
    NoMemory(String),
    #[error("cannot find the working directory: {0} (use --target PATH)")]
    WorkingDirectory(std::io::Error),
    /// A call on the target did not return during the preflight checks.
    #[error("cannot {what} {paths}: {why}")]
    NoAnswer {
        /// The attempted action, as a verb phrase for the message.
        what: &'static str,
        paths: String,
        why: NoAnswer,
    },
    /// A path contains a NUL character, which no system call accepts.
    #[error("the path {0:?} contains a NUL character (use another path)")]
    Nul(PathBuf),
    /// The server of a target is unreachable or refuses access.
    #[error(transparent)]
    Unreachable(Unreachable),
    /// Options of the run spec conflict.
    #[error(transparent)]
    ConfigError(#[from] ConfigError),
    /// The acknowledgement log cannot be written.
    #[error(transparent)]
    AckLog(#[from] rundir::AckLogRefused),
    #[error("rank {rank} (host {host}) refused the run: {why}")]
    OnRank {
        rank: u32,
        host: String,
        why: String,
    },
    /// Communication between the ranks failed.
    #[error("{0}")]
    Ranks(String),
    /// The machine or the target lacks a required feature.
    #[error("{0}")]
    Unable(String),
}

impl Refused {
    /// Whether files of this run may remain on the target although the run was refused.
    pub fn left_something(&self) -> bool {
        matches!(self, Self::Place(error) if error.remains())
    }
}
