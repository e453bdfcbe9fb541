//! One pool for several workers. A file is published when its creation has closed it; who changes
//! it holds an exclusive claim, who reads it a shared one. Claims are taken before an operation is
//! issued and given back after it is completed, so that nothing fails because two workers meet, and
//! waiting is never latency.

use std::iter;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use record::Histogram;
use workload::extras::{Thing, removal};
use workload::mix_stream::{asked, make_directory, read_link};
use workload::mixer::{Change, Draft, Mixer, creation, deletion};
use workload::names::NameKind;
use workload::pool::File;
use workload::popularity::PopularityRanks;
use workload::random::below;
use workload::{Action, End, Intent, Kept, Mix, Phase, PoolState, SkipReason};

use crate::clock::{Clock as _, RunClock};
use crate::control::Control;
use crate::entries::Seen;
use crate::source::{Expected, Source};

mod pool;

pub(crate) use pool::SharedPool;
use pool::{Claim, Claimed, SHARDS, Waits, lock};

/// A transaction of which the only operation is skipped.
const fn skipped(reason: SkipReason) -> Intent {
    Intent {
        ends_transaction: true,
        ..Intent::skipped(reason)
    }
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
pub(crate) struct SharedSource {
    pub(crate) pool: Arc<SharedPool>,
    pub(crate) mixer: Mixer,
    /// What a writer of the pool draws, for a worker that only reads.
    writer: Option<Mixer>,
    pub(crate) ranks: PopularityRanks,
    pub(crate) control: Control,
    pub(crate) clock: RunClock,
    pub(crate) worker: u64,
    pub(crate) workers: u64,
    pub(crate) files: u64,
    pub(crate) transactions: u64,
    pub(crate) prepared: u64,
    pub(crate) begun: u64,
    /// Numbers of its own that were given.
    pub(crate) fresh: u64,
    pub(crate) deleting: Deleting,
    /// What is thought before the next transaction was asked for.
    has_thought: bool,
    /// The file that it meets was not waited for.
    wants_one_landed: bool,
    /// By flight.
    held: Vec<Held>,
    seen: Vec<Seen>,
    waits: Waits,
}

/// How far a worker's share of the deletion is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deleting {
    shard: usize,
    position: usize,
}

impl SharedSource {
    pub(crate) fn new(
        pool: Arc<SharedPool>,
        mix: &Mix,
        (mixer, writer): (Mixer, Option<Mixer>),
        control: Control,
        clock: RunClock,
        worker: (u32, u32),
        depth: usize,
    ) -> Self {
        Self {
            pool,
            mixer,
            writer,
            ranks: PopularityRanks::new(&mix.popularity),
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
            has_thought: false,
            wants_one_landed: false,
            held: vec![Held::Nothing; depth],
            seen: vec![Seen::default(); depth],
            waits: Waits::default(),
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

    fn create(&mut self, flight: usize, action: Action, number: u64) -> Intent {
        let Some(file) = self.birth(number) else {
            return skipped(SkipReason::DirectoryFull);
        };
        self.held[flight] = Held::New(file);
        creation(action, file, 0)
    }

    fn meet(&mut self, mut draft: Draft, flight: usize, may_wait: bool) -> Option<Intent> {
        match draft.action {
            Action::Create | Action::Deliver => {
                let number = self.fresh();
                return Some(self.create(flight, draft.action, number));
            }
            Action::MakeDirectory | Action::RemoveDirectory => {
                return Some(self.directory(flight, &draft));
            }
            Action::ReadLink => match self.lend(flight, draft.pick) {
                Some(thing) => return Some(read_link(thing, 0)),
                // Making one is for writers; a reader finds none to read.
                None if !self.mixer.creates() => return Some(skipped(SkipReason::PoolEmpty)),
                None => draft.action = Action::SymbolicLink,
            },
            Action::Link | Action::SymbolicLink => {
                if let Some(intent) = self.remove_link(flight, &draft) {
                    return Some(intent);
                }
            }
            _ => {}
        }
        let files = self.pool.files.load(Ordering::Relaxed);
        if files == 0 {
            if !self.mixer.creates() {
                return Some(skipped(SkipReason::PoolEmpty));
            }
            let number = self.fresh();
            return Some(self.create(flight, Action::Create, number));
        }
        let rank = self.ranks.rank(draft.pick, files);
        let exclusive =
            !draft.action.reads() && !matches!(draft.action, Action::Link | Action::SymbolicLink);
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
            Claimed::Claim(claim) => Some(self.claimed(flight, claim, &draft)),
            Claimed::Later => {
                self.wants_one_landed = true;
                None
            }
            Claimed::Nothing if self.control.is_stopping() => None,
            Claimed::Nothing => Some(skipped(SkipReason::PoolEmpty)),
        }
    }

    fn claimed(&mut self, flight: usize, claim: Claim, draft: &Draft) -> Intent {
        let kind = match draft.action {
            Action::Link => Some(NameKind::Link),
            Action::SymbolicLink => Some(NameKind::SymbolicLink),
            _ => None,
        };
        if kind.is_some() && !self.pool.takes_one_more(claim.file.place) {
            self.pool.give_back(claim, Change::None);
            return skipped(SkipReason::DirectoryFull);
        }
        let fresh = match draft.action {
            Action::Link | Action::SymbolicLink | Action::Rename => self.fresh(),
            _ => 0,
        };
        let (mut intent, change) = self.mixer.decide(draft, claim.file, fresh);
        if intent.action == Action::SetExtended && draft.action == Action::GetExtended {
            // Setting it is for those who have the file for themselves.
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
                    place: claim.file.place,
                    number: fresh,
                    of: claim.file.number,
                };
                Held::Linked(claim, kind, thing)
            }
            None => {
                self.pool.places[claim.file.place as usize].begins(intent.action);
                Held::Claimed(claim, change)
            }
        };
        intent
    }

    /// A symbolic link to be read, which nobody else gets meanwhile.
    fn lend(&mut self, flight: usize, pick: u64) -> Option<Thing> {
        let mut links = self.pool.ring(NameKind::SymbolicLink);
        if links.is_empty() {
            return None;
        }
        let index = below(pick, links.len() as u64) as usize;
        let thing = links.swap_remove(index);
        self.held[flight] = Held::Lent(thing);
        Some(thing)
    }

    /// The removal of a link, where there are enough.
    fn remove_link(&mut self, flight: usize, draft: &Draft) -> Option<Intent> {
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
        Some(self.remove(flight, kind, thing))
    }

    fn remove(&mut self, flight: usize, kind: NameKind, thing: Thing) -> Intent {
        self.held[flight] = Held::Gone;
        let intent = asked(removal(kind, thing), 0);
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
        make_directory(thing, 0)
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
}

