//! Growth of counters between two moments: bytes that this process exchanged with storage,
//! operations of the devices below the targets, and messages to servers.
//!
//! All counters are read at the beginning and the end of an interval, not every second, because a
//! reading opens a file for each device.

use crate::fact::{Fact, both, each_since};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::counters::{DeviceReading, WatchedDevices};
use crate::io::OwnIo;
use crate::messages::{MessagesReading, WatchedMessages};
use crate::network::{InterfaceReading, WatchedInterfaces};
use crate::sources::Sources;
use crate::target::Target;

/// The counters of a run's targets. They are located once, when this value is created, and can then
/// be read often.
#[derive(Clone, Debug)]
pub struct WatchedAccount {
    devices: Fact<WatchedDevices>,
    messages: Fact<WatchedMessages>,
    interfaces: Fact<WatchedInterfaces>,
    /// Files below the loop devices of targets, held open to read their allocated bytes.
    backing: Fact<Arc<Vec<OwnedFd>>>,
}

impl WatchedAccount {
    pub fn of<'target>(
        sources: &Sources,
        targets: impl IntoIterator<Item = &'target Target> + Clone,
    ) -> Self {
        Self {
            devices: WatchedDevices::of(sources, targets.clone()),
            backing: backing_files(targets.clone()),
            messages: WatchedMessages::of(sources, targets.clone()),
            interfaces: WatchedInterfaces::of(sources, targets),
        }
    }

    pub fn devices(&self) -> &Fact<WatchedDevices> {
        &self.devices
    }

    /// Reads all counters, one after another.
    pub fn read(&self, sources: &Sources) -> Accounted {
        Accounted {
            own: OwnIo::read(sources),
            devices: self.devices.as_ref().map(|devices| devices.read(sources)),
            messages: self
                .messages
                .as_ref()
                .map(|messages| messages.read(sources)),
            interfaces: self
                .interfaces
                .as_ref()
                .map(|interfaces| interfaces.read(sources)),
            allocated_bytes: self.allocated_bytes(),
        }
    }

    /// Returns the sum of the bytes that the files below loop devices have allocated.
    fn allocated_bytes(&self) -> Fact<u64> {
        self.backing.as_ref().and_then(|files| {
            let add = |sum: u64, file: &OwnedFd| match rustix::fs::fstat(file) {
                Ok(facts) => {
                    Ok(sum.saturating_add(facts.st_blocks.unsigned_abs().saturating_mul(512)))
                }
                Err(errno) => Err(format!("a loop device's file: {errno}")),
            };
            files.iter().try_fold(0, add).into()
        })
    }
}

/// Opens the files below the targets' loop devices, each once. If a file is on a file system with a
/// server, the result is unavailable, because opening the file could block for ever.
fn backing_files<'target>(
    targets: impl IntoIterator<Item = &'target Target>,
) -> Fact<Arc<Vec<OwnedFd>>> {
    let mut paths: Vec<&str> = Vec::new();
    for target in targets {
        let Some(Fact::Known(backing)) = target.device.known().map(|device| &device.loop_backing)
        else {
            continue;
        };
        if backing.mount.known().is_none_or(|mount| mount.has_server()) {
            return Fact::Unavailable(format!(
                "{}: not on a file system of this machine",
                backing.file
            ));
        }
        if !paths.contains(&backing.file.as_str()) {
            paths.push(&backing.file);
        }
    }
    if paths.is_empty() {
        return Fact::NotApplicable;
    }
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let opened = paths.iter().map(|path| {
        rustix::fs::open(*path, flags, Mode::empty()).map_err(|errno| format!("{path}: {errno}"))
    });
    let opened: Result<Vec<OwnedFd>, String> = opened.collect();
    opened.map(Arc::new).into()
}

/// Counters of this process's I/O, and of devices, messages and interfaces: since counting began,
/// or between two moments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Accounted {
    /// Bytes that this process exchanged with storage.
    pub own: OwnIo,
    /// Counters of the devices below the targets, including work of other programs. Not applicable
    /// to targets without a device.
    pub devices: Fact<Vec<DeviceReading>>,
    /// Requests to the servers of the targets, with one reading for each counter. Not applicable to
    /// targets without a server.
    pub messages: Fact<Vec<MessagesReading>>,
    /// Traffic of the interfaces that lead to the servers of the targets. Not applicable to targets
    /// without a server.
    pub interfaces: Fact<Vec<InterfaceReading>>,
    /// Bytes by which the files below the targets' loop devices grew: a sparse file allocates
    /// blocks when they are first written. Not applicable to targets without a loop device.
    pub allocated_bytes: Fact<u64>,
}

impl Accounted {
    pub fn since(&self, earlier: &Self) -> Self {
        let grown = |later: &u64, earlier: &u64| later.saturating_sub(*earlier);
        Self {
            own: self.own.since(&earlier.own),
            devices: each_since(&self.devices, &earlier.devices, DeviceReading::since),
            messages: each_since(&self.messages, &earlier.messages, MessagesReading::since),
            interfaces: each_since(
                &self.interfaces,
                &earlier.interfaces,
                InterfaceReading::since,
            ),
            allocated_bytes: both(&self.allocated_bytes, &earlier.allocated_bytes, grown),
        }
    }
}
