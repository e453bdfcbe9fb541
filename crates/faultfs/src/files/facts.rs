//! File attributes in the form that the kernel expects.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use fuser::{Errno, FileAttr, FileType, Generation, INodeNo};
use rustix::fs::{AtFlags, CWD, StatxFlags};

use crate::replies::Found;

pub(super) fn errno(error: rustix::io::Errno) -> Errno {
    Errno::from_i32(error.raw_os_error())
}

impl Found {
    /// Returns the attributes and the device of a path or an open file.
    pub(super) fn look(path: Result<&Path, &File>) -> Result<(Self, (u32, u32)), Errno> {
        let mask = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let facts = match path {
            Ok(path) => rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, mask),
            Err(file) => rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, mask),
        }
        .map_err(errno)?;
        let device = (facts.stx_dev_major, facts.stx_dev_minor);
        let time = |at: rustix::fs::StatxTimestamp| {
            let second = Duration::from_secs(at.tv_sec.unsigned_abs());
            let second = match at.tv_sec < 0 {
                true => UNIX_EPOCH - second,
                false => UNIX_EPOCH + second,
            };
            second + Duration::from_nanos(u64::from(at.tv_nsec))
        };
        let kind = match rustix::fs::FileType::from_raw_mode(u32::from(facts.stx_mode)) {
            rustix::fs::FileType::Directory => FileType::Directory,
            rustix::fs::FileType::Symlink => FileType::Symlink,
            rustix::fs::FileType::Fifo => FileType::NamedPipe,
            rustix::fs::FileType::Socket => FileType::Socket,
            rustix::fs::FileType::CharacterDevice => FileType::CharDevice,
            rustix::fs::FileType::BlockDevice => FileType::BlockDevice,
            _ => FileType::RegularFile,
        };
        let born = u64::from(facts.stx_btime.tv_nsec)
            ^ facts.stx_btime.tv_sec.unsigned_abs().rotate_left(32);
        let facts = FileAttr {
            ino: INodeNo(facts.stx_ino),
            size: facts.stx_size,
            blocks: facts.stx_blocks,
            atime: time(facts.stx_atime),
            mtime: time(facts.stx_mtime),
            ctime: time(facts.stx_ctime),
            crtime: time(facts.stx_btime),
            kind,
            perm: facts.stx_mode & 0o7777,
            nlink: facts.stx_nlink,
            uid: facts.stx_uid,
            gid: facts.stx_gid,
            rdev: 0,
            blksize: facts.stx_blksize,
            flags: 0,
        };
        // The birth time distinguishes files that use the same inode number one after the other.
        let generation = Generation(born);
        Ok((Self { facts, generation }, device))
    }
}
