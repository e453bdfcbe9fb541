//! Kernel counters of this process and its threads, of the machine, and of the devices below the
//! target: snapshots, and the differences between two snapshots.
//!
//! The module reads no clock and computes no rate; [`crate::clocks`] detects events that make the
//! time between two snapshots doubtful. The module is designed for one reading a second. A reading
//! opens a dozen files, and two files for every thread, up to [`THREADS_MAX`] threads. No file is
//! kept open (`docs/reference/measurements-over-time.md` states the cost of a reading).
//!
//! How it works: each subject has a type with `read` and `since`. Each number is a [`Fact`]. A
//! number that the kernel does not report is unavailable with a reason, in snapshots and in
//! differences. The growth of a counter that went backwards is unavailable as well. For a state
//! (memory, running tasks, operations in flight) the difference contains the value of the later
//! snapshot.

use crate::fact::{Fact, both, each_since, or, pair};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cpu::{ProcessTimes, STATUS};
use crate::sources::Sources;

mod device;
mod role;
mod system;
mod threads;
mod watched;

pub use device::{DeviceCounters, DeviceReading};
pub use role::{DeviceRole, FlushCount};
pub use system::{SystemCounters, SystemCountersDifference};
pub(crate) use threads::schedstat;
pub use threads::{THREADS_MAX, ThreadTimes, Threads};
pub use watched::{DEVICES_MAX, WatchedDevice, WatchedDevices};

/// All counters at about one moment: they are read one after another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Processor time, context switches and page faults of all threads of this process, including
    /// ended threads (getrusage(2)), and peak memory (`VmHWM` of `/proc/self/status`).
    pub process: Fact<ProcessTimes>,
    /// Resident memory of this process, in bytes (`VmRSS` of proc_pid_status(5), which is inexact
    /// by some pages per thread).
    pub resident_bytes: Fact<u64>,
    /// Processor time of this process by thread.
    pub threads: Fact<Threads>,
    /// Counters of the whole machine.
    pub system: SystemCounters,
    /// Counters of the watched devices, in the order of the list of devices. Not applicable to
    /// targets without a device.
    pub devices: Fact<Vec<DeviceReading>>,
}

impl Counters {
    pub fn read(sources: &Sources, devices: &Fact<WatchedDevices>) -> Counters {
        let status = sources.text(STATUS);
        let process = ProcessTimes::beside(sources, &status);
        Counters {
            // The threads are read right after the whole process, because their time is subtracted
            // from that of the process.
            threads: Threads::read(sources, &process, &status),
            resident_bytes: sources.kibibytes(STATUS, &status, "VmRSS"),
            process,
            system: SystemCounters::read(sources),
            devices: devices.as_ref().map(|devices| devices.read(sources)),
        }
    }

    pub fn since(&self, earlier: &Counters) -> CountersDifference {
        let process = both(&self.process, &earlier.process, ProcessTimes::since);
        CountersDifference {
            resident_bytes: self.resident_bytes.clone(),
            threads: both(&self.threads, &earlier.threads, |later, earlier| {
                later.since(earlier, &process)
            }),
            process,
            system: self.system.since(&earlier.system),
            devices: each_since(&self.devices, &earlier.devices, DeviceReading::since),
        }
    }

    /// Returns this snapshot, with each missing counter replaced by that of an earlier snapshot.
    /// The next difference then includes the growth since the counter was last read.
    #[must_use]
    pub fn or_earlier(self, earlier: &Counters) -> Counters {
        Counters {
            process: or(self.process, &earlier.process),
            resident_bytes: self.resident_bytes,
            threads: or(self.threads, &earlier.threads),
            system: self.system.or_earlier(&earlier.system),
            devices: match (self.devices, &earlier.devices) {
                (Fact::Known(devices), Fact::Known(earlier)) => {
                    let known = devices.into_iter().map(|device| device.or_earlier(earlier));
                    Fact::Known(known.collect())
                }
                (devices, earlier) => or(devices, earlier),
            },
        }
    }
}

/// Growth of the counters between two snapshots. A state, such as memory, has its value in the
/// later snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CountersDifference {
    /// Resources used by all threads of this process; `max_resident_bytes` is the value in the
    /// later snapshot.
    pub process: Fact<ProcessTimes>,
    /// Resident memory in the later snapshot, in bytes.
    pub resident_bytes: Fact<u64>,
    /// Processor time of this process by thread.
    pub threads: Fact<Threads>,
    /// Counters of the whole machine.
    pub system: SystemCountersDifference,
    /// Counters of the devices in the later snapshot.
    pub devices: Fact<Vec<DeviceReading>>,
}

impl CountersDifference {
    /// Returns the busy time (all except idle, iowait and steal) as a share of the time of all
    /// processors, from 0 to 1.
    pub fn busy_fraction(&self) -> Fact<f64> {
        self.fraction(|times| &times.busy_ns)
    }

    /// Returns the time taken by the hypervisor (CPU steal) as a share of the time of all
    /// processors, from 0 to 1.
    pub fn steal_fraction(&self) -> Fact<f64> {
        self.fraction(|times| &times.steal_ns)
    }

    fn fraction(&self, part_ns: fn(&crate::SystemTimesSpent) -> &Fact<u64>) -> Fact<f64> {
        let times = self.system.times.as_ref();
        times.and_then(|times| times.fraction_of(part_ns(times)))
    }

    /// Returns the busy time of the machine minus that of this process, as a share of the time of
    /// all processors, from 0 to 1. CPU steal is excluded.
    ///
    /// Kernel threads are included even if they work for this process: write-back, loop devices,
    /// encryption, interrupts. A negative result, which the resolution of the kernel's ticks can
    /// cause, becomes 0.
    pub fn others_fraction(&self) -> Fact<f64> {
        self.share_of_total(|system, process| {
            let busy = system.busy_ns.as_ref();
            busy.map(|busy| busy.saturating_sub(process.cpu_ns()))
        })
    }

    /// Returns the time that other programs used in user mode, as a share of the time of all
    /// processors, from 0 to 1. Kernel threads, which have no time in user mode, and the programs'
    /// system calls are excluded.
    pub fn others_user_fraction(&self) -> Fact<f64> {
        self.share_of_total(|system, process| {
            both(&system.user_ns, &system.nice_ns, |user, nice| {
                user.saturating_add(*nice).saturating_sub(process.user_ns)
            })
        })
    }

    fn share_of_total(
        &self,
        part_ns: impl FnOnce(&crate::SystemTimesSpent, &ProcessTimes) -> Fact<u64>,
    ) -> Fact<f64> {
        pair(&self.system.times, &self.process, |system, process| {
            let part = part_ns(system, process);
            // The kernel counts the time of the process in microseconds and that of the machine in
            // ticks, so the part may exceed the total. The share is then 1.
            system.fraction_of(&both(&system.total_ns, &part, |total, part| {
                *part.min(total)
            }))
        })
    }
}

#[cfg(test)]
mod tests;
