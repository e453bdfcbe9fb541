//! Performs requests on the backing directory.

mod extended;
mod facts;
mod requests;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

use fuser::{Errno, FileAttr, FileHandle, FileType, INodeNo, RenameFlags, Request, TimeOrNow};
use rustix::fs::{AtFlags, CWD, Gid, Mode, OFlags, StatxFlags, Timespec, Uid};

use self::facts::errno;
use crate::gate::Gate;
use crate::options::Options;
use crate::replies::Found;
use crate::tree::Tree;

struct Entry {
    number: u64,
    kind: FileType,
    name: std::ffi::OsString,
}

#[derive(Default)]
struct Handles {
    /// By file handle: the inode number of an open file, and the file.
    files: HashMap<u64, (u64, Arc<File>)>,
    /// By file handle: the entries of an open directory, as of the last read from its start.
    directories: HashMap<u64, Vec<Entry>>,
}

pub(crate) struct Files {
    /// The backing directory, held open. The root of `tree` is the path of this descriptor in
    /// /proc/self/fd.
    _backing: File,
    /// The device of the backing directory. Files of other devices are rejected, because their
    /// inode numbers may also occur on this device.
    device: (u32, u32),
    options: Options,
    gate: Arc<Gate>,
    tree: Mutex<Tree>,
    handles: Mutex<Handles>,
    next: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Files {
    pub(crate) fn new(backing: File, options: Options, gate: Arc<Gate>) -> io::Result<Self> {
        let facts = rustix::fs::statx(&backing, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)?;
        let root = PathBuf::from(format!("/proc/self/fd/{}", backing.as_raw_fd()));
        Ok(Self {
            _backing: backing,
            device: (facts.stx_dev_major, facts.stx_dev_minor),
            options,
            gate,
            tree: Mutex::new(Tree::new(root)),
            handles: Mutex::default(),
            next: AtomicU64::new(1),
        })
    }

    fn path(&self, file: INodeNo) -> Result<PathBuf, Errno> {
        lock(&self.tree).path(file)
    }

    fn path_in(&self, directory: INodeNo, name: &OsStr) -> Result<PathBuf, Errno> {
        lock(&self.tree).path_in(directory, name)
    }

    fn file(&self, handle: FileHandle) -> Result<Arc<File>, Errno> {
        let handles = lock(&self.handles);
        let (_, file) = handles.files.get(&handle.0).ok_or(Errno::EBADF)?;
        Ok(Arc::clone(file))
    }

    /// Returns any open descriptor of a file that no longer has a name, for requests in which the
    /// kernel passes no handle.
    fn nameless(&self, file: INodeNo) -> Option<Arc<File>> {
        let handles = lock(&self.handles);
        let mut open = handles.files.values();
        let (_, open) = open.find(|(number, _)| *number == file.0)?;
        Some(Arc::clone(open))
    }

    /// Returns the open file of `handle`. If the handle is missing or unknown, returns `None` for a
    /// file with a name, and any open descriptor for a file without a name.
    fn open_one(&self, file: INodeNo, handle: Option<FileHandle>) -> Option<Arc<File>> {
        let given = handle.and_then(|handle| self.file(handle).ok());
        given.or_else(|| match self.path(file) {
            Ok(_) => None,
            Err(_) => self.nameless(file),
        })
    }

    fn keep(&self, number: INodeNo, file: File) -> FileHandle {
        let handle = self.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.handles)
            .files
            .insert(handle, (number.0, Arc::new(file)));
        FileHandle(handle)
    }

    /// Returns the attributes of a path or an open file. Returns `EXDEV` if another file system is
    /// mounted on the path, because its inode numbers may occur in the backing file system.
    fn look(&self, path: Result<&Path, &File>) -> Result<Found, Errno> {
        let (found, device) = Found::look(path)?;
        match device == self.device {
            true => Ok(found),
            false => Err(Errno::EXDEV),
        }
    }

