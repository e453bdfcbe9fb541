//! Copies and removals of a directory with its subdirectories and files. Both list all directories,
//! and compare the names before they change a file. A copy looks up each entry, for its kind and
//! size, and then copies one file after the other by READ and WRITE, or links it. A removal looks
//! up only subdirectories.

use engine::{Cause, NameKind, OperationKind};
use nfs_client::{FileAttributes, FileKind, Handle, ListingProgress};

use super::advance::{Advanced, Context, Next};
use super::flight::{NfsFlight, Stage};
use super::place::Place;
use super::tree_state::{Part, TreeDirectory, TreeEntry, TreeFile};

impl NfsFlight {
    /// The number of bytes that the operation has moved up to now.
    pub(super) fn moved(&self) -> u64 {
        match self.kind {
            OperationKind::CopyTree => self.tree.moved,
            _ => self.done,
        }
    }

    /// Adds a listed name. A copy leaves out links, trees and directories that operations made,
    /// which have suffixes.
    pub(super) fn add_to_tree(&mut self, name: &[u8]) {
        if self.kind.makes_tree() && NameKind::of_name(name) != NameKind::File {
            return;
        }
        let at = self.entries.len();
        self.entries
            .extend_from_slice(&(name.len() as u16).to_be_bytes());
        self.entries.extend_from_slice(name);
        if !self.looks_up_entries() {
            self.listing.add(name);
            self.tree.files.push(TreeFile {
                entry: TreeEntry {
                    name: at,
                    directory: self.tree.directory,
                },
                handle: Handle::NONE,
                bytes: 0,
            });
        }
    }

    /// Whether each entry of the directory that is listed is looked up.
    fn looks_up_entries(&self) -> bool {
        self.kind.makes_tree() || self.tree.level() < self.tree.levels
    }

    /// Continues after a page of the listing.
    pub(super) fn tree_listed(&mut self) -> Advanced {
        self.check_number()?;
        match self.is_listed {
            false => Ok(Next::Call(Stage::List)),
            true if self.looks_up_entries() => self.look_at_next(),
            true => {
                self.entries_at = self.entries.len();
                self.list_next()
            }
        }
    }

    /// Continues after the attributes of an entry are known, whose handle is `file`.
    pub(super) fn tree_entry(&mut self, attributes: &FileAttributes) -> Advanced {
        let entry = TreeEntry {
            name: self.entries_at,
            directory: self.tree.directory,
        };
        let level = self.tree.level();
        let is_counted = match attributes.kind {
            FileKind::Directory if level < self.tree.levels => {
                self.tree.directories.push(TreeDirectory {
                    entry,
                    handle: self.file,
                    made: None,
                    level: level + 1,
                });
                true
            }
            FileKind::Directory => false,
            FileKind::SymbolicLink | FileKind::Other if self.kind.makes_tree() => false,
            FileKind::File | FileKind::SymbolicLink | FileKind::Other => {
                self.tree.files.push(TreeFile {
                    entry,
                    handle: self.file,
                    bytes: attributes.size_bytes,
                });
                true
            }
        };
        if is_counted {
            let mut listing = self.listing;
            listing.add(self.entry());
            self.listing = listing;
            self.check_number()?;
        }
        self.skip_entry()
    }

    /// Looks at the entry behind the current one.
    pub(super) fn skip_entry(&mut self) -> Advanced {
        self.entries_at += 2 + self.entry().len();
        self.look_at_next()
    }

    fn look_at_next(&mut self) -> Advanced {
        match self.entries_at < self.entries.len() {
            true => Ok(Next::Call(Stage::LookupEntry)),
            false => self.list_next(),
        }
    }

    /// Lists the next directory, or continues after all directories are listed.
    fn list_next(&mut self) -> Advanced {
        self.tree.directory += 1;
        if self.tree.inner().is_some() {
            (self.listed, self.is_listed) = (ListingProgress::default(), false);
            return Ok(Next::Call(Stage::List));
        }
        self.check_names()?;
        if self.kind == OperationKind::RemoveTree {
            self.tree.part = Part::Files;
            return Ok(self.remove_next());
        }
        let sizes = self.tree.files.iter().map(|file| file.bytes);
        let found = sizes.fold(0, u64::saturating_add);
        let expected = self.bytes.unwrap_or(found);
        if found != expected {
            return Err(Cause::WrongSize { found, expected });
        }
        self.tree.part = Part::Directories;
        Ok(self.make_next())
    }

