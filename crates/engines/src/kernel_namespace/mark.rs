//! Marks: files that claim a directory. A mark is open and locked, and gets its final name when its
//! text is complete.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::Errno;
use engine::namespace::{Facts, Lock, Mark};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};

use super::facts::{facts_at, facts_of_open, of_io};

/// Flags to create a draft, which is a mark without its final name.
pub(super) const CREATE: OFlags = OFlags::RDWR
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
/// The mode of new marks before the process's umask; a file system may choose another mode.
pub(super) const MARK_MODE: u32 = 0o666;

/// An open mark, with the directory and the name by which it was opened.
#[derive(Debug)]
pub(super) struct KernelMark {
    pub(super) file: File,
    pub(super) directory: Arc<OwnedFd>,
    pub(super) name: String,
}

impl Mark for KernelMark {
    fn name(&self) -> &str {
        &self.name
    }

    fn facts(&self) -> Result<Facts, Errno> {
        facts_of_open(&self.file)
    }

    fn lock(&self) -> Result<Lock, Errno> {
        match rustix::fs::flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Lock::Ours),
            Err(Errno::WOULDBLOCK) => Ok(Lock::Others),
            Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::BADF) => {
                Ok(Lock::Unknown)
            }
            Err(errno) => Err(errno),
        }
    }

    fn is_named(&self) -> Result<bool, Errno> {
        let held = self.facts()?;
        match facts_at(
            &self.directory,
            OsStr::new(&self.name),
            AtFlags::SYMLINK_NOFOLLOW,
        ) {
            Ok(named) => Ok(named.identity == held.identity),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(errno),
        }
    }

    fn read(&self, bytes_max: u64) -> Result<Vec<u8>, Errno> {
        let mut text = Vec::new();
        (&self.file)
            .take(bytes_max)
            .read_to_end(&mut text)
            .map_err(|error| of_io(&error))?;
        Ok(text)
    }

    fn write(&self, text: &[u8]) -> Result<(), Errno> {
        (&self.file)
            .write_all(text)
            .map_err(|error| of_io(&error))?;
        rustix::fs::fsync(&self.file)
    }

    fn restrict(&self, mode: u32) {
        let _ = rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode));
    }
}
