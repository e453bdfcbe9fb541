//! What the kernel counts while a run goes on: of this process and its threads,
//! of the machine, and of the devices below the target; snapshots, and the
//! differences of two.
//!
//! It reads no clock, computes no rate and judges nothing; what makes the time
//! between two snapshots doubtful is [`crate::clocks`]. It is made to be called
//! once a second: a reading opens a dozen files and two for every thread, up
//! to [`THREADS_MAX`] threads, and keeps none open (what that takes is in
//! `docs/specification.md`).
//!
//! How it works: each subject has a type with `read` and `since`. A number is a
//! [`Fact`]: what the kernel did not tell is missing with its reason, in the
//! difference too, and a counter that went backwards gives no number. What is
//! no counter but a state (memory, tasks that run, operations in flight) is in
//! a difference what it was at its end.

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
    /// Times, context switches, page faults and the greatest memory of all
    /// threads of this process, also ended ones (getrusage(2)).
    pub process: Fact<ProcessTimes>,
    /// Memory of this process that is resident, in bytes (`VmRSS` of
    /// proc_pid_status(5), which calls it inexact: some pages per thread).
    pub resident_bytes: Fact<u64>,
    /// The same processor time by thread.
    pub threads: Fact<Threads>,
    /// The machine.
    pub system: SystemCounters,
    /// The devices that are watched, in their order. Not applicable to targets
    /// without one.
    pub devices: Fact<Vec<DeviceReading>>,
}

impl Counters {
    /// Reads everything.
    pub fn read(sources: &Sources, devices: &Fact<WatchedDevices>) -> Counters {
        let status = sources.text(STATUS);
        let process = ProcessTimes::beside(sources, &status);
        Counters {
            // Right after the process, of which they are parts.
            threads: Threads::read(sources, &process, &status),
            resident_bytes: sources.kibibytes(STATUS, &status, "VmRSS"),
            process,
            system: SystemCounters::read(sources),
            devices: devices.as_ref().map(|devices| devices.read(sources)),
        }
    }

    /// What was counted between an earlier snapshot and this.
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

    /// This snapshot, and where something could not be read in it what an
    /// earlier one had: the difference of a later one to it has all that was
    /// counted since that was read last.
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

/// What was counted between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CountersDifference {
    /// Of all threads of this process; `max_resident_bytes` is that of the end.
    pub process: Fact<ProcessTimes>,
    /// Resident memory at the end, in bytes.
    pub resident_bytes: Fact<u64>,
    /// The same processor time by thread.
    pub threads: Fact<Threads>,
    /// The machine.
    pub system: SystemCountersDifference,
    /// The devices that are watched at the end.
    pub devices: Fact<Vec<DeviceReading>>,
}

impl CountersDifference {
    /// The share of all processors' time that somebody used, from 0 to 1.
    pub fn busy_fraction(&self) -> Fact<f64> {
        self.fraction(|times| &times.busy_ns)
    }

    /// The share of all processors' time that the hypervisor gave to others, from 0 to 1.
    pub fn steal_fraction(&self) -> Fact<f64> {
        self.fraction(|times| &times.steal_ns)
    }

    fn fraction(&self, part_ns: fn(&crate::SystemTimesSpent) -> &Fact<u64>) -> Fact<f64> {
        let times = self.system.times.as_ref();
        times.and_then(|times| times.fraction_of(part_ns(times)))
    }

    /// The share of all processors' time that others used, from 0 to 1: what
    /// the machine was busy with, without this process. Steal is not in it.
    ///
    /// Threads of the kernel count as others even where they work for this
    /// process: write-back, loop devices, encryption, interrupts. Where others
    /// seem to have used less than nothing, which is the grain of the kernel's
    /// ticks, it is 0.
    pub fn others_fraction(&self) -> Fact<f64> {
        self.share_of_total(|system, process| {
            let busy = system.busy_ns.as_ref();
            busy.map(|busy| busy.saturating_sub(process.cpu_ns()))
        })
    }

    /// The share of all processors' time that others used in user mode, from 0
    /// to 1. Threads of the kernel have none, so this is other programs, but
    /// without what the kernel does for them.
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
            // The process is counted in microseconds and the machine in ticks.
            system.fraction_of(&both(&system.total_ns, &part, |total, part| {
                *part.min(total)
            }))
        })
    }
}

#[cfg(test)]
mod tests;
