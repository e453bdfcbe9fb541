//! The mount, class of file system, free space and devices of a directory. The devices are the
//! block device that contains the file system, and all devices below it.
//!
//! The module creates nothing on the target, and does not judge whether the directory is suitable.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::class::Class;
use crate::device::{Device, device_of_mount};
use crate::fact::Fact;
use crate::mount::{Mount, MountTable};
use crate::sources::{Sources, unavailable};
use crate::space::Space;

/// A directory with its file system and devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// Path as the user typed it; bytes that are not UTF-8 become U+FFFD.
    pub path: String,
    /// Absolute path without symbolic links.
    pub canonical_path: Fact<String>,
    /// The mount that contains the directory.
    pub mount: Fact<Mount>,
    /// Kind of storage behind the file system, such as memory, a block device or a network.
    pub class: Fact<Class>,
    /// Whether the mount or the file system is read-only (statvfs(3), `ST_RDONLY`).
    pub read_only: Fact<bool>,
    /// Maximum length of a file name, in bytes (statvfs(3), `f_namemax`).
    pub name_length_bytes_max: Fact<u64>,
    /// Size and free space of the file system.
    pub space: Fact<Space>,
    /// Share of the space that is used, from 0 to 1, as df(1) computes it.
    pub fill_fraction: Fact<f64>,
    /// The block device that contains the file system. Not applicable to file systems in memory and
    /// on the network.
    pub device: Fact<Device>,
}

impl Target {
    /// Reads the facts about an existing directory.
    pub fn read(sources: &Sources, path: &Path) -> Target {
        let table = MountTable::read(sources);
        let mount = table.as_ref().and_then(|table| table.mount_of(path));
        let space = Space::read(path);
        Target {
            path: path.to_string_lossy().into_owned(),
            canonical_path: std::fs::canonicalize(path).map_or_else(
                |error| unavailable(path, error),
                |canonical| Fact::Known(canonical.to_string_lossy().into_owned()),
            ),
            class: mount.as_ref().map(Mount::class),
            read_only: space.as_ref().map(|space| space.read_only),
            name_length_bytes_max: space.as_ref().map(|space| space.name_length_bytes_max),
            fill_fraction: space.as_ref().and_then(Space::fill_fraction),
            device: device(sources, &table, &mount, &space),
            mount,
            space,
        }
    }

    /// Describes the target: `ext4 on /dev/loop0 (loop over /x/y.img on ext4 /dev/vda), 20 % full`.
    pub fn one_line(&self) -> String {
        let mut line = self.file_system_line();
        if let Some(fraction) = self.fill_fraction.known() {
            line += &format!(", {:.0} % full", fraction * 100.0);
        }
        if self.read_only == Fact::Known(true) {
            line += ", read-only";
        }
        line
    }

    /// Describes the file system and the device with its model: `ext4 (/dev/nvme0n1, Samsung
    /// PM9A3)`.
    pub fn in_short(&self) -> String {
        let Some(mount) = self.mount.known() else {
            return "an unknown file system".to_owned();
        };
        let behind = match (mount.class(), self.device.known()) {
            (_, Some(device)) => device.with_model(),
            (Class::Memory, None) => "memory".to_owned(),
            (Class::Overlay, None) => "layers".to_owned(),
            (Class::Network | Class::Block | Class::Other, None) => mount.source.clone(),
        };
        format!("{} ({behind})", mount.file_system_type)
    }

    /// Describes the file system and its device, without its fill level.
    pub fn file_system_line(&self) -> String {
        let Some(mount) = self.mount.known() else {
            return "an unknown file system".to_owned();
        };
        let kind = &mount.file_system_type;
        match (mount.class(), self.device.known()) {
            (_, Some(device)) => format!("{kind} on {}", device.one_line()),
            (Class::Memory, None) => format!("{kind} (memory)"),
            (Class::Overlay, None) => format!("{kind} (layers)"),
            (Class::Network, None) => format!("{kind} from {}", mount.source),
            (Class::Block | Class::Other, None) => format!("{kind} on {}", mount.source),
        }
    }
}

fn device(
    sources: &Sources,
    table: &Fact<MountTable>,
    mount: &Fact<Mount>,
    space: &Fact<Space>,
) -> Fact<Device> {
    let Some(mount) = mount.known() else {
        // Without a table of mounts, the number from stat(2) still identifies most devices.
        return match space.known() {
            Some(space) if !space.device.is_anonymous() => {
                Device::read(sources, table, space.device)
            }
            _ => mount.as_ref().and_then(|_| Fact::NotApplicable),
        };
    };
    match mount.class() {
        Class::Memory | Class::Network => Fact::NotApplicable,
        Class::Overlay => Fact::Unavailable(format!(
            "/proc/self/mountinfo: {} lies on other file systems (upperdir {})",
            mount.file_system_type,
            mount.super_option("upperdir").unwrap_or("not named"),
        )),
        Class::Block | Class::Other => device_of_mount(sources, table, mount, 0),
    }
}

#[cfg(test)]
mod tests;
