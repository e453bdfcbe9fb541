//! Kernel counters of this process and its threads, of the machine, and of the devices below the
//! target: snapshots, and the differences of two.
//!
//! It reads no clock, computes no rate and judges nothing; [`crate::clocks`] detects what makes the
//! time between two snapshots doubtful. It is designed for one call a second: a reading opens a
//! dozen files and two for every thread, up to [`THREADS_MAX`] threads, and keeps none open
//! (`docs/specification.md` states the cost).
//!
//! How it works: each subject has a type with `read` and `since`. Each number is a [`Fact`]: a
//! number that the kernel does not report is missing with its reason, also in the difference, and
//! so is the difference of a counter that went backwards. For a state (memory, running tasks,
//! operations in flight) the difference contains the value at its end.

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

/// All counters at one moment, or nearly: they are read one after another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Processor time, context switches and page faults of all threads of this process, including
    /// ended ones (getrusage(2)), and its peak memory (`VmHWM` of `/proc/self/status`).
    pub process: Fact<ProcessTimes>,
    /// Resident memory of this process, in bytes (`VmRSS` of proc_pid_status(5), which is inexact
    /// by some pages per thread).
    pub resident_bytes: Fact<u64>,
    /// Processor time of this process by thread.
    pub threads: Fact<Threads>,
    /// Counters of the whole machine.
    pub system: SystemCounters,
    /// Counters of the watched devices, in their order. Not applicable to targets without a device.
    pub devices: Fact<Vec<DeviceReading>>,
}

impl Counters {
    pub fn read(sources: &Sources, devices: &Fact<WatchedDevices>) -> Counters {
        let status = sources.text(STATUS);
        let process = ProcessTimes::beside(sources, &status);
        Counters {
            // Read right after the process's total, which includes the threads.
            threads: Threads::read(sources, &process, &status),
            resident_bytes: sources.kibibytes(STATUS, &status, "VmRSS"),
            process,
            system: SystemCounters::read(sources),
            devices: devices.as_ref().map(|devices| devices.read(sources)),
        }
    }

    /// Returns the growth of the counters since an earlier snapshot.
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

    /// Returns this snapshot, with each missing counter replaced by that of an earlier snapshot. A
    /// later difference then covers everything since the counter was last read.
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

/// Growth of the counters between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CountersDifference {
    /// Resources used by all threads of this process; `max_resident_bytes` is the value at the end.
    pub process: Fact<ProcessTimes>,
    /// Resident memory at the end, in bytes.
    pub resident_bytes: Fact<u64>,
    /// Processor time of this process by thread.
    pub threads: Fact<Threads>,
    /// Counters of the whole machine.
    pub system: SystemCountersDifference,
    /// Counters of the devices that are watched at the end.
    pub devices: Fact<Vec<DeviceReading>>,
}

impl CountersDifference {
    /// Share of all processors' time that was used (not idle, iowait or steal), from 0 to 1.
    pub fn busy_fraction(&self) -> Fact<f64> {
        self.fraction(|times| &times.busy_ns)
    }

    /// Share of all processors' time that the hypervisor took (CPU steal), from 0 to 1.
    pub fn steal_fraction(&self) -> Fact<f64> {
        self.fraction(|times| &times.steal_ns)
    }

    fn fraction(&self, part_ns: fn(&crate::SystemTimesSpent) -> &Fact<u64>) -> Fact<f64> {
        let times = self.system.times.as_ref();
        times.and_then(|times| times.fraction_of(part_ns(times)))
    }

    /// Share of all processors' time that others used, from 0 to 1: the busy time of the machine
    /// minus that of this process. It excludes steal.
    ///
    /// Kernel threads count as others even if they work for this process: write-back, loop devices,
    /// encryption, interrupts. A negative result, which the resolution of the kernel's ticks can
    /// cause, becomes 0.
    pub fn others_fraction(&self) -> Fact<f64> {
        self.share_of_total(|system, process| {
            let busy = system.busy_ns.as_ref();
            busy.map(|busy| busy.saturating_sub(process.cpu_ns()))
        })
    }

    /// Share of all processors' time that other programs used in user mode, from 0 to 1. It
    /// excludes kernel threads, which have no user time, and the programs' system calls.
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
            // The process is counted in microseconds and the machine in ticks, so the part may
            // exceed the total.
            system.fraction_of(&both(&system.total_ns, &part, |total, part| {
                *part.min(total)
            }))
        })
    }
}

#[cfg(test)]
mod tests;
