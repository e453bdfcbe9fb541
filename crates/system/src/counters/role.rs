//! Position of a device below a target, and whether the kernel counts its flushes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sources::Sources;

/// Position of a watched device below a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceRole {
    /// A target's file system is on this device.
    Target,
    /// The whole disk of a partition. The disk follows the partition in the list of devices. The
    /// disk's counters include all of its partitions.
    WholeDisk,
    /// A device below another device of the list: the device that contains a loop device's file, or
    /// a member of a stacked device.
    Beneath,
    /// A target's file system has its journal on this device.
    Journal,
}

/// Whether the kernel counts the flushes of a device. Flushes are counted only for drivers that use
/// request queues, and only for whole disks (Documentation/block/stat.rst).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlushCount {
    Counted,
    /// The device is a partition: flushes are counted for its disk only.
    OfTheDisk,
    /// The driver uses no request queue (no `mq` in sysfs). Examples are the drivers of the device
    /// mapper, of RAID and of RAM disks. The kernel always reports 0 flushes for such a device.
    NotOfThisDriver,
}

impl FlushCount {
    pub(crate) fn of(sources: &Sources, name: &str, is_partition: bool) -> FlushCount {
        if is_partition {
            FlushCount::OfTheDisk
        } else if sources
            .path(&format!("/sys/class/block/{name}/mq"))
            .exists()
        {
            FlushCount::Counted
        } else {
            FlushCount::NotOfThisDriver
        }
    }

    pub(super) fn why_not(self) -> Option<&'static str> {
        match self {
            FlushCount::Counted => None,
            FlushCount::OfTheDisk => Some("flushes are counted of the whole disk only"),
            FlushCount::NotOfThisDriver => {
                Some("flushes are not counted of a device that takes no requests")
            }
        }
    }
}
