//! The requests of the kernel.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::SystemTime;

use fuser::{
    BsdFileFlags, Errno, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, LockOwner,
    OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};

use super::model::Model;
use super::moment::Moment;
use super::mounted::Forget;
use super::node::{Content, Node};
use crate::replies::{Found, NO_TIME, attributes, empty, entry};

/// Size of the file system that statfs(2) reports, in blocks of 4 KiB.
const BLOCKS: u64 = 1 << 20;

impl Forget {
    /// Performs a request, unless the file system has crashed.
    fn with<T>(&self, act: impl FnOnce(&mut Model) -> Result<T, Errno>) -> Result<T, Errno> {
        act(&mut self.shared.serve()?.0)
    }

    fn make(
        &self,
        request: &Request,
        at: (INodeNo, &OsStr),
        content: Content,
        mode: u32,
    ) -> Result<Found, Errno> {
        let node = Node::new(content, mode, (request.uid(), request.gid()));
        self.with(|model| {
            let number = model.make((at.0.0, at.1), node)?;
            found(model, number)
        })
    }
}

/// Returns the attributes of a node. A number is used once, so all nodes have one generation.
fn found(model: &Model, number: u64) -> Result<Found, Errno> {
    Ok(Found {
        facts: model.node(number)?.attributes(number),
        generation: Generation(0),
    })
}

/// Changes the size of a file. The limit is that of the file system, whose files are in memory.
fn resize(data: &mut Vec<u8>, bytes: u64) -> Result<(), Errno> {
    if bytes > BLOCKS * 4096 {
        return Err(Errno::EFBIG);
    }
    data.resize(bytes as usize, 0);
    Ok(())
}

fn data(reply: ReplyData, read: Result<Vec<u8>, Errno>) {
    match read {
        Ok(bytes) => reply.data(&bytes),
        Err(error) => reply.error(error),
    }
}

fn time(at: TimeOrNow) -> SystemTime {
    match at {
        TimeOrNow::Now => SystemTime::now(),
        TimeOrNow::SpecificTime(at) => at,
    }
}

impl Filesystem for Forget {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let at = (parent.0, name);
        let found = self.with(|model| found(model, model.find(at.0, at.1)?));
        entry(reply, found);
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let facts = self.with(|model| Ok(model.node(ino.0)?.attributes(ino.0)));
        attributes(reply, facts);
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
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let facts = self.with(|model| {
            let node = model.node_mut(ino.0)?;
            node.changed = SystemTime::now();
            node.mode = mode.map_or(node.mode, |mode| (mode & 0o7777) as u16);
            node.owner = (uid.unwrap_or(node.owner.0), gid.unwrap_or(node.owner.1));
            if let (Some(bytes), Content::File(data)) = (size, &mut node.content) {
                resize(data, bytes)?;
                node.modified = node.changed;
            }
            node.accessed = atime.map_or(node.accessed, time);
            node.modified = mtime.map_or(node.modified, time);
            let facts = node.attributes(ino.0);
            model.touch(ino.0);
            Ok(facts)
        });
        attributes(reply, facts);
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        let target = self.with(|model| match &model.node(ino.0)?.content {
            Content::Link(target) => Ok(target.clone()),
            _ => Err(Errno::EINVAL),
        });
        data(reply, target);
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
        let made = self.make(request, (parent, name), Content::File(Vec::new()), mode);
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
        let content = Content::Directory(std::collections::BTreeMap::new());
        entry(reply, self.make(request, (parent, name), content, mode));
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(reply, self.with(|model| model.remove(parent.0, name)));
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(reply, self.with(|model| model.remove(parent.0, name)));
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        link_name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let content = Content::Link(target.as_os_str().as_bytes().to_owned());
        entry(
            reply,
            self.make(request, (parent, link_name), content, 0o777),
        );
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
        if flags.contains(RenameFlags::RENAME_EXCHANGE) {
            return reply.error(Errno::EINVAL);
        }
        let may_replace = !flags.contains(RenameFlags::RENAME_NOREPLACE);
        let renamed = self.shared.at(Moment::Rename, |model| {
            model.rename((parent.0, name), (newparent.0, newname), may_replace)
        });
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
        let linked = self.with(|model| {
            model.link(ino.0, (newparent.0, newname))?;
            found(model, ino.0)
        });
        entry(reply, linked);
    }

    fn open(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.with(|model| model.open(ino.0)) {
            Ok(()) => reply.opened(FileHandle(ino.0), FopenFlags::empty()),
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let read = self.with(|model| match &model.node(ino.0)?.content {
            Content::File(data) => {
                let from = usize::try_from(offset).map_or(data.len(), |at| at.min(data.len()));
                let to = data.len().min(from + size as usize);
                Ok(data[from..to].to_vec())
            }
            _ => Err(Errno::EISDIR),
        });
        data(reply, read);
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let written = self.with(|model| {
            let node = model.node_mut(ino.0)?;
            let Content::File(bytes) = &mut node.content else {
                return Err(Errno::EISDIR);
            };
            let end = offset.saturating_add(data.len() as u64);
            if (bytes.len() as u64) < end {
                resize(bytes, end)?;
            }
            let at = offset as usize;
            bytes[at..at + data.len()].copy_from_slice(data);
            node.modified = SystemTime::now();
            node.changed = node.modified;
            Ok(data.len() as u32)
        });
        match written {
            Ok(bytes) => reply.written(bytes),
            Err(error) => reply.error(error),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn release(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        let closed = self.with(|model| {
            model.close(ino.0);
            Ok(())
        });
        empty(reply, closed);
    }

    fn fsync(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let synced = self.shared.at(Moment::Sync, |model| model.sync_file(ino.0));
        empty(reply, synced);
    }

    fn readdir(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        match self.with(|model| model.list(ino.0)) {
            Ok(all) => {
                for (at, name, number, kind) in all.iter().filter(|(at, ..)| *at > offset) {
                    if reply.add(INodeNo(*number), *at, *kind, name) {
                        break;
                    }
                }
                reply.ok();
            }
            Err(error) => reply.error(error),
        }
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let synced = self.shared.at(Moment::DirectorySync, Model::sync_directory);
        empty(reply, synced);
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(BLOCKS, BLOCKS, BLOCKS, BLOCKS, BLOCKS, 4096, 255, 4096);
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        let made = self.make(request, (parent, name), Content::File(Vec::new()), mode);
        let opened = made.and_then(|made| {
            self.with(|model| model.open(made.facts.ino.0))?;
            Ok(made)
        });
        match opened {
            Ok(Found { facts, generation }) => {
                let handle = FileHandle(facts.ino.0);
                reply.created(&NO_TIME, &facts, generation, handle, FopenFlags::empty());
            }
            Err(error) => reply.error(error),
        }
    }
}
