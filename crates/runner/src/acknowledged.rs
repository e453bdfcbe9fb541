//! Exchanges acknowledged operations between ranks, so that one rank can check another's files.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rundir::worker_status::WrittenName;
use serde::{Deserialize, Serialize};
use workload::Kept;
use workload::names::NameKind;

/// Files and names whose state is unknown because operations on them failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SpoiledThings {
    /// Files with unknown state. No further operations are sent to them.
    pub files: HashSet<u64>,
    /// Names that may or may not exist, by directory index.
    pub names: BTreeMap<u32, BTreeSet<(NameKind, u64)>>,
    /// Files that were partly written.
    pub written: BTreeSet<WrittenName>,
}

/// The operations that a worker acknowledged. From them, another worker derives the files and names
/// that must exist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Acknowledged {
    /// Number of performed transaction intents. The contents of a private pool follow from it.
    pub intents: u64,
    /// A sample of a shared pool's entries. `None` for private pools and before the transactions.
    pub sample: Option<Vec<Kept>>,
    /// Files and names whose state is unknown because operations failed.
    pub spoiled: SpoiledThings,
}

/// Exchanges acknowledgements between ranks. Workers store theirs before a barrier and read those
/// of all ranks after it. Clones share one state.
#[derive(Clone, Debug, Default)]
pub(crate) struct AcknowledgedByAll(Arc<Mutex<ToldByWorkers>>);

#[derive(Debug, Default)]
struct ToldByWorkers {
    /// Acknowledgements of this rank's workers, by worker.
    own: BTreeMap<u32, Acknowledged>,
    /// Acknowledgements of all ranks' workers, by worker.
    all: BTreeMap<u32, Acknowledged>,
}

impl AcknowledgedByAll {
    fn lock(&self) -> MutexGuard<'_, ToldByWorkers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the acknowledgements of one worker of this rank.
    pub(crate) fn tell(&self, worker: u32, own: Acknowledged) {
        self.lock().own.insert(worker, own);
    }

    /// Removes and returns all acknowledgements stored with [`Self::tell`].
    pub(crate) fn take(&self) -> BTreeMap<u32, Acknowledged> {
        std::mem::take(&mut self.lock().own)
    }

    /// Replaces the acknowledgements of all ranks.
    pub(crate) fn publish(&self, all: BTreeMap<u32, Acknowledged>) {
        self.lock().all = all;
    }

    /// Removes and returns the published acknowledgements of a worker.
    pub(crate) fn of(&self, worker: u32) -> Option<Acknowledged> {
        self.lock().all.remove(&worker)
    }
}
