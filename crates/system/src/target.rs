//! What a directory lies on: mount, class of file system, room, and device down
//! to the physical one.
//!
//! It only looks; it makes nothing and says nothing about whether the place is
//! a good one.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::class::Class;
use crate::device::{Device, device_of_mount};
use crate::fact::Fact;
use crate::mount::{Mount, MountTable};
use crate::sources::{Sources, unavailable};
use crate::space::Space;

/// A directory and what it lies on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// The path as given. (Text: bytes that are not UTF-8 become U+FFFD.)
    pub path: String,
    /// The path without symbolic links, from the root.
    pub canonical_path: Fact<String>,
    /// The mount that it lies on.
    pub mount: Fact<Mount>,
    /// The class of the file system.
    pub class: Fact<Class>,
    /// Whether nothing can be written: the mount or the file system is
    /// read-only (statvfs(3), `ST_RDONLY`).
    pub read_only: Fact<bool>,
    /// The longest name of a file, in bytes (statvfs(3), `f_namemax`).
    pub name_length_bytes_max: Fact<u64>,
    /// Sizes and room.
    pub space: Fact<Space>,
    /// The part of the room that is taken: [`Space::fill_fraction`].
    pub fill_fraction: Fact<f64>,
    /// The block device. Not applicable to memory and network.
    pub device: Fact<Device>,
}

impl Target {
    /// Reads what an existing directory lies on.
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

    /// `ext4 on /dev/loop0 (loop over /x/y.img on ext4 /dev/vda), 20 % full`.
    pub fn one_line(&self) -> String {
        let mut line = match self.mount.known() {
            Some(mount) => self.place(mount),
            None => "an unknown file system".to_owned(),
        };
        if let Some(fraction) = self.fill_fraction.known() {
            line += &format!(", {:.0} % full", fraction * 100.0);
        }
        if self.read_only == Fact::Known(true) {
            line += ", read-only";
        }
        line
    }

    fn place(&self, mount: &Mount) -> String {
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
        // Without a table of mounts, stat's number still names most devices.
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
