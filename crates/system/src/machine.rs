//! All counters of a machine, which include the work of all programs. They are meant for a server
//! with other clients, or for any machine that does not run the workload.
//!
//! The counters cover the time of all processors, all block devices except partitions, and all
//! interfaces except loopback. They also cover the calls to the kernel's NFS server and to
//! NFS-Ganesha. The module reads no clock.
//!
//! How it works: [`WatchedMachine::find`] finds the counters once, and [`WatchedMachine::read`]
//! reads them. Between two readings, counters are assumed to grow evenly
//! ([`MachineReading::between`]).

use std::fmt::Debug;

use crate::fact::{Fact, both, each_since, part_way};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::counters::{DeviceCounters, FlushCount};
use crate::cpu::SystemTimes;
use crate::cpu::spent::SystemTimesSpent;
use crate::messages::{MessagesReading, WatchedMessages};
use crate::network::InterfaceReading;
use crate::sources::Sources;

/// Maximum number of devices, and of interfaces, that are read.
pub const MACHINE_PARTS_MAX: usize = 64;

const BLOCK: &str = "/sys/class/block";
const NETWORK: &str = "/sys/class/net";

#[derive(Clone, Debug)]
struct MachineDevice {
    name: String,
    is_stacked: bool,
    flushes: FlushCount,
}

/// The calls to a server in user space on this machine, counted by the server.
pub trait ServerCalls: Debug + Send {
    /// Reads the calls of all clients, with one reading for each version of the protocol.
    fn read(&self) -> Vec<MessagesReading>;
}

/// A function that finds a running server. The result is unavailable with the reason if no server
/// runs.
pub type FindServerCalls = fn(&Sources) -> Fact<Box<dyn ServerCalls>>;

/// The counters of a machine. They are located once, when this value is created, and can then be
/// read often.
#[derive(Debug)]
pub struct WatchedMachine {
    devices: Fact<Vec<MachineDevice>>,
    kernel_calls: Fact<WatchedMessages>,
    ganesha_calls: Fact<Box<dyn ServerCalls>>,
    interfaces: Fact<Vec<String>>,
}

impl WatchedMachine {
    /// Finds the devices, NFS servers and interfaces that exist at the time of the call.
    /// `find_ganesha` is `None` in a build without D-Bus, through which NFS-Ganesha reports its
    /// counters.
    pub fn find(sources: &Sources, find_ganesha: Option<FindServerCalls>) -> Self {
        let is_there = |path: String| sources.path(&path).exists();
        let is_listed = |path: String| {
            sources
                .names(&path)
                .known()
                .is_some_and(|names| !names.is_empty())
        };
        let device = |name: String| {
            let at = format!("{BLOCK}/{name}");
            MachineDevice {
                is_stacked: is_listed(format!("{at}/slaves")) || is_there(format!("{at}/loop")),
                flushes: FlushCount::of(sources, &name, false),
                name,
            }
        };
        let is_used = |name: &String| {
            let at = format!("{BLOCK}/{name}");
            // Dozens of RAM disks and loop devices may exist. Unused devices have size 0 and are
            // skipped.
            !is_there(format!("{at}/partition"))
                && sources.number::<u64>(&format!("{at}/size")).known() != Some(&0)
        };
        Self {
            devices: sources.names(BLOCK).map(|names| {
                let used = names.into_iter().filter(is_used).take(MACHINE_PARTS_MAX);
                used.map(device).collect()
            }),
            kernel_calls: WatchedMessages::of_nfs_server(sources),
            ganesha_calls: find_ganesha.unwrap_or(without_dbus)(sources),
            interfaces: sources.names(NETWORK).map(|names| {
                let others = names.into_iter().filter(|name| name != "lo");
                // Skips files that are not interfaces (bonding_masters).
                let others = others.filter(|name| is_there(format!("{NETWORK}/{name}/statistics")));
                others.take(MACHINE_PARTS_MAX).collect()
            }),
        }
    }

    /// Reads all counters, one after another.
    pub fn read(&self, sources: &Sources) -> MachineReading {
        let device = |device: &MachineDevice| MachineDeviceReading {
            name: device.name.clone(),
            is_stacked: device.is_stacked,
            counters: DeviceCounters::read(sources, &device.name, device.flushes),
        };
        let interface = |name: &String| InterfaceReading::read(sources, name);
        MachineReading {
            processors: SystemTimes::read(sources),
            devices: self
                .devices
                .as_ref()
                .map(|devices| devices.iter().map(device).collect()),
            calls: self.calls(sources),
            interfaces: self
                .interfaces
                .as_ref()
                .map(|names| names.iter().map(interface).collect()),
        }
    }

