//! A block device and the storage below it: the file of a loop device, or the members of a device
//! mapper or RAID device.
//!
//! The module reads `/sys/dev/block` (Documentation/ABI/stable/sysfs-block) and opens no device. It
//! describes the device itself, not how a file system uses the device. For a file system on several
//! devices, it describes the device that the mount names.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::class::Class;
use crate::device_number::DeviceNumber;
use crate::fact::Fact;
use crate::mount::{Mount, MountTable};
use crate::sources::Sources;

mod iscsi;
mod named;

pub(crate) use iscsi::iscsi_session;
pub(crate) use named::number_of_source;

/// Unit in which the kernel reports a device's size, for any block size of the device.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// Kind of a device, derived from its kernel name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// A file presented as a device (`loop0`).
    Loop,
    /// A virtio disk of a hypervisor (`vda`).
    Virtio,
    /// An NVMe disk (`nvme0n1`).
    Nvme,
    /// A SCSI, SATA or USB disk (`sda`), including virtio-scsi.
    Scsi,
    /// Software RAID (`md0`).
    Raid,
    /// A device of the device mapper, such as LVM and dm-crypt (`dm-0`).
    DeviceMapper,
    /// A RAM disk (`ram0`).
    Ram,
    /// A compressed RAM disk (`zram0`).
    Zram,
    /// Persistent memory (`pmem0`).
    PersistentMemory,
    /// SD cards and eMMC (`mmcblk0`).
    MultiMediaCard,
    /// A Xen disk (`xvda`).
    Xen,
    /// A disk of another machine (`nbd0`, `rbd0`, `drbd0`).
    Network,
    /// A device whose kernel name matches no other kind.
    Other,
}

impl DeviceKind {
    fn of(name: &str) -> DeviceKind {
        /// No prefix is the beginning of another prefix, so the order does not matter.
        const PREFIXES: [(&str, DeviceKind); 15] = [
            ("loop", DeviceKind::Loop),
            ("vd", DeviceKind::Virtio),
            ("nvme", DeviceKind::Nvme),
            ("sd", DeviceKind::Scsi),
            ("sr", DeviceKind::Scsi),
            ("md", DeviceKind::Raid),
            ("dm-", DeviceKind::DeviceMapper),
            ("ram", DeviceKind::Ram),
            ("zram", DeviceKind::Zram),
            ("pmem", DeviceKind::PersistentMemory),
            ("mmcblk", DeviceKind::MultiMediaCard),
            ("xvd", DeviceKind::Xen),
            ("nbd", DeviceKind::Network),
            ("rbd", DeviceKind::Network),
            ("drbd", DeviceKind::Network),
        ];
        PREFIXES
            .iter()
            .find(|(prefix, _)| name.starts_with(prefix))
            .map_or(DeviceKind::Other, |(_, kind)| *kind)
    }
}

/// A block device: a whole disk or a partition. For a partition, `number`, `name`, `kind`,
/// `size_bytes` and `partition_of` describe the partition; all other fields describe its disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    /// Major and minor number of the device.
    pub number: DeviceNumber,
    /// Kernel name of the device, as in `/dev` (`vda1`).
    pub name: String,
    /// Kind of the device, derived from its name.
    pub kind: DeviceKind,
    /// Size in bytes (`size`).
    pub size_bytes: Fact<u64>,
    /// Model name of the manufacturer (`device/model`). Not applicable if the device has none, such
    /// as virtio disks and loop devices.
    pub model: Fact<String>,
    /// Whether the driver reports a rotating disk (`queue/rotational`). The kernel's default is
    /// true, so the value is reliable for physical disks only.
    pub rotational: Fact<bool>,
    /// Smallest addressable unit, in bytes (`queue/logical_block_size`).
    pub logical_block_size_bytes: Fact<u64>,
    /// Smallest unit that the device can write without reading and merging old data, in bytes
    /// (`queue/physical_block_size`).
    pub physical_block_size_bytes: Fact<u64>,
    /// The active I/O scheduler (`queue/scheduler`).
    pub io_scheduler: Fact<String>,
    /// `write back` if data is durable only after a flush, otherwise `write through`
    /// (`queue/write_cache`).
    pub write_cache: Fact<String>,
    /// Whether the device supports discards (`queue/discard_max_bytes` above 0). A mount option
    /// determines whether the file system sends discards.
    pub discard_supported: Fact<bool>,
    /// Name of the disk that contains this partition. Not applicable to whole disks.
    pub partition_of: Fact<String>,
    /// Name of a device mapper device (`dm/name`). Not applicable to other devices.
    pub mapper_name: Fact<String>,
    /// The file below a loop device. Not applicable to other devices.
    pub loop_backing: Fact<LoopBacking>,
    /// The devices below a device mapper or RAID device (`slaves`). Not applicable if no device is
    /// below it.
    pub members: Fact<Vec<Device>>,
}