impl Source for SharedSource {
    fn is_pure(&self) -> bool {
        false
    }

    /// Before the claim: nobody is to wait for somebody who thinks.
    fn think_ns(&mut self, phase: Phase) -> u64 {
        if !self.mixer.thinks()
            || self.has_thought
            || phase != Phase::Transactions
            || self.begun == self.transactions
        {
            return 0;
        }
        self.has_thought = true;
        self.mixer.draft(self.begun).think_ns
    }

    fn next(&mut self, phase: Phase, flight: usize, may_wait: bool) -> Option<Intent> {
        match phase {
            Phase::Prepare => {
                if self.prepared == self.share_of_files() {
                    return None;
                }
                let number = 1 + self.worker + self.prepared * self.workers;
                self.prepared += 1;
                let intent = self.create(flight, Action::Create, number);
                Some(Intent {
                    ends_transaction: false,
                    ..intent
                })
            }
            Phase::Transactions => {
                if self.begun == self.transactions {
                    return None;
                }
                let draft = Draft {
                    think_ns: 0,
                    ..self.mixer.draft(self.begun)
                };
                self.wants_one_landed = false;
                let intent = self.meet(draft, flight, may_wait)?;
                self.begun += 1;
                self.has_thought = false;
                Some(intent)
            }
            Phase::Delete => self.next_in_delete(),
        }
    }

    fn wants_one_landed(&self) -> bool {
        self.wants_one_landed
    }

    fn completed(&mut self, flight: usize, intent: &Intent, well: bool) {
        if well {
            self.pool.places[intent.place as usize].done(intent.action);
        }
        match std::mem::replace(&mut self.held[flight], Held::Nothing) {
            Held::New(file) if well => self.pool.publish(file),
            Held::Claimed(claim, change) if well => self.pool.give_back(claim, change),
            // What it holds now is not known: nobody is to meet it again.
            Held::Claimed(claim, Change::Becomes(_) | Change::Removed) => {
                self.pool.give_back(claim, Change::Removed)
            }
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
                let files =
                    mine.map(|shard| lock(&self.pool.shards[shard].inner).order.len() as u64);
                let extras = [NameKind::Link, NameKind::SymbolicLink, NameKind::Directory]
                    .map(|kind| self.pool.ring(kind).len() as u64);
                files.sum::<u64>()
                    + if self.worker == 0 {
                        extras.iter().sum()
                    } else {
                        0
                    }
            }
        }
    }

    fn end(&self) -> End {
        End::Complete
    }

    fn can_perform_any(&self, pool: &PoolState) -> bool {
        let has_room = self.pool.has_room();
        let mut mixers = iter::once(&self.mixer).chain(&self.writer);
        mixers.any(|mixer| mixer.can_perform_any(pool, has_room))
    }

    fn transactions_begun(&self) -> u64 {
        self.begun
    }

    fn pool(&self, all: bool, each: &mut dyn FnMut(Kept)) {
        for shard in (0..SHARDS).filter(|shard| all || *shard as u64 % self.workers == self.worker)
        {
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

    fn listing_begins(&mut self, flight: usize, place: u32) {
        self.seen[flight] = self.pool.places[place as usize].seen();
    }

    fn listing(&self, flight: usize, place: u32) -> Expected {
        let (least, most) = self.pool.places[place as usize].since(self.seen[flight]);
        Expected::Between(least, most)
    }

    fn take_waits(&mut self) -> Option<Histogram> {
        Some(std::mem::take(&mut self.waits.histogram))
    }
}
