//! What a device lies on: a loop device's file with its mount and device, the
//! members of a stacked device.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Device, DeviceNumber, device_of_mount};
use crate::fact::Fact;
use crate::mount::{Mount, MountTable};
use crate::sources::Sources;

/// Deeper stacks than this are taken for a circle.
pub(super) const DEPTH_MAX: usize = 16;

/// The file that a loop device shows as a disk (loop(4)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopBacking {
    /// The file's path (`loop/backing_file`); with ` (deleted)` at its end if
    /// it has been unlinked.
    pub file: String,
    /// Whether the device goes around the page cache of the file's file system
    /// (`loop/dio`).
    pub direct_io: Fact<bool>,
    /// Where in the file the device begins, in bytes (`loop/offset`).
    pub offset_bytes: Fact<u64>,
    /// The mount that the file lies on.
    pub mount: Fact<Mount>,
    /// The device that the file lies on. Not applicable to a file in memory.
    pub device: Fact<Box<Device>>,
}

impl LoopBacking {
    pub(super) fn read(
        sources: &Sources,
        table: &Fact<MountTable>,
        disk: &str,
        depth: usize,
    ) -> Fact<LoopBacking> {
        sources
            .text(&format!("{disk}/loop/backing_file"))
            .map(|file| {
                let mount = table
                    .as_ref()
                    .and_then(|table| table.mount_of(Path::new(&file)));
                let device = mount.as_ref().and_then(|mount| {
                    if mount.class() != crate::class::Class::Block {
                        return Fact::NotApplicable;
                    }
                    device_of_mount(sources, table, mount, depth + 1)
                });
                LoopBacking {
                    direct_io: sources.switch(&format!("{disk}/loop/dio")),
                    offset_bytes: sources.number(&format!("{disk}/loop/offset")),
                    device: device.map(Box::new),
                    mount,
                    file,
                }
            })
    }

    /// `/x/y.img on ext4 /dev/vda`.
    pub(super) fn one_line(&self) -> String {
        let mount = self.mount.known();
        let kind = mount.map(|mount| mount.file_system_type.clone());
        let device = self.device.known().map(|device| device.one_line());
        let place: Vec<String> = kind.into_iter().chain(device).collect();
        if place.is_empty() {
            return self.file.clone();
        }
        format!("{} on {}", self.file, place.join(" "))
    }
}

/// The devices that a stacked device names as its own. Not applicable where it
/// names none; unavailable if one of them cannot be read.
pub(super) fn members(
    sources: &Sources,
    table: &Fact<MountTable>,
    disk: &str,
    depth: usize,
) -> Fact<Vec<Device>> {
    let slaves = format!("{disk}/slaves");
    if !sources.path(&slaves).exists() {
        return Fact::NotApplicable;
    }
    sources.names(&slaves).and_then(|names| {
        if names.is_empty() {
            return Fact::NotApplicable;
        }
        let mut devices = Vec::new();
        for name in names {
            let path = format!("{slaves}/{name}/dev");
            let device = sources.text(&path).and_then(|text| {
                let number = DeviceNumber::parse(&text);
                sources
                    .found(&path, number, || format!("`{text}` is not a device number"))
                    .and_then(|number| Device::read_at(sources, table, number, depth + 1))
            });
            match device {
                Fact::Known(device) => devices.push(device),
                Fact::NotApplicable => {}
                Fact::Unavailable(why) => return Fact::Unavailable(why),
            }
        }
        Fact::Known(devices)
    })
}
