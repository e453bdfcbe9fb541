//! The kinds of file systems that can be made, and what each takes.

use std::fmt;
use std::str::FromStr;

use crate::invalid::InvalidMakeSpec;

/// A kind of file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileSystemKind {
    /// In memory, without an image.
    Tmpfs,
    /// Mounted by ext4's driver on most kernels.
    Ext2,
    /// Mounted by ext4's driver on most kernels.
    Ext3,
    /// The fourth extended file system.
    Ext4,
    /// XFS.
    Xfs,
    /// Btrfs.
    Btrfs,
    /// An empty lower and an upper directory, both on an ext4 on an image.
    Overlay,
    /// The flash-friendly file system.
    F2fs,
    /// A log-structured file system.
    Nilfs2,
}

const MIB: u64 = 1 << 20;

impl FileSystemKind {
    /// By kind, in the order in which they are listed: its name; the smallest size in MiB, which is
    /// what mkfs takes with its defaults (mkfs.xfs(8): 300 MB; mkfs.btrfs: 109 MiB, rounded up;
    /// mkfs.nilfs2: 128 MiB and its second superblock; ext: room for a journal); the program that
    /// makes it on an image, and the package of Debian that has it.
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

    /// Its name, as mount(8) and `/proc/filesystems` have it.
    pub fn name(self) -> &'static str {
        Self::ROWS[self as usize].1
    }

    /// The smallest size in bytes.
    pub fn size_bytes_min(self) -> u64 {
        Self::ROWS[self as usize].2 * MIB
    }

    /// The smallest external journal in bytes (mke2fs(8): 1024 blocks, here of 4 KiB; mkfs.xfs: a
    /// log for the largest transactions of its defaults), where the kind can have one.
    pub fn journal_bytes_min(self) -> Option<u64> {
        match self {
            Self::Ext3 | Self::Ext4 => Some(8 * MIB),
            Self::Xfs => Some(64 * MIB),
            _ => None,
        }
    }

    /// Whether it lies on an image: all but tmpfs.
    pub fn has_image(self) -> bool {
        self != Self::Tmpfs
    }

    /// The kind that lies on the image: ext4 below an overlay.
    pub(crate) fn on_image(self) -> Self {
        match self {
            Self::Overlay => Self::Ext4,
            kind => kind,
        }
    }

    /// The program that makes it on an image, and the package of Debian that has it.
    pub(crate) fn mkfs(self) -> Option<(&'static str, &'static str)> {
        let (_, _, _, program, package) = Self::ROWS[self as usize];
        self.has_image().then_some((program, package))
    }

    /// All names, as a message lists them.
    pub(crate) fn names() -> String {
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
