//! The files of a shared pool, and the claims on them.
//!
//! The pool is divided into shards with one lock each. The popularity of a file follows from its
//! rank among the files of all shards.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use record::Histogram;
use workload::Mix;
use workload::extras::Thing;
use workload::mixer::Change;
use workload::names::NameKind;
use workload::pool::{File, Packed};

use crate::control::Control;
use crate::entries::Entries;

pub(super) const SHARDS: usize = 64;
/// Interval at which a waiting worker checks whether the run stops.
const LOOK_EVERY: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct SharedPool {
    pub(super) shards: Box<[Shard]>,
    pub(super) files: AtomicU64,
    links: Mutex<Vec<Thing>>,
    symbolic_links: Mutex<Vec<Thing>>,
    directories: Mutex<Vec<Thing>>,
    pub(super) extras_max: u64,
    pub(super) places: Box<[Entries]>,
    entries_max: Option<u64>,
}

/// A shard of the pool, on its own cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Shard {
    pub(super) inner: Mutex<Inner>,
    /// Signals that a claim was released while a worker waited.
    given_back: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct Inner {
    pub(super) slots: Vec<Slot>,
    free: Vec<u32>,
    /// Indices of the used slots, stored without gaps.
    pub(super) order: Vec<u32>,
    waiting: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) file: Packed,
    /// Position of this slot's index in `order`; `u32::MAX` while the slot is free.
    position: u32,
    /// Number of readers with a claim on the file; -1 for an exclusive claim.
    claims: i16,
    /// Number of workers that wait for an exclusive claim on the file. These workers take
    /// precedence over new readers.
    wanted: u16,
}

/// A claim on a file: exclusive, or shared with other readers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    shard: u32,
    slot: u32,
}

#[derive(Debug)]
pub(super) enum Claimed {
    Claim(Claim, File),
    /// The file is claimed by another operation, and the caller does not wait.
    Later,
    /// The shard or pool contains no file, or the run stops.
    Nothing,
}

