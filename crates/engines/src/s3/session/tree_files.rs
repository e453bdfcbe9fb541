//! The files of a tree that is copied or removed, and how many of them are done.

use engine::{Listing, NameKind};
use s3_client::xml::Listed;

use crate::system::entries::is_counted;

/// The state of a copy or a removal of a tree.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// The names that the directory must have.
    pub(super) expected: Listing,
    /// The total size in bytes that the files of a copied directory must have.
    pub(super) expected_bytes: u64,
    /// The names that were found up to now.
    pub(super) found: Listing,
    /// Whether there is a key with the directory's prefix: its mark, or that of an entry.
    pub(super) exists: bool,
    /// Whether the directory contains a name that listings do not count.
    pub(super) has_hidden: bool,
    /// The names of all files, one after the other.
    pub(super) names: Vec<u8>,
    pub(super) files: Vec<TreeFile>,
    /// The index in `files` of the file that is copied or removed.
    pub(super) at: usize,
    /// The lengths of the two directories' prefixes in the keys of the operation's parameters.
    pub(super) prefix_bytes: usize,
    pub(super) to_prefix_bytes: usize,
    /// Number of bytes in the files that were copied.
    pub(super) moved_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TreeFile {
    /// The offset of its name in `names`, and of the name's end.
    name: (usize, usize),
    pub(super) bytes: u64,
}

impl Tree {
    /// Resets the state for a new operation, but keeps allocated memory.
    pub(super) fn reset(&mut self) {
        self.names.clear();
        self.files.clear();
        (self.expected, self.expected_bytes) = (Listing::default(), 0);
        (self.found, self.exists, self.has_hidden) = (Listing::default(), false, false);
        (self.at, self.moved_bytes) = (0, 0);
    }

    /// Adds an entry of the directory; an entry that a copy leaves out only if `is_copy` is false.
    pub(super) fn add(&mut self, name: &[u8], entry: &Listed<'_>, is_copy: bool) {
        if !is_counted(name) {
            self.has_hidden = true;
            return;
        }
        // The name of a subdirectory keeps its slash, so that it is not taken for a file's name.
        let is_directory = entry.is_prefix || name.ends_with(b"/");
        if is_copy && (is_directory || name.ends_with(NameKind::Link.suffix())) {
            return;
        }
        self.found.add(name);
        let from = self.names.len();
        self.names.extend_from_slice(name);
        self.files.push(TreeFile {
            name: (from, self.names.len()),
            bytes: entry.size_bytes,
        });
    }

    pub(super) fn name_of(&self, file: TreeFile) -> &[u8] {
        &self.names[file.name.0..file.name.1]
    }
}
