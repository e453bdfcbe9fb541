//! What workers wait for while they sleep in calls: a server, a device, or each other.

use record::run::{LocationRecord, Record};
use system::counters::DeviceRole;
use system::{Class, Fact, Mount};

use crate::summary::{DeviceSummary, MachineSummary};

/// What the targets are on. It determines what workers wait for in calls: the server, the device
/// or, for targets in memory, each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum WaitsFor {
    Server,
    Device {
        /// Share of the time in which the devices of the targets were busy.
        busy: f64,
        /// Share of flushes in the busy time.
        flushing: f64,
    },
    Memory,
}

impl WaitsFor {
    pub fn of(record: &Record, machine: &MachineSummary) -> Fact<Self> {
        if record.spec.engine.calls_server() {
            return Fact::Known(Self::Server);
        }
        let mut found = None;
        for location in &record.locations {
            match kind(location) {
                Fact::Known(kind) if found.is_none_or(|found| found == kind) => found = Some(kind),
                Fact::Known(_) => {
                    return unavailable("the targets are on several kinds of storage");
                }
                Fact::NotApplicable => {}
                Fact::Unavailable(why) => return Fact::Unavailable(why),
            }
        }
        match found {
            Some(Kind::Server) => Fact::Known(Self::Server),
            Some(Kind::Memory) => Fact::Known(Self::Memory),
            Some(Kind::Device) => device(&machine.devices),
            None => unavailable("the storage of the target is not known"),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Server,
    Device,
    Memory,
}

fn kind(location: &LocationRecord) -> Fact<Kind> {
    let target = location.target.as_ref();
    target.and_then(|target| {
        if target.mount.known().is_some_and(Mount::has_server) {
            return Fact::Known(Kind::Server);
        }
        target.class.as_ref().and_then(|class| match class {
            Class::Network => Fact::Known(Kind::Server),
            Class::Memory => Fact::Known(Kind::Memory),
            Class::Overlay | Class::Block | Class::Other => {
                let device = target.device.as_ref();
                device.map(|_| Kind::Device)
            }
        })
    })
}

/// Adds up the busy time of the targets' devices. A device below a target's device works for the
/// target only while the target's device is busy. So the busy time of the lower device is not
/// added. If the kernel does not count the flushes of a target's device, the flushes of the devices
/// below are used.
fn device(devices: &[DeviceSummary]) -> Fact<WaitsFor> {
    let of_target =
        |device: &DeviceSummary| matches!(device.role, DeviceRole::Target | DeviceRole::Journal);
    let (mut busy, mut flushing) = (0.0, 0.0);
    for with_those_below in devices.chunk_by(|_, next| !of_target(next)) {
        let Some(own) = with_those_below[0].busy_fraction else {
            return unavailable("the kernel does not count how long the device is busy");
        };
        busy += own;
        let counted = with_those_below.iter().filter_map(flushing_fraction);
        let flushing_own = match flushing_fraction(&with_those_below[0]) {
            Some(known) => known,
            None => counted.reduce(f64::max).unwrap_or(0.0),
        };
        flushing += flushing_own.min(own);
    }
    if devices.is_empty() {
        return unavailable("the kernel's counters of the device are not known");
    }
    Fact::Known(WaitsFor::Device {
        busy: f64::min(busy, 1.0),
        flushing: if busy > 0.0 { flushing / busy } else { 0.0 },
    })
}

/// Share of the time in which the device flushed its cache; `None` if the kernel does not count
/// that.
fn flushing_fraction(device: &DeviceSummary) -> Option<f64> {
    let flushes = device.flushes?;
    let ms = device.mean_flush_ms.unwrap_or(0.0);
    Some(flushes.per_second? * ms / 1e3)
}

fn unavailable<T>(why: &str) -> Fact<T> {
    Fact::Unavailable(why.to_owned())
}
