//! A run's place in a study.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::Fact;

/// Which study a run is part of, where it stands in it, and the state that it began in. Who has one
/// run of a study has its whole design.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyPart {
    /// The study's identity, drawn when it began.
    pub study: String,
    /// Its name.
    pub name: String,
    /// Its whole design, as a study file.
    pub design: String,
    /// The cell: its coordinates in words, unlike those of every other cell.
    pub cell: String,
    /// What makes the cell: one value of each dimension that has several.
    pub coordinates: Vec<Coordinate>,
    /// Whether this is the second run of a baseline cell in its block, which shows how much alike
    /// runs are.
    pub is_twin: bool,
    /// The block, from 1.
    pub block: u32,
    /// How often this block has been begun, from 1: a block with an INVALID run is repeated.
    pub attempt: u32,
    /// The run's place in the order of its block, from 1.
    pub position: u32,
    /// The side that was measured by itself, because sides could not be interleaved; nothing where
    /// all cells of a block were run together.
    pub side: Option<String>,
    /// How long it was waited for a quiet machine before the run; nothing where that was not asked
    /// for.
    pub quiet: Option<QuietTime>,
    /// The file system that the study made for the run; nothing where the target was there before.
    pub made: Option<MadeFileSystem>,
    /// How many times the pool's files had been churned before the measured run; nothing where
    /// they were not.
    pub age: Option<u64>,
}

/// A value of a dimension of a study.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Coordinate {
    /// The dimension: `workload`, `target`, `side`, or the axis.
    pub dimension: String,
    /// The value in words.
    pub value: String,
}

/// The wait for a quiet machine before a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuietTime {
    /// How long it was waited, in nanoseconds.
    pub waited_ns: u64,
    /// Whether the machine was quiet at the end of the wait.
    pub is_quiet: bool,
    /// Bytes that were dirty or under write-back at the end, of the whole machine.
    pub unwritten_bytes: Fact<u64>,
    /// The fraction of all processors' time that was busy in the last second of the wait.
    pub busy: Fact<f64>,
}

/// A file system that a study made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MadeFileSystem {
    /// What was asked for, as `make:KIND?…`.
    pub asked: String,
    /// The commands that made and mounted it, in order.
    pub commands: Vec<String>,
    /// The versions of the tools.
    pub tools: Vec<String>,
    /// The driver that mounted it: ext4's mounts ext2 and ext3, too.
    pub driver: Fact<String>,
    /// The file system that its image lies on.
    pub image_file_system: Fact<String>,
    /// The percentage of its space that was full before the pool was made, as it came out; nothing
    /// where it was not to be filled.
    pub fullness_percent: Option<f64>,
}
