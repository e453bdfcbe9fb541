//! The requests, performed on the backing directory.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, ReplyXattr, Request, TimeOrNow,
    WriteFlags,
};
use rustix::fs::{
    AtFlags, CWD, Gid, Mode, OFlags, StatxFlags, Timespec, Timestamps, Uid, XattrFlags,
};

use crate::gate::Gate;
use crate::options::{Options, RequestKind};
use crate::tree::Tree;

/// The kernel keeps nothing: every look-up is a request.
const NO_TIME: Duration = Duration::ZERO;

/// An entry of an open directory.
struct Entry {
    number: u64,
    kind: FileType,
    name: std::ffi::OsString,
}

#[derive(Default)]
struct Handles {
    /// What is open, with its inode number.
    files: HashMap<u64, (u64, Arc<File>)>,
    /// Read when a directory is read from its beginning.
    directories: HashMap<u64, Vec<Entry>>,
}

pub(crate) struct Files {
    /// Holds what the tree's root is a path of.
    _backing: File,
    /// The device of the backing directory: numbers of another could be the same.
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

fn errno(error: rustix::io::Errno) -> Errno {
    Errno::from_i32(error.raw_os_error())
}

/// What a file is, and since when the number is its own.
struct Found {
    facts: FileAttr,
    generation: Generation,
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

    /// A file without a name is found by whoever has it open. The kernel does not say whom it asks
    /// for.
    fn nameless(&self, file: INodeNo) -> Option<Arc<File>> {
        let handles = lock(&self.handles);
        let mut open = handles.files.values();
        let (_, open) = open.find(|(number, _)| *number == file.0)?;
        Some(Arc::clone(open))
    }

    /// The file by a handle, or by any other where it has no name.
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

