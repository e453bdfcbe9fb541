//! Checks the free space of targets before a run creates files.
//!
//! The needed space is the largest size of the pool during the run, in blocks of the file system.
//! The space of directories and inodes is estimated from the documented formats of file systems.
//! Locations on the same file system are summed.

use std::path::{Path, PathBuf};

use document::units::{bytes, counted, grouped};
use engine::namespace::Namespace;
use record::{Room, RoomVolume};
use system::{DeviceNumber, Fact, Sources, Target};
use workload::WorkloadError;
use workload::{Action, Followed, Plan, Planner, Volume, Workload};

/// Estimated size in bytes of a directory entry with a name of up to 16 bytes. About half of it is
/// unused space, because directory blocks are only half to three quarters full.
const NAME_BYTES: u64 = 32;

/// Assumed block size in bytes if the file system reports none. 4 KiB is the most common size.
const BLOCK_BYTES: u64 = 4096;

/// Maximum number of transactions of all workers that are simulated to compute the needed space of
/// a very long run. Such a run usually ends by time. Simulating more would delay the start of the
/// run. It would change the number of files by less than a thousand in most cases.
const CHECKED_TRANSACTIONS: u64 = 1_000_000;

/// Bytes by which a new inode reduces the free space that the file system reports for contents.
fn inode_bytes(file_system: Option<&str>) -> u64 {
    match file_system {
        // Inodes have their own space, which mkfs reserves or the file system counts separately.
        Some("ext2" | "ext3" | "ext4" | "tmpfs" | "ramfs" | "ufs") => 0,
        // An inode item, its back reference and two directory items, and the part of the tree's
        // blocks that stays free (btrfs on-disk format).
        Some("btrfs") => 1024,
        // One block for each inode (f2fs on-disk format).
        Some("f2fs") => 4096,
        // The default inode size of mkfs.xfs(8), taken as an estimate for all other file systems.
        _ => 512,
    }
}

/// Facts of a location that determine its free space.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    path: String,
    on: On,
    file_system: Fact<String>,
    block_bytes: u64,
    available_bytes: Fact<u64>,
    available_inodes: Fact<u64>,
}

/// Identifies a file system, so that the needs of locations on the same file system are summed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum On {
    Device(DeviceNumber),
    /// The identifier that a server reports for its file system.
    Server(u64),
    /// The file system is unknown: each path counts as a separate file system.
    Path(String),
}

impl From<&Target> for Ground {
    fn from(target: &Target) -> Self {
        let space = target.space.as_ref();
        Self {
            path: target.path.clone(),
            // A btrfs subvolume and its file system have different device numbers. The mount has
            // the device number of the file system.
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
    /// An empty file system of this size, which does not exist yet. Its inodes are not known.
    pub(crate) fn of_planned(name: &str, file_system: &str, available_bytes: u64) -> Self {
        let why = "the file system does not exist yet";
        Self {
            path: name.to_owned(),
            on: On::Path(name.to_owned()),
            file_system: Fact::Known(file_system.to_owned()),
            block_bytes: BLOCK_BYTES,
            available_bytes: Fact::Known(available_bytes),
            available_inodes: Fact::Unavailable(why.to_owned()),
        }
    }

    /// Reads the free space of a server's directory. Values that the server does not report are not
    /// available.
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

/// The file systems that contain the run's locations. Locations on the same file system are one
/// volume.
pub(crate) struct Volumes {
    volume_of: Vec<usize>,
    rooms: Vec<RoomVolume>,
    blocks: Vec<u64>,
    directories: Vec<u64>,
    inode_bytes: Vec<u64>,
    /// Number of additional bytes that a long name occupies in its directory, compared with a short
    /// name.
    long_name_bytes: u64,
}

impl Volumes {
    /// Groups locations into volumes, one for each file system.
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
        // Every location contains a manifest.
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

    /// Computes the totals of all operations of the workload, and the space that they need.
    ///
    /// If the workload is too large, only its first operations are simulated. The number of files
    /// after them is extrapolated. The totals exclude transactions that are not simulated.
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

    /// Computes the needed space. If the free space is at least as large as an upper bound, which
    /// is quick to compute, returns this bound. Otherwise simulates the operations of the workload;
    /// for a very long workload, only the first ones.
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
        // The plan of a large workload ends before its last transaction. If the pool can grow after
        // that, only the upper bound is certain.
        if is_cut(workload) && workload.grows() {
            return Ok(Room {
                exact: false,
                volumes,
            });
        }
        if is_cut(workload) {
            let workers = u64::from(workload.workers.count().max(1));
            let part = workload.with_transactions((CHECKED_TRANSACTIONS / workers).max(1));
            return Ok(Room {
                exact: false,
                ..self.plan(&part)?.1
            });
        }
        Ok(self.plan(workload)?.1)
    }
}

/// Whether the workload has more transactions than a plan simulates.
fn is_cut(workload: &Workload) -> bool {
    Followed::of(workload).is_some_and(|followed| followed.transactions < workload.transactions())
}

/// Returns the maximum number of temporary files that exist besides the files of the pool, and the
/// minimum of their total size in bytes. A worker that replaces a file first writes the new
/// contents to a temporary file; a lock file is a small temporary file.
fn temporary(workload: &Workload, block: u64) -> (u64, u64) {
    let Some(mix) = workload.mix() else {
        return (0, 0);
    };
    let blocks = if mix.weights.get(Action::Replace) > 0 {
        mix.sizes.low().div_ceil(block)
    } else if mix.weights.get(Action::LockFile) > 0 {
        1
    } else {
        return (0, 0);
    };
    let workers = u64::from(workload.workers.count());
    (
        workers,
        workers.saturating_mul(blocks.saturating_mul(block)),
    )
}

/// Computes the totals of a run in these directories and the space that the run needs. If `servers`
/// is given, the directories are on servers and the returned list of targets is empty.
///
/// # Errors
/// Returns an error if the workload is invalid.
///
/// # Panics
/// Panics if the number of directories differs from the workload's number of location weights.
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

/// Describes why the free space is too small; `None` if it suffices or is unknown.
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
         another --target, free some space, or try with --no-space-check"
    ))
}
