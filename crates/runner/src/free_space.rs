//! Whether a target has room for a run: before anything is made.
//!
//! Contents are counted in the file system's own blocks at the pool's peak; directories and inodes
//! are estimated from what their file systems are known to take. Locations on one file system are
//! added up.

use std::path::{Path, PathBuf};

use document::units::{bytes, counted, grouped};
use engine::namespace::Namespace;
use record::{Room, RoomVolume};
use system::{DeviceNumber, Fact, Sources, Target};
use workload::WorkloadError;
use workload::{Action, Followed, Plan, Planner, Volume, Workload};

/// Bytes that a short name takes in a directory: with its header, in blocks half to three quarters
/// full. What a name has beyond 16 bytes is added, as much again for what stays free.
const NAME_BYTES: u64 = 32;

/// The blocks of a file system that does not tell its own: what most have.
const BLOCK_BYTES: u64 = 4096;

/// What a file system takes for an inode out of the room that it states for contents.
fn inode_bytes(file_system: Option<&str>) -> u64 {
    match file_system {
        // Inodes have room of their own, made with the file system or counted apart.
        Some("ext2" | "ext3" | "ext4" | "tmpfs" | "ramfs" | "ufs") => 0,
        // An inode item, its back reference and two directory items, with the tree's own room
        // (btrfs on-disk format).
        Some("btrfs") => 1024,
        // One block for each inode (f2fs on-disk format).
        Some("f2fs") => 4096,
        // The default inode size of mkfs.xfs(8); for all others as good a guess as any.
        _ => 512,
    }
}

/// What of a location the room depends on.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    path: String,
    /// What locations on one file system have in common.
    on: On,
    file_system: Fact<String>,
    /// The blocks of contents.
    block_bytes: u64,
    available_bytes: Fact<u64>,
    available_inodes: Fact<u64>,
}

/// A file system.
#[derive(Clone, Debug, PartialEq, Eq)]
enum On {
    /// By the number of its device.
    Device(DeviceNumber),
    /// A server's, by the number that it gives it.
    Server(u64),
    /// Not known: it counts for itself.
    Path(String),
}

impl From<&Target> for Ground {
    fn from(target: &Target) -> Self {
        let space = target.space.as_ref();
        Self {
            path: target.path.clone(),
            // A subvolume of btrfs has a device number of its own; its mount has the file system's.
            on: match (target.mount.known(), target.space.known()) {
                (Some(mount), _) => On::Device(mount.device),
                (None, Some(space)) => On::Device(space.device),
                (None, None) => On::Path(target.path.clone()),
            },
            file_system: target.mount.clone().map(|mount| mount.file_system_type),
            block_bytes: space
                .known()
                .map_or(BLOCK_BYTES, |space| space.block_size_bytes),
            available_bytes: target.space.clone().and_then(|space| space.available_bytes),
            available_inodes: target
                .space
                .clone()
                .and_then(|space| space.inodes_available),
        }
    }
}

impl Ground {
    /// Of a server's directory, as far as the server tells.
    pub(crate) fn of_server(namespace: &dyn Namespace, directory: &Path) -> Self {
        let path = directory.to_string_lossy().into_owned();
        let opened = namespace.open(directory);
        let identity = || opened.as_ref().ok()?.facts().ok()?.identity;
        let available_bytes = match &opened {
            Ok(opened) => opened.free_bytes().ok_or("the server does not tell").into(),
            Err(errno) => Fact::Unavailable(errno.to_string()),
        };
        Self {
            on: identity().map_or_else(
                || On::Path(path.clone()),
                |identity| On::Server(identity.device),
            ),
            path,
            file_system: Fact::Unavailable("the server does not tell".to_owned()),
            block_bytes: BLOCK_BYTES,
            available_bytes,
            available_inodes: Fact::NotApplicable,
        }
    }
}

/// The file systems of a run's locations.
pub(crate) struct Volumes {
    volume_of: Vec<usize>,
    rooms: Vec<RoomVolume>,
    blocks: Vec<u64>,
    directories: Vec<u64>,
    inode_bytes: Vec<u64>,
    /// What names take beyond that of short ones.
    long_name_bytes: u64,
}

