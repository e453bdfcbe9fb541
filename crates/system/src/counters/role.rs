//! Where a device stands beneath a target, and what the kernel counts of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sources::Sources;

/// Where a watched device stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceRole {
    /// A target's file system lies on it.
    Target,
    /// The one before it in the list is a partition of this disk. It counts
    /// what its other partitions do, too.
    WholeDisk,
    /// Another device of the list lies on it: through a loop device's file, or
    /// as a member of a stacked device.
    Beneath,
    /// A target's file system has its journal on it.
    Journal,
}

/// Whether the kernel counts the flushes of a device: it does so where it makes
/// them of requests, once for the whole disk (Documentation/block/stat.rst).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlushCount {
    /// It counts them.
    Counted,
    /// A partition: its disk has them.
    OfTheDisk,
    /// The device hands on what it is given, as device mapper, RAID and memory
    /// do (it has no `mq` in sysfs): its flushes show 0, whatever it does.
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
