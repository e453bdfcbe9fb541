//! The files of parts: their names and lines.

use serde::{Deserialize, Serialize};

/// The record of all ranks up to the last border, in the directory of rank 0.
pub const MERGED_SO_FAR: &str = "merged-so-far.json";
/// The record of all ranks, in the directory of rank 0.
pub const MERGED: &str = "merged.json";

/// Whose part a file has: its first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartOf {
    /// The rank, from 0.
    pub rank: u32,
    /// How many ranks the run has.
    pub ranks: u32,
    /// The rank's host.
    pub host: String,
    /// What tells the run from others: all of its ranks have the same.
    pub job: String,
}

/// A first line.
#[derive(Debug, Serialize, Deserialize)]
pub struct Begun {
    /// Whose part it is.
    pub rank: PartOf,
}

/// A last line.
#[derive(Debug, Serialize, Deserialize)]
pub struct PartEnded {
    /// The rank's run came to its end, and its record was merged with the others'.
    pub ended: bool,
}

/// The name of a rank's file.
pub fn file_name(rank: u32) -> String {
    format!("rank-{rank:05}.jsonl")
}
