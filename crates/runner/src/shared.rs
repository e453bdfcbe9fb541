//! One pool for several workers. A file is published when its creation has closed it; who changes it holds an
//! exclusive claim, who reads it a shared one. Claims are taken before an operation is issued and given back
//! after it is completed, so that nothing fails because two workers meet, and waiting is never latency.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use record::Histogram;
use workload::extras::{Thing, removal};
use workload::mix_stream::{asked, make_directory, read_link};
use workload::mixer::{Change, Draft, Mixer, creation, deletion};
use workload::names::NameKind;
use workload::pool::File;
use workload::popularity::Ranks;
use workload::random::below;
use workload::{Action, End, Intent, Kept, Mix, Phase};

use crate::clock::Clock;
use crate::control::Control;
use crate::source::{Expected, Source};
use crate::worker::think;

mod pool;

pub(crate) use pool::SharedPool;
use pool::{Claim, SHARDS, lock};

/// What was known of a place when its listing began.
#[derive(Clone, Copy, Debug, Default)]
struct EntriesBefore {
    made: i64,
    removed: i64,
    moved: i64,
}

/// What an intent that is under way holds.
#[derive(Clone, Copy, Debug)]
enum Held {
    Nothing,
    /// A new file, published when it is made.
    New(File),
    Claimed(Claim, Change),
    /// A claimed file that gets a link, which is added when it is made.
    Linked(Claim, NameKind, Thing),
    /// A symbolic link that is read: it goes back.
    Lent(Thing),
    /// A new directory.
    Directory(Thing),
    /// Something that is removed.
    Gone,
}

/// What one worker does on a shared pool.
#[derive(Debug)]
pub(crate) struct SharedSource<C> {
    pub(crate) pool: Arc<SharedPool>,
    pub(crate) mixer: Mixer,
    pub(crate) ranks: Ranks,
    pub(crate) control: Control,
    pub(crate) clock: C,
    pub(crate) worker: u64,
    pub(crate) workers: u64,
    pub(crate) files: u64,
    pub(crate) transactions: u64,
    pub(crate) prepared: u64,
    pub(crate) begun: u64,
    /// Numbers of its own that were given.
    pub(crate) fresh: u64,
    pub(crate) deleting: Deleting,
    held: Held,
    seen: EntriesBefore,
    waits: Histogram,
}

/// How far a worker's share of the deletion is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deleting {
    shard: usize,
    position: usize,
}

impl<C: Clock> SharedSource<C> {
    pub(crate) fn new(
        pool: Arc<SharedPool>,
        mix: &Mix,
        mixer: Mixer,
        control: Control,
        clock: C,
        worker: (u32, u32),
    ) -> Self {
        Self {
            pool,
            mixer,
            ranks: Ranks::new(&mix.popularity),
            control,
            clock,
            worker: worker.0.into(),
            workers: worker.1.into(),
            files: mix.files,
            transactions: mix.transactions,
            prepared: 0,
            begun: 0,
            fresh: 0,
            deleting: Deleting::default(),
            held: Held::Nothing,
            seen: EntriesBefore::default(),
            waits: Histogram::default(),
        }
    }

    /// Numbers of the initial pool go round the workers; so do those that come later.
    fn share_of_files(&self) -> u64 {
        (self.files + self.workers - 1 - self.worker) / self.workers
    }

    fn fresh(&mut self) -> u64 {
        self.fresh += 1;
        self.files + 1 + self.worker + (self.fresh - 1) * self.workers
    }

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

    fn create(&mut self, action: Action, number: u64, think_ns: u64) -> Intent {
        let Some(file) = self.birth(number) else {
            return asked(Intent::NOTHING, think_ns);
        };
        self.held = Held::New(file);
        creation(action, file, think_ns)
    }

    fn meet(&mut self, mut draft: Draft) -> Option<Intent> {
        let nothing = asked(Intent::NOTHING, draft.think_ns);
        match draft.action {
            Action::Create | Action::Deliver => {
                let number = self.fresh();
                return Some(self.create(draft.action, number, draft.think_ns));
            }
            Action::MakeDirectory | Action::RemoveDirectory => return Some(self.directory(&draft)),
            Action::ReadLink => match self.lend(draft.pick) {
                Some(thing) => return Some(read_link(thing, draft.think_ns)),
                // Making one is for writers; a reader finds none to read.
                None if !self.mixer.creates() => return Some(nothing),
                None => draft.action = Action::SymbolicLink,
            },
            Action::Link | Action::SymbolicLink => {
                if let Some(intent) = self.remove_link(&draft) {
                    return Some(intent);
                }
            }
            _ => {}
        }
        let files = self.pool.files.load(Ordering::Relaxed);
        if files == 0 {
            if !self.mixer.creates() {
                return Some(nothing);
            }
            let number = self.fresh();
            return Some(self.create(Action::Create, number, draft.think_ns));
        }
        let rank = self.ranks.rank(draft.pick, files);
        let exclusive = !draft.action.reads() && !matches!(draft.action, Action::Link | Action::SymbolicLink);
        let clock = &self.clock;
        let claim = self
            .pool
            .claim(rank, exclusive, &self.control, || clock.now_ns(), &mut self.waits);
        let Some(claim) = claim else {
            return (!self.control.is_stopping()).then_some(nothing);
        };
        Some(self.claimed(claim, &draft))
    }

