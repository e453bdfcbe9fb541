//! The devices whose counters are read: the devices of targets, and all devices below them.
//!
//! The devices are found once, before a run, and their counters are read often.

use crate::fact::{Fact, Watched};
use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::device::{DeviceCounters, DeviceReading};
use super::role::{DeviceRole, FlushCount};
use crate::class::Class;
use crate::device::Device;
use crate::durability::DurabilityFacts;
use crate::sources::Sources;
use crate::target::Target;

pub const DEVICES_MAX: usize = 64;

/// A device on which a target depends, and whose counters are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedDevice {
    /// Kernel name of the device (`vda1`).
    pub name: String,
    pub role: DeviceRole,
    pub flushes: FlushCount,
}

/// The devices of one or several targets, and all devices below these, each once.
pub type WatchedDevices = Watched<WatchedDevice>;

impl WatchedDevices {
    /// Finds the devices of targets. Not applicable if no target has a device; unavailable if no
    /// device is known. If some devices are missing from the list, `unseen` contains the reasons.
    pub fn of<'target>(
        sources: &Sources,
        targets: impl IntoIterator<Item = &'target Target>,
    ) -> Fact<WatchedDevices> {
        let mut search = Search::new(sources);
        for target in targets {
            if let Some(device) = search.found.known(&target.device) {
                search.add(device, DeviceRole::Target);
            }
            if !target.mount.is_known() {
                continue;
            }
            let journal = DurabilityFacts::of(sources, target).journal_device;
            if let Some(journal) = search.found.known(&journal) {
                let is_partition = sources
                    .path(&format!("/sys/class/block/{}/partition", journal.name))
                    .exists();
                search.watch(&journal.name, DeviceRole::Journal, is_partition);
            }
        }
        search.found.found()
    }

    pub(crate) fn read(&self, sources: &Sources) -> Vec<DeviceReading> {
        let read = |device: &WatchedDevice| DeviceReading {
            name: device.name.clone(),
            role: device.role,
            counters: DeviceCounters::read(sources, &device.name, device.flushes),
        };
        self.list.iter().map(read).collect()
    }
}

struct Search<'sources> {
    sources: &'sources Sources,
    names: HashSet<String>,
    found: WatchedDevices,
}

impl<'sources> Search<'sources> {
    fn new(sources: &'sources Sources) -> Self {
        Search {
            sources,
            names: HashSet::new(),
            found: WatchedDevices::default(),
        }
    }

    fn add(&mut self, device: &Device, role: DeviceRole) {
        let disk = device.partition_of.known();
        if !self.watch(&device.name, role, disk.is_some()) {
            return;
        }
        if let Some(disk) = disk {
            self.watch(disk, DeviceRole::WholeDisk, false);
        }
        if let Some(backing) = self.found.known(&device.loop_backing) {
            let class = backing.mount.known().map(|mount| mount.class());
            if let Some(below) = self.found.known(&backing.device) {
                self.add(below, DeviceRole::Beneath);
            } else if backing.device == Fact::NotApplicable && class != Some(Class::Memory) {
                let why = format!("{}: lies on no device that is known", backing.file);
                self.found.unseen(&why);
            }
        }
        for member in self.found.known(&device.members).into_iter().flatten() {
            self.add(member, DeviceRole::Beneath);
        }
    }

    /// Adds a device. Returns false if the list already contains the device or is full.
    fn watch(&mut self, name: &str, role: DeviceRole, is_partition: bool) -> bool {
        if self.names.contains(name) {
            return false;
        }
        if self.found.list.len() == DEVICES_MAX {
            self.found
                .unseen(&format!("more than {DEVICES_MAX} devices"));
            return false;
        }
        self.names.insert(name.to_owned());
        self.found.list.push(WatchedDevice {
            name: name.to_owned(),
            role,
            flushes: FlushCount::of(self.sources, name, is_partition),
        });
        true
    }
}

#[cfg(test)]
mod tests;
