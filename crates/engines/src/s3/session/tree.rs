//! Copies and removals of a directory with its files. Both list the directory to its end, and
//! compare the names before they change a file. Then a copy makes a CopyObject for each file, and a
//! removal a DeleteObject, so that each file has a latency and an error of its own.

use engine::{Cause, Errno, Listing, NameKind, Operation, OperationKind};
use s3_client::Garbled;

use super::advance::{Context, NAMES_BYTES_MAX, Next, each_entry};
use super::flight::{Flight, Stage};
use crate::system::entries::is_counted;

/// The state of a copy or a removal of a tree.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// The names that the directory must have.
    pub(super) expected: Listing,
    /// The total size in bytes that the files of a copied directory must have.
    pub(super) expected_bytes: u64,
    /// Whether a page of the listing had the object that marks the directory.
    is_marked: bool,
    /// Whether the directory contains a name that listings do not count.
    has_hidden: bool,
    /// The names of all files, one after the other.
    names: Vec<u8>,
    files: Vec<TreeFile>,
    /// The index in `files` of the file that is copied or removed.
    at: usize,
    /// The lengths of the two directories' prefixes in the keys of the operation's parameters.
    prefix_bytes: usize,
    to_prefix_bytes: usize,
    /// Number of bytes in the files that were copied.
    pub(super) moved_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct TreeFile {
    /// The offset of its name in `names`, and of the name's end.
    name: (usize, usize),
    bytes: u64,
}

impl Tree {
    /// Resets the state for a new operation, but keeps allocated memory.
    pub(super) fn reset(&mut self) {
        self.names.clear();
        self.files.clear();
        (self.expected, self.expected_bytes) = (Listing::default(), 0);
        (self.is_marked, self.has_hidden) = (false, false);
        (self.at, self.moved_bytes) = (0, 0);
    }

    fn add(&mut self, name: &[u8], bytes: u64) {
        let from = self.names.len();
        self.names.extend_from_slice(name);
        let name = (from, self.names.len());
        self.files.push(TreeFile { name, bytes });
    }

    fn name_of(&self, file: TreeFile) -> &[u8] {
        &self.names[file.name.0..file.name.1]
    }
}

impl Flight {
    /// Copies the parameters of an operation on a tree. The names' keys were written before.
    pub(super) fn begin_tree(&mut self, operation: &Operation<'_>) {
        let of = &mut self.parameters;
        of.key.push(b'/');
        match *operation {
            Operation::CopyTree { files, bytes, .. } => {
                // The prefix of the location itself is empty, or has its slash.
                if !of.to.is_empty() && !of.to.ends_with(b"/") {
                    of.to.push(b'/');
                }
                (self.tree.expected, self.tree.expected_bytes) = (files, bytes);
            }
            Operation::RemoveTree { files, .. } => self.tree.expected = files,
            _ => {}
        }
    }

    /// Begins to list the directory that is copied, after the new directory was made.
    pub(super) fn tree_made(&mut self) -> Next {
        let of = &mut self.parameters;
        // From here on, `key` is the key that is listed or copied, and `to` is that of the copy.
        std::mem::swap(&mut of.key, &mut of.to);
        Next::Request(Stage::List)
    }

    /// Processes a page of the directory's listing.
    pub(super) fn tree_listed(&mut self) -> Result<Next, Garbled> {
        let copies = self.kind == OperationKind::CopyTree;
        let (tree, listing) = (&mut self.tree, &mut self.listing);
        let page = each_entry(
            &self.parameters.key,
            &self.answer.body,
            &mut |name, listed| {
                let is_directory = listed.is_prefix || name.ends_with(b"/");
                if name.is_empty() {
                    tree.is_marked = true;
                } else if !is_counted(name) {
                    tree.has_hidden = true;
                } else if !copies {
                    // The name of a subdirectory keeps its slash, so that it differs from the name of
                    // each file.
                    listing.add(name);
                    tree.add(name, 0);
                } else if !is_directory && !name.ends_with(NameKind::Link.suffix()) {
                    listing.add(name);
                    tree.add(name, listed.size_bytes);
                }
            },
        )?;
        if self.tree.names.len() > NAMES_BYTES_MAX {
            return Err(Garbled);
        }
        let has_more = self.has_next_page(page)?;
        // A listing without an end fails as soon as it has more names than expected.
        if has_more && self.listing.entries <= self.tree.expected.entries {
            return Ok(Next::Request(Stage::List));
        }
        Ok(match self.check_tree() {
            Ok(()) => self.begin_files(),
            Err(cause) => Next::Failed(cause),
        })
    }

    fn check_tree(&self) -> Result<(), Cause> {
        let tree = &self.tree;
        if !tree.is_marked && !tree.has_hidden && self.listing.entries == 0 {
            return Err(Cause::System(Errno::NOENT));
        }
        if self.listing != tree.expected {
            return Err(Cause::WrongFiles {
                found: self.listing.entries,
                expected: tree.expected.entries,
            });
        }
        if self.kind == OperationKind::RemoveTree {
            // The protocol would remove the mark of a directory that still contains objects.
            return match tree.has_hidden {
                true => Err(Cause::System(Errno::NOTEMPTY)),
                false => Ok(()),
            };
        }
        let sizes = tree.files.iter().map(|file| file.bytes);
        let (found, expected) = (sizes.fold(0, u64::saturating_add), tree.expected_bytes);
        match found == expected {
            true => Ok(()),
            false => Err(Cause::WrongSize { found, expected }),
        }
    }

    fn begin_files(&mut self) -> Next {
        self.tree.prefix_bytes = self.parameters.key.len();
        self.tree.to_prefix_bytes = self.parameters.to.len();
        match self.kind {
            OperationKind::CopyTree => self.copy_next(),
            _ => self.remove_next(),
        }
    }

    fn copy_next(&mut self) -> Next {
        match self.take_file() {
            true => Next::Request(Stage::Copy),
            false => Next::Done,
        }
    }

    fn remove_next(&mut self) -> Next {
        // Without another file, the key is the prefix, which is the key of the directory's mark.
        self.take_file();
        Next::Request(Stage::Delete)
    }

    /// Sets the keys to those of the next file; to those of the directories if there is no other
    /// file. Returns whether there is one.
    fn take_file(&mut self) -> bool {
        let (tree, of) = (&self.tree, &mut self.parameters);
        of.key.truncate(tree.prefix_bytes);
        of.to.truncate(tree.to_prefix_bytes);
        let Some(file) = tree.files.get(tree.at) else {
            return false;
        };
        let name = tree.name_of(*file);
        of.key.extend_from_slice(name);
        of.to.extend_from_slice(name);
        true
    }

    /// Continues after a file was copied.
    pub(super) fn tree_copied(&mut self, context: &Context<'_>) -> Next {
        let tree = &mut self.tree;
        tree.moved_bytes += tree.files.get(tree.at).map_or(0, |file| file.bytes);
        tree.at += 1;
        let is_begun = tree.moved_bytes > 0 && tree.at < tree.files.len();
        if is_begun && context.stopping.is_wanted() {
            return Next::Failed(Cause::Stopped);
        }
        self.copy_next()
    }

    /// Continues after a file or the directory's mark was removed.
    pub(super) fn tree_removed(&mut self) -> Next {
        if self.tree.at == self.tree.files.len() {
            return Next::Done;
        }
        self.tree.at += 1;
        self.remove_next()
    }
}
