//! The room that a run needs on each volume, and what was free there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::Fact;

/// What a file system must have room for, and has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoomVolume {
    /// The locations on it.
    pub locations: Vec<String>,
    /// Its type, like `ext4`.
    pub file_system: Fact<String>,
    /// The most files at once.
    pub files_peak: u64,
    /// The most bytes of contents at once.
    pub bytes_peak: u64,
    /// Bytes that contents, directories and inodes take at the peak.
    pub needed_bytes: u64,
    /// Bytes that an unprivileged user may take.
    pub available_bytes: Fact<u64>,
    /// Inodes that files and directories take at the peak.
    pub needed_inodes: u64,
    /// Inodes that an unprivileged user may take; not applicable where the file system has no such
    /// count.
    pub available_inodes: Fact<u64>,
}

impl RoomVolume {
    /// Whether the bytes fit, as far as that is known.
    pub fn bytes_fit(&self) -> Fact<bool> {
        self.available_bytes
            .clone()
            .map(|bytes| self.needed_bytes <= bytes)
    }

    /// Whether the inodes fit, as far as that is known.
    pub fn inodes_fit(&self) -> Fact<bool> {
        self.available_inodes
            .clone()
            .map(|inodes| self.needed_inodes <= inodes)
    }

    /// Whether something is known not to fit.
    pub fn is_full(&self) -> bool {
        [self.bytes_fit(), self.inodes_fit()].contains(&Fact::Known(false))
    }
}

/// The check for room before a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Room {
    /// Whether the peaks are upper bounds that fit anyway, or what the stream really reaches.
    pub exact: bool,
    /// By file system.
    pub volumes: Vec<RoomVolume>,
}
