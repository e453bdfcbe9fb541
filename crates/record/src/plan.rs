//! What a run would do, and whether its targets have room for it: the answer of `postmark plan`.

use serde::Serialize;
use spec::RunSpec;
use system::{Fact, ProcessTimes, Target};
use workload::{Followed, Plan};

use crate::run::{Room, Tool};
use crate::sizing::Sizing;

/// See the module's text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanRecord {
    /// What made it.
    pub tool: Tool,
    /// Everything that is asked of the run.
    pub spec: RunSpec,
    /// How files were chosen, where an intent was said in their place.
    pub sizing: Option<Sizing>,
    /// What the stream would do.
    pub plan: Plan,
    /// What was followed of it, operation by operation, where the whole is too large for that:
    /// what it would do is an estimate then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub followed: Option<Followed>,
    /// Whether there is room; not applicable where the storage takes none.
    pub room: Fact<Room>,
    /// The targets, in the order of the locations.
    pub targets: Vec<Target>,
    /// Why there is no room, in words.
    pub shortage: Option<String>,
    /// What planning cost this process.
    pub process: Fact<ProcessTimes>,
}

impl PlanRecord {
    /// The plan as JSON.
    pub fn to_json(&self) -> String {
        document::json(self)
    }
}