impl Volumes {
    /// Of the locations; those on one device are one volume.
    pub(crate) fn of(workload: &Workload, grounds: &[Ground]) -> Self {
        let mut volumes = Self {
            volume_of: Vec::new(),
            rooms: Vec::new(),
            blocks: Vec::new(),
            directories: Vec::new(),
            inode_bytes: Vec::new(),
            long_name_bytes: workload.mix().map_or(0, |mix| {
                let bytes = mix.names.length_max(workload.numbers_max()) as u64;
                2 * bytes.saturating_sub(16)
            }),
        };
        let mut devices: Vec<&On> = Vec::new();
        for ground in grounds {
            let volume = devices
                .iter()
                .position(|known| **known == ground.on)
                .unwrap_or_else(|| {
                    devices.push(&ground.on);
                    volumes.add(ground);
                    devices.len() - 1
                });
            volumes.volume_of.push(volume);
            volumes.rooms[volume].locations.push(ground.path.clone());
            volumes.directories[volume] += 1 + workload.directories();
        }
        volumes
    }

    fn add(&mut self, ground: &Ground) {
        let file_system = ground.file_system.clone();
        self.inode_bytes
            .push(inode_bytes(file_system.known().map(String::as_str)));
        self.blocks.push(ground.block_bytes);
        self.directories.push(0);
        self.rooms.push(RoomVolume {
            locations: Vec::new(),
            file_system,
            files_peak: 0,
            bytes_peak: 0,
            needed_bytes: 0,
            available_bytes: ground.available_bytes.clone(),
            needed_inodes: 0,
            available_inodes: ground.available_inodes.clone(),
        });
    }

    fn room(&self, workload: &Workload, volume: usize, peak: Volume) -> RoomVolume {
        let (block, directories) = (self.blocks[volume], self.directories[volume]);
        // Every location has a manifest.
        let marks = self.rooms[volume].locations.len() as u64;
        let (temporary, temporary_bytes) = temporary(workload, block);
        let needed_inodes = peak
            .files_peak
            .saturating_add(directories + marks + temporary);
        let names = peak
            .files_peak
            .saturating_mul(NAME_BYTES + self.long_name_bytes)
            .div_ceil(block)
            .saturating_mul(block);
        let parts = [
            names,
            (directories + marks).saturating_mul(block),
            needed_inodes.saturating_mul(self.inode_bytes[volume]),
            temporary_bytes,
        ];
        RoomVolume {
            files_peak: peak.files_peak,
            bytes_peak: peak.bytes_peak,
            needed_bytes: parts
                .into_iter()
                .fold(peak.allocated_bytes_peak, u64::saturating_add),
            needed_inodes,
            ..self.rooms[volume].clone()
        }
    }

    /// What the whole stream would do, and whether there is room for it.
    ///
    /// Of one that is too large to be followed, a part is, and the rest is reckoned with it.
    pub(crate) fn plan(&self, workload: &Workload) -> Result<(Plan, Room), WorkloadError> {
        let followed = Followed::of(workload);
        let part = followed.map_or_else(|| workload.clone(), |followed| followed.part(workload));
        let plan = Planner::with_volumes(&part, self.volume_of.clone(), &self.blocks)
            .plan_with_hint(system::memory::prefer_huge_pages)?;
        let plan = match followed {
            Some(followed) => followed.extend(plan, workload),
            None => plan,
        };
        let volumes = plan.volumes.iter().enumerate();
        let volumes = volumes
            .map(|(volume, peak)| self.room(workload, volume, *peak))
            .collect();
        let room = Room {
            exact: followed.is_none(),
            volumes,
        };
        Ok((plan, room))
    }

