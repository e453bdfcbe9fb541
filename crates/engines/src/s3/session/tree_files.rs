//! The files of a tree that is copied or removed, and how many of them are done.

use engine::{Listing, NameKind};
use s3_client::xml::Listed;

use crate::system::entries::is_counted;

/// The state of a copy or a removal of a tree.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// The names that the tree must have, and its number of levels of subdirectories.
    pub(super) expected: Listing,
    pub(super) levels: u32,
    /// The total size in bytes that the files of a copied directory must have.
    pub(super) expected_bytes: u64,
    /// The names that were found up to now.
    pub(super) found: Listing,
    /// Whether there is a key with the directory's prefix: its mark, or that of an entry.
    pub(super) exists: bool,
    /// Whether the directory contains a name that listings do not count.
    pub(super) has_hidden: bool,
    /// The paths of all files and of the marks of subdirectories, one after the other.
    pub(super) names: Vec<u8>,
    /// The files and marks, in the order in which they are copied or removed.
    pub(super) files: Vec<TreeKey>,
    /// The marks of subdirectories, until they are ordered.
    marks: Vec<TreeKey>,
    /// The index in `files` of the file that is copied or removed.
    pub(super) at: usize,
    /// The lengths of the two directories' prefixes in the keys of the operation's parameters.
    pub(super) prefix_bytes: usize,
    pub(super) to_prefix_bytes: usize,
    /// Number of bytes in the files that were copied.
    pub(super) moved_bytes: u64,
}

/// A file, or the mark of a subdirectory.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeKey {
    /// The offset of its path in `names`, and of the path's end.
    name: (usize, usize),
    pub(super) bytes: u64,
}

impl Tree {
    /// Resets the state for a new operation, but keeps allocated memory.
    pub(super) fn reset(&mut self) {
        self.names.clear();
        self.files.clear();
        self.marks.clear();
        (self.expected, self.levels, self.expected_bytes) = (Listing::default(), 0, 0);
        (self.found, self.exists, self.has_hidden) = (Listing::default(), false, false);
        (self.at, self.moved_bytes) = (0, 0);
    }

    /// Adds an entry of the tree with its path; an entry that a copy leaves out only if `is_copy`
    /// is false.
    pub(super) fn add(&mut self, path: &[u8], entry: &Listed<'_>, is_copy: bool) {
        let plain = path.strip_suffix(b"/");
        let is_directory = entry.is_prefix || plain.is_some();
        let names = || plain.unwrap_or(path).split(|byte| *byte == b'/');
        if !names().all(is_counted) {
            self.has_hidden = true;
            return;
        }
        let level = names().count() as u32 - 1;
        let is_too_deep = match is_directory {
            true => level >= self.levels,
            false => level > self.levels,
        };
        let is_of_pool = names().all(|name| NameKind::of_name(name) == NameKind::File);
        if is_copy && (is_too_deep || !is_of_pool) {
            return;
        }
        // No expected name contains a slash, so an entry on a wrong level is another name.
        let name = names().next_back().unwrap_or(path);
        self.found.add(if is_too_deep { path } else { name });
        let from = self.names.len();
        self.names.extend_from_slice(path);
        let file = TreeKey {
            name: (from, self.names.len()),
            bytes: entry.size_bytes,
        };
        match is_directory {
            true => self.marks.push(file),
            false => self.files.push(file),
        }
    }

    /// Orders the entries: a copy makes a directory before its entries, and a removal removes it
    /// after them.
    pub(super) fn order(&mut self, is_copy: bool) {
        if is_copy {
            self.marks.append(&mut self.files);
            std::mem::swap(&mut self.marks, &mut self.files);
        } else {
            self.files.extend(self.marks.drain(..).rev());
        }
    }

    pub(super) fn name_of(&self, file: TreeKey) -> &[u8] {
        &self.names[file.name.0..file.name.1]
    }
}
