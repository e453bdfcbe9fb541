//! Where the files of a run with several processes lie.

use std::path::PathBuf;

use rundir::manifest::{FirstRank, Position};
use serde::{Deserialize, Serialize};

/// As the first process has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PlaceOfAll {
    /// By location: its path as messages give it, its directory, and the number of that.
    pub locations: Vec<(PathBuf, PathBuf, usize)>,
    /// By directory, whose it is; none of a storage that touches no file system.
    pub owners: Vec<FirstRank>,
    /// By worker of all, how far a pool of an earlier run is; empty where there is none.
    pub positions: Vec<Position>,
}
