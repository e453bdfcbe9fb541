//! Results of a phase of a run: its segments, workers, times and counters.

use measure::{Histogram, Meter, Slices};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::Fact;
use workload::{Action, Phase, Role, Skipped};

use crate::evidence::PhaseEvidence;
use crate::host_phase::HostPhase;
use crate::machine::MachineOverTime;
use crate::pauses::Pauses;
use crate::share::share;
use crate::sizing::SteadyFound;

/// Operations of one kind in a segment, performed by workers of one role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationRecord {
    /// Role of the workers that performed the operations. Only workers of a shared pool are divided
    /// into readers and writers.
    pub role: Role,
    /// Kind of the operations, such as `read` or `delete`.
    pub action: Action,
    /// Counts and latencies of the operations.
    pub meter: Meter,
    /// Latencies of each kind of call within the operations; empty if calls were not timed.
    pub steps: Vec<StepRecord>,
}

/// Latencies of one kind of call, within the operations of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepRecord {
    /// Name of the call, such as `open` or `write`.
    pub step: String,
    /// Durations of the calls, in nanoseconds.
    pub latency: Histogram,
}

/// How long workers of one role waited for files that other workers had claimed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimWaits {
    /// Role of the waiting workers, such as writer or reader.
    pub role: Role,
    /// Waiting times in nanoseconds, one for each claim that had to wait.
    pub wait: Histogram,
}

/// Results of one worker in a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerPhase {
    /// Number of the worker among those of all ranks, from 0.
    pub worker: u32,
    /// Role of the worker, for example writer or reader of a shared pool.
    pub role: Role,
    /// When the worker began, in nanoseconds since the run's `origin`.
    pub began_ns: u64,
    /// When the worker finished, in nanoseconds since the run's `origin`.
    pub ended_ns: u64,
    /// Number of transactions that were issued and have ended, whatever their result.
    pub issued: u64,
    /// Number of transactions of which the worker completed at least one operation.
    pub transactions: u64,
    /// Number of completed operations, without skipped and failed ones.
    pub operations: u64,
    /// Bytes that the worker's completed operations read or wrote.
    pub bytes: u64,
}

/// The moment at which the first worker finished a phase. From then on, not all workers performed
/// operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FirstDone {
    /// Number of the worker among those of all ranks, from 0.
    pub worker: u32,
    /// When this worker finished, in nanoseconds since the run's `origin`.
    pub at_ns: u64,
    /// Work that all workers together had completed at this moment: files in `prepare` and
    /// `delete`, otherwise transactions of the measured segments. With several ranks, only workers
    /// of the same rank are included.
    pub done: u64,
}

/// The sync after a phase: syncfs(2) of every file system of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseSync {
    /// When the sync began, in nanoseconds since the run's `origin`.
    pub began_ns: u64,
    /// When the sync ended, in nanoseconds since the run's `origin`.
    pub ended_ns: u64,
    /// After `delete`: time from the beginning of the sync until the file system reported the space
    /// as free, in nanoseconds.
    pub space_back_ns: Fact<u64>,
}

/// Whether the phase's results include a segment, and the reason if they exclude it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SegmentKind {
    /// Warm-up. The phase's results exclude it.
    WarmUp,
    /// Rounds before the steady window, or before the last window if no window was steady. The
    /// phase's results exclude these rounds.
    Approach,
    /// Measurement window, to which the phase's results refer.
    Measured,
}

/// The slowest operations of one kind, at most 20.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlowestRecord {
    /// Kind of the operations, such as `read` or `delete`.
    pub action: Action,
    /// The operations, the slowest first.
    pub operations: Vec<SlowOperation>,
}

/// One of the slowest operations, with its worker, its file and its longest call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlowOperation {
    /// Latency, in nanoseconds.
    pub ns: u64,
    /// Number of the worker among those of all ranks, from 0.
    pub worker: u32,
    /// When the operation was issued, in nanoseconds since the run's `origin`.
    pub issued_ns: u64,
    /// Path of the file or directory that the operation used.
    pub path: String,
    /// The longest call of the operation; null if calls were not timed.
    pub step: Option<SlowStep>,
}

/// The longest call of one of the slowest operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlowStep {
    /// Name of the call, such as `open` or `write`.
    pub step: String,
    /// Duration of the call, in nanoseconds.
    pub ns: u64,
}

/// Computations that workers perform before operations (`--compute`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComputeRecord {
    /// Number of computations.
    pub count: u64,
    /// Processor time of all computations together, in nanoseconds. Latencies exclude this time.
    pub ns: u64,
}

