//! What a plan puts on one file system.

use serde::{Deserialize, Serialize};

/// One file system that takes a part of the pool: several locations on one file system are one
/// volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// The unit in which the file system gives out space, in bytes.
    pub block_bytes: u64,
    /// The most files that lie there at once.
    pub files_peak: u64,
    /// The most bytes of contents that lie there at once.
    pub bytes_peak: u64,
    /// The most bytes that those contents take there at once, every file rounded up to whole
    /// blocks.
    pub allocated_bytes_peak: u64,
}
