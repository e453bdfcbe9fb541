//! Settings that decide, in addition to sync calls, whether written data survives a crash. They are
//! mount options, device caches, and the component that completes a flush.
//!
//! The module only reads these settings. It does not derive a durability level from them.
//!
//! How it works: the options are read from the kernel's table of mounts, which omits most defaults.
//! For ext4 a separate file lists all options (`/proc/fs/ext4/DEVICE/options`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::class::Class;
use crate::device::{Device, DeviceKind, iscsi_session};
use crate::fact::Fact;
use crate::mount::Mount;
use crate::sources::Sources;
use crate::target::Target;

mod journal;

/// Order in which a file system writes contents and metadata (`data=`, ext4(5)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DataMode {
    /// Contents are written to the journal first.
    Journal,
    /// Contents of a file are written before the metadata that refers to them.
    Ordered,
    /// No order: after a crash, files may contain old data.
    Writeback,
}

/// Behaviour of a client if the server does not answer (nfs(5), mount.cifs(8)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerLoss {
    /// Requests are repeated for ever.
    Hard,
    /// Requests fail after a timeout: writes can be lost with an error.
    Soft,
    /// Requests fail after a timeout, as for `soft`, but with another error number (`softerr`).
    SoftError,
}

/// Options of an NFS mount (nfs(5)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NfsOptions {
    /// Version of the protocol (`vers`).
    pub version: Fact<String>,
    /// Behaviour if the server does not answer.
    pub server_loss: Fact<ServerLoss>,
    /// Whether attributes of files are cached (false with `noac`).
    pub attributes_cached: Fact<bool>,
    /// Whether open(2) asks the server for changes of a file that the client has cached (false with
    /// `nocto`).
    pub close_to_open: Fact<bool>,
    /// Number of connections to the server (`nconnect`, 1 if not set).
    pub connections: Fact<u64>,
}

/// Options of an SMB mount (mount.cifs(8)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SmbOptions {
    /// Version of the protocol (`vers`).
    pub version: Fact<String>,
    /// Behaviour if the server does not answer.
    pub server_loss: Fact<ServerLoss>,
    /// Whether fsync(2) makes the server flush (false with `nostrictsync`).
    pub fsync_reaches_server: Fact<bool>,
    /// Caching mode of the client (`cache`): `strict`, `none` or `loose`.
    pub cache: Fact<String>,
}

/// The component that completes a flush of a device, and so decides whether data is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlushAnswer {
    /// A device of this machine, as far as the kernel reports.
    Device,
    /// The devices below this device on this machine, which follow in the list.
    DevicesBelow,
    /// The file below a loop device: the result depends on its file system and device, which may be
    /// memory.
    File,
    /// Memory: data is lost when the machine stops.
    Memory,
    /// A hypervisor, which may keep the data in its memory.
    Hypervisor,
    /// Another machine, which may keep the data in its memory.
    OtherMachine,
}

/// Settings of a device that decide whether data written to it is durable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceDurability {
    /// Kernel name of the device (`vda1`).
    pub name: String,
    /// `write back` if data is durable only after a flush (`queue/write_cache`).
    pub write_cache: Fact<String>,
    /// Whether the device supports writes that are durable on completion (`queue/fua`); otherwise
    /// the kernel flushes after such writes.
    pub force_unit_access: Fact<bool>,
    /// The component that completes a flush.
    pub flush_answer: FlushAnswer,
}

/// Settings that decide whether data written to a target is durable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DurabilityFacts {
    /// Whether each write waits until it is durable (mount option `sync`).
    pub synchronous: Fact<bool>,
    /// Whether each change of a directory waits until it is durable (`dirsync`, `sync`, or `wsync`
    /// of xfs).
    pub synchronous_directories: Fact<bool>,
    /// Whether the file system flushes the device's cache when it syncs: false with `nobarrier` or
    /// `barrier=0`. Not applicable to file systems without a device.
    pub barriers: Fact<bool>,
    /// Whether sync calls do nothing (`volatile` of overlay). Not applicable to other file systems.
    pub syncs_ignored: Fact<bool>,
    /// Order in which contents and metadata are written. Not applicable to file systems without the
    /// option `data`, or without a journal.
    pub data_mode: Fact<DataMode>,
    /// Device of a journal outside of the file system. Not applicable if the journal is inside the
    /// file system, or if there is no journal.
    pub journal_device: Fact<DeviceDurability>,
    /// The target's device and the devices below it, from top to bottom. Not applicable to targets
    /// without a device.
    pub devices: Fact<Vec<DeviceDurability>>,
    /// NFS options. Not applicable to other file systems.
    pub nfs: Fact<NfsOptions>,
    /// SMB options. Not applicable to other file systems.
    pub smb: Fact<SmbOptions>,
}

