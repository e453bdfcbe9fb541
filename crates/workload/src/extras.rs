//! What a mix makes beside files: second names, symbolic links, directories. The oldest goes first.

use std::collections::VecDeque;

use crate::intent::{Action, Intent, Kept};
use crate::names::NameKind;

/// Things of one kind that lie in a pool.
#[derive(Clone, Debug)]
pub struct Ring {
    kind: NameKind,
    things: VecDeque<Thing>,
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

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.things.len() as u64
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.things.is_empty()
    }

    /// A new one.
    pub fn push(&mut self, thing: Thing) {
        self.things.push_back(thing);
    }

    /// Takes the oldest one out.
    pub fn pop(&mut self) -> Option<Thing> {
        self.things.pop_front()
    }

    /// One of them, the oldest being 0.
    pub fn get(&self, index: u64) -> Option<Thing> {
        self.things.get(index as usize).copied()
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

    /// The removal of one.
    pub fn removal(&self, thing: Thing) -> Intent {
        removal(self.kind, thing)
    }
}

/// The removal of a thing of a kind.
pub fn removal(kind: NameKind, thing: Thing) -> Intent {
    Intent {
        action: match kind {
            NameKind::Link => Action::RemoveLink,
            NameKind::SymbolicLink => Action::RemoveSymbolicLink,
            NameKind::Directory => Action::RemoveDirectory,
            NameKind::File | NameKind::Temporary => Action::Delete,
        },
        place: thing.place,
        number: thing.number,
        other: thing.of,
        ..Intent::NOTHING
    }
}
