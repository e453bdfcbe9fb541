//! Creates records, and parts of records, for tests.

use record::{
    Action, ComputeRecord, Histogram, Meter, OperationRecord, Phase, PhaseRecord, Record, Role,
    Segment, SegmentKind, Slices, WorkerPhase,
};
use workload::Skipped;

/// The record that the tests of the crate `report` use, as JSON.
pub const KEPT: &str = include_str!("../../report/tests/golden/run.json");

pub fn kept() -> Record {
    Record::from_json(KEPT).unwrap()
}

/// Returns the record of a phase, which must be part of the run.
pub fn phase(record: &Record, phase: Phase) -> &PhaseRecord {
    record.actual.phase(phase).unwrap()
}

/// Returns the transaction phase of a run without a load sweep.
pub fn transactions(record: &Record) -> &PhaseRecord {
    phase(record, Phase::Transactions)
}

/// Returns the phases of a record, in the order of the run.
pub fn phases(record: &Record) -> Vec<Phase> {
    let phases = record.actual.phases.iter();
    phases.map(|phase| phase.phase).collect()
}

/// Creates a complete phase without measurements.
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

/// Creates a segment in which each transaction is one operation.
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
        compute: ComputeRecord::default(),
        operations,
    }
}

/// Creates a worker's counts in a phase.
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

/// Creates the record of one kind of operation, without latencies of its calls.
pub fn operation(role: Role, action: Action, meter: Meter) -> OperationRecord {
    OperationRecord {
        role,
        action,
        meter,
        steps: Vec::new(),
    }
}

/// Creates a meter of this number of operations, without latencies.
pub fn meter(operations: u64) -> Meter {
    Meter {
        operations,
        ..Meter::default()
    }
}

pub fn histogram(durations_ns: impl IntoIterator<Item = u64>) -> Histogram {
    let mut histogram = Histogram::default();
    durations_ns.into_iter().for_each(|ns| histogram.record(ns));
    histogram
}
