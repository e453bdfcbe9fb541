//! The network interfaces that lead to the servers of targets: their speed and traffic.
//!
//! The module reads no clock. Counters of an interface include the traffic of all programs.
//!
//! How it works: [`WatchedInterfaces::of`] finds the interface to each server once. A reading reads
//! a few small files of each interface (Documentation/ABI/testing/sysfs-class-net).

use crate::fact::{Fact, Watched, both, grown, pair};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::class::Class;
use crate::device::{Device, iscsi_session};
use crate::mount::Mount;
use crate::sources::Sources;
use crate::target::Target;

mod route;

/// The loopback interface, which leads to this machine itself.
const LOOPBACK: &str = "lo";

/// An interface that leads to the server of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedInterface {
    /// Kernel name of the interface (`eth0`).
    pub name: String,
    /// Address of a server that is reached through the interface.
    pub server: String,
}

/// The interfaces that lead to the servers of targets, each once.
pub type WatchedInterfaces = Watched<WatchedInterface>;

impl WatchedInterfaces {
    /// Finds the interfaces to servers of NFS mounts, SMB mounts and iSCSI disks. Not applicable if
    /// no target has a server; unavailable if no route is known. If some interfaces are missing
    /// from the list, `unseen` contains the reasons.
    pub fn of<'target>(
        sources: &Sources,
        targets: impl IntoIterator<Item = &'target Target>,
    ) -> Fact<WatchedInterfaces> {
        let mut found = WatchedInterfaces::default();
        let servers = |target: &Target| servers(sources, &target.mount, &target.device);
        for server in targets.into_iter().flat_map(servers) {
            let interface = server.and_then(|server| {
                let name = interface_to(sources, server);
                name.map(|name| WatchedInterface {
                    name,
                    server: server.to_string(),
                })
            });
            if let Some(interface) = found.known(&interface)
                && found.list.iter().all(|known| known.name != interface.name)
            {
                found.list.push(interface.clone());
            }
        }
        found.found()
    }

    pub fn read(&self, sources: &Sources) -> Vec<InterfaceReading> {
        let read = |interface: &WatchedInterface| InterfaceReading::read(sources, &interface.name);
        self.list.iter().map(read).collect()
    }
}

/// Returns the addresses of the servers that store a file system. They are the server of a network
/// mount, or the iSCSI servers of the disks below `device`.
fn servers(sources: &Sources, mount: &Fact<Mount>, device: &Fact<Device>) -> Vec<Fact<IpAddr>> {
    let mount = match mount {
        Fact::Known(mount) => mount,
        Fact::NotApplicable => return vec![],
        Fact::Unavailable(why) => return vec![Fact::Unavailable(why.clone())],
    };
    if mount.class() == Class::Network {
        let place = mount.mount_point.display();
        let why = || format!("{place}: the address of its server is not known");
        return vec![Fact::found(mount.server_address(), why)];
    }
    let disks = device.known().map(Device::physical).unwrap_or_default();
    let of_disk = |disk: &Device| match &disk.loop_backing {
        // `Device::physical` returns a loop device only if no device below its file is known. The
        // file may then be on a server's file system or in memory.
        Fact::Known(backing) => servers(
            sources,
            &backing.mount,
            &backing.device.clone().map(|device| *device),
        ),
        _ => {
            let session = iscsi_session(sources, disk.partition_of.known().unwrap_or(&disk.name));
            session
                .map(|session| portals(sources, &session))
                .unwrap_or_default()
        }
    };
    disks.into_iter().flat_map(of_disk).collect()
}

/// Returns the addresses of the servers to which an iSCSI session has connections.
fn portals(sources: &Sources, session: &str) -> Vec<Fact<IpAddr>> {
    const CONNECTIONS: &str = "/sys/class/iscsi_connection";
    let number = session.trim_start_matches("session");
    let beginning = format!("connection{number}:");
    let names = match sources.names(CONNECTIONS) {
        Fact::Known(names) => names,
        Fact::NotApplicable => return vec![],
        Fact::Unavailable(why) => return vec![Fact::Unavailable(why)],
    };
    let own = names
        .into_iter()
        .filter(|name| name.starts_with(&beginning));
    let address = |name: String| {
        let path = format!("{CONNECTIONS}/{name}/address");
        sources.text(&path).and_then(|text| {
            let why = || format!("`{text}` is not an address");
            sources.found(&path, text.parse().ok(), why)
        })
    };
    own.map(address).collect()
}

