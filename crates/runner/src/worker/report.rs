//! What a worker did: in a phase, and in all.

use std::collections::BTreeSet;

use record::{Check, ErrorRecord, Histogram, SlowestRecord, Stale};
use rundir::manifest::Position;
use rundir::worker_status::WrittenName;
use workload::{End, Phase, Role, StreamHash};

use super::phase_stats::SegmentReport;
use crate::failures::Failed;

/// What a worker did in a phase.
#[derive(Clone, Debug)]
pub(crate) struct PhaseReport {
    pub phase: Phase,
    pub role: Role,
    pub complete: bool,
    pub ended_ns: u64,
    /// In their order; those in which it did nothing are left out.
    pub segments: Vec<SegmentReport>,
    /// Transactions that were due and not begun at the end; nothing in a closed loop.
    pub waiting: Option<u64>,
    /// When it was up to its arrivals last; nothing in a closed loop, and where it never was.
    pub caught_up_ns: Option<u64>,
    pub slowest: Vec<SlowestRecord>,
    pub waits: Option<Histogram>,
    /// What all workers together had done when this one was done.
    pub done_by_all: u64,
}

/// What the worker did.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub failed: Option<Failed>,
    pub errors: Vec<ErrorRecord>,
    /// Whether there are files whose state is not known.
    pub any_spoiled: bool,
    /// Files that were written, and not to the end.
    pub partly_written: BTreeSet<WrittenName>,
    /// Creations that a stop left in the middle: they are in no count, and their files are there.
    pub creations_left: u64,
    /// Somebody's wish ended the work before its end.
    pub is_stopped: bool,
    /// The hash of the stream, where all of it was performed.
    pub stream_hash: Option<StreamHash>,
    pub end: Option<End>,
    /// How far the stream's transactions were performed.
    pub position: Position,
    /// Whether the whole pool is there: it was prepared, or taken.
    pub has_pool: bool,
    /// Files, links and directories of the pool when the transactions had ended.
    pub names: u64,
    /// The look at a pool of an earlier run.
    pub taken: Option<Check>,
    /// What was seen late of what other workers had acknowledged.
    pub stale: Option<Stale>,
    /// Wall clock in whole seconds, as the original reads it: creations begin, transactions begin
    /// and end, all is deleted.
    pub borders_s: Vec<i64>,
    pub classic_bytes_read: f32,
    pub classic_bytes_written: f32,
    pub check: Option<Check>,
    /// The look at what a worker of another rank has acknowledged.
    pub check_across: Option<Check>,
}
