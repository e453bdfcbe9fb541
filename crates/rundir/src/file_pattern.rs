//! Properties shared by all files of a run, by which they are recognised.

use serde::{Deserialize, Serialize};
use workload::contents::ContentSpec;

/// Bytes read from the beginning of a file; more would not distinguish it better.
pub const BEGINS_BYTES: usize = 64;

/// Permission bits by which directories are compared; the other bits may be inherited from the
/// parent directory.
pub(crate) const PERMISSIONS: u32 = 0o777;

/// Properties that all files of a run share, whichever operations are performed on them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Makes {
    /// Possible modes of the files.
    pub modes: Vec<u32>,
    /// Possible permissions of the directories.
    pub directory_modes: Vec<u32>,
    /// No file is larger.
    pub size_max_bytes: u64,
    /// No completely written file is smaller.
    pub size_min_bytes: u64,
    pub begins: Begins,
}

impl Makes {
    /// Adds the properties of another workload that continues with the same files.
    pub(crate) fn add(&mut self, other: &Self) {
        for (own, others) in [
            (&mut self.modes, &other.modes),
            (&mut self.directory_modes, &other.directory_modes),
        ] {
            let new: Vec<u32> = others
                .iter()
                .copied()
                .filter(|mode| !own.contains(mode))
                .collect();
            own.extend(new);
        }
        self.size_max_bytes = self.size_max_bytes.max(other.size_max_bytes);
        self.size_min_bytes = self.size_min_bytes.min(other.size_min_bytes);
    }
}

/// The beginning of a file's contents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Begins {
    /// Classic run: each write starts with the beginning of the worker's text.
    Texts {
        /// One text per worker, or one for all.
        texts: Vec<String>,
        /// Minimum size of the first write.
        size_low_bytes: u64,
    },
    /// Mix: contents that identify the worker's pool.
    Contents {
        spec: ContentSpec,
        /// The workload's seed.
        seed: u64,
    },
}
