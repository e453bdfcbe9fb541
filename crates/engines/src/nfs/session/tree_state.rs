//! The directories and files of a tree that is copied or removed, and how many of them are done.

use engine::Listing;
use nfs_client::Handle;

/// The state of a copy or a removal of a tree.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// The names that the tree must have, and its number of levels of subdirectories.
    pub(super) expected: Listing,
    pub(super) levels: u32,
    pub(super) part: Part,
    /// The copy's directory; `None` until it exists.
    pub(super) made: Option<Handle>,
    /// The subdirectories, in the order in which they are listed.
    pub(super) directories: Vec<TreeDirectory>,
    pub(super) files: Vec<TreeFile>,
    /// The index of the subdirectory or file that is made or removed.
    pub(super) at: usize,
    /// The directory that is listed, or contains the current entry: 0 for the tree's own directory,
    /// otherwise one more than its index in `directories`.
    pub(super) directory: usize,
    /// Number of bytes in the files that were copied.
    pub(super) moved: u64,
}

/// The part of a tree that an operation lists, makes or removes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Part {
    /// The tree's own directory, which is the first to be made and the last to be removed.
    #[default]
    Own,
    Listings,
    Directories,
    Files,
}

/// A subdirectory of a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeDirectory {
    pub(super) entry: TreeEntry,
    pub(super) handle: Handle,
    /// Its copy; `None` until it exists, and for a removal.
    pub(super) made: Option<Handle>,
    pub(super) level: u32,
}

/// A file to be copied or removed.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeFile {
    pub(super) entry: TreeEntry,
    pub(super) handle: Handle,
    pub(super) bytes: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TreeEntry {
    /// The offset of its name in the flight's `entries`.
    pub(super) name: usize,
    /// The directory that contains it, as in [`Tree`].
    pub(super) directory: usize,
}

impl Tree {
    /// Prepares for a new operation, but keeps allocated memory.
    pub(super) fn reset(&mut self) {
        self.directories.clear();
        self.files.clear();
        (self.expected, self.levels) = (Listing::default(), 0);
        (self.part, self.made) = (Part::Own, None);
        (self.at, self.directory, self.moved) = (0, 0, 0);
    }

    /// The current directory; `None` for the tree's own directory.
    pub(super) fn inner(&self) -> Option<&TreeDirectory> {
        self.directories.get(self.directory.checked_sub(1)?)
    }

    /// The number of levels above the entries of the current directory.
    pub(super) fn level(&self) -> u32 {
        self.inner().map_or(0, |inner| inner.level)
    }

    /// The copy of the current directory; `None` if the operation copies no tree.
    pub(super) fn made(&self) -> Option<&Handle> {
        match self.inner() {
            Some(inner) => inner.made.as_ref(),
            None => self.made.as_ref(),
        }
    }
}
