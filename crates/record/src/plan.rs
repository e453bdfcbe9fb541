//! The output of `postmark plan`: the work of a run, and whether its targets have enough space.

use serde::Serialize;
use spec::RunSpec;
use system::{Fact, ProcessTimes, Target};
use workload::{Followed, Plan};

use crate::run::{Load, Room, Tool};
use crate::sizing::Sizing;

/// The planned work of a run, and the space that it needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanRecord {
    /// Name and version of the program that computed the plan.
    pub tool: Tool,
    /// The run spec, including options that the user did not set. For a sweep of workers or ranks,
    /// the spec contains the workload of `load_level`.
    pub spec: RunSpec,
    /// The load level of a sweep of workers or ranks that needs the most memory and free space,
    /// which is the largest level. `plan` and `room` describe this level. Absent for other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_level: Option<Load>,
    /// How the number of files was chosen for a requested working set; null if the number was
    /// requested.
    pub sizing: Option<Sizing>,
    /// Counts and bytes of all planned operations, and the peak size of the pool.
    pub plan: Plan,
    /// The part of the stream that was followed operation by operation. Absent if the whole stream
    /// was followed; otherwise `plan` is an estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub followed: Option<Followed>,
    /// Space that the run needs, and free space. Not applicable if the I/O engine uses no space;
    /// not available if the server of the targets does not answer.
    pub room: Fact<Room>,
    /// The targets, in the order of the locations.
    pub targets: Vec<Target>,
    /// Reasons for which the program would refuse the run on this machine; empty if the run can
    /// start.
    pub refused: Vec<String>,
    /// Estimated duration of the run; null if it was not estimated.
    pub time: Option<TimeEstimate>,
    /// Reasons for which the verdict on the run is expected to be DOUBTFUL or INVALID, the worst
    /// first.
    pub expected: Vec<ExpectedReason>,
    /// Resources that this process used for planning.
    pub process: Fact<ProcessTimes>,
}

/// A reason of the run's verdict that is already known from the plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExpectedReason {
    /// Lasting name of the rule, such as `too-short`.
    pub rule: String,
    /// Level of the reason: `doubtful` or `invalid`.
    pub level: String,
    /// What the rule will find in the run.
    pub sentence: String,
    /// What the user can do to avoid the reason.
    pub advice: String,
    /// Rate above which the rule applies, in transactions/s; null if it applies at every rate.
    pub above_per_second: Option<f64>,
    /// Expected rate of the run, in transactions/s; null if it is not known, or if the rule applies
    /// at every rate.
    pub rate_per_second: Option<f64>,
}

/// Estimated durations of a run's parts, in seconds. A duration is null if the rate from which it
/// follows is not known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeEstimate {
    /// Time to create the pool, or all pools of a sweep, in seconds. 0 if an earlier pool is
    /// reused.
    pub prepare_s: Option<f64>,
    /// Time of the warm-up and the transactions in seconds; for a sweep, the time of all load
    /// levels.
    pub transactions_s: Option<f64>,
    /// Whether the transactions may end earlier than estimated, as in a sweep or with a
    /// steady-state rule.
    pub transactions_may_end_earlier: bool,
    /// Maximum number of load levels of a sweep; null without a sweep.
    pub load_levels: Option<u64>,
    /// Time to delete the pools, in seconds; 0 if the pools are kept for a later run.
    pub delete_s: Option<f64>,
    /// Rate of a closed loop, in transactions/s, from which durations are estimated; null if the
    /// rate is not known.
    pub transactions_per_second: Option<f64>,
    /// The run or calibration that supplied the rates, or the reason why no rates are known.
    pub source: TimeSource,
}

impl TimeEstimate {
    /// Returns the duration of the whole run, in seconds; `None` if the duration of a part is not
    /// known.
    pub fn total_s(&self) -> Option<f64> {
        Some(self.prepare_s? + self.transactions_s? + self.delete_s?)
    }
}

/// The source of the rates from which durations are estimated.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeSource {
    /// A run in the archive, with the same workload on the same file systems.
    Run {
        /// Number of the run in the archive.
        number: u64,
        /// Number of files in all pools of that run; `None` if the estimated run has the same
        /// number.
        files: Option<u64>,
    },
    /// Short runs of the same work on the same targets, performed before this run.
    Calibration,
    /// No rates are known; the value is the reason.
    Nothing(String),
}

impl PlanRecord {
    /// Returns the plan as JSON of several lines.
    pub fn to_json(&self) -> String {
        document::json(self)
    }
}
