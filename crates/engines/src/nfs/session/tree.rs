//! Copies and removals of a directory with its files. Both list the directory, and compare the
//! names before they change a file. A copy looks up each entry, for its kind and size, and then
//! copies one file after the other by READ and WRITE, or links it.

use engine::{Cause, NameKind, OperationKind};
use nfs_client::{FileAttributes, FileKind};

use super::advance::{Advanced, Context, Next};
use super::flight::{NfsFlight, Stage, TreeFile};

impl NfsFlight {
    /// The number of bytes that the operation has moved up to now.
    pub(super) fn moved(&self) -> u64 {
        match self.kind {
            OperationKind::CopyTree => self.tree.moved,
            _ => self.done,
        }
    }

    /// Adds a listed name. A copy leaves out additional hard links, which have a suffix.
    pub(super) fn add_to_tree(&mut self, name: &[u8]) {
        let copies = self.kind.makes_tree();
        if copies && name.ends_with(NameKind::Link.suffix()) {
            return;
        }
        self.entries
            .extend_from_slice(&(name.len() as u16).to_be_bytes());
        self.entries.extend_from_slice(name);
        if !copies {
            self.listing.add(name);
        }
    }

    /// Continues after a page of the listing.
    pub(super) fn tree_listed(&mut self) -> Advanced {
        self.check_number()?;
        match (self.is_listed, self.kind) {
            (false, _) => Ok(Next::Call(Stage::List)),
            (true, OperationKind::RemoveTree) => {
                self.check_names()?;
                Ok(self.remove_next())
            }
            (true, _) => self.look_at_next(),
        }
    }

    /// Continues after the attributes of an entry are known, whose handle is `file`.
    pub(super) fn tree_entry(&mut self, attributes: &FileAttributes) -> Advanced {
        if attributes.kind == FileKind::File {
            let mut listing = self.listing;
            listing.add(self.entry());
            self.listing = listing;
            self.check_number()?;
            self.tree.files.push(TreeFile {
                entry: self.entries_at,
                handle: self.file,
                bytes: attributes.size_bytes,
            });
        }
        self.skip_entry()
    }

    /// Looks at the entry behind the current one.
    pub(super) fn skip_entry(&mut self) -> Advanced {
        self.entries_at += 2 + self.entry().len();
        self.look_at_next()
    }

    fn look_at_next(&mut self) -> Advanced {
        if self.entries_at < self.entries.len() {
            return Ok(Next::Call(Stage::LookupEntry));
        }
        self.check_names()?;
        let sizes = self.tree.files.iter().map(|file| file.bytes);
        let found = sizes.fold(0, u64::saturating_add);
        let expected = self.bytes.unwrap_or(found);
        if found != expected {
            return Err(Cause::WrongSize { found, expected });
        }
        Ok(self.copy_next())
    }

    /// Fails as soon as there are more names than expected, so that a listing without an end does.
    fn check_number(&self) -> Result<(), Cause> {
        match self.listing.entries > self.expected.entries {
            true => self.check_names(),
            false => Ok(()),
        }
    }

    fn check_names(&self) -> Result<(), Cause> {
        if self.listing == self.expected {
            return Ok(());
        }
        Err(Cause::WrongFiles {
            found: self.listing.entries,
            expected: self.expected.entries,
        })
    }

    fn copy_next(&mut self) -> Next {
        let Some(file) = self.tree.files.get(self.tree.at).copied() else {
            return Next::Done;
        };
        (self.entries_at, self.file) = (file.entry, file.handle);
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
        let is_begun = self.tree.moved > 0 && self.tree.at < self.tree.files.len();
        if is_begun && context.stopping.is_wanted() {
            return Err(Cause::Stopped);
        }
        Ok(self.copy_next())
    }

    /// Continues after a file was removed.
    pub(super) fn removed(&mut self) -> Next {
        self.entries_at += 2 + self.entry().len();
        self.remove_next()
    }

    fn remove_next(&self) -> Next {
        Next::Call(match self.entries_at < self.entries.len() {
            true => Stage::Remove,
            false => Stage::RemoveDirectory,
        })
    }
}
