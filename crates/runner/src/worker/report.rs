//! Results of a worker: of a phase and of the whole run.

use std::collections::BTreeSet;

use record::{Check, ErrorRecord, Histogram, SlowestRecord, Stale};
use rundir::manifest::Position;
use rundir::worker_status::WrittenName;
use workload::{End, Phase, Role, StreamHash};

use super::phase_stats::SegmentReport;
use crate::failures::Failed;

#[derive(Clone, Debug)]
pub(crate) struct PhaseReport {
    pub phase: Phase,
    pub role: Role,
    pub complete: bool,
    pub ended_ns: u64,
    /// Segments in order. Segments without an operation of this worker are omitted.
    pub segments: Vec<SegmentReport>,
    /// Number of transactions that were due but not started when the phase ended; `None` in a
    /// closed loop.
    pub waiting: Option<u64>,
    /// Time at which the worker last had no overdue transaction. `None` in a closed loop, or if the
    /// worker never caught up with the due times.
    pub caught_up_ns: Option<u64>,
    pub slowest: Vec<SlowestRecord>,
    pub waits: Option<Histogram>,
    /// Number of items that all workers had completed when this worker ended the phase.
    pub done_by_all: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Report {
    pub failed: Option<Failed>,
    pub errors: Vec<ErrorRecord>,
    /// Whether the state of any file or name is unknown.
    pub any_spoiled: bool,
    /// Names of files whose last write failed. Such a file may contain only a part of the written
    /// data.
    pub partly_written: BTreeSet<WrittenName>,
    /// Number of creations that a stop interrupted. Their files may exist, although no other
    /// counter includes these creations.
    pub creations_left: u64,
    /// Whether a stop request ended the worker's stages early.
    pub is_stopped: bool,
    /// Hash of the worker's stream; `None` if the worker did not perform the whole stream.
    pub stream_hash: Option<StreamHash>,
    pub end: Option<End>,
    /// Position in the stream after the transactions.
    pub position: Position,
    /// Whether the worker's pool is complete, either newly prepared or reused.
    pub has_pool: bool,
    /// Number of files, links and directories of the pool after the transactions.
    pub names: u64,
    /// Results of checking a pool that an earlier run or another worker prepared; `None` if this
    /// worker checked none.
    pub taken: Option<Check>,
    /// Operations of other workers whose effects this worker saw only after a delay.
    pub stale: Option<Stale>,
    /// Readings of the wall clock in whole seconds, as in the original PostMark. The readings are
    /// taken at the start of the creation, the start and end of the transactions, and the end of
    /// the deletion.
    pub borders_s: Vec<i64>,
    pub classic_bytes_read: f32,
    pub classic_bytes_written: f32,
    pub check: Option<Check>,
    /// Results of this worker's check that the acknowledged operations of another rank are visible.
    pub check_across: Option<Check>,
}