    /// Fails as soon as there are more names than expected, so that a listing without an end does.
    fn check_number(&self) -> Result<(), Cause> {
        match self.listing.entries > self.tree.expected.entries {
            true => self.check_names(),
            false => Ok(()),
        }
    }

    fn check_names(&self) -> Result<(), Cause> {
        if self.listing == self.tree.expected {
            return Ok(());
        }
        Err(Cause::WrongFiles {
            found: self.listing.entries,
            expected: self.tree.expected.entries,
        })
    }

    /// The directory that is listed, or contains the current entry.
    pub(super) fn listed_directory(&self) -> &Handle {
        let inner = self.tree.inner();
        inner.map_or(&self.places[0].directory, |inner| &inner.handle)
    }

    fn select(&mut self, entry: TreeEntry) {
        (self.entries_at, self.tree.directory) = (entry.name, entry.directory);
    }

    /// Makes the next subdirectory, or copies the first file after the last one.
    fn make_next(&mut self) -> Next {
        if let Some(inner) = self.tree.directories.get(self.tree.at).copied() {
            self.select(inner.entry);
            return Next::Call(Stage::MakeDirectory);
        }
        (self.tree.part, self.tree.at) = (Part::Files, 0);
        self.copy_next()
    }

    /// Continues after a directory of a copy was made.
    pub(super) fn made_directory(&mut self, handle: Handle, context: &mut Context<'_>) -> Next {
        if self.tree.part == Part::Own {
            let Place { location, path, .. } = &self.places[1];
            context.directories.insert(*location, path, handle);
            (self.tree.part, self.tree.made) = (Part::Listings, Some(handle));
            return Next::Call(Stage::List);
        }
        if let Some(inner) = self.tree.directories.get_mut(self.tree.at) {
            inner.made = Some(handle);
        }
        self.tree.at += 1;
        self.make_next()
    }

    fn copy_next(&mut self) -> Next {
        let Some(file) = self.tree.files.get(self.tree.at).copied() else {
            return Next::Done;
        };
        self.select(file.entry);
        self.file = file.handle;
        (self.done, self.rewrites) = (0, 0);
        self.content.clear();
        self.call.creation_verifier = None;
        Next::Call(match (self.kind, file.bytes) {
            (OperationKind::LinkTree, _) => Stage::Link,
            (_, 0) => Stage::Create,
            _ => Stage::Read,
        })
    }

    /// The size of the file that is copied.
    pub(super) fn copied_bytes(&self) -> u64 {
        let file = self.tree.files.get(self.tree.at);
        file.map_or(0, |file| file.bytes)
    }

    /// Continues after a file was copied.
    pub(super) fn copied(&mut self, context: &Context<'_>) -> Advanced {
        self.tree.moved += self.content.len() as u64;
        self.tree.at += 1;
        if self.tree.at < self.tree.files.len() && context.stopping.is_wanted() {
            return Err(Cause::Stopped);
        }
        Ok(self.copy_next())
    }

    /// Continues after an entry of the tree was removed.
    pub(super) fn removed(&mut self, context: &Context<'_>) -> Advanced {
        if self.tree.part == Part::Files {
            self.tree.at += 1;
            if self.tree.at < self.tree.files.len() && context.stopping.is_wanted() {
                return Err(Cause::Stopped);
            }
        }
        Ok(self.remove_next())
    }

    /// Removes the next file, then the subdirectories, of which the deepest are the last ones, and
    /// then the tree's own directory.
    fn remove_next(&mut self) -> Next {
        if self.tree.part == Part::Files {
            if let Some(file) = self.tree.files.get(self.tree.at).copied() {
                self.select(file.entry);
                return Next::Call(Stage::Remove);
            }
            (self.tree.part, self.tree.at) = (Part::Directories, self.tree.directories.len());
        }
        match self.tree.at.checked_sub(1) {
            Some(at) => {
                self.tree.at = at;
                self.select(self.tree.directories[at].entry);
            }
            None => self.tree.part = Part::Own,
        }
        Next::Call(Stage::RemoveDirectory)
    }
}
