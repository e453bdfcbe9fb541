//! What workers have acknowledged, told to those of other ranks that check it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rundir::worker_status::WrittenName;
use serde::{Deserialize, Serialize};
use workload::Kept;
use workload::names::NameKind;

/// What is not known of files since operations failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SpoiledThings {
    /// Files whose state is not known: nothing more is sent to them.
    pub files: HashSet<u64>,
    /// By place, names that may be there or not.
    pub names: BTreeMap<u32, BTreeSet<(NameKind, u64)>>,
    /// Files that were written, and not to the end.
    pub written: BTreeSet<WrittenName>,
}

/// What a worker has acknowledged: all that another one must know to find out what has to be there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Acknowledged {
    /// Intents of transactions that were performed: what a private pool holds follows from them.
    pub intents: u64,
    /// Of a shared pool, some of what it holds. Nothing of other pools, and before the
    /// transactions.
    pub sample: Option<Vec<Kept>>,
    /// What is not known since operations failed.
    pub spoiled: SpoiledThings,
}

/// Workers tell theirs before a border, and behind it they find those of all ranks. Its copies are
/// the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct AcknowledgedByAll(Arc<Mutex<ToldByWorkers>>);

#[derive(Debug, Default)]
struct ToldByWorkers {
    /// By worker of this rank.
    own: BTreeMap<u32, Acknowledged>,
    /// By worker of all ranks.
    all: BTreeMap<u32, Acknowledged>,
}

impl AcknowledgedByAll {
    fn lock(&self) -> MutexGuard<'_, ToldByWorkers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A worker tells its own.
    pub(crate) fn tell(&self, worker: u32, own: Acknowledged) {
        self.lock().own.insert(worker, own);
    }

    /// What the workers of this rank have told since this was asked last.
    pub(crate) fn take(&self) -> BTreeMap<u32, Acknowledged> {
        std::mem::take(&mut self.lock().own)
    }

    /// What those of all ranks have told.
    pub(crate) fn publish(&self, all: BTreeMap<u32, Acknowledged>) {
        self.lock().all = all;
    }

    /// What a worker has told, once.
    pub(crate) fn of(&self, worker: u32) -> Option<Acknowledged> {
        self.lock().all.remove(&worker)
    }
}
