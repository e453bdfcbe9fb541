//! Properties shared by all files of a run, by which `clean` recognizes the files.

use serde::{Deserialize, Serialize};
use workload::contents::ContentSpec;

/// Number of bytes that are read from the beginning of a file to decide whether a run created the
/// file. Reading more bytes would not make this decision more reliable.
pub const BEGINS_BYTES: usize = 64;

/// Permission bits that are compared for directories. The other mode bits may be inherited from the
/// parent directory.
pub(crate) const PERMISSIONS: u32 = 0o777;

/// Properties that all files of a run share, whichever operations are performed on them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Makes {
    /// Possible modes of the files: permission and other mode bits.
    pub modes: Vec<u32>,
    /// Possible permission bits of the directories.
    pub directory_modes: Vec<u32>,
    pub size_max_bytes: u64,
    /// Lower bound for the size of a completely written file, in bytes.
    pub size_min_bytes: u64,
    pub begins: Begins,
}

impl Makes {
    /// Adds the properties of another workload that uses the same files later.
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

/// The expected beginning of a file's contents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Begins {
    /// Classic run: the contents of each write start with the beginning of the worker's text.
    Texts {
        /// One text for each worker, or one text for all workers.
        texts: Vec<String>,
        /// Minimum size of the first write.
        size_low_bytes: u64,
    },
    /// Mix: generated contents, which identify the worker's pool.
    Contents {
        spec: ContentSpec,
        /// Seed of the workload, from which the contents are generated.
        seed: u64,
    },
}