    fn claimed(&mut self, claim: Claim, draft: &Draft) -> Intent {
        let kind = match draft.action {
            Action::Link => Some(NameKind::Link),
            Action::SymbolicLink => Some(NameKind::SymbolicLink),
            _ => None,
        };
        if kind.is_some() && !self.pool.takes_one_more(claim.file.place) {
            self.pool.give_back(claim, Change::None);
            return asked(Intent::NOTHING, draft.think_ns);
        }
        let fresh = match draft.action {
            Action::Link | Action::SymbolicLink | Action::Rename => self.fresh(),
            _ => 0,
        };
        let (mut intent, change) = self.mixer.decide(draft, claim.file, fresh);
        if intent.action == Action::SetExtended && draft.action == Action::GetExtended {
            // Setting it is for those who have the file for themselves.
            intent.action = Action::Nothing;
        }
        if intent.action == Action::Nothing {
            self.pool.give_back(claim, Change::None);
            return intent;
        }
        self.held = match kind {
            Some(kind) => {
                let thing = Thing {
                    place: claim.file.place,
                    number: fresh,
                    of: claim.file.number,
                };
                Held::Linked(claim, kind, thing)
            }
            None => {
                let entries = &self.pool.places[claim.file.place as usize];
                match intent.action {
                    Action::Delete => entries.removing.fetch_add(1, Ordering::AcqRel),
                    Action::Rename | Action::Replace => entries.moving.fetch_add(1, Ordering::AcqRel),
                    _ => 0,
                };
                Held::Claimed(claim, change)
            }
        };
        intent
    }

    /// A symbolic link to be read, which nobody else gets meanwhile.
    fn lend(&mut self, pick: u64) -> Option<Thing> {
        let mut links = self.pool.ring(NameKind::SymbolicLink);
        if links.is_empty() {
            return None;
        }
        let index = below(pick, links.len() as u64) as usize;
        let thing = links.swap_remove(index);
        self.held = Held::Lent(thing);
        Some(thing)
    }

    /// The removal of a link, where there are enough.
    fn remove_link(&mut self, draft: &Draft) -> Option<Intent> {
        let kind = if draft.action == Action::Link {
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
        Some(self.remove(kind, thing, draft.think_ns))
    }

    fn remove(&mut self, kind: NameKind, thing: Thing, think_ns: u64) -> Intent {
        self.held = Held::Gone;
        let entries = &self.pool.places[thing.place as usize];
        entries.removing.fetch_add(1, Ordering::AcqRel);
        asked(removal(kind, thing), think_ns)
    }

    fn directory(&mut self, draft: &Draft) -> Intent {
        let mut things = self.pool.ring(NameKind::Directory);
        let full = things.len() as u64 >= self.pool.extras_max;
        if !things.is_empty() && (full || draft.action == Action::RemoveDirectory) {
            let index = below(draft.pick, things.len() as u64) as usize;
            let thing = things.swap_remove(index);
            drop(things);
            return self.remove(NameKind::Directory, thing, draft.think_ns);
        }
        drop(things);
        let number = self.fresh();
        let place = self.mixer.births().file(number).place;
        if !self.pool.takes_one_more(place) {
            return asked(Intent::NOTHING, draft.think_ns);
        }
        let thing = Thing { place, number, of: 0 };
        self.held = Held::Directory(thing);
        make_directory(thing, draft.think_ns)
    }

    fn next_in_delete(&mut self) -> Option<Intent> {
        while self.deleting.shard < SHARDS {
            if self.deleting.shard as u64 % self.workers == self.worker {
                let inner = lock(&self.pool.shards[self.deleting.shard].inner);
                if let Some(slot) = inner.order.get(self.deleting.position) {
                    self.deleting.position += 1;
                    return Some(deletion(File::unpack(inner.slots[*slot as usize].file)));
                }
            }
            self.deleting.shard += 1;
            self.deleting.position = 0;
        }
        if self.worker != 0 {
            return None;
        }
        for kind in [NameKind::Link, NameKind::SymbolicLink, NameKind::Directory] {
            let thing = self.pool.ring(kind).pop();
            if let Some(thing) = thing {
                return Some(removal(kind, thing));
            }
        }
        None
    }

    /// What becomes of the entries of an intent's place.
    fn count_entries(&self, intent: &Intent, well: bool) {
        let entries = &self.pool.places[intent.place as usize];
        let one = |count: &AtomicI64| {
            count.fetch_add(1, Ordering::AcqRel);
        };
        match intent.action {
            Action::Create | Action::Deliver | Action::Link | Action::SymbolicLink | Action::MakeDirectory if well => {
                one(&entries.made);
            }
            Action::Delete | Action::RemoveLink | Action::RemoveSymbolicLink | Action::RemoveDirectory if well => {
                one(&entries.removed);
            }
            // A move that failed goes on for ever, as far as listings are concerned.
            Action::Rename | Action::Replace if well => one(&entries.moved),
            _ => {}
        }
    }
}

impl<C: Clock> Source for SharedSource<C> {
    const IS_PURE: bool = false;

