//! The directory that contains the files of a scratch file system, held open.
//!
//! All calls resolve names from the open directory. So calls reach the same files even if the
//! directory is moved, or if another directory takes its path.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Statx, StatxFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::error::MakeError;
use crate::held_path::{self, shown};

/// Prefix of the names of scratch file system directories.
pub(crate) const PREFIX: &str = "postmark-made-";
pub(crate) const MANIFEST: &str = ".postmark-made.json";
/// Name of the directory on which the scratch file system is mounted.
pub(crate) const MOUNT: &str = "mount";
/// Name of the directory on which the ext4 below an overlay is mounted.
pub(crate) const BELOW: &str = "below";
/// Name of the file that contains the image of the scratch file system.
pub(crate) const IMAGE: &str = "image";
/// Name of the image file of the external journal.
pub(crate) const JOURNAL: &str = "journal";

/// Returns the file name of an image's copy in a saved state.
pub(crate) fn saved(state: &str, image: &str) -> String {
    format!("saved-{state}-{image}")
}

/// Identifies a file or directory within its file system, even after a restart of the machine. The
/// device number is not included, because a restart may change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    inode: u64,
    /// Creation time in seconds and nanoseconds, if the file system records it. The creation time
    /// distinguishes the file from a later one with the same inode number.
    born: Option<(i64, u32)>,
}

impl Identity {
    pub(crate) fn inode(self) -> u64 {
        self.inode
    }
}

/// Metadata of a file or directory.
pub(crate) struct Facts {
    pub(crate) identity: Identity,
    /// Device number, as in stat(2).
    pub(crate) device: u64,
    pub(crate) kind: FileType,
    pub(crate) owner: u32,
    pub(crate) mode: u32,
    pub(crate) links: u32,
    pub(crate) bytes: u64,
    /// ID of the mount, if the kernel reports it.
    mount: Option<u64>,
}

impl From<Statx> for Facts {
    fn from(facts: Statx) -> Self {
        let has = |flag: StatxFlags| facts.stx_mask & flag.bits() != 0;
        let born = (facts.stx_btime.tv_sec, facts.stx_btime.tv_nsec);
        Self {
            identity: Identity {
                inode: facts.stx_ino,
                born: has(StatxFlags::BTIME).then_some(born),
            },
            device: rustix::fs::makedev(facts.stx_dev_major, facts.stx_dev_minor),
            kind: FileType::from_raw_mode(facts.stx_mode.into()),
            owner: facts.stx_uid,
            mode: u32::from(facts.stx_mode) & 0o7777,
            links: facts.stx_nlink,
            bytes: facts.stx_size,
            mount: has(StatxFlags::MNT_ID).then_some(facts.stx_mnt_id),
        }
    }
}

fn facts(at: impl AsFd, name: impl rustix::path::Arg) -> Result<Facts, Errno> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME | StatxFlags::MNT_ID;
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH;
    rustix::fs::statx(at, name, flags, wanted).map(Facts::from)
}

pub(crate) fn facts_of(file: impl AsFd) -> Result<Facts, Errno> {
    facts(file, "")
}

/// An open directory that contains a scratch file system or its external journal.
#[derive(Debug)]
pub(crate) struct MadeDirectory {
    /// Path at which the directory was created or found.
    path: PathBuf,
    held: OwnedFd,
    /// A path such as `/proc/thread-self/fd/5`, which reaches the directory even if it is moved.
    /// System calls use this path.
    call: PathBuf,
}

impl MadeDirectory {
    /// Creates a directory, syncs its name to disk, and keeps it open.
    pub(crate) fn create(path: &Path) -> Result<Self, MakeError> {
        let error = |errno: Errno| MakeError::io("create the directory", path, errno);
        let above = open(CWD, path.parent().unwrap_or(Path::new("/"))).map_err(error)?;
        let name = path.file_name().unwrap_or_default();
        rustix::fs::mkdirat(&above, name, Mode::from_raw_mode(0o711)).map_err(error)?;
        let directory = Self::new(path.to_owned(), open(&above, name).map_err(error)?);
        let synced = sync(&above, path.parent().unwrap_or(path));
        if synced.is_err() {
            // The error of the sync is reported, not that of the removal.
            let _ = directory.remove();
        }
        synced.map(|()| directory)
    }

