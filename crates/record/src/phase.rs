//! What a phase of a run has done: its segments, workers, times and counters.

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

/// Operations of one kind, done by workers of one role, in a segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationRecord {
    /// Who did them.
    pub role: Role,
    /// Which kind.
    pub action: Action,
    /// What they did.
    pub meter: Meter,
    /// The steps that they were made of, where these were timed.
    pub steps: Vec<StepRecord>,
}

/// One step of operations of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepRecord {
    /// Which step.
    pub step: String,
    /// How long it took.
    pub latency: Histogram,
}

/// How long workers of one role waited for files that others had claimed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimWaits {
    /// Who waited.
    pub role: Role,
    /// Claims that had to wait.
    pub wait: Histogram,
}

/// What one worker did in a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerPhase {
    /// The worker's number, from 0.
    pub worker: u32,
    /// What it does.
    pub role: Role,
    /// When it began, in nanoseconds since the origin.
    pub began_ns: u64,
    /// When it was done, in nanoseconds since the origin.
    pub ended_ns: u64,
    /// Transactions that were issued and are over, however they ended.
    pub issued: u64,
    /// Transactions of which it completed at least one operation.
    pub transactions: u64,
    /// Operations that it completed.
    pub operations: u64,
    /// Bytes that those read or wrote.
    pub bytes: u64,
}

/// The moment at which the first worker was done with a phase: from then on not all were at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FirstDone {
    /// Which one.
    pub worker: u32,
    /// When, in nanoseconds since the origin.
    pub at_ns: u64,
    /// Files (in `prepare` and `delete`) or transactions that all workers together had done by
    /// then; with several ranks, those of its rank.
    pub done: u64,
}

/// The writing back of what a phase has left in memory: syncfs(2) of every file system of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseSync {
    /// When it began, in nanoseconds since the origin.
    pub began_ns: u64,
    /// When it ended, in nanoseconds since the origin.
    pub ended_ns: u64,
    /// After deletion: nanoseconds from the last deletion until the file system showed the space
    /// as free again.
    pub space_back_ns: Fact<u64>,
}

/// What a stretch of a phase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SegmentKind {
    /// It is in no number but its own.
    WarmUp,
    /// A round before the window that was found steady, or before the last window, where none was:
    /// likewise.
    Approach,
    /// What the phase's numbers are of.
    Measured,
}

/// The slowest operations of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlowestRecord {
    /// Which kind.
    pub action: Action,
    /// The slowest first.
    pub operations: Vec<SlowOperation>,
}

/// One of the slowest operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlowOperation {
    /// Its latency, in nanoseconds.
    pub ns: u64,
    /// Who did it.
    pub worker: u32,
    /// When it was issued, in nanoseconds since the origin.
    pub issued_ns: u64,
    /// To what.
    pub path: String,
    /// The longest of its steps; nothing where these were not timed.
    pub step: Option<SlowStep>,
}

/// A step of one of the slowest operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlowStep {
    /// Which one.
    pub step: String,
    /// How long it took, in nanoseconds.
    pub ns: u64,
}

/// A stretch of a phase with meters of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Segment {
    /// What it is.
    pub kind: SegmentKind,
    /// When it began, in nanoseconds since the origin.
    pub began_ns: u64,
    /// When it ended, in nanoseconds since the origin.
    pub ended_ns: u64,
    /// Transactions that were issued and are over, however they ended: those below, those that
    /// were skipped, and those that failed.
    pub issued: u64,
    /// Transactions of which at least one operation was completed.
    pub transactions: u64,
    /// Operations of the stream that were not performed, by reason.
    pub skipped: Skipped,
    /// By kind of operation, those that occurred.
    pub operations: Vec<OperationRecord>,
}

/// A phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseRecord {
    /// Which one.
    pub phase: Phase,
    /// Whether it was performed to its end.
    pub complete: bool,
    /// Its stretches, in order.
    pub segments: Vec<Segment>,
    /// What each worker did in the measured ones.
    pub workers: Vec<WorkerPhase>,
    /// When the first worker was done; nothing where none was.
    pub first_done: Option<FirstDone>,
    /// Transactions that were due and not begun when they ended; nothing in a closed loop.
    pub waiting: Option<u64>,
    /// Until then every worker had been up to its arrivals at least once more, in nanoseconds
    /// since the origin; nothing in a closed loop, and where one never was.
    pub caught_up_ns: Option<u64>,
    /// How long workers waited for one another's files, and for their own operations in flight on
    /// the same file; nothing in private pools with one operation at a time.
    pub claim_waits: Vec<ClaimWaits>,
    /// What was done over time, from the phase's start on, by role and kind of operation; warm-ups
    /// are in it, too.
    pub slices: Slices<(Role, Action)>,
    /// The slowest operations of each kind, those of warm-ups, too.
    pub slowest: Vec<SlowestRecord>,
    /// What the kernel counted over time; nothing where slices are not recorded.
    pub machine: Option<MachineOverTime>,
    /// Pauses of the program; nothing where they were not watched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<Pauses>,
    /// What the rule of steady state found; nothing where none was to end the transactions.
    pub steady: Option<SteadyFound>,
    /// The writing back that followed; nothing where it was not asked for, or the phase was left
    /// before its end.
    pub sync: Option<PhaseSync>,
    /// What shows who served it; nothing where the storage touches no file system. Of several
    /// ranks: what the storage and each process counted, added over ranks; messages and
    /// interfaces, which a host counts, over hosts; devices over kernels.
    pub evidence: Option<PhaseEvidence>,
    /// The same by host, in order of their first ranks; empty where the run has one rank.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostPhase>,
}