    /// Reads the calls to the kernel's NFS server and to NFS-Ganesha, as far as these servers count
    /// calls. If neither does, the result is unavailable with the reasons.
    fn calls(&self, sources: &Sources) -> Fact<Vec<MessagesReading>> {
        let kernel = self.kernel_calls.as_ref().map(|calls| calls.read(sources));
        match (kernel, &self.ganesha_calls) {
            (Fact::Known(kernel), Fact::Known(ganesha)) => {
                Fact::Known([kernel, ganesha.read()].concat())
            }
            (_, Fact::Known(ganesha)) => Fact::Known(ganesha.read()),
            (Fact::Unavailable(why), Fact::Unavailable(more)) => {
                Fact::Unavailable(format!("{why}; {more}"))
            }
            (kernel, _) => kernel,
        }
    }
}

fn without_dbus(_: &Sources) -> Fact<Box<dyn ServerCalls>> {
    let why = "this postmark was built without D-Bus (use a postmark built with 'cargo build -p \
               cli --features mpi')";
    Fact::Unavailable(format!("NFS-Ganesha in user space: {why}"))
}

/// A block device with its counters, which include the work of all programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineDeviceReading {
    /// Kernel name of the device (`nvme0n1`).
    pub name: String,
    /// Whether the device is above other devices or files, as device mapper, RAID and loop devices
    /// are. An operation of a stacked device is also counted for the devices below it.
    pub is_stacked: bool,
    /// Counters of the block layer (`/sys/class/block/NAME/stat`).
    pub counters: Fact<DeviceCounters>,
}

/// All counters of a machine at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineReading {
    processors: Fact<SystemTimes>,
    devices: Fact<Vec<MachineDeviceReading>>,
    calls: Fact<Vec<MessagesReading>>,
    interfaces: Fact<Vec<InterfaceReading>>,
}

impl MachineReading {
    /// Interpolates the counters: `fraction` (from 0 to 1) of the way from this reading to a later
    /// one.
    #[must_use]
    pub fn between(&self, later: &Self, fraction: f64) -> Self {
        let device =
            |earlier: &MachineDeviceReading, later: &MachineDeviceReading| MachineDeviceReading {
                counters: both(&later.counters, &earlier.counters, |later, earlier| {
                    earlier.between(later, fraction)
                }),
                ..earlier.clone()
            };
        Self {
            processors: both(&later.processors, &self.processors, |later, earlier| {
                earlier.between(later, fraction)
            }),
            devices: each(&later.devices, &self.devices, device),
            calls: each(&later.calls, &self.calls, |earlier, later| {
                earlier.between(later, fraction)
            }),
            interfaces: each(&later.interfaces, &self.interfaces, |earlier, later| {
                InterfaceReading {
                    received_bytes: part_way(
                        &earlier.received_bytes,
                        &later.received_bytes,
                        fraction,
                    ),
                    sent_bytes: part_way(&earlier.sent_bytes, &later.sent_bytes, fraction),
                    ..earlier.clone()
                }
            }),
        }
    }

    /// Returns the growth since an earlier reading. Devices that completed no operation are
    /// omitted, except as [`MachineCounted::devices`] describes.
    pub fn since(&self, earlier: &Self) -> MachineCounted {
        let device =
            |before: &MachineDeviceReading, later: &MachineDeviceReading| MachineDeviceReading {
                counters: both(&later.counters, &before.counters, |after, before| {
                    after.since_reading(before, &later.name)
                }),
                ..later.clone()
            };
        let mut devices = each(&self.devices, &earlier.devices, device);
        if let Fact::Known(devices) = &mut devices {
            let did_something = |device: &MachineDeviceReading| {
                device
                    .counters
                    .known()
                    .is_none_or(DeviceCounters::did_something)
            };
            let mut lowest = devices.iter().filter(|device| !device.is_stacked);
            // If all devices that completed operations are stacked, or no device completed any, the
            // first device that is not stacked is kept with 0 operations.
            let mut is_told = lowest.any(did_something);
            devices.retain(|device| {
                let tells = !device.is_stacked && !is_told;
                is_told |= tells;
                tells || did_something(device)
            });
        }
        MachineCounted {
            processors: both(
                &self.processors,
                &earlier.processors,
                SystemTimes::spent_since,
            ),
            devices,
            calls: each_since(&self.calls, &earlier.calls, MessagesReading::since),
            interfaces: each_since(
                &self.interfaces,
                &earlier.interfaces,
                InterfaceReading::since,
            ),
        }
    }
}

