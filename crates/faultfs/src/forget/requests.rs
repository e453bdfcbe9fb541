//! The requests of the kernel.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{MutexGuard, PoisonError};
use std::time::SystemTime;

use fuser::{
    BsdFileFlags, Errno, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};

use super::Forget;
use super::bug::CRASH_NAME;
use super::model::{Model, ROOT};
use super::node::{Content, Node};
use crate::replies::{Found, NO_TIME, attributes, empty, entry};

/// Size of the file system that statfs(2) reports, in blocks of 4 KiB.
const BLOCKS: u64 = 1 << 20;

impl Forget {
    fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(
        &self,
        request: &Request,
        at: (INodeNo, &OsStr),
        content: Content,
        mode: u32,
    ) -> Result<Found, Errno> {
        let node = Node::new(content, mode, (request.uid(), request.gid()));
        let mut model = self.model();
        let number = model.make((at.0.0, at.1), node)?;
        found(&model, number)
    }
}

/// Returns the attributes of a node. A number is used once, so all nodes have one generation.
fn found(model: &Model, number: u64) -> Result<Found, Errno> {
    Ok(Found {
        facts: model.node(number)?.attributes(number),
        generation: Generation(0),
    })
}

fn time(at: TimeOrNow) -> SystemTime {
    match at {
        TimeOrNow::Now => SystemTime::now(),
        TimeOrNow::SpecificTime(at) => at,
    }
}

impl Filesystem for Forget {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let model = self.model();
        let number = model.find(parent.0, name);
        entry(reply, number.and_then(|number| found(&model, number)));
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        attributes(
            reply,
            self.model().node(ino.0).map(|node| node.attributes(ino.0)),
        );
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
        let mut model = self.model();
        let node = match model.node_mut(ino.0) {
            Ok(node) => node,
            Err(error) => return reply.error(error),
        };
        node.changed = SystemTime::now();
        node.mode = mode.map_or(node.mode, |mode| (mode & 0o7777) as u16);
        node.owner = (uid.unwrap_or(node.owner.0), gid.unwrap_or(node.owner.1));
        if let (Some(bytes), Content::File(data)) = (size, &mut node.content) {
            data.resize(usize::try_from(bytes).unwrap_or(usize::MAX), 0);
            node.modified = node.changed;
        }
        node.accessed = atime.map_or(node.accessed, time);
        node.modified = mtime.map_or(node.modified, time);
        let facts = node.attributes(ino.0);
        model.touch(ino.0);
        reply.attr(&NO_TIME, &facts);
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        match self.model().node(ino.0).map(|node| &node.content) {
            Ok(Content::Link(target)) => reply.data(target),
            Ok(_) => reply.error(Errno::EINVAL),
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
        if parent.0 == ROOT && name == CRASH_NAME {
            let mut model = self.model();
            model.crash();
            let root = model.node(ROOT).map(|root| Found {
                facts: root.attributes(u64::MAX),
                generation: Generation(0),
            });
            return entry(reply, root);
        }
        let content = Content::Directory(std::collections::BTreeMap::new());
        entry(reply, self.make(request, (parent, name), content, mode));
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(reply, self.model().remove(parent.0, name));
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(reply, self.model().remove(parent.0, name));
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
        let mut model = self.model();
        let renamed = model.rename((parent.0, name), (newparent.0, newname), may_replace);
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
        let mut model = self.model();
        let linked = model.link(ino.0, (newparent.0, newname));
        entry(reply, linked.and_then(|()| found(&model, ino.0)));
    }

    fn open(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let mut model = self.model();
        match model.node(ino.0) {
            Ok(_) => {
                *model.open.entry(ino.0).or_default() += 1;
                reply.opened(FileHandle(ino.0), FopenFlags::empty());
            }
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
        match self.model().node(ino.0).map(|node| &node.content) {
            Ok(Content::File(data)) => {
                let from = usize::try_from(offset).map_or(data.len(), |at| at.min(data.len()));
                let to = data.len().min(from + size as usize);
                reply.data(&data[from..to]);
            }
            Ok(_) => reply.error(Errno::EISDIR),
            Err(error) => reply.error(error),
        }
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
        let mut model = self.model();
        let node = match model.node_mut(ino.0) {
            Ok(node) => node,
            Err(error) => return reply.error(error),
        };
        let Content::File(bytes) = &mut node.content else {
            return reply.error(Errno::EISDIR);
        };
        let at = usize::try_from(offset).unwrap_or(usize::MAX);
        if bytes.len() < at + data.len() {
            bytes.resize(at + data.len(), 0);
        }
        bytes[at..at + data.len()].copy_from_slice(data);
        node.modified = SystemTime::now();
        node.changed = node.modified;
        reply.written(data.len() as u32);
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
        self.model().close(ino.0);
        reply.ok();
    }

    fn fsync(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.model().sync_file(ino.0);
        reply.ok();
    }

    fn readdir(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let model = self.model();
        let entries = match model.entries(ino.0) {
            Ok(entries) => entries,
            Err(error) => return reply.error(error),
        };
        // The offset of an entry is its number plus 2, so removals during a listing skip no entry.
        let mut all: Vec<(u64, &OsStr, u64)> =
            vec![(1, OsStr::new("."), ino.0), (2, OsStr::new(".."), ino.0)];
        all.extend(
            entries
                .iter()
                .map(|(name, number)| (number + 2, name.as_os_str(), *number)),
        );
        all.sort_unstable();
        for (at, name, number) in all.into_iter().filter(|(at, _, _)| *at > offset) {
            let kind = model.node(number).map_or(FileType::Directory, Node::kind);
            if reply.add(INodeNo(number), at, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.model().sync_directory();
        reply.ok();
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
        match self.make(request, (parent, name), Content::File(Vec::new()), mode) {
            Ok(Found { facts, generation }) => {
                *self.model().open.entry(facts.ino.0).or_default() += 1;
                let handle = FileHandle(facts.ino.0);
                reply.created(&NO_TIME, &facts, generation, handle, FopenFlags::empty());
            }
            Err(error) => reply.error(error),
        }
    }
}