impl Device {
    /// Reads the device with the number `number`, and the devices below it.
    pub fn read(sources: &Sources, table: &Fact<MountTable>, number: DeviceNumber) -> Fact<Device> {
        Device::read_at(sources, table, number, 0)
    }

    /// Whether this device, or a file or device below it, is in memory. Persistent memory is not
    /// included.
    pub fn is_memory(&self) -> bool {
        let of_file = self.loop_backing.known().is_some_and(|backing| {
            let class = backing.mount.known().map(Mount::class);
            class == Some(Class::Memory)
                || backing
                    .device
                    .known()
                    .is_some_and(|device| device.is_memory())
        });
        let of_members = self.members.known();
        matches!(self.kind, DeviceKind::Ram | DeviceKind::Zram)
            || of_file
            || of_members.is_some_and(|members| members.iter().any(Device::is_memory))
    }

    /// Returns the first loop device that reads its file through the page cache, so that data may
    /// come from memory. This device is checked first, then the devices below it. `None` if all
    /// loop devices use direct I/O, or if the kernel does not report their mode.
    pub fn caching_loop(&self) -> Option<&Device> {
        let backing = self.loop_backing.known();
        if backing.is_some_and(|backing| backing.direct_io == Fact::Known(false)) {
            return Some(self);
        }
        let of_file = backing.and_then(|backing| backing.device.known()?.caching_loop());
        of_file.or_else(|| self.members.known()?.iter().find_map(Device::caching_loop))
    }

    fn read_at(
        sources: &Sources,
        table: &Fact<MountTable>,
        number: DeviceNumber,
        depth: usize,
    ) -> Fact<Device> {
        let link = format!("/sys/dev/block/{number}");
        if depth >= DEPTH_MAX {
            return sources.unavailable(&link, "devices stacked too deep");
        }
        let directory = match std::fs::canonicalize(sources.path(&link)) {
            Ok(directory) => directory,
            Err(error) => return sources.unavailable(&link, error),
        };
        let is_partition = directory.join("partition").exists();
        let disk = format!("{link}{}", if is_partition { "/.." } else { "" });
        let name = name_of(&directory);
        let kind = DeviceKind::of(&name);
        let queue = |attribute: &str| format!("{disk}/queue/{attribute}");
        let number_or_na = |path: &str| {
            let text = sources.feature(path, &disk);
            text.and_then(|text| sources.parse::<u64>(path, &text))
        };
        Fact::Known(Device {
            size_bytes: sources
                .number::<u64>(&format!("{link}/size"))
                .map(|sectors| sectors.saturating_mul(SECTOR_BYTES)),
            model: sources
                .feature(&format!("{disk}/device/model"), &disk)
                .map(|model| model.trim().to_owned()),
            rotational: sources.switch(&queue("rotational")),
            logical_block_size_bytes: number_or_na(&queue("logical_block_size")),
            physical_block_size_bytes: number_or_na(&queue("physical_block_size")),
            io_scheduler: sources.choice(&queue("scheduler"), &disk, "names no scheduler"),
            write_cache: sources.feature(&queue("write_cache"), &disk),
            discard_supported: number_or_na(&queue("discard_max_bytes")).map(|bytes| bytes > 0),
            partition_of: match directory.parent() {
                Some(parent) if is_partition => Fact::Known(name_of(parent)),
                _ => Fact::NotApplicable,
            },
            mapper_name: sources.feature(&format!("{disk}/dm/name"), &disk),
            loop_backing: match kind {
                DeviceKind::Loop => LoopBacking::read(sources, table, &disk, depth),
                _ => Fact::NotApplicable,
            },
            members: members(sources, table, &disk, depth),
            number,
            name,
            kind,
        })
    }