    /// Looks up a name and counts the lookup, which the reply reports to the kernel.
    fn find(&self, directory: INodeNo, name: &OsStr) -> Result<Found, Errno> {
        let mut tree = lock(&self.tree);
        let path = tree.path_in(directory, name)?;
        let found = self.look(Ok(&path))?;
        tree.tell(found.facts.ino.0, directory, name);
        Ok(found)
    }

    /// Returns the inode number of a path; `None` if its attributes cannot be read.
    fn number(&self, path: &Path) -> Option<u64> {
        self.look(Ok(path)).ok().map(|found| found.facts.ino.0)
    }

    /// Makes the caller the owner of a new file and sets the requested mode. The file was created
    /// with the owner and umask of the server.
    fn hand_over(request: &Request, path: &Path, mode: Option<u32>) -> Result<(), Errno> {
        let (owner, group) = (Uid::from_raw(request.uid()), Gid::from_raw(request.gid()));
        rustix::fs::chownat(
            CWD,
            path,
            Some(owner),
            Some(group),
            AtFlags::SYMLINK_NOFOLLOW,
        )
        .map_err(errno)?;
        if let Some(mode) = mode {
            set_mode(path, mode)?;
        }
        Ok(())
    }

    fn make(
        &self,
        request: &Request,
        (directory, name): (INodeNo, &OsStr),
        mode: Option<u32>,
        make: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<Found, Errno> {
        let path = self.path_in(directory, name)?;
        make(&path)?;
        Self::hand_over(request, &path, mode)?;
        self.find(directory, name)
    }

    fn remove(
        &self,
        directory: INodeNo,
        name: &OsStr,
        remove: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<(), Errno> {
        let path = self.path_in(directory, name)?;
        let number = self.number(&path);
        remove(&path)?;
        if let Some(number) = number {
            lock(&self.tree).lose(number, directory, name);
        }
        Ok(())
    }

    fn rename_to(
        &self,
        (from, old): (INodeNo, &OsStr),
        (to, new): (INodeNo, &OsStr),
        flags: RenameFlags,
    ) -> Result<(), Errno> {
        if flags.contains(RenameFlags::RENAME_NOREPLACE) && !self.options.rename_noreplace {
            return Err(Errno::EINVAL);
        }
        let (source, target) = (self.path_in(from, old)?, self.path_in(to, new)?);
        let (moved, replaced) = (self.number(&source), self.number(&target));
        let how = rustix::fs::RenameFlags::from_bits_retain(flags.bits());
        rustix::fs::renameat_with(CWD, &source, CWD, &target, how).map_err(errno)?;
        let mut tree = lock(&self.tree);
        if let Some(replaced) = replaced {
            tree.lose(replaced, to, new);
            if flags.contains(RenameFlags::RENAME_EXCHANGE) {
                tree.gain(replaced, from, old);
            }
        }
        if let Some(moved) = moved {
            tree.lose(moved, from, old);
            tree.gain(moved, to, new);
        }
        Ok(())
    }

    fn open_file(&self, number: INodeNo, flags: i32) -> Result<FileHandle, Errno> {
        let path = self.path(number)?;
        let accepted =
            OFlags::from_bits_retain(flags.unsigned_abs()) & (OFlags::RWMODE | OFlags::DIRECTORY);
        let file = rustix::fs::open(
            &path,
            accepted | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK,
            Mode::empty(),
        )
        .map_err(errno)?;
        Ok(self.keep(number, File::from(file)))
    }

    fn create_file(
        &self,
        request: &Request,
        (directory, name): (INodeNo, &OsStr),
        mode: u32,
        flags: i32,
    ) -> Result<(Found, FileHandle), Errno> {
        let path = self.path_in(directory, name)?;
        let accepted = OFlags::from_bits_retain(flags.unsigned_abs());
        let mut options = OpenOptions::new();
        options
            .read(!accepted.contains(OFlags::WRONLY))
            .write(accepted.intersects(OFlags::WRONLY | OFlags::RDWR))
            .mode(mode & 0o7777)
            .custom_flags(OFlags::NOFOLLOW.bits() as i32);
        // Another process may have created the file in the meantime. Without `O_EXCL`, that file is
        // opened.
        let file = match options.clone().write(true).create_new(true).open(&path) {
            Ok(file) => {
                Self::hand_over(request, &path, Some(mode))?;
                file
            }
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists
                    && !accepted.contains(OFlags::EXCL) =>
            {
                options.open(&path)?
            }
            Err(error) => return Err(error.into()),
        };
        let found = self.find(directory, name)?;
        let handle = self.keep(found.facts.ino, file);
        Ok((found, handle))
    }

    /// Returns the path by which attributes are set, and whether a symbolic link at its end is
    /// followed. An open file is denoted by its path in /proc/self/fd, because it may have no name
    /// any more.
    fn path_to_set(
        &self,
        file: INodeNo,
        handle: Option<FileHandle>,
    ) -> Result<(PathBuf, AtFlags), Errno> {
        Ok(match self.open_one(file, handle) {
            Some(open) => {
                let path = format!("/proc/self/fd/{}", open.as_raw_fd());
                (path.into(), AtFlags::empty())
            }
            None => (self.path(file)?, AtFlags::SYMLINK_NOFOLLOW),
        })
    }

    fn facts(&self, file: INodeNo, handle: Option<FileHandle>) -> Result<FileAttr, Errno> {
        let open = self.open_one(file, handle);
        let found = match &open {
            Some(open) => self.look(Err(open)),
            None => self.look(Ok(&self.path(file)?)),
        }?;
        Ok(found.facts)
    }

    fn read_at(&self, handle: FileHandle, offset: u64, bytes: u32) -> Result<Vec<u8>, Errno> {
        let file = self.file(handle)?;
        let mut buffer = vec![0; bytes as usize];
        let mut filled = 0;
        while filled < buffer.len() {
            match file.read_at(&mut buffer[filled..], offset + filled as u64)? {
                0 => break,
                more => filled += more,
            }
        }
        buffer.truncate(filled);
        Ok(buffer)
    }

    fn entries(&self, directory: INodeNo) -> Result<Vec<Entry>, Errno> {
        let path = self.path(directory)?;
        let number = |path: &Path| self.number(path).unwrap_or(directory.0);
        let mut entries: Vec<Entry> = [".", ".."]
            .map(|name| Entry {
                number: number(&path),
                kind: FileType::Directory,
                name: name.into(),
            })
            .into();
        for entry in fs::read_dir(&path)? {
            let entry = entry?;
            entries.push(Entry {
                number: std::os::unix::fs::DirEntryExt::ino(&entry),
                kind: FileType::from_std(entry.file_type()?).unwrap_or(FileType::RegularFile),
                name: entry.file_name(),
            });
        }
        Ok(entries)
    }
}

fn set_mode(path: &Path, mode: u32) -> Result<(), Errno> {
    let mode = Mode::from_raw_mode(mode & 0o7777);
    rustix::fs::chmodat(CWD, path, mode, AtFlags::empty()).map_err(errno)
}

fn timespec(time: Option<TimeOrNow>) -> Timespec {
    let special = |nanoseconds| Timespec {
        tv_sec: 0,
        tv_nsec: nanoseconds,
    };
    let at = match time {
        None => return special(rustix::fs::UTIME_OMIT),
        Some(TimeOrNow::Now) => return special(rustix::fs::UTIME_NOW),
        Some(TimeOrNow::SpecificTime(at)) => at,
    };
    match at.duration_since(UNIX_EPOCH) {
        Ok(after) => Timespec {
            tv_sec: after.as_secs() as i64,
            tv_nsec: after.subsec_nanos().into(),
        },
        Err(before) => Timespec {
            tv_sec: -(before.duration().as_secs() as i64),
            tv_nsec: 0,
        },
    }
}
