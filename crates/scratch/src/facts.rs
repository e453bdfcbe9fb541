//! What was made, with what, and how: for the record of a study.

use std::path::Path;

use system::{Fact, Mount, MountTable, Sources};

use crate::directory::MOUNT;
use crate::loops::Attached;
use crate::mounts;
use crate::owned::Owned;
use crate::spec::MakeSpec;

/// A program that made or mounted it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFacts {
    /// Its name: `mkfs.ext4`.
    pub name: String,
    /// What it answers when it is asked for its version: the first line.
    pub version: Fact<String>,
}

/// What was made, with what, and how. All of it describes the present mount.
#[derive(Clone, Debug, PartialEq)]
pub struct MadeFacts {
    /// The canonical word of what was asked.
    pub spec: String,
    /// The command lines of mkfs as they were run last; none for tmpfs.
    pub mkfs_commands: Vec<String>,
    /// The command lines of mount as they were run last, in their order.
    pub mount_commands: Vec<String>,
    /// The programs.
    pub tools: Vec<ToolFacts>,
    /// The driver of the kernel that mounted it: `ext4` for most ext2 and ext3.
    pub driver: Fact<String>,
    /// The mount as the kernel shows it, with the options in force.
    pub mount: Fact<Mount>,
    /// The type of the file system on which the image lies; not applicable where there is none.
    pub image_file_system: Fact<String>,
    /// The part of the space for files that was taken after filling, in percent, as df(1) counts
    /// it. Not applicable where no fullness was asked.
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

    /// Looks at the mount, and at the file system of the image.
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

/// The driver of a mount. ext4's serves ext2 and ext3 too where the kernel has no drivers for them,
/// and then has the device in its directory of sysfs.
fn driver(mount: &Mount) -> String {
    let device = mount.source.trim_start_matches("/dev/");
    let is_ext = ["ext2", "ext3", "ext4"].contains(&mount.file_system_type.as_str());
    if is_ext && Path::new("/sys/fs/ext4").join(device).is_dir() {
        return "ext4".to_owned();
    }
    mount.file_system_type.clone()
}
