//! The requests of the kernel and their replies.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::SystemTime;

use fuser::{
    BsdFileFlags, Errno, FileHandle, Filesystem, FopenFlags, INodeNo, LockOwner, OpenFlags,
    RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry,
    ReplyOpen, ReplyStatfs, ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::{AtFlags, CWD, Gid, Mode, OFlags, Timestamps, Uid, XattrFlags};

use super::{Files, errno, lock, set_mode, timespec};
use crate::options::RequestKind;
use crate::replies::{Found, NO_TIME, attributes, empty, entry};

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
        let set = self.path_to_set(ino, fh).and_then(|(path, follow)| {
            if let Some(mode) = mode {
                set_mode(&path, mode)?;
            }
            if uid.is_some() || gid.is_some() {
                let (owner, group) = (uid.map(Uid::from_raw), gid.map(Gid::from_raw));
                rustix::fs::chownat(CWD, &path, owner, group, follow).map_err(errno)?;
            }
            if let Some(bytes) = size {
                OpenOptions::new().write(true).open(&path)?.set_len(bytes)?;
            }
            if atime.is_some() || mtime.is_some() {
                let times = Timestamps {
                    last_access: timespec(atime),
                    last_modification: timespec(mtime),
                };
                rustix::fs::utimensat(CWD, &path, &times, follow).map_err(errno)?;
            }
            self.facts(ino, fh)
        });
        attributes(reply, set);
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        self.gate.pass(RequestKind::ReadLink);
        let target = self.path(ino).and_then(|path| Ok(fs::read_link(path)?));
        answer!(reply, target, target => reply.data(target.as_os_str().as_bytes()));
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
        let removed = self.remove(parent, name, |path| fs::remove_file(path));
        empty(reply, removed);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.gate.pass(RequestKind::RemoveDirectory);
        let removed = self.remove(parent, name, |path| fs::remove_dir(path));
        empty(reply, removed);
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
        let renamed = self.rename_to((parent, name), (newparent, newname), flags);
        empty(reply, renamed);
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
        let opened = self.open_file(ino, flags.0);
        answer!(reply, opened, handle => reply.opened(handle, FopenFlags::empty()));
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
        answer!(reply, self.read_at(fh, offset, size), bytes => reply.data(&bytes));
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
        let written = self
            .file(fh)
            .and_then(|file| Ok(file.write_at(data, offset)?));
        let narrow = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        answer!(reply, written, bytes => reply.written(narrow(bytes)));
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
        let synced = self.file(fh).and_then(|file| match datasync {
            true => Ok(file.sync_data()?),
            false => Ok(file.sync_all()?),
        });
        empty(reply, synced);
    }

    fn opendir(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.gate.pass(RequestKind::OpenDirectory);
        let directory = OFlags::DIRECTORY.bits() as i32;
        answer!(reply, self.open_file(ino, directory), handle => {
            lock(&self.handles).directories.insert(handle.0, Vec::new());
            reply.opened(handle, FopenFlags::empty());
        });
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
        let directory = self.file(fh);
        empty(
            reply,
            directory.and_then(|directory| Ok(directory.sync_all()?)),
        );
    }

    fn statfs(&self, request: &Request, _: INodeNo, reply: ReplyStatfs) {
        self.gate.pass_marked(RequestKind::StatFs, request.pid());
        let facts = self
            .path(INodeNo::ROOT)
            .and_then(|path| rustix::fs::statvfs(&path).map_err(errno));
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        answer!(reply, facts, facts => reply.statfs(
                facts.f_blocks,
                facts.f_bfree,
                facts.f_bavail,
                facts.f_files,
                facts.f_ffree,
                narrow(facts.f_bsize),
                narrow(facts.f_namemax),
                narrow(facts.f_frsize),
        ));
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
        let read = |path: &Path, to: &mut [u8]| rustix::fs::lgetxattr(path, name, to);
        self.extended(ino, size, read, reply);
    }

    fn listxattr(&self, _: &Request, ino: INodeNo, size: u32, reply: ReplyXattr) {
        let read = |path: &Path, to: &mut [u8]| rustix::fs::llistxattr(path, to);
        self.extended(ino, size, read, reply);
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
        let created = self.create_file(request, (parent, name), mode, flags);
        answer!(reply, created, (Found { facts, generation }, handle) => {
            reply.created(&NO_TIME, &facts, generation, handle, FopenFlags::empty());
        });
    }
}
