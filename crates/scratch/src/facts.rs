//! What was made, with what, and how: for the record of a study.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::{Fact, Mount, MountTable, Sources};

use crate::directory::MOUNT;
use crate::loops::Attached;
use crate::mounts;
use crate::owned::Owned;
use crate::spec::MakeSpec;

/// A program that made or mounted it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolFacts {
    /// Its name: `mkfs.ext4`.
    pub name: String,
    /// What it answers when it is asked for its version: the first line.
    pub version: Fact<String>,
}

/// A loop device over an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopFacts {
    /// The device: `/dev/loop0`. A later mount may have another one.
    pub device: String,
    /// Its image.
    pub image: PathBuf,
    /// The size of the image in bytes.
    pub image_bytes: u64,
    /// The type of the file system on which the image lies.
    pub image_file_system: Fact<String>,
    /// Whether the device goes when nobody uses it any more.
    pub autoclear: Fact<bool>,
    /// Whether it reads and writes the image without the page cache.
    pub direct_io: Fact<bool>,
    /// Its logical sector in bytes.
    pub sector_bytes: Fact<u64>,
}

/// What was made, with what, and how. All of it describes the present mount.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// The loop devices: the image's, and the external journal's.
    pub loops: Vec<LoopFacts>,
    /// The space in bytes that files can take when it is empty, as df(1) counts it: used by used
    /// and available.
    pub usable_bytes: Fact<u64>,
    /// The part of that space that was taken after filling, in percent. Not applicable where no
    /// fullness was asked.
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
            loops: Vec::new(),
            usable_bytes: Fact::Unavailable(not_yet()),
            fullness_percent: Fact::NotApplicable,
        }
    }

    /// Looks at the mount and at the loop devices.
    pub(crate) fn look(&mut self, owned: &Owned, devices: &[Attached]) {
        self.mount = match mounts::own(owned, MOUNT) {
            Ok(mount) => Fact::Known(mount),
            Err(error) => Fact::Unavailable(error.to_string()),
        };
        self.driver = self.mount.clone().map(|mount| driver(&mount));
        self.loops = devices
            .iter()
            .map(|attached| loop_facts(&attached.device, &attached.image))
            .collect();
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

/// What the kernel shows of a device.
fn loop_facts(device: &str, image: &Path) -> LoopFacts {
    let name = device.trim_start_matches("/dev/");
    let number = |file: &str| {
        let path = format!("/sys/block/{name}/{file}");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => return Fact::Unavailable(format!("{path}: {error}")),
        };
        match text.trim().parse::<u64>() {
            Ok(number) => Fact::Known(number),
            Err(error) => Fact::Unavailable(format!("{path}: {error}")),
        }
    };
    let table = MountTable::read(&Sources::default());
    LoopFacts {
        device: device.to_owned(),
        image: image.to_owned(),
        image_bytes: std::fs::metadata(image).map_or(0, |facts| facts.len()),
        image_file_system: table
            .and_then(|table| table.mount_of(image))
            .map(|mount| mount.file_system_type),
        autoclear: number("loop/autoclear").map(|number| number != 0),
        direct_io: number("loop/dio").map(|number| number != 0),
        sector_bytes: number("queue/logical_block_size"),
    }
}
