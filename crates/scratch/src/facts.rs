//! Facts about a scratch file system and its creation, for the record of a study.

use std::path::Path;

use system::{Fact, Mount, MountTable, Sources};

use crate::directory::MOUNT;
use crate::loops::Attached;
use crate::mounts;
use crate::owned::Owned;
use crate::spec::MakeSpec;

/// A program that made or mounted the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFacts {
    /// Name of the program, such as `mkfs.ext4`.
    pub name: String,
    /// First line that the program prints with the option `-V`.
    pub version: Fact<String>,
}

/// Facts about the creation of a scratch file system and about its current mount.
#[derive(Clone, Debug, PartialEq)]
pub struct MadeFacts {
    /// Canonical text of the file system's [`MakeSpec`].
    pub spec: String,
    /// Command lines of the most recent mkfs; empty for tmpfs, which has no mkfs.
    pub mkfs_commands: Vec<String>,
    /// Command lines of the most recent mounts, in order.
    pub mount_commands: Vec<String>,
    pub tools: Vec<ToolFacts>,
    /// The kernel driver that mounted the file system: on most kernels, this is `ext4` also for
    /// ext2 and ext3.
    pub driver: Fact<String>,
    /// The mount as the kernel reports it, with the options in effect.
    pub mount: Fact<Mount>,
    /// Type of the file system that contains the image; not applicable to a file system without an
    /// image.
    pub image_file_system: Fact<String>,
    /// Fill level as a percentage of the space for files, calculated as in df(1). Not applicable if
    /// no fill level was requested.
    pub fullness_percent: Fact<f64>,
}

impl MadeFacts {
    pub(crate) fn new(spec: &MakeSpec) -> Self {
        let not_yet = || "it is not mounted yet".to_owned();
        Self {
            spec: spec.to_string(),
            mkfs_commands: Vec::new(),
            mount_commands: Vec::new(),
            tools: Vec::new(),
            driver: Fact::Unavailable(not_yet()),
            mount: Fact::Unavailable(not_yet()),
            image_file_system: Fact::NotApplicable,
            fullness_percent: Fact::NotApplicable,
        }
    }

    /// Reads the facts about the mount and about the file system that contains the image.
    pub(crate) fn look(&mut self, owned: &Owned, devices: &[Attached]) {
        self.mount = mounts::own(owned, MOUNT).into();
        self.driver = self.mount.clone().map(|mount| driver(&mount));
        if let Some(attached) = devices.first() {
            let mount = MountTable::read(&Sources::default())
                .and_then(|table| table.mount_of(&attached.image));
            self.image_file_system = mount.map(|mount| mount.file_system_type);
        }
    }
}

/// Returns the name of the driver of a mount. Without drivers for ext2 and ext3, the kernel mounts
/// these file systems with ext4's driver, whose sysfs directory then lists the device.
fn driver(mount: &Mount) -> String {
    let device = mount.source.trim_start_matches("/dev/");
    let is_ext = ["ext2", "ext3", "ext4"].contains(&mount.file_system_type.as_str());
    if is_ext && Path::new("/sys/fs/ext4").join(device).is_dir() {
        return "ext4".to_owned();
    }
    mount.file_system_type.clone()
}
