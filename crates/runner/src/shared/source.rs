//! Draws the intents of one worker on a shared pool.

use std::iter;
use std::sync::Arc;

use record::Histogram;
use workload::extras::{Thing, removal};
use workload::mixer::{Change, Draft, Mixer, deletion};
use workload::names::NameKind;
use workload::pool::File;
use workload::popularity::PopularityRanks;
use workload::{Action, Intent, Kept, Mix, Pause, Phase, PoolState};

use super::pool::{Claim, SHARDS, SharedPool, Waits, lock};
use crate::clock::RunClock;
use crate::control::Control;
use crate::entries::Seen;
use crate::listings::Expected;
use crate::source::SharedIntents;

/// The part of the pool that an operation in flight uses. It is released, published or removed when
/// the operation completes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Held {
    Nothing,
    /// A new file, which is published when its creation has completed.
    New(File),
    Claimed(Claim, Change),
    /// A claimed file and its new link. The link is published when its creation has completed.
    Linked(Claim, NameKind, Thing),
    /// A symbolic link or a directory that an operation uses and does not change. The entry returns
    /// to the pool when the operation has completed.
    Lent(NameKind, Thing),
    /// A new directory, which is published when its creation has completed.
    Directory(Thing),
    /// An entry that is being removed.
    Gone,
}

#[derive(Debug)]
pub(crate) struct SharedSource {
    pub(super) pool: Arc<SharedPool>,
    pub(super) mixer: Mixer,
    /// The mixer of the pool's writers, if this worker only reads. The mixer determines whether any
    /// writer could still change the pool.
    pub(super) writer: Option<Mixer>,
    pub(super) ranks: PopularityRanks,
    pub(super) control: Control,
    pub(super) clock: RunClock,
    pub(super) worker: u64,
    pub(super) workers: u64,
    pub(super) files: u64,
    pub(super) transactions: u64,
    pub(super) prepared: u64,
    pub(super) begun: u64,
    /// Number of new files to which this worker has assigned a file number.
    pub(super) fresh: u64,
    pub(super) deleting: Deleting,
    /// Whether [`Self::pause`] has already returned the think and busy time of the next
    /// transaction.
    pub(super) has_paused: bool,
    /// Whether the file of the next operation is claimed. In this case, an operation of this worker
    /// must complete before the next draw.
    pub(super) wants_one_landed: bool,
    /// The part of the pool that each operation in flight uses, indexed by flight (the slot of an
    /// operation in flight).
    pub(super) held: Vec<Held>,
    pub(super) seen: Vec<Seen>,
    pub(super) waits: Waits,
}

/// Position of the next file that a worker deletes: its shard, and its position in the shard's
/// `order`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deleting {
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
            has_paused: false,
            wants_one_landed: false,
            held: vec![Held::Nothing; depth],
            seen: vec![Seen::default(); depth],
            waits: Waits::default(),
        }
    }

    /// Number of initial files that this worker creates. File numbers are distributed round-robin
    /// over the workers.
    fn share_of_files(&self) -> u64 {
        (self.files + self.workers - 1 - self.worker) / self.workers
    }

    pub(super) fn fresh(&mut self) -> u64 {
        self.fresh += 1;
        self.files + 1 + self.worker + (self.fresh - 1) * self.workers
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

impl SharedIntents for SharedSource {
    /// Returns the think time and the busy time (`--compute`) before the next transaction. Both
    /// pass before the worker claims a file, so that no other worker waits for the file meanwhile.
    fn pause(&mut self, phase: Phase) -> Pause {
        if !self.mixer.pauses()
            || self.has_paused
            || phase != Phase::Transactions
            || self.begun == self.transactions
        {
            return Pause::NONE;
        }
        self.has_paused = true;
        self.mixer.draft(self.begun).pause
    }

    fn draw(&mut self, phase: Phase, intent: &mut Intent, flight: usize, may_wait: bool) -> bool {
        match phase {
            Phase::Prepare => {
                if self.prepared == self.share_of_files() {
                    return false;
                }
                let number = 1 + self.worker + self.prepared * self.workers;
                self.prepared += 1;
                *intent = self.create(flight, Action::Create, number);
                intent.ends_transaction = false;
            }
            Phase::Transactions => {
                if self.begun == self.transactions {
                    return false;
                }
                let draft = Draft {
                    pause: Pause::NONE,
                    ..self.mixer.draft(self.begun)
                };
                self.wants_one_landed = false;
                if !self.meet(draft, intent, flight, may_wait) {
                    return false;
                }
                self.begun += 1;
                self.has_paused = false;
            }
            Phase::Delete => match self.next_in_delete() {
                Some(next) => *intent = next,
                None => return false,
            },
        }
        true
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
            Held::Claimed(claim, Change::Adds(file)) => {
                self.pool.give_back(claim, Change::None);
                if well {
                    self.pool.publish(file);
                }
            }
            Held::Claimed(claim, change) if well => self.pool.give_back(claim, change),
            // After a failed change, the state of the file is unknown, so the file is removed from
            // the pool.
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
            // The operation does not change the link or directory, so the entry returns to the pool
            // even after a failure.
            Held::Lent(kind, thing) => self.pool.ring(kind).push(thing),
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
