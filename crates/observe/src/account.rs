//! The account of a stretch of time: what this process exchanged with storage, what the devices below its targets did, and the
//! messages that went to their servers.
//!
//! It is read at the borders of a stretch, not over its time: a reading opens a file for each device.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::counters::{DeviceReading, WatchedDevices};
use crate::fact::{Fact, pair};
use crate::io::OwnIo;
use crate::messages::{MessagesReading, WatchedMessages};
use crate::sources::Sources;
use crate::target::Target;

/// What is read for targets. Found once, read often.
#[derive(Clone, Debug)]
pub struct WatchedAccount {
    devices: Fact<WatchedDevices>,
    messages: Fact<WatchedMessages>,
}

impl WatchedAccount {
    /// Of these targets.
    pub fn of<'target>(sources: &Sources, targets: impl IntoIterator<Item = &'target Target> + Clone) -> Self {
        Self {
            devices: WatchedDevices::of(sources, targets.clone()),
            messages: WatchedMessages::of(sources, targets),
        }
    }

    /// The devices among it.
    pub fn devices(&self) -> &Fact<WatchedDevices> {
        &self.devices
    }

    /// Everything at one moment, or nearly.
    pub fn read(&self, sources: &Sources) -> Account {
        Account {
            own: OwnIo::read(sources),
            devices: self.devices.as_ref().map(|devices| devices.read(sources)),
            messages: self.messages.as_ref().map(|messages| messages.read(sources)),
        }
    }
}

/// All counters at one moment.
#[derive(Clone, Debug)]
pub struct Account {
    own: OwnIo,
    devices: Fact<Vec<DeviceReading>>,
    messages: Fact<Vec<MessagesReading>>,
}

impl Account {
    /// What was counted between an earlier moment and this.
    pub fn since(&self, earlier: &Account) -> Accounted {
        Accounted {
            own: self.own.since(&earlier.own),
            devices: pair(&self.devices, &earlier.devices, |later, earlier| {
                Fact::Known(later.iter().map(|device| device.since(earlier)).collect())
            }),
            messages: pair(&self.messages, &earlier.messages, |later, earlier| {
                Fact::Known(later.iter().map(|counter| counter.since(earlier)).collect())
            }),
        }
    }
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
}
