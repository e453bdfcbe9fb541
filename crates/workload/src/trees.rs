//! The trees in the pool of a mix: copies of the pool's directories with their files. Each
//! directory has a summary of its files, from which a copy takes the expected names and sizes.

use std::collections::VecDeque;

use engine::{Listing, NameWriter};

use crate::intent::{Action, Intent, Kept, Pause};
use crate::mix::Mix;
use crate::names::{NameKind, Names};
use crate::pool::File;

/// The names and the total size of the files of a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    names: Listing,
    bytes: u64,
}

/// A copy of a directory. The copy is in the same directory as the files that were copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tree {
    place: u32,
    number: u64,
    files: Summary,
}

/// The trees of a pool, and the summaries of its directories.
#[derive(Clone, Debug)]
pub(crate) struct Trees {
    /// The summary of each directory, by its number.
    places: Vec<Summary>,
    /// The trees, with the oldest first.
    trees: VecDeque<Tree>,
    /// The number of files in all trees, and the number above which operations that are drawn
    /// remove trees instead of copying more.
    files: u64,
    files_max: u64,
    names: Names,
    name: Vec<u8>,
}

impl Trees {
    /// Returns `None` if no operation of the mix copies or removes trees, so that other mixes need
    /// no summaries.
    pub(crate) fn new(mix: &Mix) -> Option<Self> {
        let mut actions = mix.weights.actions();
        actions.any(Action::is_on_tree).then(|| Self {
            places: vec![
                Summary::default();
                mix.layout.places() as usize * mix.location_weights.len()
            ],
            trees: VecDeque::new(),
            files: 0,
            files_max: mix.files,
            names: mix.names,
            name: Vec::new(),
        })
    }

    fn write_name(&mut self, file: File) {
        self.name.clear();
        let mut to = NameWriter::new(&mut self.name);
        self.names.write(NameKind::File, file.number, &mut to);
    }

    pub(crate) fn add(&mut self, file: File) {
        self.write_name(file);
        let summary = &mut self.places[file.place as usize];
        summary.names.add(&self.name);
        summary.bytes += file.size_bytes;
    }

    pub(crate) fn remove(&mut self, file: File) {
        self.write_name(file);
        let summary = &mut self.places[file.place as usize];
        summary.names.remove(&self.name);
        summary.bytes -= file.size_bytes;
    }

    pub(crate) fn len(&self) -> u64 {
        self.trees.len() as u64
    }

    /// Whether a copy of this directory would exceed the limit of files, so that a tree must be
    /// removed first.
    pub(crate) fn is_full(&self, place: u32) -> bool {
        let more = self.places[place as usize].names.entries;
        !self.trees.is_empty() && self.files + more > self.files_max
    }

    /// Returns the intent that copies a directory by `action`, and adds the copy.
    pub(crate) fn copy(&mut self, action: Action, place: u32, number: u64, pause: Pause) -> Intent {
        let mut files = self.places[place as usize];
        if !action.sets_size() {
            // Hard links have no contents of their own.
            files.bytes = 0;
        }
        self.files += files.names.entries;
        self.trees.push_back(Tree {
            place,
            number,
            files,
        });
        Intent {
            action,
            ends_transaction: true,
            place,
            number,
            bytes: files.bytes,
            other: files.names.entries,
            names_digest: files.names.digest,
            pause,
            ..Intent::NOTHING
        }
    }

    /// Removes the oldest tree, and returns the intent that removes it on the target.
    pub(crate) fn remove_oldest(&mut self) -> Option<Intent> {
        let tree = self.trees.pop_front()?;
        self.files -= tree.files.names.entries;
        Some(Intent {
            action: Action::RemoveTree,
            place: tree.place,
            number: tree.number,
            size_bytes: tree.files.bytes,
            other: tree.files.names.entries,
            names_digest: tree.files.names.digest,
            ..Intent::NOTHING
        })
    }

    /// Passes all trees to `each`, with the oldest first.
    pub(crate) fn each(&self, each: &mut dyn FnMut(Kept)) {
        for tree in &self.trees {
            each(Kept {
                kind: NameKind::Tree,
                place: tree.place,
                number: tree.number,
                size_bytes: tree.files.bytes,
                file: 0,
                version: 0,
            });
        }
    }
}