/// Whether an address belongs to this machine. For packets to an address of this machine, the
/// kernel chooses the same address as the source. No packet is sent: connecting a UDP socket only
/// looks up the route.
pub fn is_own(address: IpAddr) -> bool {
    let any: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let sender = || {
        let socket = UdpSocket::bind((any, 0))?;
        // The number of the port is arbitrary, but must not be 0.
        socket.connect((address, 9))?;
        socket.local_addr()
    };
    address.is_loopback() || sender().is_ok_and(|sender| sender.ip() == address)
}

fn interface_to(sources: &Sources, server: IpAddr) -> Fact<String> {
    if is_own(server) {
        return Fact::Known(LOOPBACK.to_owned());
    }
    route::interface_to(sources, server)
}

/// Counters of one interface, since it appeared or between two readings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InterfaceReading {
    /// Kernel name of the interface (`eth0`).
    pub name: String,
    /// Bits per second that the interface can transfer in each direction (`speed`). Unavailable for
    /// interfaces that do not report a speed, such as loopback and most virtual interfaces.
    pub speed_bits_per_s: Fact<u64>,
    /// Bytes received (`statistics/rx_bytes`).
    pub received_bytes: Fact<u64>,
    /// Bytes sent (`statistics/tx_bytes`).
    pub sent_bytes: Fact<u64>,
}

impl InterfaceReading {
    pub(crate) fn read(sources: &Sources, name: &str) -> InterfaceReading {
        let path = |file: &str| format!("/sys/class/net/{name}/{file}");
        let speed = path("speed");
        // An unknown speed is reported as -1, by some drivers as 2^32 - 1.
        let mbit_per_s =
            sources
                .number::<i64>(&speed)
                .and_then(|mbit_per_s| match u32::try_from(mbit_per_s) {
                    Ok(0 | u32::MAX) | Err(_) => {
                        sources.unavailable(&speed, "the interface does not tell its speed")
                    }
                    Ok(mbit_per_s) => Fact::Known(u64::from(mbit_per_s)),
                });
        InterfaceReading {
            name: name.to_owned(),
            speed_bits_per_s: mbit_per_s.map(|mbit_per_s| mbit_per_s * 1_000_000),
            received_bytes: sources.number(&path("statistics/rx_bytes")),
            sent_bytes: sources.number(&path("statistics/tx_bytes")),
        }
    }

    /// Returns the traffic since an earlier reading of the same interface.
    #[must_use]
    pub fn since(&self, earlier: &[InterfaceReading]) -> InterfaceReading {
        let before = earlier.iter().find(|before| before.name == self.name);
        let since = |what: &str, of: fn(&InterfaceReading) -> &Fact<u64>| match before {
            Some(before) => grown(format_args!("{}: {what}", self.name), of(self), of(before)),
            None => Fact::Unavailable(format!("{}: was not read before", self.name)),
        };
        InterfaceReading {
            received_bytes: since("bytes received", |reading| &reading.received_bytes),
            sent_bytes: since("bytes sent", |reading| &reading.sent_bytes),
            ..self.clone()
        }
    }

    /// Returns the share of the interface's capacity that was used in the busier direction. The
    /// reading must be a difference over `seconds`.
    pub fn utilization(&self, seconds: f64) -> Fact<f64> {
        let busier = |received: &u64, sent: &u64| *received.max(sent);
        let bytes = both(&self.received_bytes, &self.sent_bytes, busier);
        pair(&self.speed_bits_per_s, &bytes, |bits_per_s, bytes| {
            match *bits_per_s as f64 * seconds {
                capacity_bits if capacity_bits > 0.0 => {
                    Fact::Known(*bytes as f64 * 8.0 / capacity_bits)
                }
                _ => Fact::NotApplicable,
            }
        })
    }
}

#[cfg(test)]
mod tests;
