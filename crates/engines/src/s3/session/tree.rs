//! Copies and removals of a directory with its subdirectories and files. Both list all keys below
//! the directory, and compare the names before they change a file. Then a copy makes a PutObject
//! for the mark of each subdirectory and a CopyObject for each file. A removal makes a DeleteObject
//! for each file and each mark, so that each has a latency and an error of its own.

use engine::{Cause, Errno, Operation, OperationKind};
use s3_client::Garbled;

use super::advance::{Context, NAMES_BYTES_MAX, Next, each_entry};
use super::flight::{Flight, Stage};

impl Flight {
    /// Copies the parameters of an operation on a tree. The names' keys were written before.
    pub(super) fn begin_tree(&mut self, operation: &Operation<'_>) {
        let of = &mut self.parameters;
        of.key.push(b'/');
        match *operation {
            Operation::CopyTree {
                entries,
                levels,
                bytes,
                ..
            } => {
                // The prefix of the location itself is empty, or has its slash.
                if !of.to.is_empty() && !of.to.ends_with(b"/") {
                    of.to.push(b'/');
                }
                (self.tree.expected, self.tree.levels) = (entries, levels);
                self.tree.expected_bytes = bytes;
            }
            Operation::RemoveTree {
                entries, levels, ..
            } => (self.tree.expected, self.tree.levels) = (entries, levels),
            _ => {}
        }
        self.parameters.lists_below = self.tree.levels > 0;
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
        let is_copy = self.kind == OperationKind::CopyTree;
        let (prefix, body, tree) = (&self.parameters.key, &self.answer.body, &mut self.tree);
        let page = each_entry(prefix, body, &mut |name, entry| {
            // The object that marks the directory itself has an empty name.
            if !name.is_empty() {
                tree.add(name, entry, is_copy);
            }
        })?;
        tree.exists |= page.entries > 0;
        if tree.names.len() > NAMES_BYTES_MAX {
            return Err(Garbled);
        }
        let has_more = self.has_next_page(page)?;
        // A listing without an end fails as soon as it has more names than expected.
        if has_more && self.tree.found.entries <= self.tree.expected.entries {
            return Ok(Next::Request(Stage::List));
        }
        Ok(match self.check_tree() {
            Ok(()) => self.begin_files(),
            Err(cause) => Next::Failed(cause),
        })
    }

    fn check_tree(&self) -> Result<(), Cause> {
        let tree = &self.tree;
        if !tree.exists {
            return Err(Cause::System(Errno::NOENT));
        }
        if tree.found != tree.expected {
            return Err(Cause::WrongFiles {
                found: tree.found.entries,
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
        self.tree.order(self.kind == OperationKind::CopyTree);
        self.tree.prefix_bytes = self.parameters.key.len();
        self.tree.to_prefix_bytes = self.parameters.to.len();
        match self.kind {
            OperationKind::CopyTree => self.copy_next(),
            _ => self.remove_next(),
        }
    }

    fn copy_next(&mut self) -> Next {
        match self.take_file() {
            true if self.parameters.to.ends_with(b"/") => Next::Request(Stage::PutMark),
            true => Next::Request(Stage::Copy),
            false => Next::Done,
        }
    }

    fn remove_next(&mut self) -> Next {
        // Without another file, the key is the prefix, which is the key of the directory's mark.
        self.take_file();
        Next::Request(Stage::Delete)
    }

    /// Sets the keys to those of the next file. If no file is left, sets them to the keys of the
    /// two directories, and returns false.
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
        if tree.at < tree.files.len() && context.stopping.is_wanted() {
            return Next::Failed(Cause::Stopped);
        }
        self.copy_next()
    }

    /// Continues after a file or the directory's mark was removed.
    pub(super) fn tree_removed(&mut self, context: &Context<'_>) -> Next {
        if self.tree.at == self.tree.files.len() {
            return Next::Done;
        }
        self.tree.at += 1;
        if self.tree.at < self.tree.files.len() && context.stopping.is_wanted() {
            return Next::Failed(Cause::Stopped);
        }
        self.remove_next()
    }
}
