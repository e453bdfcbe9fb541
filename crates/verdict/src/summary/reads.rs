//! Where the bytes that operations read came from, and whether that matches the requested cache
//! state.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::{Cache, RunSpec};
use system::counters::DeviceReading;
use system::{Accounted, Class, Device, DeviceCounters, Fact, Mount, Target};

use record::merge::added;
use record::run::{PhaseRecord, Record};

/// With a cold cache, at least this share of the bytes read comes from the device.
pub const COLD_MIN: f64 = 0.9;
/// With direct I/O, at least this share of the bytes read comes from the device. The rest is
/// contents that a file system stores with its metadata.
pub const DIRECT_MIN: f64 = 0.99;
/// With a warm cache, at most this share of the bytes read comes from the device.
pub const WARM_MAX: f64 = 0.1;

/// A cache state that differs from the requested one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Surprise {
    /// A cold cache was requested, but less than 90 % of the bytes read came from the device.
    LittleThoughCold,
    /// A warm cache was requested, but more than 10 % of the bytes read came from the device.
    MuchThoughWarm,
}

const MIXED: &str = "mixed: some of the devices beneath the targets are memory";

/// What is behind the page cache of the targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Behind {
    /// A device of this machine.
    Device,
    /// Another machine, or a program that serves files.
    Server,
    /// Memory: the file system stores its data in memory, or all devices below it do.
    Memory,
    /// The targets differ: more than one of device, server and memory.
    Several,
}

impl Behind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Server => "server",
            Self::Memory => "memory",
            Self::Several => "device or server",
        }
    }

    /// Returns what is behind the page cache of all targets, determined from the lowest devices.
    /// Not available if a layer in between hides these devices.
    fn of(record: &Record) -> Fact<Self> {
        if record.spec.engine.calls_server() {
            return Fact::Known(Self::Server);
        }
        let mut kinds = Vec::new();
        let mut has_device_of_memory = false;
        for location in &record.locations {
            match location.target.as_ref().and_then(Self::of_target) {
                Fact::Known(kind) => kinds.push(kind),
                Fact::NotApplicable => continue,
                Fact::Unavailable(why) => return Fact::Unavailable(why),
            }
            let has_device = location
                .target
                .known()
                .is_some_and(|target| target.device.is_known());
            has_device_of_memory |= has_device && kinds.last() == Some(&Self::Memory);
        }
        let first = kinds.first().copied().unwrap_or(Self::Device);
        if kinds.iter().all(|kind| *kind == first) {
            return Fact::Known(first);
        }
        // The kernel counts bytes fetched from a device of memory and from a disk in one number, so
        // the disk's share of the fetched bytes is not known.
        match has_device_of_memory {
            true => Fact::Unavailable(MIXED.to_owned()),
            false => Fact::Known(Self::Several),
        }
    }

    /// Returns what is behind the page cache of one target.
    pub(crate) fn of_target(target: &Target) -> Fact<Self> {
        target.class.as_ref().and_then(|class| match class {
            Class::Memory => Fact::Known(Self::Memory),
            Class::Network => Fact::Known(Self::Server),
            Class::Block | Class::Overlay | Class::Other => match &target.device {
                Fact::Known(device) => Self::of_device(device),
                Fact::NotApplicable | Fact::Unavailable(_) => Fact::Known(Self::Device),
            },
        })
    }

    fn of_device(device: &Device) -> Fact<Self> {
        let last = device.physical();
        let in_memory = last.iter().filter(|device| device.is_memory()).count();
        if in_memory == last.len() {
            return Fact::Known(Self::Memory);
        }
        if in_memory > 0 {
            return Fact::Unavailable(MIXED.to_owned());
        }
        if let Some(caching) = device.caching_loop() {
            let name = &caching.name;
            return Fact::Unavailable(format!(
                "a loop device caches: /dev/{name} has no direct I/O"
            ));
        }
        let served = last.iter().find_map(|device| {
            let backing = device.loop_backing.known()?;
            backing.mount.known().filter(|mount| mount.has_server())?;
            Some(&backing.file)
        });
        match served {
            Some(file) => Fact::Unavailable(format!(
                "a server provides the file of a loop device: {file}"
            )),
            None => Fact::Known(Self::Device),
        }
    }
}

