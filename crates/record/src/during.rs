use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::{BusyProgram, ClocksDifference, CountersDifference, Fact};

/// What happened on a machine during a run: kernel counters, clock changes and the busiest
/// programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemDuring {
    /// Kernel counters of this process, its threads, the machine, and the devices below the target.
    /// Counting lasts from before the run claimed its directories until after the run released
    /// them.
    pub counted: CountersDifference,
    /// Suspensions of the machine, steps of the wall clock, and changes of the clock source.
    pub clocks: ClocksDifference,
    /// The programs that used the most processor time in user mode, excluding this process and its
    /// descendants: up to three, the busiest first. Programs that started and ended during the run
    /// are missing. Absent in records that are older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest: Option<Fact<Vec<BusyProgram>>>,
    /// Processor time in user mode of the servers of FUSE targets, each with its descendants;
    /// `busiest` excludes these servers. Not applicable if no target is a FUSE file system. Absent
    /// in records that are older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fuse_servers: Option<Fact<Vec<BusyProgram>>>,
}

impl SystemDuring {
    /// Returns the processor time in user mode of the targets' FUSE servers, as a share of the time
    /// of all processors, from 0 to 1. Not applicable if no target is a FUSE file system.
    pub fn fuse_servers_fraction(&self) -> Fact<f64> {
        let servers = self
            .fuse_servers
            .as_ref()
            .map_or(Fact::NotApplicable, Fact::as_ref);
        servers.map(|servers| servers.iter().map(|server| server.fraction).sum())
    }

    /// Adds the process counters of `other`, which is another process on the same kernel. The
    /// kernel's other counters are not added, because `self` already contains them.
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
