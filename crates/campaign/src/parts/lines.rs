//! The names of the rank files, and the documents on their lines.

use serde::{Deserialize, Serialize};

/// File name of the record that rank 0 merges from all ranks after each complete phase.
pub const MERGED_SO_FAR: &str = "merged-so-far.json";
/// File name of the final record, which rank 0 merges from all ranks.
pub const MERGED: &str = "merged.json";

/// Identifies the rank that wrote a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartOf {
    /// Number of the rank, from 0.
    pub rank: u32,
    pub ranks: u32,
    pub host: String,
    /// Identifies the run: the same text on all of its ranks.
    pub job: String,
}

/// The first line of a rank's file.
#[derive(Debug, Serialize, Deserialize)]
pub struct Begun {
    pub rank: PartOf,
}

/// The last line of the file of a rank whose run ended. The file of a killed rank lacks this line.
#[derive(Debug, Serialize, Deserialize)]
pub struct PartEnded {
    /// Always true: the rank's run ended, and the record of this rank was merged with those of the
    /// other ranks.
    pub ended: bool,
}

pub fn file_name(rank: u32) -> String {
    format!("rank-{rank:05}.jsonl")
}