impl DurabilityFacts {
    pub fn of(sources: &Sources, target: &Target) -> DurabilityFacts {
        let device = target.device.as_ref();
        let devices = device.map(|device| {
            let mut devices = Vec::new();
            add_devices(sources, device, &mut devices);
            devices
        });
        let mount = target.mount.as_ref();
        let options = mount
            .clone()
            .map(|mount| Options::of(sources, mount, &target.device));
        let of_options = |read: fn(&Options<'_>) -> Fact<bool>| options.as_ref().and_then(read);
        DurabilityFacts {
            synchronous: of_options(|options| Fact::Known(options.has("sync"))),
            synchronous_directories: of_options(|options| {
                Fact::Known(
                    ["sync", "dirsync", "wsync"]
                        .iter()
                        .any(|name| options.has(name)),
                )
            }),
            barriers: of_options(|options| options.barriers()),
            syncs_ignored: of_options(|options| match options.kind() {
                "overlay" => Fact::Known(options.has("volatile")),
                _ => Fact::NotApplicable,
            }),
            data_mode: options.as_ref().and_then(|options| options.data_mode()),
            journal_device: mount
                .and_then(|mount| journal::device(sources, mount, &target.device))
                .map(|device| DeviceDurability::of(sources, &device)),
            devices,
            nfs: options.as_ref().and_then(|options| options.nfs()),
            smb: options.as_ref().and_then(|options| options.smb()),
        }
    }
}

impl DeviceDurability {
    fn of(sources: &Sources, device: &Device) -> DeviceDurability {
        let disk = device.partition_of.known().unwrap_or(&device.name);
        let fua = format!("/sys/class/block/{}/queue/fua", disk.replace('/', "!"));
        DeviceDurability {
            name: device.name.clone(),
            write_cache: device.write_cache.clone(),
            force_unit_access: sources.switch(&fua),
            flush_answer: flush_answer(sources, device, disk),
        }
    }
}

fn flush_answer(sources: &Sources, device: &Device, disk: &str) -> FlushAnswer {
    /// Names in the model or vendor of virtual SCSI, ATA and NVMe disks.
    const HYPERVISORS: [&str; 6] = [
        "QEMU",
        "VBOX",
        "VMware",
        "Virtual",
        "Amazon",
        "PersistentDisk",
    ];
    match device.kind {
        DeviceKind::Raid | DeviceKind::DeviceMapper => FlushAnswer::DevicesBelow,
        DeviceKind::Loop => FlushAnswer::File,
        DeviceKind::Ram | DeviceKind::Zram => FlushAnswer::Memory,
        DeviceKind::Virtio | DeviceKind::Xen => FlushAnswer::Hypervisor,
        DeviceKind::Network => FlushAnswer::OtherMachine,
        _ if iscsi_session(sources, disk).is_some() => FlushAnswer::OtherMachine,
        _ => {
            let model = device.model.known().map_or("", String::as_str);
            let vendor = sources.text(&format!("/sys/class/block/{disk}/device/vendor"));
            let names = [model, vendor.known().map_or("", String::as_str)];
            let is_virtual = |maker: &&str| names.iter().any(|name| name.contains(*maker));
            if HYPERVISORS.iter().any(is_virtual) {
                FlushAnswer::Hypervisor
            } else {
                FlushAnswer::Device
            }
        }
    }
}

/// Adds a device and all devices below it to the list, unless the list contains them.
fn add_devices(sources: &Sources, device: &Device, devices: &mut Vec<DeviceDurability>) {
    if devices.iter().any(|known| known.name == device.name) {
        return;
    }
    devices.push(DeviceDurability::of(sources, device));
    let members = device.members.known().into_iter().flatten();
    let backing = device
        .loop_backing
        .known()
        .and_then(|backing| backing.device.known());
    for below in members.chain(backing.map(AsRef::as_ref)) {
        add_devices(sources, below, devices);
    }
}

/// Options of a mount, including those of ext4 that the table of mounts omits.
struct Options<'mount> {
    mount: &'mount Mount,
    /// Text of `/proc/fs/ext4/DEVICE/options`, which lists all options of ext3 and ext4.
    of_ext4: Fact<String>,
}

