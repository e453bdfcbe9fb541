//! Joins the evidence of several ranks.
//!
//! The source of a counter determines how it is joined. Counters of a process (its own I/O, the
//! calls of an I/O engine that contacts servers itself) are added over all ranks. Counters of a
//! host's kernel for all processes (messages of mounts, interfaces) are used once per host, and
//! added over hosts. Counters of devices are used once per kernel, because containers of one
//! machine share its device counters.

use std::collections::HashSet;

use system::network::InterfaceReading;
use system::{Accounted, Fact, MessageCounter, MessagesReading, OwnIo};

use crate::evidence::{PhaseEvidence, Residency, ResidencySample};
use crate::host_phase::HostPhase;
use crate::merge::{added, facts, options};
use crate::server::{ServerCounts, ServerTotals};
use system::counters::{DeviceCounters, DeviceReading, DeviceRole};

/// Whether two readings come from one host, from two hosts with one kernel, or from two kernels.
/// This determines which counters the readings share.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Apart {
    /// Two processes on one host, which share all counters of its kernel.
    Processes,
    /// Two hosts with one kernel, which share its device counters.
    Hosts,
    /// Two kernels, which share no counters.
    Kernels,
}

/// Joins the evidence of two processes, hosts or kernels.
pub(super) fn both(one: PhaseEvidence, other: PhaseEvidence, apart: Apart) -> PhaseEvidence {
    PhaseEvidence {
        performing: accounted(one.performing, other.performing, apart),
        syncing: options(one.syncing, other.syncing, |one, other| {
            accounted(one, other, apart)
        }),
        residency: options(one.residency, other.residency, residency),
        server: options(one.server, other.server, |one, other| {
            ServerCounts::and(one, &other)
        }),
    }
}

/// Joins the evidence of all hosts; `None` if no host has evidence.
pub(super) fn of_hosts(hosts: &[HostPhase]) -> Option<PhaseEvidence> {
    let mut kernels: HashSet<(Option<&str>, &str)> = HashSet::new();
    let mut sum: Option<PhaseEvidence> = None;
    for host in hosts {
        let Some(evidence) = &host.evidence else {
            continue;
        };
        let kernel = match host.host.boot_id.known() {
            Some(boot) => (Some(boot.as_str()), ""),
            None => (None, host.host.hostname.as_str()),
        };
        let apart = if kernels.insert(kernel) {
            Apart::Kernels
        } else {
            Apart::Hosts
        };
        sum = Some(match sum {
            None => evidence.clone(),
            Some(sum) => both(sum, evidence.clone(), apart),
        });
    }
    sum
}

fn accounted(one: Accounted, other: Accounted, apart: Apart) -> Accounted {
    let is_other_kernel = apart == Apart::Kernels;
    Accounted {
        own: OwnIo {
            read_bytes: added(one.own.read_bytes, other.own.read_bytes),
            written_bytes: added(one.own.written_bytes, other.own.written_bytes),
            cancelled_bytes: added(one.own.cancelled_bytes, other.own.cancelled_bytes),
        },
        devices: if is_other_kernel {
            facts(one.devices, other.devices, devices)
        } else {
            one.devices
        },
        messages: facts(one.messages, other.messages, |one, other| {
            messages(one, other, apart)
        }),
        interfaces: if apart == Apart::Processes {
            one.interfaces
        } else {
            facts(one.interfaces, other.interfaces, interfaces)
        },
        allocated_bytes: if is_other_kernel {
            added(one.allocated_bytes, other.allocated_bytes)
        } else {
            one.allocated_bytes
        },
    }
}

/// Adds the counters of each target's devices to those of a target with the same devices. Targets
/// with other devices are appended.
fn devices(one: Vec<DeviceReading>, other: Vec<DeviceReading>) -> Vec<DeviceReading> {
    let mut all = below_targets(one);
    let names = |group: &[DeviceReading]| -> Vec<(String, DeviceRole)> {
        group
            .iter()
            .map(|device| (device.name.clone(), device.role))
            .collect()
    };
    for group in below_targets(other) {
        let of_group = names(&group);
        match all.iter_mut().find(|known| names(known) == of_group) {
            None => all.push(group),
            Some(known) => {
                for (known, more) in known.iter_mut().zip(group) {
                    let before = std::mem::replace(&mut known.counters, Fact::NotApplicable);
                    known.counters = facts(before, more.counters, |one, other| {
                        DeviceCounters::and(&one, &other)
                    });
                }
            }
        }
    }
    all.into_iter().flatten().collect()
}

fn below_targets(devices: Vec<DeviceReading>) -> Vec<Vec<DeviceReading>> {
    let mut groups: Vec<Vec<DeviceReading>> = Vec::new();
    for device in devices {
        match groups.last_mut() {
            Some(group) if device.role != DeviceRole::Target => group.push(device),
            _ => groups.push(vec![device]),
        }
    }
    groups
}

fn messages(
    mut all: Vec<MessagesReading>,
    more: Vec<MessagesReading>,
    apart: Apart,
) -> Vec<MessagesReading> {
    for reading in more {
        let same = |known: &&mut MessagesReading| {
            (known.counter, &known.protocol, &known.of)
                == (reading.counter, &reading.protocol, &reading.of)
        };
        let is_of_process = reading.counter == MessageCounter::Engine;
        match all.iter_mut().find(same) {
            None => all.push(reading),
            Some(known) if is_of_process || apart != Apart::Processes => {
                *known = MessagesReading::and(known, &reading);
            }
            // Both processes have read the same counter, which must be included once.
            Some(_) => {}
        }
    }
    all
}

fn interfaces(
    mut all: Vec<InterfaceReading>,
    more: Vec<InterfaceReading>,
) -> Vec<InterfaceReading> {
    for reading in more {
        let Some(known) = all.iter_mut().find(|known| known.name == reading.name) else {
            all.push(reading);
            continue;
        };
        let take = |fact: &mut Fact<u64>| std::mem::replace(fact, Fact::NotApplicable);
        known.speed_bits_per_s = added(take(&mut known.speed_bits_per_s), reading.speed_bits_per_s);
        known.received_bytes = added(take(&mut known.received_bytes), reading.received_bytes);
        known.sent_bytes = added(take(&mut known.sent_bytes), reading.sent_bytes);
    }
    all
}

fn residency(one: Residency, other: Residency) -> Residency {
    let sample = |one: ResidencySample, other: ResidencySample| ResidencySample {
        files: one.files.saturating_add(other.files),
        pages: one.pages.saturating_add(other.pages),
        cached: one.cached.saturating_add(other.cached),
        dirty: added(one.dirty, other.dirty),
        under_write_back: added(one.under_write_back, other.under_write_back),
    };
    Residency {
        before: facts(one.before, other.before, sample),
        after: facts(one.after, other.after, sample),
    }
}

/// Adds the server communication of two ranks. Each process counts only its own communication, so
/// nothing is counted twice.
pub(super) fn traffic(one: ServerTotals, other: ServerTotals) -> ServerTotals {
    ServerTotals {
        messages: MessagesReading::and(&one.messages, &other.messages),
        counts: one.counts.and(&other.counts),
    }
}
