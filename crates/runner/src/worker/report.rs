//! Results of a worker: of a phase and of the whole run.

use std::collections::BTreeSet;

use record::{Check, ErrorRecord, Histogram, SlowestRecord, Stale};
use rundir::manifest::Position;
use rundir::worker_status::WrittenName;
use workload::{End, Phase, Role, StreamHash};

use super::phase_stats::SegmentReport;
use crate::failures::Failed;

/// Results of a worker in a phase.
#[derive(Clone, Debug)]
pub(crate) struct PhaseReport {
    pub phase: Phase,
    pub role: Role,
    pub complete: bool,
    pub ended_ns: u64,
    /// Segments in order, without those in which the worker did nothing.
    pub segments: Vec<SegmentReport>,
    /// Transactions that were due but not started at the end; `None` in a closed loop.
    pub waiting: Option<u64>,
    /// When the worker last had no due transaction waiting. `None` in a closed loop, or if it never
    /// caught up.
    pub caught_up_ns: Option<u64>,
    pub slowest: Vec<SlowestRecord>,
    pub waits: Option<Histogram>,
    /// Completed items of all workers at the moment when this worker ended the phase.
    pub done_by_all: u64,
}

/// Results of a worker in the whole run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub failed: Option<Failed>,
    pub errors: Vec<ErrorRecord>,
    /// Whether the state of any file or name is unknown.
    pub any_spoiled: bool,
    /// Files that were partly written.
    pub partly_written: BTreeSet<WrittenName>,
    /// Creations that a stop interrupted. No counter includes them, but their files exist.
    pub creations_left: u64,
    /// Whether a stop request ended the work early.
    pub is_stopped: bool,
    /// Hash of the stream; `None` if not all of it was performed.
    pub stream_hash: Option<StreamHash>,
    pub end: Option<End>,
    /// Position in the stream after the transactions.
    pub position: Position,
    /// Whether the whole pool exists: it was prepared or reused.
    pub has_pool: bool,
    /// Number of files, links and directories of the pool after the transactions.
    pub names: u64,
    /// Results of checking a reused pool.
    pub taken: Option<Check>,
    /// Operations of other workers that became visible late.
    pub stale: Option<Stale>,
    /// Wall clock in whole seconds, as the original PostMark reads it: start of creation, start and
    /// end of transactions, end of deletion.
    pub borders_s: Vec<i64>,
    pub classic_bytes_read: f32,
    pub classic_bytes_written: f32,
    pub check: Option<Check>,
    /// Results of checking operations that a worker of another rank acknowledged.
    pub check_across: Option<Check>,
}