/// Combines two lists item by item. Both lists contain the same items in the same order.
fn each<T>(later: &Fact<Vec<T>>, earlier: &Fact<Vec<T>>, of: impl Fn(&T, &T) -> T) -> Fact<Vec<T>> {
    both(later, earlier, |later, earlier| {
        let pairs = earlier.iter().zip(later);
        pairs.map(|(earlier, later)| of(earlier, later)).collect()
    })
}

/// Counters of a machine between two moments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineCounted {
    /// Time of all processors, by mode.
    pub processors: Fact<SystemTimesSpent>,
    /// Block devices that completed operations, without partitions. If all devices that completed
    /// operations are stacked, or no device completed any, the first device that is not stacked is
    /// included with 0 operations.
    pub devices: Fact<Vec<MachineDeviceReading>>,
    /// Calls to the kernel's NFS server and to NFS-Ganesha, of all clients, by version of the
    /// protocol. Unavailable if neither server counts calls.
    pub calls: Fact<Vec<MessagesReading>>,
    /// All interfaces except loopback.
    pub interfaces: Fact<Vec<InterfaceReading>>,
}

impl MachineCounted {
    /// Returns the sum over the devices that are not stacked. Data that passes through a stacked
    /// device is therefore counted once.
    pub fn stored(&self) -> Fact<DeviceCounters> {
        self.devices.as_ref().and_then(|devices| {
            let mut lowest = devices.iter().filter(|device| !device.is_stacked);
            let Some(first) = lowest.next() else {
                return Fact::NotApplicable;
            };
            lowest.fold(first.counters.clone(), |sum, device| {
                both(&sum, &device.counters, DeviceCounters::and)
            })
        })
    }

