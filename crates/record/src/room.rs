use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::Fact;

/// The space that a run needs on one file system, and the free space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoomVolume {
    /// Paths of the locations on this file system, whose files are counted together.
    pub locations: Vec<String>,
    /// Type of the file system, such as `ext4`.
    pub file_system: Fact<String>,
    /// Largest number of files that exist at one time.
    pub files_peak: u64,
    /// Largest size of the contents of all files that exist at one time, in bytes.
    pub bytes_peak: u64,
    /// Bytes needed for contents, directories and inodes at the peak.
    pub needed_bytes: u64,
    /// Bytes available to an unprivileged user.
    pub available_bytes: Fact<u64>,
    /// Number of inodes needed for files and directories at the peak.
    pub needed_inodes: u64,
    /// Number of inodes available to an unprivileged user; not applicable if the file system does
    /// not count them.
    pub available_inodes: Fact<u64>,
}

impl RoomVolume {
    /// Whether the needed bytes are available. The result is not known if the number of available
    /// bytes is not known.
    pub fn bytes_fit(&self) -> Fact<bool> {
        self.available_bytes
            .clone()
            .map(|bytes| self.needed_bytes <= bytes)
    }

    /// Whether the needed inodes are available. The result is not known if the number of available
    /// inodes is not known.
    pub fn inodes_fit(&self) -> Fact<bool> {
        self.available_inodes
            .clone()
            .map(|inodes| self.needed_inodes <= inodes)
    }

    /// Whether bytes or inodes are known to be insufficient.
    pub fn is_full(&self) -> bool {
        [self.bytes_fit(), self.inodes_fit()].contains(&Fact::Known(false))
    }
}

/// The check for enough space before a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Room {
    /// True if `files_peak` and `bytes_peak` are exact. False if they are upper bounds, or
    /// estimates for a stream that is too long to be followed operation by operation.
    pub exact: bool,
    /// The needed and free space of each file system.
    pub volumes: Vec<RoomVolume>,
}
