//! Kinds of scratch file systems, and the requirements of each kind.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::invalid::InvalidMakeSpec;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileSystemKind {
    /// A file system in memory, without an image.
    Tmpfs,
    /// Mounted by ext4's driver on most kernels, which have no separate driver for ext2.
    Ext2,
    /// Mounted by ext4's driver on most kernels, which have no separate driver for ext3.
    Ext3,
    Ext4,
    Xfs,
    Btrfs,
    /// An empty lower and an empty upper directory, both on an ext4 file system on an image.
    Overlay,
    /// The Flash-Friendly File System.
    F2fs,
    /// A log-structured file system.
    Nilfs2,
}

const MIB: u64 = 1 << 20;

impl FileSystemKind {
    /// Table of the kinds, in the order of lists: kind, name, minimum size in MiB, mkfs program,
    /// and its Debian package. Each size is the minimum of mkfs with default options: mkfs.xfs(8):
    /// 300 MB; mkfs.btrfs: 109 MiB, rounded up; mkfs.nilfs2: 128 MiB and a second superblock; ext:
    /// enough for a journal.
    const ROWS: [(Self, &'static str, u64, &'static str, &'static str); 9] = [
        (Self::Tmpfs, "tmpfs", 1, "", ""),
        (Self::Ext2, "ext2", 16, "mkfs.ext2", "e2fsprogs"),
        (Self::Ext3, "ext3", 16, "mkfs.ext3", "e2fsprogs"),
        (Self::Ext4, "ext4", 16, "mkfs.ext4", "e2fsprogs"),
        (Self::Xfs, "xfs", 300, "mkfs.xfs", "xfsprogs"),
        (Self::Btrfs, "btrfs", 128, "mkfs.btrfs", "btrfs-progs"),
        (Self::Overlay, "overlay", 16, "mkfs.ext4", "e2fsprogs"),
        (Self::F2fs, "f2fs", 64, "mkfs.f2fs", "f2fs-tools"),
        (Self::Nilfs2, "nilfs2", 160, "mkfs.nilfs2", "nilfs-tools"),
    ];

    /// Returns the name of the kind, as in mount(8) and `/proc/filesystems`.
    pub fn name(self) -> &'static str {
        Self::ROWS[self as usize].1
    }

    /// Returns the minimum size that mkfs accepts with default options, in bytes.
    pub fn size_bytes_min(self) -> u64 {
        Self::ROWS[self as usize].2 * MIB
    }

    /// Returns the possible sizes of an external journal in bytes; `None` if the kind supports
    /// none. mke2fs(8) requires 1024 blocks, which is 4 MiB for blocks of 4 KiB; the minimum is
    /// twice that. The maximum is 10,240,000 blocks of 4 KiB, which mke2fs(8) documents for
    /// internal journals. mkfs.xfs requires a log that can hold the largest transaction of its
    /// default options, and refuses more than 2,038 MiB.
    pub fn journal_bytes(self) -> Option<RangeInclusive<u64>> {
        match self {
            Self::Ext3 | Self::Ext4 => Some(8 * MIB..=10_240_000 * 4096),
            Self::Xfs => Some(64 * MIB..=2_038 * MIB),
            _ => None,
        }
    }

    /// Whether the file system is made on an image, as all kinds except tmpfs are.
    pub fn has_image(self) -> bool {
        self != Self::Tmpfs
    }

    /// Returns the kind of file system on the image: ext4 for an overlay.
    pub(crate) fn on_image(self) -> Self {
        match self {
            Self::Overlay => Self::Ext4,
            kind => kind,
        }
    }

    /// Returns the mkfs program and its Debian package; `None` for a tmpfs.
    pub(crate) fn mkfs(self) -> Option<(&'static str, &'static str)> {
        let (_, _, _, program, package) = Self::ROWS[self as usize];
        self.has_image().then_some((program, package))
    }

    /// Returns all names of kinds, for messages and help.
    pub fn names() -> String {
        Self::ROWS.map(|(_, name, ..)| name).join(", ")
    }
}

impl fmt::Display for FileSystemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for FileSystemKind {
    type Err = InvalidMakeSpec;

    fn from_str(text: &str) -> Result<Self, InvalidMakeSpec> {
        let found = Self::ROWS.iter().find(|(_, name, ..)| *name == text);
        found.map(|(kind, ..)| *kind).ok_or_else(|| {
            let names = Self::names();
            invalid!("unknown kind of file system '{text}' (use {names})")
        })
    }
}