impl<'mount> Options<'mount> {
    fn of(sources: &Sources, mount: &'mount Mount, device: &Fact<Device>) -> Self {
        let of_ext4 = match mount.file_system_type.as_str() {
            "ext3" | "ext4" => device.as_ref().and_then(|device| {
                let name = device.name.replace('/', "!");
                sources.text(&format!("/proc/fs/ext4/{name}/options"))
            }),
            _ => Fact::NotApplicable,
        };
        Options { mount, of_ext4 }
    }

    fn kind(&self) -> &str {
        &self.mount.file_system_type
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        let of_ext4 = self
            .of_ext4
            .known()
            .map_or("", String::as_str)
            .lines()
            .map(str::trim);
        let shown = self
            .mount
            .super_options
            .iter()
            .chain(&self.mount.mount_options);
        shown.map(String::as_str).chain(of_ext4)
    }

    fn has(&self, name: &str) -> bool {
        self.all().any(|option| option == name)
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.all()
            .find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }

    fn barriers(&self) -> Fact<bool> {
        /// File systems that flush the device's cache unless a mount option switches this off.
        const FLUSHING: [&str; 8] = [
            "ext3", "ext4", "xfs", "btrfs", "f2fs", "nilfs2", "gfs2", "reiserfs",
        ];
        if self.mount.class() != Class::Block {
            return Fact::NotApplicable;
        }
        let is_off = self.has("nobarrier")
            || matches!(self.value("barrier"), Some("0" | "none"))
            || self.value("fsync_mode") == Some("nobarrier");
        if is_off
            || FLUSHING.contains(&self.kind())
            || self.has("barrier")
            || self.value("barrier").is_some()
        {
            return Fact::Known(!is_off);
        }
        Fact::Unavailable(format!(
            "{}: its options do not tell whether it flushes the device's cache",
            self.kind()
        ))
    }

    fn data_mode(&self) -> Fact<DataMode> {
        if !matches!(self.kind(), "ext3" | "ext4" | "reiserfs") {
            return Fact::NotApplicable;
        }
        match (self.value("data"), &self.of_ext4) {
            (Some("journal"), _) => Fact::Known(DataMode::Journal),
            (Some("ordered"), _) => Fact::Known(DataMode::Ordered),
            (Some("writeback"), _) => Fact::Known(DataMode::Writeback),
            (Some(other), _) => {
                Fact::Unavailable(format!("{}: `data={other}` is not understood", self.kind()))
            }
            // If the full list of options lacks `data`, the file system has no journal, and
            // therefore no order.
            (None, Fact::Known(_)) => Fact::NotApplicable,
            (None, Fact::Unavailable(why)) => Fact::Unavailable(why.clone()),
            (None, Fact::NotApplicable) => Fact::Unavailable(format!(
                "{}: its options do not tell the order of contents",
                self.kind()
            )),
        }
    }

    fn nfs(&self) -> Fact<NfsOptions> {
        if !matches!(self.kind(), "nfs" | "nfs4") {
            return Fact::NotApplicable;
        }
        let connections = self
            .value("nconnect")
            .map_or(Some(1), |count| count.parse().ok());
        Fact::Known(NfsOptions {
            version: self.version(),
            server_loss: self.server_loss(),
            attributes_cached: Fact::Known(!self.has("noac")),
            close_to_open: Fact::Known(!self.has("nocto")),
            connections: self.or_unavailable(connections, "nconnect"),
        })
    }

    fn smb(&self) -> Fact<SmbOptions> {
        if !matches!(self.kind(), "cifs" | "smb3") {
            return Fact::NotApplicable;
        }
        Fact::Known(SmbOptions {
            version: self.version(),
            server_loss: self.server_loss(),
            fsync_reaches_server: Fact::Known(!self.has("nostrictsync")),
            cache: self.or_unavailable(self.value("cache").map(str::to_owned), "cache"),
        })
    }

    fn server_loss(&self) -> Fact<ServerLoss> {
        const LOSSES: [(&str, ServerLoss); 3] = [
            ("hard", ServerLoss::Hard),
            ("soft", ServerLoss::Soft),
            ("softerr", ServerLoss::SoftError),
        ];
        let loss = LOSSES.iter().find(|(name, _)| self.has(name));
        self.or_unavailable(loss.map(|(_, loss)| *loss), "hard or soft")
    }

    fn version(&self) -> Fact<String> {
        self.or_unavailable(self.value("vers").map(str::to_owned), "vers")
    }

    fn or_unavailable<T>(&self, value: Option<T>, option: &str) -> Fact<T> {
        Fact::found(value, || {
            format!(
                "{}: its options do not tell {option}",
                self.mount.mount_point.display()
            )
        })
    }
}

#[cfg(test)]
mod tests;
