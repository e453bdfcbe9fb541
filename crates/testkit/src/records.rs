//! Records, and what they consist of.

use record::{
    Action, Histogram, Meter, OperationRecord, Phase, PhaseRecord, Record, Role, Segment,
    SegmentKind, Slices, WorkerPhase,
};
use workload::Skipped;

/// A record that a run wrote, as text.
pub const KEPT: &str = include_str!("../../report/tests/golden/run.json");

/// A record that a run wrote.
pub fn kept() -> Record {
    Record::from_json(KEPT).unwrap()
}

/// A phase of a record.
pub fn phase(record: &Record, phase: Phase) -> &PhaseRecord {
    record.actual.phase(phase).unwrap()
}

/// The transactions of a run without a sweep.
pub fn transactions(record: &Record) -> &PhaseRecord {
    phase(record, Phase::Transactions)
}

/// The phases of a record, in their order.
pub fn phases(record: &Record) -> Vec<Phase> {
    let phases = record.actual.phases.iter();
    phases.map(|phase| phase.phase).collect()
}

/// A phase that came to its end, and in which nothing was measured.
pub fn empty_phase(phase: Phase) -> PhaseRecord {
    PhaseRecord {
        phase,
        complete: true,
        segments: Vec::new(),
        workers: Vec::new(),
        first_done: None,
        waiting: None,
        caught_up_ns: None,
        claim_waits: Vec::new(),
        slices: Slices::default(),
        slowest: Vec::new(),
        machine: None,
        pauses: None,
        steady: None,
        sync: None,
        evidence: None,
        hosts: Vec::new(),
    }
}

/// A segment in which each transaction is one operation.
pub fn segment(
    kind: SegmentKind,
    began_ns: u64,
    ended_ns: u64,
    transactions: u64,
    operations: Vec<OperationRecord>,
) -> Segment {
    Segment {
        kind,
        began_ns,
        ended_ns,
        issued: transactions,
        transactions,
        skipped: Skipped::default(),
        operations,
    }
}

/// What one worker did in a phase: so many transactions of so many operations.
pub fn worker(
    (worker, role): (u32, Role),
    began_ns: u64,
    ended_ns: u64,
    transactions: u64,
    operations: u64,
) -> WorkerPhase {
    WorkerPhase {
        worker,
        role,
        began_ns,
        ended_ns,
        issued: transactions,
        transactions,
        operations,
        bytes: 0,
    }
}

/// Operations of a kind.
pub fn operation(role: Role, action: Action, meter: Meter) -> OperationRecord {
    OperationRecord {
        role,
        action,
        meter,
        steps: Vec::new(),
    }
}

/// So many operations, without latencies.
pub fn meter(operations: u64) -> Meter {
    Meter {
        operations,
        ..Meter::default()
    }
}

/// Of these durations.
pub fn histogram(durations_ns: impl IntoIterator<Item = u64>) -> Histogram {
    let mut histogram = Histogram::default();
    durations_ns.into_iter().for_each(|ns| histogram.record(ns));
    histogram
}
