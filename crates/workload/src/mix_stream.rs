//! The stream of a mix on a private pool. The file of each drawn operation is chosen from those
//! that the pool contains when the stream reaches the operation.
//!
//! If there are several mixers (generators of random operations, one for each worker), they take
//! turns on one pool, as if the workers of a shared pool were equally fast. Such a stream serves
//! only to plan a shared pool. In a run, a worker chooses its file from those in the shared pool
//! when it performs the operation.

mod walks;

use crate::extras::{Ring, Thing};
use crate::intent::{Action, End, Intent, Kept, Pause, Phase, PoolState, Stream};
use crate::mix::Mix;
use crate::mixer::{Change, Draft, Mixer, creation, deletion};
use crate::names::NameKind;
use crate::pool::{File, Files};
use crate::popularity::PopularityRanks;
use crate::random::below;
use crate::sequence::{Sequence, Walk};
use crate::skip::SkipReason;
use crate::trees::Trees;

/// The stream of a mix on a private pool, or of several mixers that take turns on one pool.
#[derive(Clone, Debug)]
pub struct MixStream {
    mixers: Vec<Mixer>,
    ranks: PopularityRanks,
    files: Files,
    /// The hard links, symbolic links and directories that operations of the mix have created.
    rings: [Ring; 3],
    /// The trees that operations of the mix have copied; `None` if none of them does.
    trees: Option<Trees>,
    extras_max: u64,
    /// The number of entries in each directory, indexed by the directory's number; empty if entries
    /// are not limited.
    entries: Vec<u64>,
    entries_max: u64,
    initial: u64,
    sequence: Sequence,
    /// The walk of the current phase; `None` if its operations are drawn.
    walk: Option<Walk>,
    /// The largest number of transactions of all phases together.
    most: u64,
    /// The transactions of the current phase, or of the workload if it has no phases.
    transactions: u64,
    /// The highest running number that was assigned to a name.
    number: u64,
    /// The transactions of the current phase that have begun, and those of earlier phases.
    begun: u64,
    begun_before: u64,
    /// The number of the first draft of the current phase.
    first_draft: u64,
    deleted: u64,
    end: End,
}

impl MixStream {
    pub fn new(mix: &Mix, mixers: Vec<Mixer>) -> Self {
        let places = u64::from(mix.layout.places()) * mix.location_weights.len() as u64;
        let bounded = mix.layout.entries_max.is_some();
        let most = mix.transactions.saturating_mul(mixers.len() as u64);
        Self {
            ranks: PopularityRanks::new(&mix.popularity),
            files: Files::default(),
            rings: [NameKind::Link, NameKind::SymbolicLink, NameKind::Directory].map(Ring::new),
            trees: Trees::new(mix),
            extras_max: mix.extras_max(),
            entries: vec![0; if bounded { places as usize } else { 0 }],
            entries_max: mix.layout.entries_max.unwrap_or(u64::MAX),
            initial: mix.files,
            sequence: Sequence::new(mix, &mixers),
            walk: None,
            most,
            transactions: if mix.phases.is_empty() { most } else { 0 },
            number: 0,
            begun: 0,
            begun_before: 0,
            first_draft: 0,
            deleted: 0,
            end: End::Complete,
            mixers,
        }
    }

    /// Returns the next file to create, in a directory that is below its limit of entries; `None`
    /// if all directories are full.
    fn birth(&mut self) -> Option<File> {
        let births = self.mixers[0].births();
        let mut file = births.file(self.number + 1);
        if !self.entries.is_empty() {
            let mut tried = 0;
            while self.entries[file.place as usize] >= self.entries_max {
                tried += 1;
                if tried == births.places() {
                    return None;
                }
                file.place = births.place_after(file.place);
            }
            self.entries[file.place as usize] += 1;
        }
        self.number += 1;
        Some(file)
    }

    /// Counts a new entry in the directory with number `place`. Returns `false` if the directory is
    /// full.
    fn takes_one_more(&mut self, place: u32) -> bool {
        match self.entries.get_mut(place as usize) {
            Some(entries) if *entries >= self.entries_max => false,
            Some(entries) => {
                *entries += 1;
                true
            }
            None => true,
        }
    }

    fn one_less(&mut self, place: u32) {
        if let Some(entries) = self.entries.get_mut(place as usize) {
            *entries -= 1;
        }
    }

    fn create(&mut self, action: Action, pause: Pause) -> Intent {
        let Some(file) = self.birth() else {
            return skipped(SkipReason::DirectoryFull, pause);
        };
        self.add(file);
        creation(action, file, pause)
    }

