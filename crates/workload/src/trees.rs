//! The trees in the pool of a mix: copies of the pool's directories with their subdirectories and
//! files. Each directory that may be copied has a summary of its files, from which a copy takes the
//! expected names and sizes.

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

/// A copy of a directory. The copy is in the directory that was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tree {
    /// The first of the directories with files that were copied.
    place: u32,
    number: u64,
    files: Summary,
}

/// The trees of a pool, and the summaries of its directories.
#[derive(Clone, Debug)]
pub(crate) struct Trees {
    /// Whether trees are directories without subdirectories, which are entries of the directories
    /// with files.
    are_beside_files: bool,
    /// The number of directories with files in a tree.
    places_each: u32,
    /// The summary of each directory that may be copied. Its number is that of its first directory
    /// with files, divided by `places_each`.
    roots: Vec<Summary>,
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
        let places = mix.layout.places() as usize * mix.location_weights.len();
        let places_each = mix.layout.places_of_tree(mix.tree_levels);
        actions.any(Action::is_on_tree).then(|| Self {
            are_beside_files: mix.tree_levels == 0,
            places_each,
            roots: vec![Summary::default(); places / places_each as usize],
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
        let root = self.root(file.place);
        let summary = &mut self.roots[root];
        summary.names.add(&self.name);
        summary.bytes += file.size_bytes;
    }

    pub(crate) fn remove(&mut self, file: File) {
        self.write_name(file);
        let root = self.root(file.place);
        let summary = &mut self.roots[root];
        summary.names.remove(&self.name);
        summary.bytes -= file.size_bytes;
    }

    pub(crate) fn len(&self) -> u64 {
        self.trees.len() as u64
    }

    /// The number of directories that may be copied.
    pub(crate) fn roots(&self) -> u64 {
        self.roots.len() as u64
    }

    /// The number of the directory that is copied if a file in `place` is.
    fn root(&self, place: u32) -> usize {
        (place / self.places_each) as usize
    }

    /// The first directory with files in the directory with number `root`.
    pub(crate) fn first_place(&self, root: usize) -> u32 {
        root as u32 * self.places_each
    }

    pub(crate) fn are_beside_files(&self) -> bool {
        self.are_beside_files
    }

    /// Whether a copy of the files in `place`, and of the files that are copied with them, would
    /// exceed the limit of files, so that a tree must be removed first.
    pub(crate) fn is_full(&self, place: u32) -> bool {
        let more = self.roots[self.root(place)].names.entries;
        !self.trees.is_empty() && self.files + more > self.files_max
    }

    /// Returns the intent that copies the files in `place`, and the files that are copied with
    /// them, by `action`. Adds the copy.
    pub(crate) fn copy(&mut self, action: Action, place: u32, number: u64, pause: Pause) -> Intent {
        let root = self.root(place);
        let mut files = self.roots[root];
        let place = self.first_place(root);
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
