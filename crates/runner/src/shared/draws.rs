//! Converts the draft of an operation into an intent for the current contents of the pool, and
//! claims the file of the operation.

use std::sync::atomic::Ordering;

use workload::extras::{Thing, removal};
use workload::mix_stream::{asked, make_directory};
use workload::mixer::{Change, Draft, creation};
use workload::names::NameKind;
use workload::pool::File;
use workload::random::below;
use workload::{Action, Intent, Pause, SkipReason};

use super::pool::{Claim, Claimed};
use super::source::{Held, SharedSource};
use crate::clock::Clock as _;

/// A transaction whose only operation is skipped.
const fn skipped(reason: SkipReason) -> Intent {
    Intent {
        ends_transaction: true,
        ..Intent::skipped(reason)
    }
}

/// The kind of link that an action creates; `None` for an action that creates no link.
fn adds_link(action: Action) -> Option<NameKind> {
    match action {
        Action::Link | Action::InstallLink => Some(NameKind::Link),
        Action::SymbolicLink => Some(NameKind::SymbolicLink),
        _ => None,
    }
}

/// Whether an action links or copies a file, and so does not change the file itself.
fn leaves_file(action: Action) -> bool {
    adds_link(action).is_some() || action.copies()
}

impl SharedSource {
    fn birth(&mut self, number: u64) -> Option<File> {
        let births = self.mixer.births();
        let mut file = births.file(number);
        for _ in 0..births.places() {
            if self.pool.takes_one_more(file.place) {
                return Some(file);
            }
            file.place = births.place_after(file.place);
        }
        None
    }

    pub(super) fn create(&mut self, flight: usize, action: Action, number: u64) -> Intent {
        let Some(file) = self.birth(number) else {
            return skipped(SkipReason::DirectoryFull);
        };
        self.held[flight] = Held::New(file);
        creation(action, file, Pause::NONE)
    }

    /// Resolves a draft into `intent`. Returns `false` if the run stops, or if the file of the
    /// draft is claimed and the caller must not wait.
    pub(super) fn meet(
        &mut self,
        mut draft: Draft,
        intent: &mut Intent,
        flight: usize,
        may_wait: bool,
    ) -> bool {
        match draft.action {
            action if action.creates() => {
                let number = self.fresh();
                *intent = self.create(flight, draft.action, number);
                return true;
            }
            Action::MakeDirectory | Action::RemoveDirectory => {
                *intent = self.directory(flight, &draft);
                return true;
            }
            Action::ReadLink | Action::MakeDirectoryExisting => {
                *intent = match self.lend(flight, draft.action.named(), draft.pick) {
                    Some(thing) => asked(thing.intent(draft.action), Pause::NONE),
                    // The pool has no link or directory for the operation. Only writers create
                    // them, so a worker that only reads skips the operation.
                    None if !self.mixer.creates() => skipped(SkipReason::PoolEmpty),
                    None if draft.action == Action::ReadLink => {
                        draft.action = Action::SymbolicLink;
                        return self.meet(draft, intent, flight, may_wait);
                    }
                    None => self.directory(flight, &draft),
                };
                return true;
            }
            Action::Link | Action::InstallLink | Action::SymbolicLink => {
                if let Some(removal) = self.remove_link(flight, &draft) {
                    *intent = removal;
                    return true;
                }
            }
            _ => {}
        }
        let files = self.pool.files.load(Ordering::Relaxed);
        if files == 0 {
            *intent = match self.mixer.creates() {
                true => {
                    let number = self.fresh();
                    self.create(flight, Action::Create, number)
                }
                false => skipped(SkipReason::PoolEmpty),
            };
            return true;
        }
        let rank = self.ranks.rank(draft.pick, files);
        let exclusive = !draft.action.reads() && !leaves_file(draft.action);
        let clock = &self.clock;
        let now_ns = || clock.now_ns();
        let claimed = self.pool.claim(
            rank,
            exclusive,
            may_wait,
            &self.control,
            now_ns,
            &mut self.waits,
        );
        match claimed {
            Claimed::Claim(claim, file) => *intent = self.claimed(flight, claim, file, &draft),
            Claimed::Later => {
                self.wants_one_landed = true;
                return false;
            }
            Claimed::Nothing if self.control.is_stopping() => return false,
            Claimed::Nothing => *intent = skipped(SkipReason::PoolEmpty),
        }
        true
    }