    fn add(&mut self, file: File) {
        self.files.push(file);
        if let Some(trees) = &mut self.trees {
            trees.add(file);
        }
    }

    fn draw_transaction(&mut self, intent: &mut Intent) -> bool {
        if self.end != End::Complete || (self.begun == self.transactions && !self.runs_on()) {
            return false;
        }
        let workers = self.mixers.len() as u64;
        let turn = (self.begun % workers) as usize;
        let draft = self.mixers[turn].draft(self.first_draft + self.begun / workers);
        *intent = match self.walk {
            None => self.meet(turn, draft),
            Some(_) => self.step(turn, &draft),
        };
        let is_possible = self.end == End::Complete;
        self.begun += u64::from(is_possible);
        is_possible
    }

    fn meet(&mut self, turn: usize, mut draft: Draft) -> Intent {
        match draft.action {
            action if action.creates() => return self.create(action, draft.pause),
            Action::MakeDirectory | Action::RemoveDirectory => return self.directory(&draft),
            Action::RemoveTree => match self.remove_tree(draft.pause) {
                Some(intent) => return intent,
                None => draft.action = Action::CopyTree,
            },
            Action::ReadLink | Action::MakeDirectoryExisting => {
                let things = &self.ring(draft.action.named()).things;
                if let Some(thing) = things.get(below(draft.pick, things.len() as u64) as usize) {
                    return asked(thing.intent(draft.action), draft.pause);
                }
                // The pool contains no symbolic link or directory for this operation. The operation
                // creates one instead.
                if draft.action == Action::MakeDirectoryExisting {
                    draft.action = Action::MakeDirectory;
                    return self.directory(&draft);
                }
                draft.action = Action::SymbolicLink;
            }
            _ => {}
        }
        if self.files.is_empty() {
            if self.mixers.iter().any(Mixer::creates) {
                return self.create(Action::Create, draft.pause);
            }
            self.end = End::OutOfFiles;
            return Intent::NOTHING;
        }
        match draft.action {
            Action::Link | Action::InstallLink => self.link(turn, &draft, NameKind::Link),
            Action::SymbolicLink => self.link(turn, &draft, NameKind::SymbolicLink),
            action if action.makes_tree() => {
                let position = self.ranks.rank(draft.pick, self.files.len());
                let place = self.files.get(position).place;
                match self
                    .trees
                    .as_ref()
                    .is_some_and(|trees| trees.is_full(place))
                {
                    true => self.remove_tree(draft.pause).unwrap_or(Intent::NOTHING),
                    false => self.copy_tree(action, place, draft.pause),
                }
            }
            _ => self.on_a_file(turn, &draft),
        }
    }

    #[inline]
    fn on_a_file(&mut self, turn: usize, draft: &Draft) -> Intent {
        let position = self.ranks.rank(draft.pick, self.files.len());
        self.on_file_at(turn, draft, position)
    }

    #[inline(always)]
    fn on_file_at(&mut self, turn: usize, draft: &Draft, position: u64) -> Intent {
        let file = self.files.get(position);
        let (intent, change) = self.mixers[turn].decide(draft, file, self.number + 1);
        match change {
            Change::None => {}
            Change::Becomes(changed) => {
                self.number = self.number.max(changed.number);
                self.files.set(position, changed);
                if let Some(trees) = &mut self.trees {
                    trees.remove(file);
                    trees.add(changed);
                }
            }
            Change::Removed => {
                self.files.remove(position);
                self.one_less(file.place);
                if let Some(trees) = &mut self.trees {
                    trees.remove(file);
                }
            }
            Change::Adds(file) => {
                if !self.takes_one_more(file.place) {
                    return skipped(SkipReason::DirectoryFull, draft.pause);
                }
                self.number = file.number;
                self.add(file);
            }
        }
        intent
    }

    fn link(&mut self, turn: usize, draft: &Draft, kind: NameKind) -> Intent {
        if let Some(intent) = self.remove_from(kind, self.extras_max) {
            return asked(intent, draft.pause);
        }
        let position = self.ranks.rank(draft.pick, self.files.len());
        let file = self.files.get(position);
        if !self.takes_one_more(file.place) {
            return skipped(SkipReason::DirectoryFull, draft.pause);
        }
        self.number += 1;
        let (intent, _) = self.mixers[turn].decide(draft, file, self.number);
        let thing = Thing {
            place: file.place,
            number: self.number,
            of: file.number,
        };
        self.ring(kind).things.push_back(thing);
        intent
    }

