//! Counters of the machine: processors, tasks, and memory that waits to be
//! written.

use crate::fact::{Fact, both, grown, or};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cpu::spent::SystemTimesSpent;
use crate::cpu::{STAT, SystemTimes};
use crate::host::MEMINFO;
use crate::sources::Sources;

/// The machine at one moment (proc_stat(5), proc_meminfo(5)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemCounters {
    /// Processor time since boot, with steal.
    pub times: Fact<SystemTimes>,
    /// Times that a processor changed from one task to another, since boot
    /// (`ctxt`).
    pub context_switches: Fact<u64>,
    /// Tasks that run or could run right now, the reading one too
    /// (`procs_running`).
    pub running_tasks: Fact<u64>,
    /// Tasks that wait for a device right now (`procs_blocked`).
    pub blocked_tasks: Fact<u64>,
    /// Memory that is to be written to a device, in bytes (`Dirty`).
    pub dirty_bytes: Fact<u64>,
    /// Memory that is being written to a device, in bytes (`Writeback`).
    pub write_back_bytes: Fact<u64>,
}

impl SystemCounters {
    /// Reads `/proc/stat` and `/proc/meminfo`.
    pub fn read(sources: &Sources) -> SystemCounters {
        let stat = sources.text(STAT);
        let memory = sources.text(MEMINFO);
        SystemCounters {
            times: SystemTimes::within(sources, &stat),
            context_switches: sources.line(STAT, &stat, "ctxt", " "),
            running_tasks: sources.line(STAT, &stat, "procs_running", " "),
            blocked_tasks: sources.line(STAT, &stat, "procs_blocked", " "),
            dirty_bytes: sources.kibibytes(MEMINFO, &memory, "Dirty"),
            write_back_bytes: sources.kibibytes(MEMINFO, &memory, "Writeback"),
        }
    }

    /// This snapshot, and where a count could not be read in it that of an earlier one.
    pub(super) fn or_earlier(self, earlier: &SystemCounters) -> SystemCounters {
        SystemCounters {
            times: or(self.times, &earlier.times),
            context_switches: or(self.context_switches, &earlier.context_switches),
            ..self
        }
    }

    /// What was counted between an earlier snapshot and this.
    pub fn since(&self, earlier: &SystemCounters) -> SystemCountersDifference {
        SystemCountersDifference {
            times: both(&self.times, &earlier.times, SystemTimes::spent_since),
            context_switches: grown(
                "/proc/stat: ctxt",
                &self.context_switches,
                &earlier.context_switches,
            ),
            running_tasks: self.running_tasks.clone(),
            blocked_tasks: self.blocked_tasks.clone(),
            dirty_bytes: self.dirty_bytes.clone(),
            write_back_bytes: self.write_back_bytes.clone(),
        }
    }
}

/// The machine between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SystemCountersDifference {
    /// Where the processors' time went, with steal.
    pub times: Fact<SystemTimesSpent>,
    /// Times that a processor changed from one task to another.
    pub context_switches: Fact<u64>,
    /// Tasks that ran or could have run at the end.
    pub running_tasks: Fact<u64>,
    /// Tasks that waited for a device at the end.
    pub blocked_tasks: Fact<u64>,
    /// Memory that was to be written at the end, in bytes.
    pub dirty_bytes: Fact<u64>,
    /// Memory that was being written at the end, in bytes.
    pub write_back_bytes: Fact<u64>,
}
