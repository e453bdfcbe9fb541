//! The hard links, symbolic links and directories in the pool of a mix. For each of the three
//! kinds, the oldest object is removed first.

use std::collections::VecDeque;

use crate::intent::{Action, Intent, Kept};
use crate::names::NameKind;

/// All objects of one kind (hard links, symbolic links or directories) in a pool, with the oldest
/// first.
#[derive(Clone, Debug)]
pub struct Ring {
    kind: NameKind,
    pub(crate) things: VecDeque<Thing>,
}

/// A hard link, symbolic link or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thing {
    /// The number of the directory that contains the link or directory.
    pub place: u32,
    pub number: u64,
    /// The number in the name of the file to which the link refers; 0 for a directory.
    pub of: u64,
}

impl Ring {
    pub fn new(kind: NameKind) -> Self {
        Self {
            kind,
            things: VecDeque::new(),
        }
    }

    /// Passes all links or directories of the ring to `each`, with the oldest first.
    pub fn each(&self, each: &mut dyn FnMut(Kept)) {
        for thing in &self.things {
            each(Kept {
                kind: self.kind,
                place: thing.place,
                number: thing.number,
                size_bytes: 0,
                file: thing.of,
                version: 0,
            });
        }
    }

    /// Removes the oldest link or directory from the ring. Returns the intent that removes it on
    /// the target.
    pub fn remove_oldest(&mut self) -> Option<Intent> {
        Some(removal(self.kind, self.things.pop_front()?))
    }
}

impl Thing {
    pub fn intent(self, action: Action) -> Intent {
        Intent {
            action,
            place: self.place,
            number: self.number,
            other: self.of,
            ..Intent::NOTHING
        }
    }
}

pub fn removal(kind: NameKind, thing: Thing) -> Intent {
    thing.intent(match kind {
        NameKind::Link => Action::RemoveLink,
        NameKind::SymbolicLink => Action::RemoveSymbolicLink,
        NameKind::Directory => Action::RemoveDirectory,
        NameKind::Tree => Action::RemoveTree,
        NameKind::File | NameKind::Temporary => Action::Delete,
    })
}
