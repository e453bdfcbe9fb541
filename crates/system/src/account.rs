//! The account of a stretch of time: what this process exchanged with storage, what the devices
//! below its targets did, and the messages that went to their servers.
//!
//! It is read at the borders of a stretch, not over its time: a reading opens a file for each
//! device.

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

/// What is read for targets. Found once, read often.
#[derive(Clone, Debug)]
pub struct WatchedAccount {
    devices: Fact<WatchedDevices>,
    messages: Fact<WatchedMessages>,
    interfaces: Fact<WatchedInterfaces>,
    /// The files below the loop devices that targets lie on, held open.
    backing: Fact<Arc<Vec<OwnedFd>>>,
}

impl WatchedAccount {
    /// Of these targets.
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

    /// The devices among it.
    pub fn devices(&self) -> &Fact<WatchedDevices> {
        &self.devices
    }

    /// Everything at one moment, or nearly.
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

    /// What the files below loop devices have allocated, together.
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

/// The files of this machine below the loop devices that targets lie on, each once. One that a
/// server provides is not looked at: that could take for ever.
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

/// What was counted between two moments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Accounted {
    /// What the program itself exchanged with storage.
    pub own: OwnIo,
    /// The devices below the targets, everybody's work. Not applicable to targets without one.
    pub devices: Fact<Vec<DeviceReading>>,
    /// Requests to the servers of the targets, by counter. Not applicable to targets without one.
    pub messages: Fact<Vec<MessagesReading>>,
    /// The interfaces that lead to the servers of the targets. Not applicable to targets without
    /// one.
    pub interfaces: Fact<Vec<InterfaceReading>>,
    /// Bytes by which the files below the loop devices that targets lie on grew: sparse ones
    /// allocate when they are written for the first time. Not applicable to targets without a
    /// loop device.
    pub allocated_bytes: Fact<u64>,
}

impl Accounted {
    /// What was counted between an earlier moment and this.
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