/// Returns a known fact if the bytes fetched from every target are counted, by the kernel or by the
/// program; otherwise the reason.
fn is_counted(record: &Record) -> Fact<()> {
    if record.spec.engine.calls_server() {
        return Fact::Known(());
    }
    let of_target = |target: &Target| {
        target
            .mount
            .as_ref()
            .and_then(|mount: &Mount| match mount.counts_reads() {
                true => target.class.as_ref().map(|_| ()),
                false => {
                    let kind = &mount.file_system_type;
                    Fact::Unavailable(format!(
                        "the kernel does not count the reads of a {kind} server"
                    ))
                }
            })
    };
    let targets = record.locations.iter().map(|location| &location.target);
    let not_counted = targets.map(|target| target.as_ref().and_then(of_target));
    not_counted.fold(Fact::Known(()), |all, own| match own {
        Fact::Unavailable(why) => all.and_then(|()| Fact::Unavailable(why)),
        Fact::Known(()) | Fact::NotApplicable => all,
    })
}

/// Where the bytes that operations read came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadsServed {
    /// Bytes that operations read, warm-ups included.
    pub read_bytes: u64,
    /// Bytes that the kernel fetched for this process from behind the page cache, or that the
    /// program itself received from servers. Not available if the kernel does not count them.
    pub fetched_bytes: Fact<u64>,
    /// What is behind the page cache, determined from the lowest devices. Not available if a layer
    /// in between hides it, such as a loop device that reads its file through the page cache.
    pub fetched_from: Fact<Behind>,
    /// Share of the bytes read that a device or a server served: fetched bytes divided by read
    /// bytes. It is 0 if memory served everything, and above 1 if more was fetched than read. Null
    /// if `fetched_bytes` or `fetched_from` is not known, or nothing was read.
    pub fraction: Option<f64>,
    /// Bytes that the lowest devices below caching loop devices read in the same time, for all
    /// programs on the machine. The devices served at most this number of the bytes read. Not
    /// applicable without a caching loop device.
    pub beneath_loop_bytes: Fact<u64>,
    /// How the page cache differed from the requested state; null if it did not differ, or if the
    /// fetched bytes are not known.
    pub surprise: Option<Surprise>,
}

impl ReadsServed {
    /// Returns the fetched bytes. They are not available if their source is not known.
    pub fn served_bytes(&self) -> Fact<u64> {
        self.fetched_from
            .as_ref()
            .and_then(|_| self.fetched_bytes.clone())
    }

    /// Returns the share of the bytes read that the page cache served. It is known although what is
    /// behind the page cache is not, such as a caching loop device.
    pub fn cached_fraction(&self) -> Option<f64> {
        let fetched = self.fraction.or_else(|| self.fetched_fraction())?;
        Some((1.0 - fetched).max(0.0))
    }

    /// Returns the fetched bytes divided by the read bytes, whatever served the fetched bytes. This
    /// share is compared with the requested cache state.
    pub(crate) fn fetched_fraction(&self) -> Option<f64> {
        let fetched = self.fetched_bytes.known().filter(|_| self.read_bytes > 0)?;
        Some(*fetched as f64 / self.read_bytes as f64)
    }
}

