//! What a mix makes beside files: second names, symbolic links, directories. The oldest goes first.

use std::collections::VecDeque;

use crate::intent::{Action, Intent, Kept};
use crate::names::NameKind;

/// Things of one kind that lie in a pool.
#[derive(Clone, Debug)]
pub struct Ring {
    kind: NameKind,
    /// The oldest first.
    pub(crate) things: VecDeque<Thing>,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thing {
    /// Where it lies.
    pub place: u32,
    /// The running number in its name.
    pub number: u64,
    /// The number in the name of the file that it is a link to; 0 for a directory.
    pub of: u64,
}

impl Ring {
    /// Nothing yet.
    pub fn new(kind: NameKind) -> Self {
        Self {
            kind,
            things: VecDeque::new(),
        }
    }

    /// All of them, the oldest first.
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

    /// Takes the oldest one out; gives its removal.
    pub fn remove_oldest(&mut self) -> Option<Intent> {
        Some(removal(self.kind, self.things.pop_front()?))
    }
}

impl Thing {
    /// What is done to it.
    pub(crate) fn intent(self, action: Action) -> Intent {
        Intent {
            action,
            place: self.place,
            number: self.number,
            other: self.of,
            ..Intent::NOTHING
        }
    }
}

/// The removal of a thing of a kind.
pub fn removal(kind: NameKind, thing: Thing) -> Intent {
    thing.intent(match kind {
        NameKind::Link => Action::RemoveLink,
        NameKind::SymbolicLink => Action::RemoveSymbolicLink,
        NameKind::Directory => Action::RemoveDirectory,
        NameKind::File | NameKind::Temporary => Action::Delete,
    })
}
