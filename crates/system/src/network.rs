//! The interfaces of the network that lead to the servers of targets: how fast
//! they are and how much has passed.
//!
//! It reads no clock and judges nothing. An interface counts everything that
//! passes, whoever it is for.
//!
//! How it works: [`WatchedInterfaces::of`] looks up once which interface leads to
//! each server; reading them reads a few small files of each
//! (Documentation/ABI/testing/sysfs-class-net).

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

/// The interface that leads to this machine itself.
const LOOPBACK: &str = "lo";

/// An interface that is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedInterface {
    /// The kernel's name of it (`eth0`).
    pub name: String,
    /// The address of a server that it leads to.
    pub server: String,
}

/// The interfaces that lead to the servers of targets, each once. Found once,
pub type WatchedInterfaces = Watched<WatchedInterface>;

impl WatchedInterfaces {
    /// Those of the servers of NFS and SMB, and of iSCSI disks. Not applicable
    /// where no target has a server, and unavailable where the way to none is
    /// known; otherwise what is not known is `unseen`.
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
            if let Some(interface) = found.known(&interface) {
                if found.list.iter().all(|known| known.name != interface.name) {
                    found.list.push(interface.clone());
                }
            }
        }
        found.found()
    }

    /// Reads all of them.
    pub fn read(&self, sources: &Sources) -> Vec<InterfaceReading> {
        let read = |interface: &WatchedInterface| InterfaceReading::read(sources, &interface.name);
        self.list.iter().map(read).collect()
    }
}

/// The servers that answer for a file system on a device.
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
        // A file of no device here: of a server's file system, or in memory.
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

/// The addresses to which the connections of an iSCSI session lead.
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

/// Whether an address is one of this machine's own: what is sent there is sent
/// from there. (Nothing is sent: to connect a datagram's socket is to look up
/// the way.)
pub fn is_own(address: IpAddr) -> bool {
    let any: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let sender = || {
        let socket = UdpSocket::bind((any, 0))?;
        // Any port but 0 will do.
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

/// What one interface counted since it appeared, or between two readings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InterfaceReading {
    /// The kernel's name of it (`eth0`).
    pub name: String,
    /// Bits a second that it can pass in each direction (`speed`). Unavailable
    /// for interfaces that do not say, as the loopback one and most virtual ones.
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
        // -1, or 2^32 - 1 of some drivers: not known.
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

    /// What passed between earlier readings and this.
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

    /// The part of what the interface can pass that passed in the busier
    /// direction, of a difference over so many seconds.
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
