//! What the files of a run have in common, by which they are recognised.

use serde::{Deserialize, Serialize};
use workload::contents::ContentSpec;

/// Bytes of a file that are looked at: more would tell no more.
pub const BEGINS_BYTES: usize = 64;

/// The bits of a mode by which directories are compared: the others may come from the directory
/// above.
pub(crate) const PERMISSIONS: u32 = 0o777;

/// What a run's files have in common, whatever is done to them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Makes {
    /// Their permissions: any of these.
    pub modes: Vec<u32>,
    /// The permissions of its directories.
    pub directory_modes: Vec<u32>,
    /// None is larger.
    pub size_max_bytes: u64,
    /// None that was written to its end is smaller.
    pub size_min_bytes: u64,
    /// What they begin with.
    pub begins: Begins,
}

impl Makes {
    /// Another workload goes on with the same files: what it makes is the run's, too.
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

/// What files begin with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Begins {
    /// The original's work: what is written begins with the worker's text, each time.
    Texts {
        /// By worker; one for all where they are alike.
        texts: Vec<String>,
        /// The first piece has so many bytes at least.
        size_low_bytes: u64,
    },
    /// With contents that tell whose they are.
    Contents {
        /// What they are like.
        spec: ContentSpec,
        /// The workload's.
        seed: u64,
    },
}
