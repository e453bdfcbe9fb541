//! Expected results of directory listings.

use engine::{Listing, NameWriter};
use workload::names::NameKind;
use workload::{Action, Intent};

use crate::entries::{Entries, Seen};
use crate::path_builder::Naming;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Exactly(Listing),
    /// The minimum and maximum number of entries, if other operations change the directory during
    /// the listing.
    Between(u64, u64),
    /// The contents of the directory are unknown because an operation failed.
    Unknown,
}

/// The contents of a private pool's directories, tracked if the workload lists directories.
#[derive(Debug)]
pub(crate) struct Listings {
    naming: Naming,
    places: Vec<Option<Listing>>,
    name: Vec<u8>,
    /// `entries` counts the changes of each directory. `seen` contains, for each operation in
    /// flight, the counts at the start of its listing. Both lists are empty if the depth is 1.
    entries: Vec<Entries>,
    seen: Vec<Seen>,
}

impl Listings {
    /// Creates the expected contents of `places` empty directories.
    pub(crate) fn new(naming: Naming, places: u64, depth: usize) -> Self {
        let may_meet = depth > 1;
        Self {
            naming,
            places: vec![Some(Listing::default()); places as usize],
            name: Vec::with_capacity(256),
            entries: (0..if may_meet { places } else { 0 })
                .map(|_| Entries::default())
                .collect(),
            seen: vec![Seen::default(); if may_meet { depth } else { 0 }],
        }
    }

    fn change(&mut self, place: u32, kind: NameKind, number: u64, change: fn(&mut Listing, &[u8])) {
        self.name.clear();
        self.naming
            .write_name(kind, number, &mut NameWriter::new(&mut self.name));
        if let Some(listing) = &mut self.places[place as usize] {
            change(listing, &self.name);
        }
    }

    pub(crate) fn begins(&self, intent: &Intent) {
        if !self.naming.is_beside_files(intent.action.named()) {
            return;
        }
        if let Some(entries) = self.entries.get(intent.place as usize) {
            entries.begins(intent.action);
        }
    }

    pub(crate) fn listing_begins(&mut self, flight: usize, place: u32) {
        if let Some(entries) = self.entries.get(place as usize) {
            self.seen[flight] = entries.seen();
        }
    }

    /// The expected result of a listing that has just ended.
    pub(crate) fn expected(&self, flight: usize, place: u32) -> Expected {
        let Some(known) = self.places[place as usize] else {
            return Expected::Unknown;
        };
        let since = |entries: &Entries| entries.since(self.seen[flight]);
        match self.entries.get(place as usize).map(since) {
            Some((least, most)) if least < most => Expected::Between(least, most),
            _ => Expected::Exactly(known),
        }
    }

    #[inline]
    pub(crate) fn completed(&mut self, intent: &Intent, well: bool) {
        if !self.naming.is_beside_files(intent.action.named()) {
            return;
        }
        let Intent { place, number, .. } = *intent;
        if let (true, Some(entries)) = (well, self.entries.get(place as usize)) {
            entries.done(intent.action);
        }
        if !well {
            // The directory may or may not contain the name after a failed change, so its contents
            // are unknown.
            if !intent.action.reads() {
                self.places[place as usize] = None;
            }
            return;
        }
        match intent.action {
            action if action.changes_count() == Some(true) => {
                self.change(place, NameKind::File, number, Listing::add)
            }
            action if action == Action::MakeDirectory || action.makes_tree() => {
                self.change(place, action.named(), number, Listing::add);
            }
            Action::Delete
            | Action::RemoveLink
            | Action::RemoveSymbolicLink
            | Action::RemoveDirectory
            | Action::RemoveTree => {
                self.change(place, intent.action.named(), number, Listing::remove);
            }
            Action::Rename => {
                self.change(place, NameKind::File, number, Listing::remove);
                self.change(place, NameKind::File, intent.other, Listing::add);
            }
            Action::Link | Action::InstallLink => {
                self.change(place, NameKind::Link, intent.other, Listing::add);
            }
            Action::SymbolicLink => {
                self.change(place, NameKind::SymbolicLink, intent.other, Listing::add)
            }
            _ => {}
        }
    }
}
