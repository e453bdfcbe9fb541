//! Which devices are watched: those of the targets and all that lie below them.
//!
//! Found once, before a run; read often.

use crate::fact::{Fact, unless_empty};
use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::device::{DeviceCounters, DeviceReading};
use super::role::{DeviceRole, FlushCount};
use crate::class::Class;
use crate::device::Device;
use crate::durability::DurabilityFacts;
use crate::sources::Sources;
use crate::target::Target;

/// More devices than these are not watched.
pub const DEVICES_MAX: usize = 64;

/// A device whose counters are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedDevice {
    /// The kernel's name of it (`vda1`).
    pub name: String,
    /// Where it stands.
    pub role: DeviceRole,
    /// Whether its flushes are counted.
    pub flushes: FlushCount,
}

/// The devices of one or several targets, from each downwards, every device
/// once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedDevices {
    /// The devices.
    pub list: Vec<WatchedDevice>,
    /// Why something that lies below a target is not in the list; empty if all
    /// of it is.
    pub unseen: Vec<String>,
}

impl WatchedDevices {
    /// The devices of targets. Not applicable if none of them has one, and
    /// unavailable if none is known; otherwise what is not known is `unseen`.
    pub fn of<'target>(
        sources: &Sources,
        targets: impl IntoIterator<Item = &'target Target>,
    ) -> Fact<WatchedDevices> {
        let mut search = Search::new(sources);
        for target in targets {
            match &target.device {
                Fact::Known(device) => search.add(device, DeviceRole::Target),
                Fact::NotApplicable => {}
                Fact::Unavailable(why) => search.unseen(why.clone()),
            }
            if !target.mount.is_known() {
                continue;
            }
            match DurabilityFacts::of(sources, target).journal_device {
                Fact::Known(journal) => {
                    let is_partition = sources
                        .path(&format!("/sys/class/block/{}/partition", journal.name))
                        .exists();
                    search.watch(&journal.name, DeviceRole::Journal, is_partition);
                }
                Fact::NotApplicable => {}
                Fact::Unavailable(why) => search.unseen(why),
            }
        }
        let found = search.found;
        let (is_empty, unseen) = (found.list.is_empty(), found.unseen.first().cloned());
        unless_empty(found, is_empty, unseen)
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
        match &device.loop_backing {
            Fact::Known(backing) => match (
                &backing.device,
                backing.mount.known().map(|mount| mount.class()),
            ) {
                (Fact::Known(below), _) => self.add(below, DeviceRole::Beneath),
                (Fact::NotApplicable, Some(Class::Memory)) => {}
                (Fact::NotApplicable, _) => {
                    self.unseen(format!("{}: lies on no device that is known", backing.file))
                }
                (Fact::Unavailable(why), _) => self.unseen(why.clone()),
            },
            Fact::NotApplicable => {}
            Fact::Unavailable(why) => self.unseen(why.clone()),
        }
        match &device.members {
            Fact::Known(members) => members
                .iter()
                .for_each(|member| self.add(member, DeviceRole::Beneath)),
            Fact::NotApplicable => {}
            Fact::Unavailable(why) => self.unseen(why.clone()),
        }
    }

    /// Whether the device is new.
    fn watch(&mut self, name: &str, role: DeviceRole, is_partition: bool) -> bool {
        if self.names.contains(name) {
            return false;
        }
        if self.found.list.len() == DEVICES_MAX {
            self.unseen(format!("more than {DEVICES_MAX} devices"));
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

    fn unseen(&mut self, why: String) {
        if !self.found.unseen.contains(&why) {
            self.found.unseen.push(why);
        }
    }
}

#[cfg(test)]
mod tests;