    fn claimed(&mut self, flight: usize, claim: Claim, file: File, draft: &Draft) -> Intent {
        let kind = adds_link(draft.action);
        let adds = draft.action.changes_count() == Some(true);
        if (kind.is_some() || adds) && !self.pool.takes_one_more(file.place) {
            self.pool.give_back(claim, Change::None);
            return skipped(SkipReason::DirectoryFull);
        }
        let fresh = match draft.action {
            Action::Rename => self.fresh(),
            _ if leaves_file(draft.action) => self.fresh(),
            _ => 0,
        };
        let (mut intent, change) = self.mixer.decide(draft, file, fresh);
        if intent.action == Action::SetExtended && draft.action == Action::GetExtended {
            // The file has no extended attribute to read, so the mixer decided to set one. Setting
            // an attribute requires an exclusive claim, but this claim is shared. The operation is
            // therefore skipped.
            intent.action = Action::Nothing;
            intent.skip = Some(SkipReason::NoAttribute);
        }
        if intent.action == Action::Nothing {
            self.pool.give_back(claim, Change::None);
            return intent;
        }
        self.held[flight] = match kind {
            Some(kind) => {
                let thing = Thing {
                    place: file.place,
                    number: fresh,
                    of: file.number,
                };
                Held::Linked(claim, kind, thing)
            }
            None => {
                if !adds {
                    self.pool.places[file.place as usize].begins(intent.action);
                }
                Held::Claimed(claim, change)
            }
        };
        intent
    }

    /// Takes a symbolic link or a directory out of the pool until the operation of `flight` has
    /// completed. No other worker can then remove this entry.
    fn lend(&mut self, flight: usize, kind: NameKind, pick: u64) -> Option<Thing> {
        let mut things = self.pool.ring(kind);
        if things.is_empty() {
            return None;
        }
        let index = below(pick, things.len() as u64) as usize;
        let thing = things.swap_remove(index);
        self.held[flight] = Held::Lent(kind, thing);
        Some(thing)
    }

    /// If the pool contains the maximum number of links, returns an intent that removes a link.
    /// This intent replaces the drafted creation of a link.
    fn remove_link(&mut self, flight: usize, draft: &Draft) -> Option<Intent> {
        let kind = if draft.action.links() {
            NameKind::Link
        } else {
            NameKind::SymbolicLink
        };
        let mut things = self.pool.ring(kind);
        if (things.len() as u64) < self.pool.extras_max {
            return None;
        }
        let index = below(draft.pick, things.len() as u64) as usize;
        let thing = things.swap_remove(index);
        drop(things);
        Some(self.remove(flight, kind, thing))
    }

    fn remove(&mut self, flight: usize, kind: NameKind, thing: Thing) -> Intent {
        self.held[flight] = Held::Gone;
        let intent = asked(removal(kind, thing), Pause::NONE);
        self.pool.places[thing.place as usize].begins(intent.action);
        intent
    }

    fn directory(&mut self, flight: usize, draft: &Draft) -> Intent {
        let mut things = self.pool.ring(NameKind::Directory);
        let full = things.len() as u64 >= self.pool.extras_max;
        if !things.is_empty() && (full || draft.action == Action::RemoveDirectory) {
            let index = below(draft.pick, things.len() as u64) as usize;
            let thing = things.swap_remove(index);
            drop(things);
            return self.remove(flight, NameKind::Directory, thing);
        }
        drop(things);
        let number = self.fresh();
        let place = self.mixer.births().file(number).place;
        if !self.pool.takes_one_more(place) {
            return skipped(SkipReason::DirectoryFull);
        }
        let thing = Thing {
            place,
            number,
            of: 0,
        };
        self.held[flight] = Held::Directory(thing);
        make_directory(thing, Pause::NONE)
    }
}
