//! Kinds of scratch file systems, and what each requires.

use std::fmt;
use std::str::FromStr;

use crate::invalid::InvalidMakeSpec;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileSystemKind {
    /// In memory, without an image.
    Tmpfs,
    /// Mounted by ext4's driver on most kernels.
    Ext2,
    /// Mounted by ext4's driver on most kernels.
    Ext3,
    Ext4,
    Xfs,
    Btrfs,
    /// An empty lower and an upper directory, both on an ext4 on an image.
    Overlay,
    /// The Flash-Friendly File System.
    F2fs,
    /// A log-structured file system.
    Nilfs2,
}

const MIB: u64 = 1 << 20;

impl FileSystemKind {
    /// Rows in the order of listing: kind; name; smallest size in MiB; mkfs program; its Debian
    /// package. The sizes are those that mkfs accepts with its defaults (mkfs.xfs(8): 300 MB;
    /// mkfs.btrfs: 109 MiB, rounded up; mkfs.nilfs2: 128 MiB and its second superblock; ext: enough
    /// for a journal).
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

    /// The name as in mount(8) and `/proc/filesystems`.
    pub fn name(self) -> &'static str {
        Self::ROWS[self as usize].1
    }

    /// The smallest size that mkfs accepts with its defaults, in bytes.
    pub fn size_bytes_min(self) -> u64 {
        Self::ROWS[self as usize].2 * MIB
    }

    /// The smallest external journal in bytes; `None` if the kind supports none. mke2fs(8): 1024
    /// blocks, here of 4 KiB. mkfs.xfs: a log for the largest transactions of its defaults.
    pub fn journal_bytes_min(self) -> Option<u64> {
        match self {
            Self::Ext3 | Self::Ext4 => Some(8 * MIB),
            Self::Xfs => Some(64 * MIB),
            _ => None,
        }
    }

    /// Whether it is made on an image: all kinds except tmpfs.
    pub fn has_image(self) -> bool {
        self != Self::Tmpfs
    }

    /// The kind on the image: ext4 below an overlay.
    pub(crate) fn on_image(self) -> Self {
        match self {
            Self::Overlay => Self::Ext4,
            kind => kind,
        }
    }

    /// The program that makes it on an image, and its Debian package.
    pub(crate) fn mkfs(self) -> Option<(&'static str, &'static str)> {
        let (_, _, _, program, package) = Self::ROWS[self as usize];
        self.has_image().then_some((program, package))
    }

    /// All names, for messages.
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