    /// Whether there is room. An upper bound decides where it fits; the stream is only gone through
    /// where it does not.
    pub(crate) fn check(&self, workload: &Workload) -> Result<Room, WorkloadError> {
        let files = workload.files_max();
        let size = workload.content_bytes_max();
        let volumes: Vec<RoomVolume> = self
            .blocks
            .iter()
            .enumerate()
            .map(|(volume, block)| {
                let peak = Volume {
                    block_bytes: *block,
                    files_peak: files,
                    bytes_peak: files.saturating_mul(size),
                    allocated_bytes_peak: files
                        .saturating_mul(size.div_ceil(*block).saturating_mul(*block)),
                };
                self.room(workload, volume, peak)
            })
            .collect();
        if !volumes.iter().any(RoomVolume::is_full) {
            return Ok(Room {
                exact: false,
                volumes,
            });
        }
        // Of a pool that grows for longer than can be followed the bound is what is known; one that
        // does not has seen its peak by then, or nearly.
        if is_cut(workload) && workload.grows() {
            return Ok(Room {
                exact: false,
                volumes,
            });
        }
        Ok(self.plan(workload)?.1)
    }
}

/// Whether there are more transactions than are followed.
fn is_cut(workload: &Workload) -> bool {
    Followed::of(workload).is_some_and(|followed| followed.transactions < workload.transactions())
}

/// Files that are there for a moment besides the pool's, and the bytes that they take at the least:
/// each worker that replaces one writes the new one beside it.
fn temporary(workload: &Workload, block: u64) -> (u64, u64) {
    let replaces = |mix: &&workload::Mix| mix.weights.get(Action::Replace) > 0;
    workload.mix().filter(replaces).map_or((0, 0), |mix| {
        let workers = u64::from(workload.workers.count());
        (
            workers,
            workers.saturating_mul(mix.sizes.low().div_ceil(block).saturating_mul(block)),
        )
    })
}

/// What a run of a workload in these directories would do, and whether they have room for it.
/// Directories of `servers` are looked at there, and are no targets that this kernel knows.
///
/// # Errors
/// Where the workload has no stream.
///
/// # Panics
/// Where there are not as many directories as the workload has weights.
pub fn plan(
    workload: &Workload,
    directories: &[PathBuf],
    servers: Option<&dyn Namespace>,
) -> Result<(Plan, Room, Vec<Target>), WorkloadError> {
    assert_eq!(
        directories.len(),
        workload.location_weights().len(),
        "every location has a weight"
    );
    workload.validate()?;
    let targets: Vec<Target> = match servers {
        Some(_) => Vec::new(),
        None => {
            let targets = directories.iter();
            targets
                .map(|directory| Target::read(&Sources::default(), directory))
                .collect()
        }
    };
    let grounds: Vec<Ground> = match servers {
        Some(namespace) => {
            let directories = directories.iter();
            directories
                .map(|directory| Ground::of_server(namespace, directory))
                .collect()
        }
        None => targets.iter().map(Ground::from).collect(),
    };
    let volumes = Volumes::of(workload, &grounds);
    let (plan, mut room) = volumes.plan(workload)?;
    if is_cut(workload) && workload.grows() {
        room = volumes.check(workload)?;
    }
    Ok((plan, room, targets))
}

/// Why there is no room, in words; nothing where there is, or where it is not known.
pub fn shortage(room: &Room) -> Option<String> {
    let volume = room.volumes.iter().find(|volume| volume.is_full())?;
    let places = volume.locations.join(" and ");
    let lack = match (&volume.available_bytes, &volume.available_inodes) {
        (Fact::Known(available), _) if volume.needed_bytes > *available => format!(
            "the run needs {} at its peak ({}, with directories and inodes), and {} are free",
            bytes(volume.needed_bytes as f64),
            counted(volume.files_peak, "file"),
            bytes(*available as f64)
        ),
        (_, Fact::Known(available)) => {
            format!(
                "the run needs {} inodes at its peak, and {} are free",
                grouped(volume.needed_inodes),
                grouped(*available)
            )
        }
        _ => return None,
    };
    Some(format!(
        "not enough space on the file system of {places}: {lack}. Use fewer or smaller files or \
         another --target, free some space, or try with --no-room-check"
    ))
}