    /// Opens an existing directory and keeps it open. Returns `None` if the path leads to no
    /// directory.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, MakeError> {
        match open(CWD, path) {
            Ok(held) => Ok(Some(Self::new(path.to_owned(), held))),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(errno) => Err(MakeError::io("open the directory", path, errno)),
        }
    }

    fn new(path: PathBuf, held: OwnedFd) -> Self {
        let call = held_path::of(&held);
        Self { path, held, call }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a path such as `/proc/thread-self/fd/5`, which is valid even if the directory is
    /// moved.
    pub(crate) fn call(&self) -> &Path {
        &self.call
    }

    /// Returns the path of `name` in the directory. The path begins with [`Self::call`].
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.call.join(name)
    }

    /// Returns the current path of the directory.
    pub(crate) fn present(&self) -> PathBuf {
        shown(&self.call)
    }

    /// Whether the path at which the directory was created or found still leads to the same
    /// directory.
    pub(crate) fn is_in_place(&self) -> bool {
        match (facts(CWD, &self.path), self.facts()) {
            (Ok(there), Ok(own)) => (there.device, there.identity) == (own.device, own.identity),
            _ => false,
        }
    }

    pub(crate) fn held(&self) -> BorrowedFd<'_> {
        self.held.as_fd()
    }

    pub(crate) fn facts(&self) -> Result<Facts, Errno> {
        facts_of(&self.held)
    }

    /// Returns the metadata of a name in the directory; `None` if the name does not exist.
    pub(crate) fn facts_in(&self, name: impl rustix::path::Arg) -> Result<Option<Facts>, Errno> {
        match facts(&self.held, name) {
            Ok(facts) => Ok(Some(facts)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Whether another file system is mounted on the entry whose metadata is `inner`.
    pub(crate) fn is_covered(&self, inner: &Facts) -> bool {
        let own = self.facts().ok().and_then(|own| own.mount);
        inner
            .mount
            .zip(own)
            .is_some_and(|(inner, own)| inner != own)
    }

    /// Returns the names of all entries of the directory, sorted.
    pub(crate) fn names(&self) -> Result<Vec<OsString>, Errno> {
        let mut names = Vec::new();
        // Opens a new descriptor, because a duplicated descriptor shares the position at which
        // names are read.
        for entry in Dir::new(open(&self.held, ".")?)? {
            let name = entry?.file_name().to_owned();
            if !matches!(name.to_bytes(), b"." | b"..") {
                names.push(OsStr::from_bytes(name.to_bytes()).to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// Removes the directory at its current path. Fails if it is not empty.
    pub(crate) fn remove(&self) -> Result<(), Errno> {
        let own = self.facts()?;
        if own.links == 0 {
            return Ok(());
        }
        let present = self.present();
        let above = open(&self.held, "..")?;
        let name = present.file_name().ok_or(Errno::NOENT)?;
        let there = facts(&above, name)?;
        if (there.device, there.identity) != (own.device, own.identity) {
            // Another program moved the directory between the calls.
            return Err(Errno::BUSY);
        }
        rustix::fs::unlinkat(&above, name, AtFlags::REMOVEDIR)
    }

    /// Syncs the directory, so that new entries are on disk.
    pub(crate) fn sync(&self) -> Result<(), MakeError> {
        sync(&self.held, &self.path)
    }
}

fn open(at: impl AsFd, name: impl rustix::path::Arg) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(at, name, flags, Mode::empty())
}

fn sync(directory: &OwnedFd, path: &Path) -> Result<(), MakeError> {
    rustix::fs::fsync(directory).map_err(|errno| MakeError::io("sync the directory", path, errno))
}

/// Returns the time at which a directory was made, in seconds since 1970, and the process ID of its
/// maker. Both are parsed from the name `postmark-made-SECOND-PROCESS-N`.
pub(crate) fn maker_of(name: &OsStr) -> Option<(i64, u32)> {
    let mut numbers = name.to_str()?.strip_prefix(PREFIX)?.split('-');
    let mut number = || {
        let text = numbers.next()?;
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit())
            && (text == "0" || !text.starts_with('0'));
        text.parse::<u64>().ok().filter(|_| is_plain)
    };
    let (second, process, _attempt) = (number()?, number()?, number()?);
    numbers.next().is_none().then_some(())?;
    let process = u32::try_from(process).ok().filter(|process| *process > 0)?;
    Some((i64::try_from(second).ok()?, process))
}

impl Facts {
    /// Whether the file or directory was created within a minute after this second. Always true if
    /// the file system records no creation time.
    pub(crate) fn is_born_in(&self, second: i64) -> bool {
        /// Maximum time from the timestamp in the name until the directory is created, in seconds.
        const MADE_WITHIN_S: i64 = 60;
        let of_that_time = second.saturating_sub(1)..second.saturating_add(MADE_WITHIN_S);
        let born = self.identity.born;
        born.is_none_or(|(born, _)| of_that_time.contains(&born))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directory_names_of_the_exact_form_are_accepted() {
        assert_eq!(
            maker_of(OsStr::new("postmark-made-1790000000-42-0")),
            Some((1_790_000_000, 42))
        );
        for other in [
            "postmark-made-",
            "postmark-made-1-2",
            "postmark-made-1-2-3-4",
            "postmark-made-1-02-3",
            "postmark-made-1-0-3",
            "postmark-made-1-99999999999-3",
            "postmark-1790000000-42-0",
            "postmark-made-a-2-3",
        ] {
            assert_eq!(maker_of(OsStr::new(other)), None, "{other}");
        }
    }

    #[test]
    fn moved_directory_is_still_reached_and_shows_its_new_path() {
        let scene = tempfile::tempdir().unwrap();
        let [path, moved] = ["made", "moved"].map(|name| scene.path().join(name));
        let directory = MadeDirectory::create(&path).unwrap();
        std::fs::rename(&path, &moved).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(!directory.is_in_place());
        std::fs::write(directory.at("file"), "").unwrap();
        assert!(moved.join("file").exists());
        assert_eq!(shown(&directory.at("file")), moved.join("file"));
        assert_eq!(directory.remove(), Err(Errno::NOTEMPTY));
        std::fs::remove_file(moved.join("file")).unwrap();
        directory.remove().unwrap();
        assert!(!moved.exists() && path.exists());
    }
}