impl ComputeRecord {
    /// Whether the workers performed no computations.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Adds the computations of another worker or segment to those of `self`.
    pub fn add(&mut self, more: Self) {
        self.count = self.count.saturating_add(more.count);
        self.ns = self.ns.saturating_add(more.ns);
    }
}

/// A part of a phase, such as the warm-up or the measurement window, with its own counts and
/// latencies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Segment {
    /// Whether the phase's results include the segment, and the reason if they exclude it.
    pub kind: SegmentKind,
    /// When the segment began, in nanoseconds since the run's `origin`.
    pub began_ns: u64,
    /// When the segment ended, in nanoseconds since the run's `origin`.
    pub ended_ns: u64,
    /// Number of transactions that were issued and have ended: those in `transactions`, those that
    /// were skipped, and those that failed.
    pub issued: u64,
    /// Number of transactions of which at least one operation was completed.
    pub transactions: u64,
    /// Number of operations of the stream that were not performed, by reason.
    pub skipped: Skipped,
    /// Computations that workers performed before operations; absent without computations.
    #[serde(default, skip_serializing_if = "ComputeRecord::is_none")]
    pub compute: ComputeRecord,
    /// Operations by role and kind. Kinds that did not occur are omitted.
    pub operations: Vec<OperationRecord>,
}

/// A phase of a run, with its results and counters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseRecord {
    /// Kind of the phase: `prepare`, `transactions` or `delete`.
    pub phase: Phase,
    /// Whether the phase was completed; false if it was aborted, or if a rank did not reach it.
    pub complete: bool,
    /// Segments of the phase, in order.
    pub segments: Vec<Segment>,
    /// Results of each worker in the measured segments.
    pub workers: Vec<WorkerPhase>,
    /// The first worker that finished; null if no worker finished.
    pub first_done: Option<FirstDone>,
    /// Number of transactions that were due but had not begun when the phase ended; null for a
    /// closed loop.
    pub waiting: Option<u64>,
    /// Moment until which all workers kept up with their arrivals, in nanoseconds since the run's
    /// `origin`. One worker kept up until the last moment at which none of its transactions was
    /// due. The value is the earliest moment of all workers. Null for a closed loop, or if a worker
    /// never kept up.
    pub caught_up_ns: Option<u64>,
    /// How long workers waited for files that other workers had claimed, or for their own
    /// operations in flight on the same file. Empty for private pools with one operation at a time.
    pub claim_waits: Vec<ClaimWaits>,
    /// Operations over time since the start of the phase, by role and kind of operation, including
    /// warm-ups.
    pub slices: Slices<(Role, Action)>,
    /// The slowest operations of each kind, including those of warm-ups.
    pub slowest: Vec<SlowestRecord>,
    /// Kernel counters over time; null if slices are not recorded.
    pub machine: Option<MachineOverTime>,
    /// Pauses of the program; absent if the phase had no thread that detects pauses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<Pauses>,
    /// Result of the steady-state rule that was requested to end the transactions; null if no rule
    /// was requested.
    pub steady: Option<SteadyFound>,
    /// The sync after the phase; null if it was not requested, or the phase was aborted.
    pub sync: Option<PhaseSync>,
    /// Evidence of whether the page cache, a device or a server performed the phase's operations;
    /// null if the I/O engine uses no file system. With several ranks, counters of the I/O engine
    /// and of processes are summed over ranks, messages and interfaces over hosts, and devices over
    /// kernels.
    pub evidence: Option<PhaseEvidence>,
    /// The evidence by host, in order of their first ranks; absent for a run with one rank.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostPhase>,
}

impl PhaseRecord {
    /// Iterates over the segments that the phase's results include. Excluded are the warm-up and
    /// the rounds before the steady window.
    pub fn measured(&self) -> impl Iterator<Item = &Segment> {
        self.segments
            .iter()
            .filter(|segment| segment.kind == SegmentKind::Measured)
    }

    /// Iterates over the operation records of the measured segments. Each segment has one for each
    /// role and kind of operation.
    pub fn measured_operations(&self) -> impl Iterator<Item = &OperationRecord> {
        self.measured().flat_map(|segment| &segment.operations)
    }

    /// Iterates over the operation records of all segments, including the warm-up.
    pub fn all_operations(&self) -> impl Iterator<Item = &OperationRecord> {
        self.segments.iter().flat_map(|segment| &segment.operations)
    }