    /// Returns the number of calls to NFS servers, of all versions of the protocol.
    pub fn requests(&self) -> Fact<u64> {
        self.calls.as_ref().and_then(|calls| {
            let mut sum = 0_u64;
            for reading in calls {
                match reading.requests() {
                    Fact::Known(requests) => sum = sum.saturating_add(requests),
                    Fact::NotApplicable
                        if reading
                            .operations
                            .known()
                            .is_some_and(|known| !known.is_empty()) =>
                    {
                        let why = format!(
                            "{} operations were counted, and their calls are not",
                            reading.protocol
                        );
                        return Fact::Unavailable(why);
                    }
                    // The server does not offer this version of the protocol.
                    Fact::NotApplicable => {}
                    Fact::Unavailable(why) => return Fact::Unavailable(why),
                }
            }
            Fact::Known(sum)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::tests::Tree;

    const NFSD: &str = include_str!("../tests/captures/nfsd-linux-6.1");

    fn machine() -> Tree {
        Tree::new(&[
            ("/proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\n"),
            ("/proc/net/rpc/nfsd", NFSD),
            ("/sys/class/block/vda/size", "100"),
            ("/sys/class/block/vda/mq/0", ""),
            (
                "/sys/class/block/vda/stat",
                "10 0 80 5 20 0 160 9 0 12 14 0 0 0 0 3 1",
            ),
            ("/sys/class/block/vda1/size", "50"),
            ("/sys/class/block/vda1/partition", "1"),
            ("/sys/class/block/vda1/stat", "10 0 80 5 20 0 160 9 0 12 14"),
            ("/sys/class/block/vdb/size", "100"),
            ("/sys/class/block/vdb/stat", "1 0 8 5 2 0 16 9 0 12 14"),
            ("/sys/class/block/dm-0/size", "50"),
            ("/sys/class/block/dm-0/slaves/vda", ""),
            ("/sys/class/block/dm-0/stat", "10 0 80 5 20 0 160 9 0 12 14"),
            ("/sys/class/block/loop0/size", "0"),
            ("/sys/class/block/loop0/stat", "0 0 0 0 0 0 0 0 0 0 0"),
            ("/sys/class/net/lo/statistics/rx_bytes", "7"),
            ("/sys/class/net/bonding_masters", ""),
            ("/sys/class/net/eth0/statistics/rx_bytes", "1000"),
            ("/sys/class/net/eth0/statistics/tx_bytes", "500"),
        ])
    }

    fn later(tree: &Tree) {
        tree.file("/proc/stat", "cpu  300 0 200 1500 0 0 0 0 0 0\n");
        tree.file(
            "/sys/class/block/vda/stat",
            "30 0 240 5 24 0 192 9 0 12 14 0 0 0 0 3 1",
        );
        tree.file(
            "/sys/class/block/dm-0/stat",
            "30 0 240 5 24 0 192 9 0 12 14",
        );
        tree.file("/sys/class/net/eth0/statistics/rx_bytes", "3000");
        tree.file("/sys/class/net/eth0/statistics/tx_bytes", "600");
        // 100 more GETATTR calls of NFS version 3, and 205 more COMPOUND calls of version 4.
        let nfsd = NFSD.replace("proc3 22 2 34 ", "proc3 22 2 134 ");
        tree.file(
            "/proc/net/rpc/nfsd",
            &nfsd.replace("proc4 2 1 195", "proc4 2 1 400"),
        );
    }

    #[test]
    fn stacked_devices_are_not_counted_twice() {
        let tree = machine();
        let watched = WatchedMachine::find(&tree.sources, None);
        let earlier = watched.read(&tree.sources);
        later(&tree);
        let counted = watched.read(&tree.sources).since(&earlier);
        let spent = counted.processors.known().unwrap();
        assert_eq!(spent.fraction_of(&spent.busy_ns), Fact::Known(0.3));
        let devices = counted.devices.known().unwrap();
        let names: Vec<(&str, bool)> = devices
            .iter()
            .map(|device| (&*device.name, device.is_stacked))
            .collect();
        assert_eq!(
            names,
            [("dm-0", true), ("vda", false)],
            "the others did nothing, or are no devices"
        );
        let stored = counted.stored().into_known().unwrap();
        assert_eq!(
            (stored.reads, stored.written_bytes),
            (Fact::Known(20), Fact::Known(32 * 512))
        );
        assert_eq!(counted.requests(), Fact::Known(305));
        let idle = watched
            .read(&tree.sources)
            .since(&watched.read(&tree.sources));
        assert_eq!(
            idle.devices.known().unwrap().len(),
            1,
            "nothing was stored, which is known"
        );
        assert_eq!(idle.stored().known().unwrap().reads, Fact::Known(0));
        let [interface] = &counted.interfaces.known().unwrap()[..] else {
            panic!("{counted:?}");
        };
        assert_eq!(
            (&*interface.name, &interface.received_bytes),
            ("eth0", &Fact::Known(2000))
        );
    }

    #[test]
    fn counters_between_two_readings_are_interpolated_linearly() {
        let tree = machine();
        let watched = WatchedMachine::find(&tree.sources, None);
        let earlier = watched.read(&tree.sources);
        later(&tree);
        let later = watched.read(&tree.sources);
        assert_eq!(earlier.between(&later, 0.0), earlier);
        assert_eq!(
            earlier.between(&later, 1.0).since(&earlier),
            later.since(&earlier)
        );
        let part = earlier.between(&later, 0.25);
        let (first, rest) = (part.since(&earlier), later.since(&part));
        assert_eq!(
            first.processors.known().unwrap().busy_ns,
            Fact::Known(750_000_000)
        );
        assert_eq!(
            rest.processors.known().unwrap().busy_ns,
            Fact::Known(2_250_000_000)
        );
        assert_eq!(first.stored().known().unwrap().reads, Fact::Known(5));
        // The first quarter of the time has a quarter of the 100 calls of version 3 and of the 205
        // calls of version 4: 25 + 51.
        assert_eq!(
            (first.requests(), rest.requests()),
            (Fact::Known(76), Fact::Known(229))
        );
        assert_eq!(
            first.interfaces.known().unwrap()[0].sent_bytes,
            Fact::Known(25)
        );
    }

    #[test]
    fn nfs_calls_are_unavailable_without_a_server_that_counts_them() {
        let tree = machine();
        std::fs::remove_file(tree.sources.path("/proc/net/rpc/nfsd")).unwrap();
        let counted = |tree: &Tree| {
            let watched = WatchedMachine::find(&tree.sources, None);
            let earlier = watched.read(&tree.sources);
            watched.read(&tree.sources).since(&earlier)
        };
        let why = counted(&tree).requests();
        assert!(why.why().unwrap().contains("user space"), "{why:?}");
        tree.file("/proc/net/rpc/nfsd", &NFSD.replace("th 4 ", "th 0 "));
        let why = counted(&tree).requests();
        assert!(why.why().unwrap().contains("no threads"), "{why:?}");
    }
}
