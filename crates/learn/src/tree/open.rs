//! Opens directories and files for reading, without following links and, if the user may do so,
//! without changing access times.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, Statx, StatxFlags, openat, statx};
use rustix::io::Errno;

const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC);
const DIRECTORY: OFlags = READ.union(OFlags::DIRECTORY);

/// Opens the root of a tree. The path may lead through links.
pub(super) fn root(path: &Path) -> Result<OwnedFd, Errno> {
    quietly(DIRECTORY, |flags| openat(CWD, path, flags, Mode::empty()))
}

/// Opens a directory by its name in another one.
pub(super) fn directory(parent: impl AsFd, name: &CStr) -> Result<OwnedFd, Errno> {
    quietly(DIRECTORY | OFlags::NOFOLLOW, |flags| {
        openat(parent.as_fd(), name, flags, Mode::empty())
    })
}

/// Opens a file by the names of its directories and its own name, from the root. Does not block if
/// a pipe or a device has replaced the file.
pub(super) fn file(root: impl AsFd, path: &[u8]) -> Result<OwnedFd, Errno> {
    let mut names = path.split(|byte| *byte == b'/');
    let last = names.next_back().ok_or(Errno::NOENT)?;
    let mut held: Option<OwnedFd> = None;
    for name in names {
        let parent = held.as_ref().map_or(root.as_fd(), AsFd::as_fd);
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        held = Some(openat(parent, name, flags, Mode::empty())?);
    }
    let parent = held.as_ref().map_or(root.as_fd(), AsFd::as_fd);
    quietly(
        READ | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY,
        |flags| openat(parent, last, flags, Mode::empty()),
    )
}

/// Only the owner of a file and root may use `O_NOATIME`.
fn quietly(
    flags: OFlags,
    open: impl Fn(OFlags) -> Result<OwnedFd, Errno>,
) -> Result<OwnedFd, Errno> {
    match open(flags | OFlags::NOATIME) {
        Err(Errno::PERM) => open(flags),
        opened => opened,
    }
}

/// The identity of a directory or file, and the mount through which it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    /// The numbers of the device and of the inode.
    pub inode: (u32, u32, u64),
    /// The number of the mount; `None` on kernels before 5.8, which do not report it.
    pub mount: Option<u64>,
}

impl Identity {
    pub(super) fn of(facts: &Statx) -> Self {
        let has_mount = facts.stx_mask & StatxFlags::MNT_ID.bits() != 0;
        Self {
            inode: (facts.stx_dev_major, facts.stx_dev_minor, facts.stx_ino),
            mount: has_mount.then_some(facts.stx_mnt_id),
        }
    }

    /// Whether both are on one mount, as far as the kernel reports it.
    pub(super) fn is_on_mount_of(&self, other: &Self) -> bool {
        let device = |of: &Self| (of.inode.0, of.inode.1);
        // The subvolumes of btrfs have devices of their own on one mount.
        match (self.mount, other.mount) {
            (Some(own), Some(others)) => own == others,
            _ => device(self) == device(other),
        }
    }
}

/// Returns facts about a name. Neither follows a link nor mounts a file system on demand.
pub(super) fn facts(parent: impl AsFd, name: &CStr) -> Result<Statx, Errno> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    statx(
        parent.as_fd(),
        name,
        flags,
        StatxFlags::BASIC_STATS | StatxFlags::MNT_ID,
    )
}

/// Returns facts about an open directory or file.
pub(super) fn facts_of(file: impl AsFd) -> Result<Statx, Errno> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    statx(file.as_fd(), c"", AtFlags::EMPTY_PATH, wanted)
}
