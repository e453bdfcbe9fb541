//! Processes the pages of a listing.

use engine::{Cause, OperationKind};
use nfs_client::{NoEnd, results, xdr::Reader};

use super::advance::{Advanced, Next, garbled};
use super::flight::{NfsFlight, Stage};
use crate::system::entries::is_counted;

/// Maximum memory for the names of a listing when all names are kept. The listing fails beyond this
/// limit.
const NAMES_BYTES_MAX: usize = 512 << 20;
/// The memory that a kept name uses in addition to its length.
const NAME_KEPT_BYTES: usize = size_of::<Vec<u8>>() + 16;

impl NfsFlight {
    pub(super) fn listed(&mut self, reader: Reader<'_>) -> Advanced {
        let is_plus = self.kind == OperationKind::ListWithStat;
        let mut page = results::Page::read(reader, is_plus).map_err(garbled)?;
        let (mut last, mut entries) = (0, 0);
        let is_of_tree = self.kind.is_on_tree();
        if !is_of_tree {
            self.entries.clear();
            self.entries_at = 0;
        }
        while let Some(entry) = page.next_entry().map_err(garbled)? {
            (last, entries) = (entry.cookie, entries + 1);
            if let (Some(names), false) = (&mut self.names, matches!(entry.name, b"." | b"..")) {
                names.push(entry.name.to_owned());
                self.names_bytes += entry.name.len() + NAME_KEPT_BYTES;
            }
            if !is_counted(entry.name) {
                continue;
            }
            if is_of_tree {
                self.add_to_tree(entry.name);
            } else if is_plus && entry.attributes.is_none() {
                self.entries
                    .extend_from_slice(&(entry.name.len() as u16).to_be_bytes());
                self.entries.extend_from_slice(entry.name);
            } else {
                self.listing.add(entry.name);
            }
        }
        self.is_listed = page.is_end().map_err(garbled)?;
        if self.names_bytes.max(self.entries.len()) > NAMES_BYTES_MAX {
            return Err(Cause::System(NoEnd::TOO_LONG));
        }
        if !self.is_listed {
            let goes_on = self.listed.go_on(entries, last, page.verifier);
            goes_on.map_err(|no_end| match no_end {
                NoEnd::Circle => Cause::Garbled,
                NoEnd::TooLong => Cause::System(NoEnd::TOO_LONG),
            })?;
        }
        match is_of_tree {
            true => self.tree_listed(),
            false => Ok(self.look_at_entries()),
        }
    }

    /// Counts an entry that was looked up because the page contained no attributes of the entry.
    pub(super) fn found_entry(&mut self) -> Next {
        let mut listing = self.listing;
        listing.add(self.entry());
        self.listing = listing;
        self.next_entry()
    }

    /// Continues with the next entry. The current entry was looked up, or another client removed
    /// it.
    pub(super) fn next_entry(&mut self) -> Next {
        self.entries_at += 2 + self.entry().len();
        self.look_at_entries()
    }

    fn look_at_entries(&self) -> Next {
        if self.entries_at < self.entries.len() {
            return Next::Call(Stage::LookupEntry);
        }
        match self.is_listed {
            true => Next::Done,
            false => Next::Call(Stage::List),
        }
    }
}
