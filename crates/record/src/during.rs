//! What a machine did while a run went on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::{BusyProgram, ClocksDifference, CountersDifference, Fact};

/// What the machine did while the run went on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemDuring {
    /// What the kernel counted from before the place was taken until after it was left: of this
    /// process, its threads, the machine, and the devices under the target.
    pub counted: CountersDifference,
    /// Whether the clocks went as they should.
    pub clocks: ClocksDifference,
    /// The programs that used most processor time in user mode, without this process and its
    /// descendants: up to three, the biggest first. Processes that began and ended in between
    /// are missing; nothing in records from before there was the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest: Option<Fact<Vec<BusyProgram>>>,
    /// What the servers of FUSE targets used in user mode, each with its descendants; they are not
    /// among `busiest`. Not applicable without such a target; nothing in records from before there
    /// was the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fuse_servers: Option<Fact<Vec<BusyProgram>>>,
}

impl SystemDuring {
    /// The share of all processors' time that FUSE servers of the targets used in user mode, from 0
    /// to 1. Not applicable without such a target.
    pub fn fuse_servers_fraction(&self) -> Fact<f64> {
        let servers = self
            .fuse_servers
            .as_ref()
            .map_or(Fact::NotApplicable, Fact::as_ref);
        servers.map(|servers| servers.iter().map(|server| server.fraction).sum())
    }

    /// Counts what another process did on the same kernel as this one's.
    pub fn add_process(&mut self, other: &Self) {
        let process = &mut self.counted.process;
        *process = match (&*process, &other.counted.process) {
            (Fact::Known(own), Fact::Known(more)) => Fact::Known(own.and(more)),
            (Fact::Unavailable(why), _) | (Fact::Known(_), Fact::Unavailable(why)) => {
                Fact::Unavailable(why.clone())
            }
            (Fact::NotApplicable, fact) | (fact, Fact::NotApplicable) => fact.clone(),
        };
    }
}