    /// Returns the lowest devices: those below which no other device is known.
    pub fn physical(&self) -> Vec<&Device> {
        if let Some(members) = self.members.known() {
            return members.iter().flat_map(Device::physical).collect();
        }
        match self.loop_backing.known().map(|backing| &backing.device) {
            Some(Fact::Known(device)) => device.physical(),
            _ => vec![self],
        }
    }

    /// Describes the device and the file or devices below it: `/dev/loop0 (loop over /x/y.img on
    /// ext4 /dev/vda)`.
    pub fn one_line(&self) -> String {
        match self.below() {
            Some(below) => format!("/dev/{} ({below})", self.name),
            None => format!("/dev/{}", self.name),
        }
    }

    /// Describes the device, the file or devices below it, and the model: `/dev/nvme0n1, Samsung
    /// PM9A3`. The model is omitted if several devices are below this device.
    pub fn with_model(&self) -> String {
        let model = match &self.physical()[..] {
            [only] => only.model.known().filter(|model| !model.is_empty()),
            _ => None,
        };
        let name = format!("/dev/{}", self.name);
        let words = [Some(name), self.below(), model.cloned()];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Describes the file or devices below this device; `None` if there are none.
    fn below(&self) -> Option<String> {
        if let Some(backing) = self.loop_backing.known() {
            return Some(format!("loop over {}", backing.one_line()));
        }
        let over = self.members.known().map(|members| {
            let members: Vec<String> = members.iter().map(Device::one_line).collect();
            format!("over {}", members.join(", "))
        });
        let name = self.mapper_name.known().cloned();
        let words: Vec<String> = name.into_iter().chain(over).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// Returns the block device that contains a mount's file system.
pub(crate) fn device_of_mount(
    sources: &Sources,
    table: &Fact<MountTable>,
    mount: &Mount,
    depth: usize,
) -> Fact<Device> {
    let number = if mount.device.is_anonymous() {
        // btrfs and some other file systems report an anonymous number, so the mount's source
        // identifies the device.
        number_of_source(sources, &mount.source)
    } else {
        Fact::Known(mount.device)
    };
    number.and_then(|number| Device::read_at(sources, table, number, depth))
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // sysfs writes `!` for the slash in names such as `cciss/c0d0`.
    name.replace('!', "/")
}

/// Maximum depth of stacked devices. A deeper stack is assumed to be a cycle.
const DEPTH_MAX: usize = 16;

/// The file that a loop device presents as a disk (loop(4)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopBacking {
    /// Path of the file (`loop/backing_file`); it ends with ` (deleted)` if the file has been
    /// unlinked.
    pub file: String,
    /// Whether the device bypasses the page cache of the file's file system (`loop/dio`).
    pub direct_io: Fact<bool>,
    /// Offset in the file at which the device begins, in bytes (`loop/offset`).
    pub offset_bytes: Fact<u64>,
    /// The mount that contains the file.
    pub mount: Fact<Mount>,
    /// The device that contains the file. Not applicable if the file is not on a block device (in
    /// memory, on a network file system).
    pub device: Fact<Box<Device>>,
}

impl LoopBacking {
    fn read(
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
                    if mount.class() != Class::Block {
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

    /// Describes the file: `/x/y.img on ext4 /dev/vda`, or `/x/y.img through the page cache of ext4
    /// /dev/vda` without direct I/O.
    fn one_line(&self) -> String {
        let mount = self.mount.known();
        let kind = mount.map(|mount| mount.file_system_type.clone());
        let device = self.device.known().map(|device| device.one_line());
        let place: Vec<String> = kind.into_iter().chain(device).collect();
        if place.is_empty() {
            return self.file.clone();
        }
        let through = match self.direct_io {
            Fact::Known(false) => "through the page cache of",
            _ => "on",
        };
        format!("{} {through} {}", self.file, place.join(" "))
    }
}

/// Reads the devices below a stacked device (`slaves`). Not applicable if no device is below it;
/// unavailable if one of the devices cannot be read.
fn members(
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

#[cfg(test)]
mod tests;
