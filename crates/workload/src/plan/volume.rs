//! The peak numbers of files and bytes that a plan expects on one file system.

use serde::{Deserialize, Serialize};

/// A file system that contains a part of the pool. Several targets on the same file system form one
/// volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// The file system's allocation unit, in bytes.
    pub block_bytes: u64,
    pub files_peak: u64,
    /// The largest number of content bytes at one time.
    pub bytes_peak: u64,
    /// The largest number of bytes that are allocated for contents at one time, where each file
    /// takes whole blocks.
    pub allocated_bytes_peak: u64,
}
