//! The inputs of a worker: its tools and its configuration.

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

pub(crate) struct Tools {
    pub worker: u32,
    pub source: Source,
    pub session: Box<dyn Session>,
    pub clock: RunClock,
    pub stopwatch: Stopwatch,
    pub control: Control,
    /// Status slots, one for each operation that can be in flight (`--depth`). Actions that are not
    /// operations of the workload use the first slot.
    pub slots: Vec<Arc<Slot>>,
    /// The origin of the record's timestamps.
    pub origin_ns: u64,
    pub log: Option<Log>,
    pub pacer: Pacer,
    pub others: OtherPools,
}

/// Pools of other workers that a worker uses.
pub(crate) struct OtherPools {
    /// The pool for the transactions, if that is not the pool that this worker prepared.
    pub neighbour: Option<OtherPool>,
    /// The pool that this worker checks for another rank.
    pub checked: Option<OtherPool>,
    /// Operations that workers of other ranks acknowledged.
    pub acknowledged: AcknowledgedByAll,
    /// Number of workers of all ranks.
    pub workers: u32,
}

/// The inputs for changing to the pool of another worker.
pub(crate) struct OtherPool {
    pub worker: u32,
    pub pool: PoolAt,
    pub open: Box<dyn FnOnce() -> Result<Box<dyn Session>, OpenError> + Send>,
}

/// A pool with everything that a worker needs to use it.
pub(crate) struct PoolAt {
    pub source: Source,
    pub namer: Namer,
    pub payload: Payload,
    pub hasher: StreamHasher,
    /// Files and names whose state is unknown after failed operations. In a shared pool, failures
    /// of all workers are included.
    pub spoiled: Arc<Spoiled>,
}

/// The source of the bytes that operations write.
pub(crate) enum Payload {
    /// The text of classic workloads. Every operation writes a prefix of the text.
    Text(Arc<Vec<u8>>),
    /// Contents that depend on file, version and offset. The contents are generated into a buffer
    /// before the operation is issued.
    Made { contents: Contents, buffer: Vec<u8> },
}

impl Payload {
    /// Returns the bytes that an intent writes; empty if it writes none.
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

/// A subdirectory of a location.
pub(crate) struct PoolDirectory {
    pub location: usize,
    /// Index of the subdirectory within its location.
    pub number: u64,
    pub name: Vec<u8>,
}

pub(crate) struct WorkerConfig {
    pub namer: Namer,
    pub payload: Payload,
    pub failures: Failures,
    pub role: Role,
    /// The directories that this worker creates and removes, by location.
    pub directories: Vec<PoolDirectory>,
    /// Whether any worker creates directories.
    pub has_directories: bool,
    /// State of the page cache before each phase of the workload; a single state for a workload
    /// without phases.
    pub caches: Vec<Cache>,
    pub verify: bool,
    pub check: bool,
    /// Whether a transaction is a pair of operations.
    pub has_pairs: bool,
    /// Position in the stream of the reused pool; `None` for a new pool.
    pub reuse: Option<Position>,
    pub keep: bool,
    /// Number of the first segment after the warm-up.
    pub first_round: u32,
    /// For each phase, the actions whose operations may occur.
    pub actions: [Vec<Action>; Phase::ALL.len()],
    /// Whether the worker sends its results of each second to the supervisor.
    pub slices: bool,
    /// Computes the hash of the stream, if the intents depend only on the workload.
    pub hasher: StreamHasher,
}
