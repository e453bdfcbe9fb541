//! Exchanges acknowledged operations between ranks, so that a rank can check files of another rank.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rundir::worker_status::WrittenName;
use serde::{Deserialize, Serialize};
use workload::Kept;
use workload::names::NameKind;

/// Files and names whose state is unknown because operations on them failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SpoiledThings {
    /// Files with unknown state. Workers skip all further operations on these files.
    pub files: HashSet<u64>,
    /// Names that may or may not exist, by directory index.
    pub names: BTreeMap<u32, BTreeSet<(NameKind, u64)>>,
    /// Names of files whose last write failed. Such a file may contain only a part of the written
    /// data.
    pub written: BTreeSet<WrittenName>,
}

/// The operations that a worker acknowledged. From these operations, another worker derives the
/// files and names that must exist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Acknowledged {
    /// Number of operations that the worker took from its stream in transactions, including skipped
    /// ones. The contents of a private pool follow from this number.
    pub intents: u64,
    /// A sample of the entries of a shared pool, which a worker of another rank checks. `None` for
    /// a private pool, and before the transactions.
    pub sample: Option<Vec<Kept>>,
    pub spoiled: SpoiledThings,
}

/// Exchanges acknowledged operations between ranks. A worker stores its acknowledged operations
/// before a barrier and reads those of another worker after the barrier. Clones share one state.
#[derive(Clone, Debug, Default)]
pub(crate) struct AcknowledgedByAll(Arc<Mutex<ToldByWorkers>>);

#[derive(Debug, Default)]
struct ToldByWorkers {
    /// Acknowledged operations of this rank's workers, by worker.
    own: BTreeMap<u32, Acknowledged>,
    /// Acknowledged operations of all ranks' workers, by worker.
    all: BTreeMap<u32, Acknowledged>,
}

impl AcknowledgedByAll {
    fn lock(&self) -> MutexGuard<'_, ToldByWorkers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the acknowledged operations of one worker of this rank.
    pub(crate) fn tell(&self, worker: u32, own: Acknowledged) {
        self.lock().own.insert(worker, own);
    }

    /// Removes and returns everything stored with [`Self::tell`].
    pub(crate) fn take(&self) -> BTreeMap<u32, Acknowledged> {
        std::mem::take(&mut self.lock().own)
    }

    /// Stores the acknowledged operations of all ranks, which replace earlier ones.
    pub(crate) fn publish(&self, all: BTreeMap<u32, Acknowledged>) {
        self.lock().all = all;
    }

    /// Removes and returns what [`Self::publish`] stored for a worker.
    pub(crate) fn of(&self, worker: u32) -> Option<Acknowledged> {
        self.lock().all.remove(&worker)
    }
}