    fn next(&mut self, phase: Phase) -> Option<Intent> {
        match phase {
            Phase::Prepare => {
                if self.prepared == self.share_of_files() {
                    return None;
                }
                let number = 1 + self.worker + self.prepared * self.workers;
                self.prepared += 1;
                let intent = self.create(Action::Create, number, 0);
                Some(Intent {
                    ends_transaction: false,
                    ..intent
                })
            }
            Phase::Transactions => {
                if self.begun == self.transactions {
                    return None;
                }
                let mut draft = self.mixer.draft(self.begun);
                // Before the claim: nobody is to wait for somebody who thinks.
                if !think(&self.clock, &self.control, std::mem::take(&mut draft.think_ns)) {
                    return None;
                }
                let intent = self.meet(draft)?;
                self.begun += 1;
                Some(intent)
            }
            Phase::Delete => self.next_in_delete(),
        }
    }

    fn completed(&mut self, intent: &Intent, well: bool) {
        self.count_entries(intent, well);
        match std::mem::replace(&mut self.held, Held::Nothing) {
            Held::New(file) if well => self.pool.publish(file),
            Held::Claimed(claim, change) if well => self.pool.give_back(claim, change),
            // What it holds now is not known: nobody is to meet it again.
            Held::Claimed(claim, Change::Becomes(_) | Change::Removed) => self.pool.give_back(claim, Change::Removed),
            Held::Claimed(claim, Change::None) => self.pool.give_back(claim, Change::None),
            Held::Linked(claim, kind, thing) => {
                self.pool.give_back(claim, Change::None);
                if well {
                    self.pool.ring(kind).push(thing);
                }
            }
            // It was only read: it is there, whatever came of that.
            Held::Lent(thing) => self.pool.ring(NameKind::SymbolicLink).push(thing),
            Held::Directory(thing) if well => self.pool.ring(NameKind::Directory).push(thing),
            Held::Nothing | Held::New(_) | Held::Directory(_) | Held::Gone => {}
        }
    }

    fn remaining(&self, phase: Phase) -> u64 {
        match phase {
            Phase::Prepare => self.share_of_files() - self.prepared,
            Phase::Transactions => self.transactions - self.begun,
            Phase::Delete => {
                let mine = (0..SHARDS).filter(|shard| *shard as u64 % self.workers == self.worker);
                let files = mine.map(|shard| lock(&self.pool.shards[shard].inner).order.len() as u64);
                let extras = [NameKind::Link, NameKind::SymbolicLink, NameKind::Directory]
                    .map(|kind| self.pool.ring(kind).len() as u64);
                files.sum::<u64>() + if self.worker == 0 { extras.iter().sum() } else { 0 }
            }
        }
    }

    fn end(&self) -> End {
        End::Complete
    }

    fn transactions_begun(&self) -> u64 {
        self.begun
    }

    fn pool(&self, all: bool, each: &mut dyn FnMut(Kept)) {
        for shard in (0..SHARDS).filter(|shard| all || *shard as u64 % self.workers == self.worker) {
            let inner = lock(&self.pool.shards[shard].inner);
            for slot in &inner.order {
                let file = File::unpack(inner.slots[*slot as usize].file);
                each(Kept {
                    kind: NameKind::File,
                    place: file.place,
                    number: file.number,
                    size_bytes: file.size_bytes,
                    file: file.file,
                    version: file.version,
                });
            }
        }
        if !all && self.worker != 0 {
            return;
        }
        for kind in [NameKind::Link, NameKind::SymbolicLink, NameKind::Directory] {
            for thing in self.pool.ring(kind).iter() {
                each(Kept {
                    kind,
                    place: thing.place,
                    number: thing.number,
                    size_bytes: 0,
                    file: thing.of,
                    version: 0,
                });
            }
        }
    }

    fn lists(&self) -> bool {
        self.worker == 0
    }

    fn listing_begins(&mut self, place: u32) {
        let entries = &self.pool.places[place as usize];
        self.seen = EntriesBefore {
            made: entries.made.load(Ordering::Acquire),
            removed: entries.removed.load(Ordering::Acquire),
            moved: entries.moved.load(Ordering::Acquire),
        };
    }

    fn listing(&self, place: u32) -> Expected {
        let entries = &self.pool.places[place as usize];
        let moves = entries.moving.load(Ordering::Acquire) - self.seen.moved;
        let least = self.seen.made - entries.removing.load(Ordering::Acquire) - moves;
        let most = entries.making.load(Ordering::Acquire) - self.seen.removed + moves;
        Expected::Between(least.max(0) as u64, most.max(0) as u64)
    }

    fn take_waits(&mut self) -> Option<Histogram> {
        Some(std::mem::take(&mut self.waits))
    }
}
