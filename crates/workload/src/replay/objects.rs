//! The files, links and directories of a replay while its operations are determined.

use std::collections::HashMap;

use super::order::Uses;
use super::traced::{NameIndex, TracedKind, TracedName};
use crate::intent::Kept;
use crate::names::NameKind;

/// The index of an object.
pub type ObjectIndex = usize;

/// A file, symbolic link or directory of the replay.
#[derive(Clone, Debug)]
pub struct Object {
    pub kind: TracedKind,
    pub place: u32,
    pub number: u32,
    /// The number that identifies the contents.
    pub file: u32,
    pub version: u32,
    pub size_bytes: u64,
    pub exists: bool,
    pub has_extended: bool,
    /// For what existed before the trace, its index among the prepared objects, as long as its
    /// first size can still be corrected.
    pub prepared: Option<usize>,
    /// For a directory or symbolic link, the file on which operations for files are performed.
    pub stand_in: Option<ObjectIndex>,
    pub uses: Option<Box<Uses>>,
}

/// An additional hard link to a file.
#[derive(Clone, Copy, Debug)]
pub struct HardLink {
    pub place: u32,
    pub number: u32,
}

/// The number of levels of directories.
const LEVELS_MAX: usize = 66;

fn above(names: &[TracedName], name: NameIndex) -> Option<NameIndex> {
    names.get(name as usize)?.directory
}

/// What each name of the trace denotes, and the directories of the replay.
#[derive(Debug, Default)]
pub struct Objects {
    pub all: Vec<Object>,
    names: Vec<Option<ObjectIndex>>,
    links: HashMap<ObjectIndex, Vec<HardLink>>,
    places: HashMap<NameIndex, u32>,
    /// For each directory of the replay, the number of the directory that contains it.
    parents: Vec<Option<u32>>,
    pub uses_of_places: HashMap<u32, Uses>,
    is_maildir: bool,
    numbers: u32,
}

impl Objects {
    pub fn new(names: usize, is_maildir: bool) -> Self {
        Self {
            names: vec![None; names],
            is_maildir,
            ..Self::default()
        }
    }

    /// The number of directories for files; at least 1.
    pub fn places(&self) -> u32 {
        (self.places.len() as u32).max(1)
    }

    /// The highest number in a name.
    pub fn numbers(&self) -> u32 {
        self.numbers
    }

    pub fn next_number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    /// The number of the directory of the replay for a directory of the trace. A directory has a
    /// higher number than the one that contains it.
    pub fn place(&mut self, names: &[TracedName], directory: NameIndex) -> u32 {
        let mut chain = vec![self.unfolded(names, directory)];
        while let Some(last) = chain.last().copied() {
            if let Some(place) = self.places.get(&last).copied() {
                chain.pop();
                return self.add_places(chain, Some(place));
            }
            match above(names, last) {
                Some(above) if chain.len() <= LEVELS_MAX => {
                    chain.push(self.unfolded(names, above));
                }
                _ => break,
            }
        }
        self.add_places(chain, None)
    }

    /// Adds directories below each other; the last one is the highest. Returns the lowest one.
    fn add_places(&mut self, chain: Vec<NameIndex>, mut parent: Option<u32>) -> u32 {
        for directory in chain.into_iter().rev() {
            let next = self.parents.len() as u32;
            let place = *self.places.entry(directory).or_insert(next);
            if place == next {
                self.parents.push(parent);
            }
            parent = Some(place);
        }
        parent.unwrap_or(0)
    }

    /// In a maildir, `new` and `tmp` are parts of the directory above.
    fn unfolded(&self, names: &[TracedName], directory: NameIndex) -> NameIndex {
        let name = names.get(directory as usize).copied().unwrap_or_default();
        match name.directory {
            Some(above) if self.is_maildir && name.is_mail_part => above,
            _ => directory,
        }
    }

    /// For each directory, the number of the directory that contains it.
    pub fn take_parents(&mut self) -> Vec<Option<u32>> {
        std::mem::take(&mut self.parents)
    }

    /// The number of the directory of the replay that contains a name.
    pub fn place_of(&mut self, names: &[TracedName], name: NameIndex) -> u32 {
        let directory = names.get(name as usize).and_then(|name| name.directory);
        self.place(names, directory.unwrap_or(name))
    }

    /// The object that a name denotes; `None` if the replay does not know one.
    pub fn get(&self, name: NameIndex) -> Option<ObjectIndex> {
        self.names.get(name as usize).copied().flatten()
    }

    pub fn bind(&mut self, name: NameIndex, object: Option<ObjectIndex>) {
        if let Some(bound) = self.names.get_mut(name as usize) {
            *bound = object;
        }
    }

    /// Adds an object with a new number.
    pub fn add(&mut self, kind: TracedKind, place: u32, size_bytes: u64) -> ObjectIndex {
        let number = self.next_number();
        self.all.push(Object {
            kind,
            place,
            number,
            file: number,
            version: 0,
            size_bytes,
            exists: true,
            has_extended: false,
            prepared: None,
            stand_in: None,
            uses: None,
        });
        self.all.len() - 1
    }

    /// Adds an additional hard link of an object.
    pub fn add_link(&mut self, object: ObjectIndex, place: u32, number: u32) {
        self.links
            .entry(object)
            .or_default()
            .push(HardLink { place, number });
    }

    /// Removes an additional hard link of an object and returns it: the last one in the directory
    /// `place`; without one there, the last one anywhere.
    pub fn remove_link(&mut self, object: ObjectIndex, place: u32) -> Option<HardLink> {
        let links = self.links.get_mut(&object)?;
        let last = links.len().checked_sub(1)?;
        let found = links.iter().rposition(|link| link.place == place);
        Some(links.remove(found.unwrap_or(last)))
    }

    /// Returns the objects that exist.
    pub fn remaining(&self) -> Vec<Kept> {
        let mut remaining = Vec::new();
        let existing = self.all.iter().enumerate().filter(|(_, one)| one.exists);
        for (index, one) in existing {
            let kept = |kind, number: u32, file: u32| Kept {
                kind,
                place: one.place,
                number: number.into(),
                size_bytes: 0,
                file: file.into(),
                version: 0,
            };
            remaining.push(match one.kind {
                TracedKind::File => Kept {
                    size_bytes: one.size_bytes,
                    version: one.version,
                    ..kept(NameKind::File, one.number, one.file)
                },
                // The target of a symbolic link has the number of the link.
                TracedKind::SymbolicLink => kept(NameKind::SymbolicLink, one.number, one.number),
                TracedKind::Directory => kept(NameKind::Directory, one.number, 0),
            });
            for link in self.links.get(&index).into_iter().flatten() {
                remaining.push(Kept {
                    place: link.place,
                    ..kept(NameKind::Link, link.number, one.number)
                });
            }
        }
        remaining
    }
}