/// Times that one worker has spent waiting for claimed files.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// Time of the first refusal of the claim for which the worker waits.
    since_ns: Option<u64>,
    pub(super) histogram: Histogram,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedPool {
    pub(crate) fn new(mix: &Mix) -> Self {
        let places = mix.layout.places() as usize * mix.location_weights.len();
        Self {
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
            files: AtomicU64::new(0),
            links: Mutex::default(),
            symbolic_links: Mutex::default(),
            directories: Mutex::default(),
            extras_max: mix.extras_max(),
            places: (0..places).map(|_| Entries::default()).collect(),
            entries_max: mix.layout.entries_max,
        }
    }

    pub(super) fn publish(&self, file: File) {
        // Files are numbered from 1, and popularity ranks from 0. The subtraction distributes files
        // and ranks over the shards alike.
        let shard = &self.shards[((file.number - 1) % SHARDS as u64) as usize];
        let mut inner = lock(&shard.inner);
        let slot = Slot {
            file: file.pack(),
            position: inner.order.len() as u32,
            claims: 0,
            wanted: 0,
        };
        let number = match inner.free.pop() {
            Some(number) => {
                let wanted = inner.slots[number as usize].wanted;
                inner.slots[number as usize] = Slot { wanted, ..slot };
                number
            }
            None => {
                inner.slots.push(slot);
                (inner.slots.len() - 1) as u32
            }
        };
        inner.order.push(number);
        drop(inner);
        self.files.fetch_add(1, Ordering::Relaxed);
    }

    /// Claims the file with popularity rank `rank`. If the shard of this popularity rank is empty,
    /// claims a file of the next shard. If another operation has claimed the file, waits for its
    /// release or returns [`Claimed::Later`].
    pub(super) fn claim(
        &self,
        rank: u64,
        exclusive: bool,
        may_wait: bool,
        control: &Control,
        now_ns: impl Fn() -> u64,
        waits: &mut Waits,
    ) -> Claimed {
        let mut claimed = Claimed::Nothing;
        for offset in 0..SHARDS {
            let number = (rank as usize + offset) % SHARDS;
            let refused = || {
                waits.since_ns.get_or_insert_with(&now_ns);
                may_wait
            };
            claimed = self.claim_in(number, rank / SHARDS as u64, exclusive, control, refused);
            if !matches!(claimed, Claimed::Nothing) {
                break;
            }
        }
        if !matches!(claimed, Claimed::Later)
            && let Some(since_ns) = waits.since_ns.take()
        {
            waits.histogram.record(now_ns().saturating_sub(since_ns));
        }
        claimed
    }

    /// Claims a file of one shard; returns [`Claimed::Nothing`] if the shard is empty. If the file
    /// is claimed, calls `refused`, whose result is whether to wait for the release.
    fn claim_in(
        &self,
        number: usize,
        rank: u64,
        exclusive: bool,
        control: &Control,
        mut refused: impl FnMut() -> bool,
    ) -> Claimed {
        let shard = &self.shards[number];
        let mut inner = lock(&shard.inner);
        // The slot whose `wanted` count this worker has increased, so that new readers wait.
        let mut wanted = None;
        let claimed = loop {
            let count = inner.order.len() as u64;
            if count == 0 {
                break None;
            }
            let slot = inner.order[(rank % count) as usize];
            if wanted.is_some_and(|wanted| wanted != slot) {
                Self::stand_down(shard, &mut inner, wanted.take(), None);
            }
            let found = &mut inner.slots[slot as usize];
            let free = if exclusive {
                found.claims == 0
            } else {
                found.claims >= 0 && found.wanted == 0
            };
            if free {
                found.claims = if exclusive { -1 } else { found.claims + 1 };
                break Some(slot);
            }
            if !refused() {
                // This worker stops waiting, so new readers no longer need to give it precedence.
                Self::stand_down(shard, &mut inner, wanted, None);
                return Claimed::Later;
            }
            if exclusive && wanted.is_none() {
                found.wanted += 1;
                wanted = Some(slot);
            }
            inner.waiting += 1;
            (inner, _) = shard
                .given_back
                .wait_timeout(inner, LOOK_EVERY)
                .unwrap_or_else(PoisonError::into_inner);
            inner.waiting -= 1;
            if control.is_stopping() {
                break None;
            }
        };
        Self::stand_down(shard, &mut inner, wanted, claimed);
        match claimed {
            Some(slot) => {
                let shard = number as u32;
                let file = File::unpack(inner.slots[slot as usize].file);
                Claimed::Claim(Claim { shard, slot }, file)
            }
            None => Claimed::Nothing,
        }
    }

    /// Withdraws this worker's precedence for a slot, and wakes waiting workers. If this worker has
    /// claimed the slot, the release of its claim later wakes the waiting workers instead.
    fn stand_down(shard: &Shard, inner: &mut Inner, wanted: Option<u32>, claimed: Option<u32>) {
        let Some(slot) = wanted else {
            return;
        };
        inner.slots[slot as usize].wanted -= 1;
        if inner.waiting > 0 && claimed != wanted {
            shard.given_back.notify_all();
        }
    }

    /// Releases a claim and applies the completed change to the file's entry.
    pub(super) fn give_back(&self, claim: Claim, change: Change) {
        let shard = &self.shards[claim.shard as usize];
        let mut inner = lock(&shard.inner);
        let slot = &mut inner.slots[claim.slot as usize];
        if slot.claims < 0 {
            slot.claims = 0;
        } else {
            slot.claims -= 1;
        }
        match change {
            Change::None | Change::Adds(_) => {}
            Change::Becomes(file) => slot.file = file.pack(),
            Change::Removed => {
                let position = slot.position as usize;
                slot.position = u32::MAX;
                inner.order.swap_remove(position);
                if let Some(moved) = inner.order.get(position).copied() {
                    inner.slots[moved as usize].position = position as u32;
                }
                inner.free.push(claim.slot);
                self.files.fetch_sub(1, Ordering::Relaxed);
            }
        }
        if inner.waiting > 0 {
            drop(inner);
            shard.given_back.notify_all();
        }
    }

    pub(super) fn ring(&self, kind: NameKind) -> MutexGuard<'_, Vec<Thing>> {
        lock(match kind {
            NameKind::Link => &self.links,
            NameKind::SymbolicLink => &self.symbolic_links,
            _ => &self.directories,
        })
    }

    /// Whether any directory can take one more entry.
    pub(super) fn has_room(&self) -> bool {
        let mut places = self.places.iter();
        self.entries_max
            .is_none_or(|most| places.any(|place| place.most() < most))
    }

    /// Counts the creation of an entry in a directory as started and returns true. Returns false if
    /// the directory is full.
    pub(super) fn takes_one_more(&self, place: u32) -> bool {
        self.places[place as usize].takes_one_more(self.entries_max)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    use super::*;

    /// A worker that waits for a claimed file sleeps until its release, or for [`LOOK_EVERY`].
    /// Waiting workers do not wake each other.
    #[test]
    fn worker_sleeps_while_it_waits_for_a_claimed_file() {
        let pool = SharedPool::new(&Mix::default());
        pool.publish(File {
            number: 1,
            file: 1,
            size_bytes: 0,
            place: 0,
            version: 0,
            has_extended: false,
        });
        let control = Control::default();
        let looks = AtomicUsize::new(0);
        let claim = |exclusive| {
            let looked = || {
                looks.fetch_add(1, Ordering::Relaxed);
                true
            };
            match pool.claim_in(0, 0, exclusive, &control, looked) {
                Claimed::Claim(claim, _) => claim,
                other => panic!("{other:?}"),
            }
        };
        let held = claim(true);
        thread::scope(|scope| {
            for exclusive in [true, true, false] {
                let claim = &claim;
                let pool = &pool;
                scope.spawn(move || pool.give_back(claim(exclusive), Change::None));
            }
            while lock(&pool.shards[0].inner).waiting < 3 {
                thread::yield_now();
            }
            thread::sleep(5 * LOOK_EVERY / 2);
            pool.give_back(held, Change::None);
        });
        let looks = looks.into_inner();
        assert!((3..100).contains(&looks), "looked {looks} times");
    }
}