/// Returns where the bytes that the given phases read came from; `None` if a phase has no evidence.
pub(crate) fn of<'phase>(
    record: &Record,
    phases: impl Iterator<Item = &'phase PhaseRecord>,
) -> Option<ReadsServed> {
    let is_counted = is_counted(record);
    let fetched_from = is_counted.as_ref().and_then(|()| Behind::of(record));
    let last_devices = beneath_caching_loops(record);
    let mut read_bytes = 0;
    let (mut fetched_bytes, mut beneath_loop_bytes) = (Fact::NotApplicable, Fact::NotApplicable);
    for phase in phases {
        let performing = &phase.evidence.as_ref()?.performing;
        let of_phase = match record.spec.engine.calls_server() {
            true => from_servers(performing),
            false => performing.own.read_bytes.clone(),
        };
        read_bytes += bytes_read(phase);
        fetched_bytes = added(fetched_bytes, of_phase);
        let of_phase = last_devices.as_ref().and_then(|names| {
            let is_one = |device: &DeviceReading| names.contains(device.name.as_str());
            of_devices(performing, is_one, |device| &device.read_bytes)
        });
        beneath_loop_bytes = added(beneath_loop_bytes, of_phase);
    }
    let fetched_bytes = is_counted.and_then(|()| fetched_bytes);
    let mut reads = ReadsServed {
        read_bytes,
        fraction: None,
        fetched_bytes,
        fetched_from,
        beneath_loop_bytes,
        surprise: None,
    };
    let fetched = reads.fetched_fraction();
    reads.fraction = match reads.fetched_from {
        Fact::Known(Behind::Memory) => fetched.map(|_| 0.0),
        Fact::Known(_) => fetched,
        Fact::NotApplicable | Fact::Unavailable(_) => None,
    };
    reads.surprise = fetched.and_then(|fetched| surprise(fetched, &record.spec));
    Some(reads)
}

/// Returns the names of the lowest devices below the targets' caching loop devices. Not applicable
/// if no loop device caches, or if its file is on no device.
fn beneath_caching_loops(record: &Record) -> Fact<BTreeSet<&str>> {
    let targets = record.targets();
    let caching = targets.filter_map(|target| target.device.known()?.caching_loop());
    let last = caching.flat_map(|device| {
        let last = device.physical().into_iter();
        last.filter(|last| last.name != device.name && !last.is_memory())
    });
    let names: BTreeSet<&str> = last.map(|device| device.name.as_str()).collect();
    match names.is_empty() {
        true => Fact::NotApplicable,
        false => Fact::Known(names),
    }
}

/// Adds up a counter of the devices that `is_one` selects.
pub(super) fn of_devices(
    counted: &Accounted,
    is_one: impl Fn(&DeviceReading) -> bool,
    counter: fn(&DeviceCounters) -> &Fact<u64>,
) -> Fact<u64> {
    counted.devices.as_ref().and_then(|devices| {
        let devices = devices.iter().filter(|device| is_one(device));
        let counters = devices.map(|device| device.counters.as_ref());
        let counts = counters.map(|counters| counters.and_then(|all| counter(all).clone()));
        counts.fold(Fact::NotApplicable, added)
    })
}

/// Bytes that the program itself received from servers, which the kernel does not count.
fn from_servers(counted: &Accounted) -> Fact<u64> {
    counted.messages.as_ref().and_then(|messages| {
        let bytes = messages
            .iter()
            .map(|reading| reading.server_read_bytes.clone());
        bytes.fold(Fact::Known(0), |sum: Fact<u64>, more| {
            sum.and_then(|sum| more.map(|more| sum.saturating_add(more)))
        })
    })
}

/// Returns where the bytes that transactions read came from; `None` without transactions, or if the
/// transactions of a load level have no evidence.
pub(crate) fn of_transactions(record: &Record) -> Option<ReadsServed> {
    record.actual.transactions().next()?;
    of(record, record.actual.transactions())
}

/// Bytes that operations read in all segments, warm-ups included.
fn bytes_read(phase: &PhaseRecord) -> u64 {
    let operations = phase.all_operations();
    let reads = operations.filter(|operation| operation.action.moves_bytes_in());
    reads.map(|operation| operation.meter.bytes).sum()
}

fn surprise(fetched: f64, spec: &RunSpec) -> Option<Surprise> {
    match spec.cache {
        // Without the page cache there is no cache state. Direct reads come from the device, and an
        // engine's own client reads from the server.
        _ if spec.direct || !spec.engine.uses_page_cache() => None,
        Cache::Cold | Cache::ColdData if fetched < COLD_MIN => Some(Surprise::LittleThoughCold),
        Cache::Warm if fetched > WARM_MAX => Some(Surprise::MuchThoughWarm),
        _ => None,
    }
}