    /// What a path or an open file is.
    fn look(&self, path: Result<&Path, &File>) -> Result<Found, Errno> {
        let mask = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let facts = match path {
            Ok(path) => rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, mask),
            Err(file) => rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, mask),
        }
        .map_err(errno)?;
        if (facts.stx_dev_major, facts.stx_dev_minor) != self.device {
            return Err(Errno::EXDEV);
        }
        let time = |at: rustix::fs::StatxTimestamp| {
            let second = Duration::from_secs(at.tv_sec.unsigned_abs());
            let second = if at.tv_sec < 0 {
                UNIX_EPOCH - second
            } else {
                UNIX_EPOCH + second
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
        // A number that the backing file system gave to another file later is told apart by that.
        Ok(Found {
            facts,
            generation: Generation(born),
        })
    }

    /// Tells the kernel of a name.
    fn find(&self, directory: INodeNo, name: &OsStr) -> Result<Found, Errno> {
        let mut tree = lock(&self.tree);
        let path = tree.path_in(directory, name)?;
        let found = self.look(Ok(&path))?;
        tree.tell(found.facts.ino.0, directory, name);
        Ok(found)
    }

    /// The number behind a name, where there is one.
    fn number(&self, path: &Path) -> Option<u64> {
        self.look(Ok(path)).ok().map(|found| found.facts.ino.0)
    }

    /// Makes what was just created the caller's, with the mode that was asked for: the server has
    /// an owner and an umask of its own.
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
            rustix::fs::chmodat(
                CWD,
                path,
                Mode::from_raw_mode(mode & 0o7777),
                AtFlags::empty(),
            )
            .map_err(errno)?;
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
        // Who has it made before decides: what is there already is opened where that was not
        // excluded.
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

    fn set(
        &self,
        file: INodeNo,
        handle: Option<FileHandle>,
        wish: &Wish,
    ) -> Result<FileAttr, Errno> {
        let open = self.open_one(file, handle);
        // An open file's own path: it may have no name any more.
        let path = match &open {
            Some(open) => PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd())),
            None => self.path(file)?,
        };
        let follow = if open.is_some() {
            AtFlags::empty()
        } else {
            AtFlags::SYMLINK_NOFOLLOW
        };
        if let Some(mode) = wish.mode {
            rustix::fs::chmodat(
                CWD,
                &path,
                Mode::from_raw_mode(mode & 0o7777),
                AtFlags::empty(),
            )
            .map_err(errno)?;
        }
        if wish.owner.is_some() || wish.group.is_some() {
            let (owner, group) = (wish.owner.map(Uid::from_raw), wish.group.map(Gid::from_raw));
            rustix::fs::chownat(CWD, &path, owner, group, follow).map_err(errno)?;
        }
        if let Some(bytes) = wish.size {
            OpenOptions::new().write(true).open(&path)?.set_len(bytes)?;
        }
        if wish.accessed.is_some() || wish.modified.is_some() {
            let times = Timestamps {
                last_access: timespec(wish.accessed),
                last_modification: timespec(wish.modified),
            };
            rustix::fs::utimensat(CWD, &path, &times, follow).map_err(errno)?;
        }
        self.facts(file, handle)
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

/// What is to be set; nothing is left alone.
#[derive(Default)]
struct Wish {
    mode: Option<u32>,
    owner: Option<u32>,
    group: Option<u32>,
    size: Option<u64>,
    accessed: Option<TimeOrNow>,
    modified: Option<TimeOrNow>,
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

fn entry(reply: ReplyEntry, found: Result<Found, Errno>) {
    match found {
        Ok(found) => reply.entry(&NO_TIME, &found.facts, found.generation),
        Err(error) => reply.error(error),
    }
}

fn attributes(reply: ReplyAttr, found: Result<FileAttr, Errno>) {
    match found {
        Ok(facts) => reply.attr(&NO_TIME, &facts),
        Err(error) => reply.error(error),
    }
}

fn empty(reply: ReplyEmpty, done: Result<(), Errno>) {
    match done {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

fn extended(reply: ReplyXattr, room: u32, value: Result<Vec<u8>, rustix::io::Errno>) {
    match value {
        Ok(value) if room == 0 => reply.size(u32::try_from(value.len()).unwrap_or(u32::MAX)),
        Ok(value) if value.len() > room as usize => reply.error(Errno::ERANGE),
        Ok(value) => reply.data(&value),
        Err(error) => reply.error(errno(error)),
    }
}

impl Filesystem for Files {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.gate.pass(RequestKind::Lookup);
        entry(reply, self.find(parent, name));
    }

    fn forget(&self, _: &Request, ino: INodeNo, nlookup: u64) {
        lock(&self.tree).forget(ino, nlookup);
    }

    fn getattr(&self, _: &Request, ino: INodeNo, fh: Option<FileHandle>, reply: ReplyAttr) {
        self.gate.pass(RequestKind::GetAttributes);
        attributes(reply, self.facts(ino, fh));
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        fh: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        self.gate.pass(RequestKind::SetAttributes);
        let wish = Wish {
            mode,
            owner: uid,
            group: gid,
            size,
            accessed: atime,
            modified: mtime,
        };
        attributes(reply, self.set(ino, fh, &wish));
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        self.gate.pass(RequestKind::ReadLink);
        match self.path(ino).and_then(|path| Ok(fs::read_link(path)?)) {
            Ok(target) => reply.data(target.as_os_str().as_bytes()),
            Err(error) => reply.error(error),
        }
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        self.gate.pass(RequestKind::MakeNode);
        let kind = rustix::fs::FileType::from_raw_mode(mode);
        let made = self.make(request, (parent, name), Some(mode), |path| {
            Ok(rustix::fs::mknodat(CWD, path, kind, Mode::RUSR, 0)?)
        });
        entry(reply, made);
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        self.gate.pass(RequestKind::MakeDirectory);
        let made = self.make(request, (parent, name), Some(mode), |path| {
            fs::create_dir(path)
        });
        entry(reply, made);
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.gate.pass(RequestKind::Unlink);
        empty(
            reply,
            self.remove(parent, name, |path| fs::remove_file(path)),
        );
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.gate.pass(RequestKind::RemoveDirectory);
        empty(
            reply,
            self.remove(parent, name, |path| fs::remove_dir(path)),
        );
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        link_name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        self.gate.pass(RequestKind::SymbolicLink);
        let made = self.make(request, (parent, link_name), None, |path| {
            std::os::unix::fs::symlink(target, path)
        });
        entry(reply, made);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        self.gate.pass(RequestKind::Rename);
        empty(
            reply,
            self.rename_to((parent, name), (newparent, newname), flags),
        );
    }

    fn link(
        &self,
        _: &Request,
        ino: INodeNo,
        newparent: INodeNo,
        newname: &OsStr,
        reply: ReplyEntry,
    ) {
        self.gate.pass(RequestKind::Link);
        if !self.options.hard_links {
            return reply.error(Errno::EPERM);
        }
        let linked = self.path(ino).and_then(|from| {
            let to = self.path_in(newparent, newname)?;
            rustix::fs::linkat(CWD, &from, CWD, &to, AtFlags::empty()).map_err(errno)?;
            self.find(newparent, newname)
        });
        entry(reply, linked);
    }

    fn open(&self, _: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        self.gate.pass(RequestKind::Open);
        match self.open_file(ino, flags.0) {
            Ok(handle) => reply.opened(handle, FopenFlags::empty()),
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.gate.pass(RequestKind::Read);
        match self.read_at(fh, offset, size) {
            Ok(bytes) => reply.data(&bytes),
            Err(error) => reply.error(error),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        self.gate.pass(RequestKind::Write);
        match self
            .file(fh)
            .and_then(|file| Ok(file.write_at(data, offset)?))
        {
            Ok(bytes) => reply.written(u32::try_from(bytes).unwrap_or(u32::MAX)),
            Err(error) => reply.error(error),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        self.gate.pass(RequestKind::Flush);
        reply.ok();
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.gate.pass(RequestKind::Release);
        lock(&self.handles).files.remove(&fh.0);
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, fh: FileHandle, datasync: bool, reply: ReplyEmpty) {
        self.gate.pass(RequestKind::Sync);
        let synced = self.file(fh).and_then(|file| {
            let synced = if datasync {
                file.sync_data()
            } else {
                file.sync_all()
            };
            Ok(synced?)
        });
        empty(reply, synced);
    }

    fn opendir(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.gate.pass(RequestKind::OpenDirectory);
        let directory = OFlags::DIRECTORY.bits() as i32;
        match self.open_file(ino, directory) {
            Ok(handle) => {
                lock(&self.handles).directories.insert(handle.0, Vec::new());
                reply.opened(handle, FopenFlags::empty());
            }
            Err(error) => reply.error(error),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        ino: INodeNo,
        fh: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        self.gate.pass(RequestKind::ReadDirectory);
        if offset == 0 {
            match self.entries(ino) {
                Ok(now) => {
                    lock(&self.handles).directories.insert(fh.0, now);
                }
                Err(error) => return reply.error(error),
            }
        }
        let handles = lock(&self.handles);
        let Some(entries) = handles.directories.get(&fh.0) else {
            return reply.error(Errno::EBADF);
        };
        for (entry, next) in entries
            .iter()
            .zip(1_u64..)
            .skip(usize::try_from(offset).unwrap_or(usize::MAX))
        {
            if reply.add(INodeNo(entry.number), next, entry.kind, &entry.name) {
                break;
            }
        }
        reply.ok();
    }

    fn releasedir(&self, _: &Request, _: INodeNo, fh: FileHandle, _: OpenFlags, reply: ReplyEmpty) {
        self.gate.pass(RequestKind::ReleaseDirectory);
        let mut handles = lock(&self.handles);
        handles.directories.remove(&fh.0);
        handles.files.remove(&fh.0);
        reply.ok();
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, fh: FileHandle, _: bool, reply: ReplyEmpty) {
        self.gate.pass(RequestKind::SyncDirectory);
        empty(
            reply,
            self.file(fh)
                .and_then(|directory| Ok(directory.sync_all()?)),
        );
    }

    fn statfs(&self, request: &Request, _: INodeNo, reply: ReplyStatfs) {
        self.gate.pass_marked(RequestKind::StatFs, request.pid());
        let facts = self
            .path(INodeNo::ROOT)
            .and_then(|path| rustix::fs::statvfs(&path).map_err(errno));
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        match facts {
            Ok(facts) => reply.statfs(
                facts.f_blocks,
                facts.f_bfree,
                facts.f_bavail,
                facts.f_files,
                facts.f_ffree,
                narrow(facts.f_bsize),
                narrow(facts.f_namemax),
                narrow(facts.f_frsize),
            ),
            Err(error) => reply.error(error),
        }
    }

    fn setxattr(
        &self,
        _: &Request,
        ino: INodeNo,
        name: &OsStr,
        value: &[u8],
        flags: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        self.gate.pass(RequestKind::Extended);
        let flags = XattrFlags::from_bits_retain(flags.unsigned_abs());
        let set = self
            .path(ino)
            .and_then(|path| rustix::fs::lsetxattr(&path, name, value, flags).map_err(errno));
        empty(reply, set);
    }

    fn getxattr(&self, _: &Request, ino: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        self.gate.pass(RequestKind::Extended);
        match self.path(ino) {
            Ok(path) => {
                let mut buffer = vec![0; 65_536];
                let value = rustix::fs::lgetxattr(&path, name, &mut buffer[..]);
                extended(reply, size, value.map(|bytes| buffer[..bytes].to_vec()));
            }
            Err(error) => reply.error(error),
        }
    }

    fn listxattr(&self, _: &Request, ino: INodeNo, size: u32, reply: ReplyXattr) {
        self.gate.pass(RequestKind::Extended);
        match self.path(ino) {
            Ok(path) => {
                let mut buffer = vec![0; 65_536];
                let names = rustix::fs::llistxattr(&path, &mut buffer[..]);
                extended(reply, size, names.map(|bytes| buffer[..bytes].to_vec()));
            }
            Err(error) => reply.error(error),
        }
    }

    fn removexattr(&self, _: &Request, ino: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.gate.pass(RequestKind::Extended);
        let removed = self
            .path(ino)
            .and_then(|path| rustix::fs::lremovexattr(&path, name).map_err(errno));
        empty(reply, removed);
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        self.gate.pass(RequestKind::Create);
        match self.create_file(request, (parent, name), mode, flags) {
            Ok((found, handle)) => {
                reply.created(
                    &NO_TIME,
                    &found.facts,
                    found.generation,
                    handle,
                    FopenFlags::empty(),
                );
            }
            Err(error) => reply.error(error),
        }
    }
}
