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
    /// The disk of the partition before it in the list. Its counters include its other partitions.
    WholeDisk,
    /// A device below another one of the list: below a loop device's file, or a member of a stacked
    /// device.
    Beneath,
    /// A target's file system has its journal on this device.
    Journal,
}

/// Whether the kernel counts the flushes of a device. It counts them only if the driver takes
/// requests, and only for the whole disk (Documentation/block/stat.rst).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlushCount {
    /// The kernel counts them.
    Counted,
    /// A partition: flushes are counted for its disk.
    OfTheDisk,
    /// The driver takes no requests, as device mapper, RAID and RAM disks (without `mq` in sysfs).
    /// For these, the kernel always reports 0 flushes.
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
