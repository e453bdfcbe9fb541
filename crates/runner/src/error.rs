//! Why a run is refused.

use std::path::PathBuf;
use std::time::Duration;

use engine::Unsupported;
use engine::server::Unreachable;
use spec::ConfigError;
use workload::WorkloadError;

use rundir::prepare::PrepareError;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// The system has no thread for the call.
    #[error("cannot start a thread: {0} (raise the limit: ulimit -u, pids.max)")]
    NoThread(std::io::Error),
    /// The call's thread ended without an answer.
    #[error("internal error (this is a bug in postmark: please report it with the text above)")]
    Broken,
    /// It did not return for so long.
    #[error("the file system did not answer for {} s (check its server or device)", .0.as_secs())]
    Late(Duration),
}

/// A run was refused; nothing was touched, but for what [`left_something`](Refused::left_something)
/// tells of.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The workload cannot be performed.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The storage lacks something.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The place cannot be taken.
    #[error(transparent)]
    Place(#[from] PrepareError),
    /// There is no room.
    #[error("{0}")]
    NoRoom(String),
    /// There is not enough memory.
    #[error("{0}")]
    NoMemory(String),
    /// The working directory cannot be found.
    #[error("cannot find the working directory: {0} (use --target PATH)")]
    WorkingDirectory(std::io::Error),
    /// Nothing was answered when the target was looked at.
    #[error("cannot {what} {paths}: {why}")]
    NoAnswer {
        /// What was being done.
        what: &'static str,
        /// To what.
        paths: String,
        /// Why nothing was answered.
        why: NoAnswer,
    },
    /// A path that no system call takes.
    #[error("the path {0:?} contains a NUL character (use another path)")]
    Nul(PathBuf),
    /// The server of a target cannot be used.
    #[error(transparent)]
    Unreachable(Unreachable),
    /// The description of the run contradicts itself.
    #[error(transparent)]
    ConfigError(#[from] ConfigError),
    /// The acknowledgement log cannot be kept.
    #[error(transparent)]
    AckLog(#[from] rundir::AckLogRefused),
    /// Another process of the same run has refused it.
    #[error("rank {rank} (host {host}) refused the run: {why}")]
    OnRank {
        /// Which one.
        rank: u32,
        /// Its machine.
        host: String,
        /// Why.
        why: String,
    },
    /// The processes that were to perform the run together could not.
    #[error("{0}")]
    Ranks(String),
    /// The machine or the target cannot do what is asked.
    #[error("{0}")]
    Unable(String),
}

impl Refused {
    /// Whether something that was made before the refusal is there still, or may be.
    pub fn left_something(&self) -> bool {
        matches!(self, Self::Place(error) if error.remains())
    }
}
