//! Device numbers (major and minor), which relate mounts to devices.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number by which the kernel identifies a device: `254:0` is major number 254, minor number 0.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct DeviceNumber {
    /// Number of the driver; 0 for a file system without a block device.
    pub major: u32,
    /// Number of the device within the driver.
    pub minor: u32,
}

impl DeviceNumber {
    /// Splits a number from stat(2), `st_dev` or `st_rdev`, into major and minor number.
    pub fn of(device: u64) -> DeviceNumber {
        DeviceNumber {
            major: rustix::fs::major(device),
            minor: rustix::fs::minor(device),
        }
    }

    /// Parses a number such as `254:0`.
    pub fn parse(text: &str) -> Option<DeviceNumber> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(DeviceNumber {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    }

    /// Whether the number belongs to no single block device (major 0).
    pub fn is_anonymous(self) -> bool {
        self.major == 0
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}
