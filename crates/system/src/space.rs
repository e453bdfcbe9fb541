//! Size and free space of a file system, by one statvfs(3) and one stat(2).
//!
//! The module reports the space that an unprivileged user may use, and does not judge whether it is
//! enough.

use std::path::Path;

use rustix::fs::{Stat, StatVfs, StatVfsMountFlags};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::device_number::DeviceNumber;
use crate::fact::{Fact, both, pair};
use crate::sources::unavailable;

/// Size and free space of the file system that contains a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Space {
    /// Device of the path (`st_dev` of stat(2)). All paths on one file system have the same number,
    /// except on btrfs: there each subvolume has its own number here, but not in [`crate::Mount`].
    pub device: DeviceNumber,
    /// Unit in which the file system counts its space, in bytes (`f_frsize`).
    pub block_size_bytes: u64,
    /// Total size. Not applicable if the file system reports no size (`f_blocks` 0: ramfs, a tmpfs
    /// without limit, many network file systems).
    pub total_bytes: Fact<u64>,
    /// Free space, including the part reserved for root (`f_bfree`).
    pub free_bytes: Fact<u64>,
    /// Free space for an unprivileged user (`f_bavail`).
    pub available_bytes: Fact<u64>,
    /// Total number of inodes (`f_files`). Not applicable if the file system reports no number
    /// (`f_files` 0: btrfs, vfat, a tmpfs without limit).
    pub inodes_total: Fact<u64>,
    /// Number of free inodes (`f_ffree`).
    pub inodes_free: Fact<u64>,
    /// Number of free inodes for an unprivileged user (`f_favail`).
    pub inodes_available: Fact<u64>,
    /// Maximum length of a file name, in bytes (`f_namemax`).
    pub name_length_bytes_max: u64,
    /// Whether the file system or its mount is read-only (`ST_RDONLY`).
    pub read_only: bool,
}

impl Space {
    /// Reads the size and free space of the file system that contains an existing path.
    pub fn read(path: &Path) -> Fact<Space> {
        let status = match rustix::fs::stat(path) {
            Ok(status) => status,
            Err(error) => return unavailable(path, format!("stat: {error}")),
        };
        match rustix::fs::statvfs(path) {
            Ok(room) => Fact::Known(Space::of(&status, &room)),
            Err(error) => unavailable(path, format!("statvfs: {error}")),
        }
    }

    /// Returns the share of the space that is used, from 0 to 1, as df(1) computes it: used divided
    /// by used plus available. Neither includes the space reserved for root.
    pub fn fill_fraction(&self) -> Fact<f64> {
        let used = both(&self.total_bytes, &self.free_bytes, |total, free| {
            total.saturating_sub(*free)
        });
        pair(&used, &self.available_bytes, |used, available| {
            match used.saturating_add(*available) {
                0 => Fact::Unavailable("statvfs: neither used nor available room".into()),
                reachable => Fact::Known(*used as f64 / reachable as f64),
            }
        })
    }

    fn of(status: &Stat, room: &StatVfs) -> Space {
        let bytes = |blocks: u64, name: &str| match blocks.checked_mul(room.f_frsize) {
            _ if room.f_blocks == 0 => Fact::NotApplicable,
            Some(bytes) => Fact::Known(bytes),
            None => Fact::Unavailable(format!("statvfs: {name} is {blocks}")),
        };
        // Ceph reports -1 free inodes, which means unknown.
        let inodes = |count: u64, name: &str| match count {
            _ if room.f_files == 0 => Fact::NotApplicable,
            u64::MAX => Fact::Unavailable(format!("statvfs: {name} is -1")),
            count => Fact::Known(count),
        };
        Space {
            device: DeviceNumber::of(status.st_dev),
            block_size_bytes: room.f_frsize,
            total_bytes: bytes(room.f_blocks, "f_blocks"),
            free_bytes: bytes(room.f_bfree, "f_bfree"),
            available_bytes: bytes(room.f_bavail, "f_bavail"),
            inodes_total: inodes(room.f_files, "f_files"),
            inodes_free: inodes(room.f_ffree, "f_ffree"),
            inodes_available: inodes(room.f_favail, "f_favail"),
            name_length_bytes_max: room.f_namemax,
            read_only: room.f_flag.contains(StatVfsMountFlags::RDONLY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room() -> StatVfs {
        StatVfs {
            f_bsize: 4096,
            f_frsize: 1024,
            f_blocks: 100,
            f_bfree: 60,
            f_bavail: 40,
            f_files: 20,
            f_ffree: 9,
            f_favail: 8,
            f_fsid: 0,
            f_flag: StatVfsMountFlags::empty(),
            f_namemax: 255,
        }
    }

    fn space(room: &StatVfs) -> Space {
        Space::of(&rustix::fs::stat("/").unwrap(), room)
    }

    #[test]
    fn sizes_are_blocks_times_the_fragment_size() {
        let space = space(&room());
        assert_eq!(space.block_size_bytes, 1024);
        assert_eq!(space.total_bytes, Fact::Known(102_400));
        assert_eq!(space.free_bytes, Fact::Known(61_440));
        assert_eq!(space.available_bytes, Fact::Known(40_960));
        assert_eq!(space.inodes_total, Fact::Known(20));
        assert_eq!(space.inodes_free, Fact::Known(9));
        assert_eq!(space.inodes_available, Fact::Known(8));
        assert!(!space.read_only);
        assert_eq!(
            space.fill_fraction(),
            Fact::Known(0.5),
            "40 used, 40 available"
        );
    }

    #[test]
    fn full_file_system_has_no_available_bytes_or_inodes() {
        let full = space(&StatVfs {
            f_bfree: 20,
            f_bavail: 0,
            f_favail: 0,
            ..room()
        });
        assert_eq!(full.available_bytes, Fact::Known(0));
        assert_eq!(full.inodes_available, Fact::Known(0));
        assert_eq!(full.fill_fraction(), Fact::Known(1.0));
    }

    #[test]
    fn sizes_that_are_not_reported_are_not_applicable() {
        let silent = space(&StatVfs {
            f_blocks: 0,
            f_bfree: 0,
            f_bavail: 0,
            f_files: 0,
            f_ffree: 0,
            f_favail: 0,
            ..room()
        });
        assert_eq!(silent.available_bytes, Fact::NotApplicable);
        assert_eq!(silent.inodes_available, Fact::NotApplicable);
        assert_eq!(silent.inodes_total, Fact::NotApplicable);
        assert_eq!(silent.fill_fraction(), Fact::NotApplicable);
        let odd = space(&StatVfs {
            f_favail: u64::MAX,
            f_bavail: u64::MAX,
            ..room()
        });
        assert!(odd.inodes_available.why().is_some());
        assert!(odd.available_bytes.why().is_some());
    }

    #[test]
    fn space_of_a_real_directory_has_block_size_and_name_length() {
        let directory = tempfile::tempdir().unwrap();
        let space = Space::read(directory.path()).into_known().unwrap();
        assert!(space.block_size_bytes > 0 && space.name_length_bytes_max >= 14);
    }

    #[test]
    fn space_of_a_missing_path_is_unavailable() {
        let why = Space::read(Path::new("/no/such/path"));
        assert!(why.why().unwrap().contains("/no/such/path"));
    }
}
