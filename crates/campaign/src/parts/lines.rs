//! File names and lines of the parts.

use serde::{Deserialize, Serialize};

/// The merged record of all ranks after the last complete phase, in the directory of rank 0.
pub const MERGED_SO_FAR: &str = "merged-so-far.json";
/// The final record of all ranks, in the directory of rank 0.
pub const MERGED: &str = "merged.json";

/// Identifies the rank of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartOf {
    /// The rank, from 0.
    pub rank: u32,
    /// Number of ranks of the run.
    pub ranks: u32,
    /// Host name of the rank.
    pub host: String,
    /// Identifies the run: the same for all of its ranks.
    pub job: String,
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub struct Begun {
    pub rank: PartOf,
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
pub struct PartEnded {
    /// Always true: the rank's run ended, and its record was merged with those of the other ranks.
    pub ended: bool,
}

/// The name of a rank's file.
pub fn file_name(rank: u32) -> String {
    format!("rank-{rank:05}.jsonl")
}
