//! Visits every name of a tree once.
//!
//! The directories from the root to the current one are open, and each is read while its
//! subdirectories are visited. Memory therefore depends on the depth of a tree, and not on the
//! number of names.

use std::collections::HashSet;
use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Dir, FileType, Statx};
use rustix::io::Errno;

use super::counts::{Counts, Found, Skipped};
use super::open::{self, Identity};

/// The number of levels of directories that are visited. Each level has an open file, and the usual
/// limit of a process is 1,024.
const LEVELS_MAX: usize = 512;

pub(super) struct Walk<'a> {
    crosses_mounts: bool,
    /// The directories from the root to the current one.
    open: Vec<Level>,
    /// The path of the current directory from the root, with a slash behind each name.
    path: Vec<u8>,
    /// The roots of the tree and of the mounts in it that were visited.
    roots: HashSet<(u32, u32, u64)>,
    counts: &'a mut Counts,
}

/// A directory that is being read.
struct Level {
    directory: Dir,
    identity: Identity,
    files: u64,
    /// The length of the path of the directory that contains this one.
    parent_length: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        root: &OwnedFd,
        crosses_mounts: bool,
        counts: &'a mut Counts,
    ) -> Result<Self, Errno> {
        let identity = Identity::of(&open::facts_of(root)?);
        let root = Level {
            directory: Dir::new(open::directory(root, c".")?)?,
            identity,
            files: 0,
            parent_length: 0,
        };
        Ok(Self {
            crosses_mounts,
            open: vec![root],
            path: Vec::new(),
            roots: HashSet::from([identity.inode]),
            counts,
        })
    }

    /// Visits all names.
    pub(super) fn all(&mut self) {
        while let Some(level) = self.open.last_mut() {
            match level.directory.read() {
                Some(Ok(entry)) => {
                    let name = entry.file_name();
                    if ![c".", c".."].contains(&name) {
                        self.entry(name);
                    }
                }
                Some(Err(errno)) => {
                    self.counts
                        .skip(Skipped::Unreadable, &self.path, Some(errno));
                    self.leave();
                }
                None => self.leave(),
            }
        }
    }

    fn leave(&mut self) {
        if let Some(level) = self.open.pop() {
            self.counts.directory(level.files);
            self.path.truncate(level.parent_length);
        }
    }

    fn entry(&mut self, name: &CStr) {
        let depth = self.open.len() as u64 - 1;
        let Some(level) = self.open.last_mut() else {
            return;
        };
        let parent = match level.directory.fd() {
            Ok(parent) => parent,
            Err(errno) => return self.skip(Skipped::Unexamined, name, errno),
        };
        let facts = match open::facts(parent, name) {
            Ok(facts) => facts,
            // Another process has removed the name.
            Err(Errno::NOENT) => return self.skip(Skipped::Vanished, name, Errno::NOENT),
            Err(errno) => return self.skip(Skipped::Unexamined, name, errno),
        };
        match FileType::from_raw_mode(facts.stx_mode.into()) {
            FileType::RegularFile => {
                level.files += 1;
                self.counts.file(&Found {
                    directory: &self.path,
                    name: name.to_bytes(),
                    depth,
                    facts: &facts,
                });
            }
            FileType::Directory => self.directory(name, &facts),
            FileType::Symlink => self.counts.symlink(),
            _ => self
                .counts
                .skip(Skipped::Special, &self.path_of(name), None),
        }
    }

    /// Starts to read a directory, unless it does not belong to the tree.
    fn directory(&mut self, name: &CStr, facts: &Statx) {
        let identity = Identity::of(facts);
        let is_same_mount = |level: &Level| level.identity.is_on_mount_of(&identity);
        let is_mounted = !self.open.last().is_some_and(is_same_mount);
        let path = self.path_of(name);
        if is_mounted && !self.crosses_mounts {
            return self.counts.skip(Skipped::Mount, &path, None);
        }
        let is_above = |level: &Level| level.identity.inode == identity.inode;
        let is_known = self.open.iter().any(is_above)
            || self.crosses_mounts && self.roots.contains(&identity.inode);
        if is_known {
            return self.counts.skip(Skipped::Loop, &path, None);
        }
        if self.open.len() >= LEVELS_MAX {
            return self.counts.skip(Skipped::TooDeep, &path, None);
        }
        if is_mounted {
            self.roots.insert(identity.inode);
        }
        let parent = self.open.last().map(|level| level.directory.fd());
        let opened = parent.unwrap_or(Err(Errno::BADF)).and_then(|parent| {
            let opened = open::directory(parent.as_fd(), name)?;
            Dir::new(opened)
        });
        match opened {
            Ok(directory) => {
                let parent_length = self.path.len();
                self.path = path;
                self.path.push(b'/');
                self.open.push(Level {
                    directory,
                    identity,
                    files: 0,
                    parent_length,
                });
            }
            Err(Errno::NOENT) => self.counts.skip(Skipped::Vanished, &path, None),
            Err(errno) => self.counts.skip(Skipped::Unreadable, &path, Some(errno)),
        }
    }

    fn skip(&mut self, why: Skipped, name: &CStr, errno: Errno) {
        let path = self.path_of(name);
        self.counts.skip(why, &path, Some(errno));
    }

    fn path_of(&self, name: &CStr) -> Vec<u8> {
        [&self.path, name.to_bytes()].concat()
    }
}
