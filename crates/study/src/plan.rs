//! The plan of a study, as it is shown before the study begins or continues.

use serde::Serialize;

use crate::statistics::BLOCKS_MIN;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudyPlan {
    /// Identity of the study; `None` before the study begins.
    pub study: Option<String>,
    pub name: String,
    pub cells: Vec<PlannedCell>,
    /// Maximum number of blocks.
    pub blocks: u32,
    /// The study ends when the half-width of every confidence interval, relative to its ratio, is
    /// at most this: 0.02 for 2 %. `None` if only the other limits end the study.
    pub until: Option<f64>,
    /// Time limit of the study, in seconds; `None` if its time is not limited.
    pub time_limit_s: Option<f64>,
    /// Seed of the random order of runs.
    pub seed: u64,
    /// The runs of `next_block`, in order: label of the cell, and whether the run is the second run
    /// of a baseline.
    pub order: Vec<(String, bool)>,
    /// Number of the next block that has a run to perform. If no block remains, this is the number
    /// of the last block.
    pub next_block: u32,
    /// Maximum number of blocks that remain, including the next one; 0 if the study is complete.
    pub blocks_left: u32,
    /// Number of runs that have been performed.
    pub done: u32,
    /// Time of all warm-ups and measurements in a block, in seconds; `None` if a run does not end
    /// by time.
    pub measured_s: Option<f64>,
    /// Estimated duration of a block, in seconds, from earlier runs. It includes the creation and
    /// the removal of pools. `None` if a configuration has no earlier run.
    pub block_s: Option<f64>,
    /// Numbers of the runs in the archive from which `block_s` is estimated.
    pub estimated_from: Vec<u64>,
    /// Maximum wait for a quiet machine before each run, in seconds.
    pub quiet_s: f64,
    /// Space that the study's file systems need: a directory (or `memory`), and the number of bytes
    /// in it.
    pub room: Vec<(String, u64)>,
    /// Targets that require root.
    pub root: Vec<String>,
    /// Name of the configuration that is measured separately; `None` if cells are interleaved.
    pub side: Option<String>,
    /// The baseline of configurations that are measured separately: the one that was measured
    /// first. `None` if cells are interleaved.
    pub baseline_side: Option<String>,
}

impl StudyPlan {
    /// Whether runs remain, but the study has too few blocks for a confidence interval. The number
    /// of blocks is not known if the configurations are measured separately.
    pub fn is_without_interval(&self) -> bool {
        self.blocks_left > 0 && self.side.is_none() && self.blocks < BLOCKS_MIN
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedCell {
    /// The cell's coordinates as text.
    pub label: String,
    pub target: String,
    /// Workers, transactions, files, durability and further settings of the cell's runs, as text.
    pub conditions: Vec<String>,
    /// Label of the cell's baseline; `None` for a baseline.
    pub baseline: Option<String>,
}