impl PhaseRecord {
    /// The stretches that its numbers are of.
    pub fn measured(&self) -> impl Iterator<Item = &Segment> {
        self.segments
            .iter()
            .filter(|segment| segment.kind == SegmentKind::Measured)
    }

    /// Operations of the measured stretches.
    pub fn measured_operations(&self) -> impl Iterator<Item = &OperationRecord> {
        self.measured().flat_map(|segment| &segment.operations)
    }

    /// Operations of all stretches.
    pub fn all_operations(&self) -> impl Iterator<Item = &OperationRecord> {
        self.segments.iter().flat_map(|segment| &segment.operations)
    }

    /// When its first stretch began and when its last one ended; nothing where it has none.
    pub fn span_ns(&self) -> Option<(u64, u64)> {
        let began_ns = self.segments.iter().map(|segment| segment.began_ns).min()?;
        let ended_ns = self.segments.iter().map(|segment| segment.ended_ns).max()?;
        Some((began_ns, ended_ns))
    }

    /// Transactions of all stretches that were issued and are over.
    pub fn all_issued(&self) -> u64 {
        self.segments.iter().map(|segment| segment.issued).sum()
    }

    /// Whether nothing of it is a warm-up or the way to steady state.
    pub fn is_all_measured(&self) -> bool {
        self.measured().count() == self.segments.len()
    }

    /// What was warmed up, where anything was.
    pub fn warm_up(&self) -> Option<&Segment> {
        self.segments
            .iter()
            .find(|segment| segment.kind == SegmentKind::WarmUp)
    }

    /// From the start of the first measured stretch to the end of the last, in nanoseconds.
    pub fn measured_ns(&self) -> u64 {
        match (self.measured().next(), self.measured().last()) {
            (Some(first), Some(last)) => last.ended_ns.saturating_sub(first.began_ns),
            _ => 0,
        }
    }

    /// Of the transactions that have arrived by the end of an open loop (those that were measured,
    /// and those that are waiting yet): which share was done. Nothing in a closed loop, and
    /// where nothing has arrived.
    ///
    /// Not of the rate times the time: at random arrivals that differs by chance, by 3 % where a
    /// thousand are expected.
    pub fn done_fraction(&self) -> Option<f64> {
        let arrived = self.issued().saturating_add(self.waiting?);
        (arrived > 0).then(|| self.transactions() as f64 / arrived as f64)
    }

    /// Whether the queue of an open loop was bounded: every worker was up to its arrivals in the
    /// last fifth of the measured time. What is waiting at the very end may be a moment's.
    pub fn queue_is_bounded(&self) -> bool {
        let ended_ns = self.measured().last().map_or(0, |segment| segment.ended_ns);
        let since_ns = ended_ns.saturating_sub(self.measured_ns() / 5);
        self.caught_up_ns
            .is_some_and(|caught_up_ns| caught_up_ns >= since_ns)
    }

    /// Transactions of the measured stretches that were issued and are over, however they ended.
    pub fn issued(&self) -> u64 {
        self.measured().map(|segment| segment.issued).sum()
    }

    /// Transactions of the measured stretches of which at least one operation was completed.
    pub fn transactions(&self) -> u64 {
        self.measured().map(|segment| segment.transactions).sum()
    }

    /// Operations of the measured stretches that were not performed.
    pub fn skipped(&self) -> Skipped {
        let mut all = Skipped::default();
        for segment in self.measured() {
            all.merge(&segment.skipped);
        }
        all
    }

    /// Operations of the measured stretches that were completed, and those that failed.
    pub fn tried(&self) -> (u64, u64) {
        self.measured_operations()
            .fold((0, 0), |(completed, failed), operation| {
                let meter = &operation.meter;
                let unsuccessful = meter.failed.saturating_add(meter.missed);
                (completed + meter.operations, failed + unsuccessful)
            })
    }

    /// The share of the operations in the measured stretches that was not performed, from 0 to 1.
    pub fn skipped_fraction(&self) -> f64 {
        let (completed, failed) = self.tried();
        let skipped = self.skipped().total();
        share(
            skipped,
            skipped.saturating_add(completed).saturating_add(failed),
        )
    }
}