    fn directory(&mut self, draft: &Draft) -> Intent {
        let least = match draft.action {
            Action::RemoveDirectory => 1,
            _ => self.extras_max,
        };
        if let Some(intent) = self.remove_from(NameKind::Directory, least) {
            return asked(intent, draft.pause);
        }
        let place = self.mixers[0].births().file(self.number + 1).place;
        if !self.takes_one_more(place) {
            return skipped(SkipReason::DirectoryFull, draft.pause);
        }
        self.number += 1;
        let thing = Thing {
            place,
            number: self.number,
            of: 0,
        };
        self.ring(NameKind::Directory).things.push_back(thing);
        make_directory(thing, draft.pause)
    }

    fn next_in_delete(&mut self) -> Option<Intent> {
        if self.deleted < self.files.len() {
            let file = self.files.get(self.deleted);
            self.deleted += 1;
            return Some(deletion(file));
        }
        let extra = self.rings.iter_mut().find_map(Ring::remove_oldest);
        extra.or_else(|| self.trees.as_mut()?.remove_oldest())
    }

    fn ring(&mut self, kind: NameKind) -> &mut Ring {
        let at = match kind {
            NameKind::Link => 0,
            NameKind::SymbolicLink => 1,
            NameKind::Directory => 2,
            NameKind::File | NameKind::Temporary | NameKind::Tree => {
                unreachable!("files and trees are in no ring")
            }
        };
        &mut self.rings[at]
    }

    /// Removes the oldest link or directory of a kind, if the pool contains at least `least`
    /// objects of this kind.
    fn remove_from(&mut self, kind: NameKind, least: u64) -> Option<Intent> {
        let ring = self.ring(kind);
        if (ring.things.len() as u64) < least {
            return None;
        }
        let intent = ring.remove_oldest()?;
        self.one_less(intent.place);
        Some(intent)
    }
}

fn skipped(reason: SkipReason, pause: Pause) -> Intent {
    asked(Intent::skipped(reason), pause)
}

/// Marks an intent as the operation that completes a transaction, and sets the worker's pause
/// before the operation.
pub fn asked(intent: Intent, pause: Pause) -> Intent {
    Intent {
        ends_transaction: true,
        pause,
        ..intent
    }
}

pub fn make_directory(thing: Thing, pause: Pause) -> Intent {
    asked(thing.intent(Action::MakeDirectory), pause)
}

impl Stream for MixStream {
    #[inline]
    fn draw(&mut self, phase: Phase, intent: &mut Intent) -> bool {
        match phase {
            Phase::Prepare if self.number >= self.initial => return false,
            Phase::Prepare => {
                *intent = self.create(Action::Create, Pause::NONE);
                intent.ends_transaction = false;
            }
            Phase::Transactions => return self.draw_transaction(intent),
            Phase::Delete => match self.next_in_delete() {
                Some(next) => *intent = next,
                None => return false,
            },
        }
        true
    }

    fn remaining(&self, phase: Phase) -> u64 {
        match phase {
            Phase::Prepare => self.initial - self.number.min(self.initial),
            Phase::Transactions => self.transactions - self.begun,
            Phase::Delete => {
                let extras: usize = self.rings.iter().map(|ring| ring.things.len()).sum();
                let trees = self.trees.as_ref().map_or(0, Trees::len);
                self.files.len() - self.deleted + extras as u64 + trees
            }
        }
    }

    fn end(&self) -> End {
        self.end
    }

    fn transactions_begun(&self) -> u64 {
        self.begun_before + self.begun
    }

    fn can_perform_any(&self, pool: &PoolState) -> bool {
        let has_room = self.entries.is_empty()
            || self
                .entries
                .iter()
                .any(|entries| *entries < self.entries_max);
        let mut mixers = self.mixers.iter();
        mixers.any(|mixer| mixer.can_perform_any(pool, has_room))
    }

    fn pool(&self, each: &mut dyn FnMut(Kept)) {
        for position in self.deleted..self.files.len() {
            let file = self.files.get(position);
            each(Kept {
                kind: NameKind::File,
                place: file.place,
                number: file.number,
                size_bytes: file.size_bytes,
                file: file.file,
                version: file.version,
            });
        }
        self.rings.iter().for_each(|ring| ring.each(each));
        self.trees.iter().for_each(|trees| trees.each(each));
    }
}
