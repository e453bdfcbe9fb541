//! Counters of the machine: processors, tasks, and memory that is not yet written to devices.

use crate::fact::{Fact, both, grown, or};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cpu::spent::SystemTimesSpent;
use crate::cpu::{STAT, SystemTimes};
use crate::host::MEMINFO;
use crate::sources::Sources;

/// Counters of the machine at one moment (proc_stat(5), proc_meminfo(5)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemCounters {
    /// Processor time since boot, including steal.
    pub times: Fact<SystemTimes>,
    /// Number of context switches of all processors since boot (`ctxt`).
    pub context_switches: Fact<u64>,
    /// Number of tasks that run or are runnable, including the thread that reads the counters
    /// (`procs_running`).
    pub running_tasks: Fact<u64>,
    /// Number of tasks that wait for a device (`procs_blocked`).
    pub blocked_tasks: Fact<u64>,
    /// Memory that waits to be written to a device, in bytes (`Dirty`).
    pub dirty_bytes: Fact<u64>,
    /// Memory that is being written to a device, in bytes (`Writeback`).
    pub write_back_bytes: Fact<u64>,
}

impl SystemCounters {
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

    /// Returns this snapshot, with each missing counter replaced by that of an earlier snapshot.
    pub(super) fn or_earlier(self, earlier: &SystemCounters) -> SystemCounters {
        SystemCounters {
            times: or(self.times, &earlier.times),
            context_switches: or(self.context_switches, &earlier.context_switches),
            ..self
        }
    }

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

/// Growth of the machine's counters between two snapshots. A state, such as dirty memory, has its
/// value in the later snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SystemCountersDifference {
    /// Time of all processors by mode, including steal.
    pub times: Fact<SystemTimesSpent>,
    /// Number of context switches of all processors.
    pub context_switches: Fact<u64>,
    /// Number of tasks that ran or were runnable, in the later snapshot.
    pub running_tasks: Fact<u64>,
    /// Number of tasks that waited for a device, in the later snapshot.
    pub blocked_tasks: Fact<u64>,
    /// Memory that waited to be written to a device, in the later snapshot, in bytes.
    pub dirty_bytes: Fact<u64>,
    /// Memory that was being written to a device, in the later snapshot, in bytes.
    pub write_back_bytes: Fact<u64>,
}
