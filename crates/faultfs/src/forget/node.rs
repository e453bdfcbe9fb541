//! A file, directory or symbolic link in memory.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::SystemTime;

use fuser::{FileAttr, FileType, INodeNo};

#[derive(Clone, Debug)]
pub(super) enum Content {
    File(Vec<u8>),
    Directory(BTreeMap<OsString, u64>),
    Link(Vec<u8>),
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub content: Content,
    pub mode: u16,
    pub owner: (u32, u32),
    pub links: u32,
    pub accessed: SystemTime,
    pub modified: SystemTime,
    pub changed: SystemTime,
}

impl Node {
    pub(super) fn new(content: Content, mode: u32, owner: (u32, u32)) -> Self {
        let now = SystemTime::now();
        Self {
            content,
            mode: (mode & 0o7777) as u16,
            owner,
            links: 1,
            accessed: now,
            modified: now,
            changed: now,
        }
    }

    pub(super) fn size(&self) -> u64 {
        match &self.content {
            Content::File(bytes) | Content::Link(bytes) => bytes.len() as u64,
            Content::Directory(_) => 4096,
        }
    }

    pub(super) fn kind(&self) -> FileType {
        match &self.content {
            Content::File(_) => FileType::RegularFile,
            Content::Directory(_) => FileType::Directory,
            Content::Link(_) => FileType::Symlink,
        }
    }

    pub(super) fn attributes(&self, number: u64) -> FileAttr {
        FileAttr {
            ino: INodeNo(number),
            size: self.size(),
            blocks: self.size().div_ceil(512),
            atime: self.accessed,
            mtime: self.modified,
            ctime: self.changed,
            crtime: SystemTime::UNIX_EPOCH,
            kind: self.kind(),
            perm: self.mode,
            nlink: self.links,
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }
}
