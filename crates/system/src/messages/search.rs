//! Finds the counters of messages that belong to targets.

use crate::fact::Fact;
use std::collections::HashSet;

use super::reading::{MessageCounter, WatchedCounter, WatchedMessages};
use super::{iscsi, nfs_client, nfs_server, smb_client};
use crate::class::Class;
use crate::device::{Device, DeviceKind, iscsi_session};
use crate::mount::Mount;
use crate::network;
use crate::sources::Sources;
use crate::target::Target;

pub(super) struct CounterSearch<'sources> {
    sources: &'sources Sources,
    found: WatchedMessages,
    /// NFS file systems and disks whose counters are already in `found`. A second mount of such a
    /// file system or disk shares its counters and adds none.
    seen: HashSet<String>,
}

impl<'sources> CounterSearch<'sources> {
    pub(super) fn new(sources: &'sources Sources) -> Self {
        CounterSearch {
            sources,
            found: WatchedMessages::default(),
            seen: HashSet::new(),
        }
    }

    pub(super) fn add(&mut self, target: &Target) {
        self.add_mount(&target.mount, &target.device);
        if nfs_server::exports(self.sources, target) {
            self.add_server(nfs_server::OTHER_CLIENTS);
        }
    }

    /// Adds the counters of the servers that store a file system: the server of a network mount, or
    /// the iSCSI servers of the disks below `device`.
    fn add_mount(&mut self, mount: &Fact<Mount>, device: &Fact<Device>) {
        let Some(mount) = self.found.known(mount) else {
            return;
        };
        match mount.file_system_type.as_str() {
            "nfs" | "nfs4" => self.add_nfs(mount),
            "cifs" | "smb3" => self.watch(
                MessageCounter::SmbClient,
                smb_client::protocol(mount),
                &smb_client::share(&mount.source),
            ),
            kind => match mount.class() {
                Class::Network => self.found.unseen(&format!(
                    "{}: messages of {kind} are not counted",
                    mount.mount_point.display()
                )),
                _ => {
                    if let Some(device) = self.found.known(device) {
                        self.add_disks(device);
                    }
                }
            },
        }
    }

    fn add_nfs(&mut self, mount: &Mount) {
        if self.seen.insert(format!("nfs {}", mount.device)) {
            self.watch(
                MessageCounter::NfsClient,
                nfs_client::protocol(mount),
                &mount.mount_point.to_string_lossy(),
            );
        }
        if mount.server_address().is_some_and(network::is_own) {
            self.add_server(nfs_server::THIS_MACHINE);
        }
    }

    fn add_disks(&mut self, device: &Device) {
        for disk in device.physical() {
            let name = disk.partition_of.known().unwrap_or(&disk.name).clone();
            if !self.seen.insert(format!("disk {name}")) {
                continue;
            }
            if let Fact::Known(backing) = &disk.loop_backing {
                // `Device::physical` returns a loop device only if no device below its file is
                // known. The file may then be on a server's file system or in memory.
                self.add_mount(
                    &backing.mount,
                    &backing.device.clone().map(|device| *device),
                );
            } else if disk.kind == DeviceKind::Network {
                self.found
                    .unseen(&format!("/dev/{name}: its messages are not counted"));
            } else if iscsi_session(self.sources, &name).is_some() {
                self.watch(
                    MessageCounter::IscsiSession,
                    iscsi::PROTOCOL.to_owned(),
                    &name,
                );
            }
        }
    }

    pub(super) fn add_server(&mut self, of: &str) {
        let is_watched = |watched: &WatchedCounter| watched.counter == MessageCounter::NfsServer;
        if !nfs_server::serves(self.sources) || self.found.list.iter().any(is_watched) {
            return;
        }
        for protocol in nfs_server::NFS_VERSIONS {
            self.watch(MessageCounter::NfsServer, protocol.to_owned(), of);
        }
    }

    fn watch(&mut self, counter: MessageCounter, protocol: String, of: &str) {
        let watched = WatchedCounter {
            counter,
            protocol,
            of: of.to_owned(),
        };
        if !self.found.list.contains(&watched) {
            self.found.list.push(watched);
        }
    }

    pub(super) fn finish(self) -> Fact<WatchedMessages> {
        self.found.found()
    }
}
