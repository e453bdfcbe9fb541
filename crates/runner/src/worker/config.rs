//! What a worker is given: what it does its work with, and what it is to do.

use std::sync::Arc;

use engine::{OpenError, Session};
use rundir::Log;
use rundir::manifest::Position;
use rundir::worker_status::Slot;
use spec::Cache;
use workload::contents::Contents;
use workload::{Action, Intent, Phase, Role, StreamHasher};

use crate::acknowledged::AcknowledgedByAll;
use crate::clock::RunClock;
use crate::control::Control;
use crate::failures::{Failures, Spoiled};
use crate::pace::Pacer;
use crate::path_builder::Namer;
use crate::source::Source;
use crate::stopwatch::Stopwatch;

/// What the worker does its work with.
pub(crate) struct Tools {
    /// Its number.
    pub worker: u32,
    pub source: Source,
    pub session: Box<dyn Session>,
    pub clock: RunClock,
    pub stopwatch: Stopwatch,
    pub control: Control,
    /// By flight, what it says of itself; what it does besides operations is on the first.
    pub slots: Vec<Arc<Slot>>,
    /// The origin of the record's moments.
    pub origin_ns: u64,
    /// Acknowledged operations are logged there.
    pub log: Option<Log>,
    pub pacer: Pacer,
    pub others: OtherPools,
}

/// The pools of other workers that a worker turns to.
pub(crate) struct OtherPools {
    /// The pool that it works on after the preparation, where that is not the one that it has
    /// prepared.
    pub neighbour: Option<OtherPool>,
    /// The pool that it checks for another rank.
    pub checked: Option<OtherPool>,
    /// What workers of other ranks have acknowledged.
    pub acknowledged: AcknowledgedByAll,
    /// How many workers all ranks have.
    pub workers: u32,
}

/// What a worker needs to turn to a pool that another one has worked on.
pub(crate) struct OtherPool {
    /// The number of that one.
    pub worker: u32,
    pub pool: PoolAt,
    /// Opens a session in that pool's directories.
    pub open: Box<dyn FnOnce() -> Result<Box<dyn Session>, OpenError> + Send>,
}

/// A pool that a worker is at, and what belongs to it.
pub(crate) struct PoolAt {
    pub source: Source,
    pub namer: Namer,
    pub payload: Payload,
    pub hasher: StreamHasher,
    /// What is not known of it: of this worker's own doing, and where the pool is shared, of all.
    pub spoiled: Arc<Spoiled>,
}

/// What files hold.
pub(crate) enum Payload {
    /// The classic edition's text: every operation writes its first bytes.
    Text(Arc<Vec<u8>>),
    /// A function of file, version and offset, made in a buffer before the operation.
    Made { contents: Contents, buffer: Vec<u8> },
}

impl Payload {
    /// What an intent writes.
    #[inline]
    pub(super) fn content(&mut self, intent: &Intent) -> &[u8] {
        if !intent.action.moves_bytes_out() {
            return &[];
        }
        let bytes = intent.bytes as usize;
        match self {
            Self::Text(text) => &text[..bytes],
            Self::Made { contents, buffer } => {
                let made = &mut buffer[..bytes];
                contents.fill(intent.file, intent.version, intent.offset_bytes, made);
                made
            }
        }
    }
}

/// A directory of the pool itself.
pub(crate) struct PoolDirectory {
    pub location: usize,
    /// Among those of its location.
    pub number: u64,
    pub name: Vec<u8>,
}

/// What a worker is to do.
pub(crate) struct WorkerConfig {
    pub namer: Namer,
    pub payload: Payload,
    pub failures: Failures,
    pub role: Role,
    /// Which directories this worker makes and removes, by location.
    pub directories: Vec<PoolDirectory>,
    /// Whether anybody makes directories.
    pub has_directories: bool,
    pub cache: Cache,
    pub verify: bool,
    pub check: bool,
    /// Whether a transaction is a pair of operations.
    pub has_pairs: bool,
    /// The pool is there already, and so far.
    pub reuse: Option<Position>,
    /// Whether the pool stays.
    pub keep: bool,
    /// The number of the first segment of the transactions after a warm-up.
    pub first_round: u32,
    /// What can occur, by phase.
    pub actions: [Vec<Action>; Phase::ALL.len()],
    /// Whether slices of a second are handed over.
    pub slices: bool,
    /// Hashes the intents, where they are a function of the workload.
    pub hasher: StreamHasher,
}
