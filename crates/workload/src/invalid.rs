//! Why a workload is none.

use crate::classic::InvalidWorkload;
use crate::mix::InvalidMix;

/// No run has more workers.
pub(crate) const WORKERS_MAX: u32 = 4096;

/// The numbers make no workload.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidWhole {
    /// The classic part.
    #[error(transparent)]
    Classic(#[from] InvalidWorkload),
    /// The mix.
    #[error(transparent)]
    Mix(#[from] InvalidMix),
    /// No worker, or too many.
    #[error("invalid number of workers {0}: expected 1 to {max}", max = WORKERS_MAX)]
    Workers(u64),
    /// The classic pairs on a shared pool.
    #[error(
        "writers and readers share a pool, and the classic workload has private pools only (use \
         --mix)"
    )]
    ClassicShared,
    /// A mix without contents.
    #[error("a mix needs contents: text, incompressible or compressible:RATIO")]
    NoContents,
    /// Contents that are none.
    #[error("invalid contents: {0}")]
    Contents(String),
}
