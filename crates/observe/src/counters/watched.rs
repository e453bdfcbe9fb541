//! Which devices are watched: those of the targets and all that lie below them.
//!
//! Found once, before a run; read often.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::{DeviceCounters, DeviceReading};
use crate::device::Device;
use crate::fact::Fact;
use crate::sources::Sources;
use crate::target::{Class, Target};

/// More devices than these are not watched.
pub const DEVICES_MAX: usize = 64;

/// Where a watched device stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceRole {
    /// A target's file system lies on it.
    Target,
    /// The one before it in the list is a partition of this disk. It counts
    /// what its other partitions do, too.
    WholeDisk,
    /// Another device of the list lies on it: through a loop device's file, or
    /// as a member of a stacked device.
    Beneath,
}

/// Whether the kernel counts the flushes of a device: it does so where it makes
/// them of requests, once for the whole disk (Documentation/block/stat.rst).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlushCount {
    /// It counts them.
    Counted,
    /// A partition: its disk has them.
    OfTheDisk,
    /// The device hands on what it is given, as device mapper, RAID and memory
    /// do (it has no `mq` in sysfs): its flushes show 0, whatever it does.
    NotOfThisDriver,
}

impl FlushCount {
    fn of(sources: &Sources, name: &str, is_partition: bool) -> FlushCount {
        if is_partition {
            FlushCount::OfTheDisk
        } else if sources.path(&format!("/sys/class/block/{name}/mq")).exists() {
            FlushCount::Counted
        } else {
            FlushCount::NotOfThisDriver
        }
    }

    pub(super) fn why_not(self) -> Option<&'static str> {
        match self {
            FlushCount::Counted => None,
            FlushCount::OfTheDisk => Some("flushes are counted of the whole disk only"),
            FlushCount::NotOfThisDriver => Some("flushes are not counted of a device that takes no requests"),
        }
    }
}

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
    pub fn of<'target>(sources: &Sources, targets: impl IntoIterator<Item = &'target Target>) -> Fact<WatchedDevices> {
        let mut search = Search::new(sources);
        for target in targets {
            match &target.device {
                Fact::Known(device) => search.add(device, DeviceRole::Target),
                Fact::NotApplicable => {}
                Fact::Unavailable(why) => search.unseen(why.clone()),
            }
        }
        let found = search.found;
        match found.unseen.first() {
            Some(why) if found.list.is_empty() => Fact::Unavailable(why.clone()),
            None if found.list.is_empty() => Fact::NotApplicable,
            _ => Fact::Known(found),
        }
    }

    pub(super) fn read(&self, sources: &Sources) -> Vec<DeviceReading> {
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
            Fact::Known(backing) => match (&backing.device, backing.mount.known().map(|mount| mount.class())) {
                (Fact::Known(below), _) => self.add(below, DeviceRole::Beneath),
                (Fact::NotApplicable, Some(Class::Memory)) => {}
                (Fact::NotApplicable, _) => self.unseen(format!("{}: lies on no device that is known", backing.file)),
                (Fact::Unavailable(why), _) => self.unseen(why.clone()),
            },
            Fact::NotApplicable => {}
            Fact::Unavailable(why) => self.unseen(why.clone()),
        }
        match &device.members {
            Fact::Known(members) => members.iter().for_each(|member| self.add(member, DeviceRole::Beneath)),
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
