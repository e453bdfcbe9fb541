//! What a study is going to do, before it does it.

use serde::Serialize;

/// What a study is going to do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudyPlan {
    /// The study's identity; nothing before it begins.
    pub study: Option<String>,
    /// Its name.
    pub name: String,
    /// Its cells, in order.
    pub cells: Vec<PlannedCell>,
    /// Blocks at most.
    pub blocks: u32,
    /// The half-width of intervals that ends it, as a fraction; nothing where none does.
    pub until: Option<f64>,
    /// The time that ends it, in seconds; nothing where none does.
    pub run_for_s: Option<f64>,
    /// The seed of the order.
    pub seed: u64,
    /// The runs of the next block, in order: labels of cells, and whether it is the twin.
    pub order: Vec<(String, bool)>,
    /// The block that comes next.
    pub next_block: u32,
    /// Runs that are there already.
    pub done: u32,
    /// Seconds that the runs of a block measure, where time ends them; `None` where something else
    /// does.
    pub measured_s: Option<f64>,
    /// The longest wait for a quiet machine before each run, in seconds.
    pub quiet_s: f64,
    /// Room that the study's file systems take: directories with bytes.
    pub room: Vec<(String, u64)>,
    /// Targets that need root.
    pub root: Vec<String>,
    /// The side that is measured by itself; nothing where cells are interleaved.
    pub side: Option<String>,
}

/// A cell of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedCell {
    /// Its coordinates in words.
    pub label: String,
    /// Its target.
    pub target: String,
    /// The cell that it is compared with; nothing of a baseline.
    pub baseline: Option<String>,
}
