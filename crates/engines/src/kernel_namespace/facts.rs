//! Converts results of statx(2) to the facts of a namespace.

use std::ffi::OsStr;
use std::os::fd::AsFd;

use engine::namespace::{EntryKind, Facts};
use engine::{Errno, Identity};
use rustix::fs::{AtFlags, FileType, Statx, StatxFlags};

pub(super) fn of_io(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

pub(super) fn facts_at(directory: impl AsFd, name: &OsStr, flags: AtFlags) -> Result<Facts, Errno> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    rustix::fs::statx(directory, name, flags, wanted).map(facts)
}

pub(super) fn facts_of_open(file: impl AsFd) -> Result<Facts, Errno> {
    facts_at(file, OsStr::new(""), AtFlags::EMPTY_PATH)
}

fn facts(from: Statx) -> Facts {
    let stamp = |time: rustix::fs::StatxTimestamp| (time.tv_sec, time.tv_nsec);
    let has_birth = StatxFlags::from_bits_retain(from.stx_mask).contains(StatxFlags::BTIME);
    Facts {
        kind: match FileType::from_raw_mode(from.stx_mode.into()) {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Directory,
            FileType::Symlink => EntryKind::SymbolicLink,
            _ => EntryKind::Other,
        },
        size_bytes: from.stx_size,
        allocated_bytes: Some(from.stx_blocks * 512),
        names: Some(from.stx_nlink.into()),
        owner: Some(from.stx_uid),
        mode: Some(u32::from(from.stx_mode) & 0o7777),
        identity: Some(Identity {
            device: rustix::fs::makedev(from.stx_dev_major, from.stx_dev_minor),
            inode: from.stx_ino,
        }),
        born: has_birth.then(|| stamp(from.stx_btime)),
        changed: Some(stamp(from.stx_ctime)),
        accessed: Some(stamp(from.stx_atime)),
        modified: Some(stamp(from.stx_mtime)),
    }
}
