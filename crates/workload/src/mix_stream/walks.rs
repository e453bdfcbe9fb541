//! Phases of a mix on its stream: their order, and walks of the pool in directory order. Copies and
//! removals of trees, which walks and drawn operations share.

use super::{MixStream, asked, skipped};
use crate::endless::ENDLESS;
use crate::intent::{Action, Intent, Pause};
use crate::mixer::{Draft, creation};
use crate::sequence::Walk;
use crate::skip::SkipReason;
use crate::trees::Trees;

/// The distance between the numbers of the first drafts of two phases. A phase therefore draws the
/// same operations, however many operations an earlier phase with a time limit performed.
const DRAFTS_OF_PHASE: u64 = 1 << 40;

impl MixStream {
    /// Stops the stream at the end of each phase, until [`next_phase`](Self::next_phase) begins the
    /// next one. Without phases, nothing changes.
    #[must_use]
    pub fn in_phases(mut self) -> Self {
        self.sequence.runs_on = false;
        self
    }

    /// Begins the next phase. Operations of the current phase that were not drawn are left out.
    /// Returns `false` after the last phase, and for a workload without phases.
    pub fn next_phase(&mut self) -> bool {
        let number = self.sequence.begun;
        let Some(part) = self.sequence.phases.get(number).cloned() else {
            if !self.sequence.is_empty() {
                self.transactions = self.begun;
            }
            return false;
        };
        self.sequence.begun += 1;
        self.begun_before += self.begun;
        self.begun = 0;
        self.first_draft = match self.sequence.is_shuffled {
            true => 0,
            false => DRAFTS_OF_PHASE * number as u64,
        };
        self.mixers = part.mixers;
        self.walk = part.walks.map(|action| self.walk_of(action));
        let workers = self.mixers.len() as u64;
        let asked = match part.transactions {
            // A plan divides its transactions equally among the phases that a time ends.
            ENDLESS if self.sequence.runs_on && self.walk.is_none() && self.most != ENDLESS => {
                self.most / self.sequence.phases.len() as u64
            }
            asked => asked.saturating_mul(workers),
        };
        let steps = self.steps().map_or(asked, |steps| steps.min(asked));
        self.transactions = steps.min(self.most - self.begun_before);
        true
    }

    /// Continues with the next phase that has operations, if the stream may do so by itself.
    pub(super) fn runs_on(&mut self) -> bool {
        while self.sequence.runs_on && self.next_phase() {
            if self.transactions > 0 {
                return true;
            }
        }
        false
    }

    fn walk_of(&mut self, action: Action) -> Walk {
        if action.lists() {
            return Walk::Directories;
        }
        if action.makes_tree() {
            return Walk::CopiedDirectories;
        }
        if action == Action::RemoveTree {
            return Walk::OldestTree;
        }
        if action.creates() {
            return Walk::NewFiles(self.initial);
        }
        let order = |file: &crate::pool::File| (file.place, file.number);
        if action.changes_count() == Some(false) {
            let mut files: Vec<_> = (0..self.files.len()).map(|at| self.files.get(at)).collect();
            files.sort_unstable_by_key(|file| std::cmp::Reverse(order(file)));
            for (position, file) in files.into_iter().enumerate() {
                self.files.set(position as u64, file);
            }
            return Walk::LastFile;
        }
        let mut positions: Vec<u64> = (0..self.files.len()).collect();
        positions.sort_by_cached_key(|position| order(&self.files.get(*position)));
        Walk::Files(positions)
    }

    /// Returns the number of operations of the current walk; `None` without a walk.
    fn steps(&self) -> Option<u64> {
        Some(match self.walk.as_ref()? {
            Walk::Files(positions) => positions.len() as u64,
            Walk::LastFile => self.files.len(),
            Walk::OldestTree => self.trees.as_ref().map_or(0, Trees::len),
            Walk::NewFiles(files) => *files,
            Walk::CopiedDirectories => self.trees.as_ref().map_or(0, Trees::roots),
            Walk::Directories => self.mixers[0].births().places().into(),
        })
    }

    /// Returns the next operation of a walk. `draft` contains the action and its amounts.
    pub(super) fn step(&mut self, turn: usize, draft: &Draft) -> Intent {
        match &self.walk {
            Some(Walk::Files(positions)) => {
                let position = positions[self.begun as usize];
                self.on_file_at(turn, draft, position)
            }
            Some(Walk::LastFile) => self.on_file_at(turn, draft, self.files.len() - 1),
            Some(Walk::NewFiles(files)) => {
                let places = u128::from(self.mixers[turn].births().places());
                let place = u128::from(self.begun) * places / u128::from(*files);
                let mut file = self.mixers[turn].births().file(self.number + 1);
                file.place = place as u32;
                if !self.takes_one_more(file.place) {
                    return skipped(SkipReason::DirectoryFull, draft.pause);
                }
                self.number += 1;
                self.add(file);
                creation(draft.action, file, draft.pause)
            }
            Some(Walk::OldestTree) => self.remove_tree(draft.pause).unwrap_or(Intent::NOTHING),
            Some(Walk::CopiedDirectories) => {
                let first = |trees: &Trees| trees.first_place(self.begun as usize);
                let place = self.trees.as_ref().map_or(0, first);
                self.copy_tree(draft.action, place, draft.pause)
            }
            Some(Walk::Directories) | None => Intent {
                action: draft.action,
                ends_transaction: true,
                place: self.begun as u32,
                pause: draft.pause,
                ..Intent::NOTHING
            },
        }
    }

    /// Whether a tree is one more entry of a directory with files.
    fn has_trees_beside_files(&self) -> bool {
        self.trees.as_ref().is_some_and(Trees::are_beside_files)
    }

    /// Copies the files in `place`, and the files that are copied with them, by `action`.
    pub(super) fn copy_tree(&mut self, action: Action, place: u32, pause: Pause) -> Intent {
        if self.has_trees_beside_files() && !self.takes_one_more(place) {
            return skipped(SkipReason::DirectoryFull, pause);
        }
        self.number += 1;
        let number = self.number;
        match &mut self.trees {
            Some(trees) => trees.copy(action, place, number, pause),
            None => unreachable!("a mix that copies trees has summaries of its directories"),
        }
    }

    /// Removes the oldest tree. Returns `None` if the pool has no tree.
    pub(super) fn remove_tree(&mut self, pause: Pause) -> Option<Intent> {
        let intent = self.trees.as_mut()?.remove_oldest()?;
        if self.has_trees_beside_files() {
            self.one_less(intent.place);
        }
        Some(asked(intent, pause))
    }
}