    /// Returns when the first segment began and when the last one ended, in nanoseconds since the
    /// run's `origin`; `None` without segments.
    pub fn span_ns(&self) -> Option<(u64, u64)> {
        let began_ns = self.segments.iter().map(|segment| segment.began_ns).min()?;
        let ended_ns = self.segments.iter().map(|segment| segment.ended_ns).max()?;
        Some((began_ns, ended_ns))
    }

    /// Returns the number of transactions of all segments that were issued and have ended.
    pub fn all_issued(&self) -> u64 {
        self.segments.iter().map(|segment| segment.issued).sum()
    }

    /// Whether no segment is a warm-up or a round before the steady window.
    pub fn is_all_measured(&self) -> bool {
        self.measured().count() == self.segments.len()
    }

    /// Returns the warm-up segment; `None` for a phase without a warm-up.
    pub fn warm_up(&self) -> Option<&Segment> {
        self.segments
            .iter()
            .find(|segment| segment.kind == SegmentKind::WarmUp)
    }

    /// Returns the time from the start of the first measured segment to the end of the last, in
    /// nanoseconds.
    pub fn measured_ns(&self) -> u64 {
        match (self.measured().next(), self.measured().last()) {
            (Some(first), Some(last)) => last.ended_ns.saturating_sub(first.began_ns),
            _ => 0,
        }
    }

    /// Returns the performed transactions of an open loop as a share of the arrived transactions.
    /// Arrived transactions were issued in measured segments, or are still waiting at the end.
    /// `None` for a closed loop, or if no transaction arrived.
    ///
    /// Arrivals are counted instead of computed from rate times time. With random arrivals, the
    /// count differs from this product by chance. If 1,000 arrivals are expected, the standard
    /// deviation of the count is 3 %.
    pub fn done_fraction(&self) -> Option<f64> {
        let arrived = self.issued().saturating_add(self.waiting?);
        (arrived > 0).then(|| self.transactions() as f64 / arrived as f64)
    }

    /// Whether the queue of an open loop was bounded: every worker caught up with its arrivals in
    /// the last fifth of the measured time. The number of waiting transactions at the end is not
    /// used, because a short burst of arrivals can cause it.
    pub fn queue_is_bounded(&self) -> bool {
        let ended_ns = self.measured().last().map_or(0, |segment| segment.ended_ns);
        let since_ns = ended_ns.saturating_sub(self.measured_ns() / 5);
        self.caught_up_ns
            .is_some_and(|caught_up_ns| caught_up_ns >= since_ns)
    }

    /// Returns the share of the measured time until which every worker kept up with its arrivals,
    /// from 0 to 1. `None` for a closed loop, or if a worker never kept up.
    pub fn caught_up_fraction(&self) -> Option<f64> {
        let began_ns = self.measured().next()?.began_ns;
        let kept_up_ns = self.caught_up_ns?.saturating_sub(began_ns);
        let measured_ns = self.measured_ns();
        (measured_ns > 0).then(|| (kept_up_ns as f64 / measured_ns as f64).min(1.0))
    }

    /// Returns the number of transactions of the measured segments that were issued and have ended,
    /// whatever their result.
    pub fn issued(&self) -> u64 {
        self.measured().map(|segment| segment.issued).sum()
    }

    /// Returns the number of transactions of the measured segments of which at least one operation
    /// was completed.
    pub fn transactions(&self) -> u64 {
        self.measured().map(|segment| segment.transactions).sum()
    }

    /// Returns the operations of the measured segments that were not performed, by reason.
    pub fn skipped(&self) -> Skipped {
        let mut all = Skipped::default();
        for segment in self.measured() {
            all.merge(&segment.skipped);
        }
        all
    }

    /// Returns the computations (`--compute`) that workers performed in the measured segments.
    pub fn compute(&self) -> ComputeRecord {
        let mut all = ComputeRecord::default();
        self.measured().for_each(|segment| all.add(segment.compute));
        all
    }

    /// Returns two counts of operations in the measured segments: those that completed, and those
    /// that failed.
    pub fn tried(&self) -> (u64, u64) {
        self.measured_operations()
            .fold((0, 0), |(completed, failed), operation| {
                let meter = &operation.meter;
                (
                    completed.saturating_add(meter.operations),
                    failed.saturating_add(meter.failed),
                )
            })
    }

    /// Returns the skipped operations as a share of all operations in the measured segments, from 0
    /// to 1.
    pub fn skipped_fraction(&self) -> f64 {
        let (completed, failed) = self.tried();
        let skipped = self.skipped().total();
        share(
            skipped,
            skipped.saturating_add(completed).saturating_add(failed),
        )
    }
}
