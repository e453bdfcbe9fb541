//! The output of `postmark plan`: the work of a run, and whether its targets have enough space.

use serde::Serialize;
use spec::RunSpec;
use system::{Fact, ProcessTimes, Target};
use workload::{Followed, Plan};

use crate::run::{Room, Tool};
use crate::sizing::Sizing;

/// The planned work of a run, and the space that it needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanRecord {
    /// Program that computed the plan.
    pub tool: Tool,
    /// The complete run spec.
    pub spec: RunSpec,
    /// How the number of files was chosen for a requested working set; null if the number was
    /// requested.
    pub sizing: Option<Sizing>,
    /// Totals of the stream.
    pub plan: Plan,
    /// The part of the stream that was followed operation by operation. Absent if the whole stream
    /// was followed; otherwise `plan` is an estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub followed: Option<Followed>,
    /// Space that the run needs, and free space. Not applicable if the I/O engine uses no space.
    pub room: Fact<Room>,
    /// The targets, in the order of the locations.
    pub targets: Vec<Target>,
    /// Description of the missing space; null if there is enough.
    pub shortage: Option<String>,
    /// Resources that this process used for planning.
    pub process: Fact<ProcessTimes>,
}

impl PlanRecord {
    /// Returns the plan as JSON of several lines.
    pub fn to_json(&self) -> String {
        document::json(self)
    }
}
