//! Merges the workers' results into the phases of a record.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use record::{ClaimWaits, FirstDone, PhaseRecord, Segment, SegmentKind, WorkerPhase, merge};
use spec::Drive;
use workload::Phase;

use crate::supervisor::PhaseObservations;
use crate::worker::{PhaseReport, SegmentReport};

/// Removes and returns the workers' results of a phase.
pub(crate) fn take_phase(
    phases: &mut [Vec<PhaseReport>],
    phase: Phase,
    first_worker: u32,
) -> Vec<(u32, PhaseReport)> {
    let mut taken = Vec::new();
    for (worker, reports) in (first_worker..).zip(phases) {
        let (of_phase, others): (Vec<_>, Vec<_>) = std::mem::take(reports)
            .into_iter()
            .partition(|report| report.phase == phase);
        *reports = others;
        taken.extend(of_phase.into_iter().map(|report| (worker, report)));
    }
    taken
}

/// Returns the kind of a segment from its number. `measured_from` is the number of the first
/// segment in the steady-state window.
fn segment_kind(phase: Phase, number: u32, drive: &Drive, measured_from: u32) -> SegmentKind {
    if phase != Phase::Transactions || number >= drive.first_round().max(measured_from) {
        SegmentKind::Measured
    } else if number < drive.first_round() {
        SegmentKind::WarmUp
    } else {
        SegmentKind::Approach
    }
}

/// Merges the workers' results of a phase and the supervisor's own observations.
pub(crate) fn phase_record(
    phase: Phase,
    workers: Vec<(u32, PhaseReport)>,
    drive: &Drive,
    beside: PhaseObservations,
) -> PhaseRecord {
    let (steady, measured_from) = beside
        .steady
        .map_or((None, 0), |(found, from)| (Some(found), from));
    let kind = |number| segment_kind(phase, number, drive, measured_from);
    let mut merged = PhaseRecord {
        phase,
        complete: workers.iter().all(|(_, report)| report.complete),
        segments: Vec::new(),
        workers: Vec::new(),
        first_done: first_done(&workers),
        waiting: workers
            .iter()
            .filter_map(|(_, report)| report.waiting)
            .reduce(|a, b| a + b),
        caught_up_ns: merge::caught_up(workers.iter().map(|(_, report)| report.caught_up_ns)),
        claim_waits: Vec::new(),
        slices: beside.slices.recorded(),
        slowest: Vec::new(),
        machine: beside.machine,
        pauses: beside.pauses,
        steady,
        sync: beside.sync,
        evidence: beside.evidence,
        hosts: Vec::new(),
    };
    let mut segments: BTreeMap<u32, Segment> = BTreeMap::new();
    for (worker, report) in workers {
        let role = report.role;
        merged.workers.push(worker_phase(worker, &report, kind));
        for slowest in report.slowest {
            merge::slowest(&mut merged.slowest, slowest);
        }
        for SegmentReport { number, done, .. } in report.segments {
            match segments.entry(number) {
                Entry::Occupied(known) => known.into_mut().add(done),
                Entry::Vacant(place) => {
                    let kind = kind(number);
                    place.insert(Segment { kind, ..done });
                }
            }
        }
        if let Some(wait) = report.waits {
            merge::claim_waits(&mut merged.claim_waits, ClaimWaits { role, wait });
        }
    }
    if let Some(first) = &mut merged.first_done {
        first.done = first.done.saturating_sub(unmeasured(&segments));
    }
    merged.claim_waits.sort_by_key(|waits| waits.role);
    merged.segments = segments.into_values().collect();
    merged
}

/// Number of transactions before the measured segments.
fn unmeasured(segments: &BTreeMap<u32, Segment>) -> u64 {
    segments
        .values()
        .filter(|segment| segment.kind != SegmentKind::Measured)
        .map(|segment| segment.transactions)
        .sum()
}

/// Returns the worker that completed the phase first; `None` if no worker completed it.
fn first_done(workers: &[(u32, PhaseReport)]) -> Option<FirstDone> {
    let complete = workers.iter().filter(|(_, report)| report.complete);
    let (worker, report) = complete.min_by_key(|(_, report)| report.ended_ns)?;
    Some(FirstDone {
        worker: *worker,
        at_ns: report.ended_ns,
        done: report.done_by_all,
    })
}

/// Returns the results of a worker in the measured segments. Without measured segments, counts are
/// 0, and `began_ns` and `ended_ns` are the end of the worker's phase.
fn worker_phase(
    worker: u32,
    report: &PhaseReport,
    kind: impl Fn(u32) -> SegmentKind,
) -> WorkerPhase {
    let measured = || {
        let all = report.segments.iter();
        all.filter(|segment| kind(segment.number) == SegmentKind::Measured)
    };
    let sum = |part: fn(&SegmentReport) -> u64| measured().map(part).sum();
    WorkerPhase {
        worker,
        role: report.role,
        began_ns: measured()
            .map(|segment| segment.done.began_ns)
            .min()
            .unwrap_or(report.ended_ns),
        ended_ns: measured()
            .map(|segment| segment.done.ended_ns)
            .max()
            .unwrap_or(report.ended_ns),
        issued: sum(|segment| segment.done.issued),
        transactions: sum(|segment| segment.done.transactions),
        operations: sum(|segment| segment.operations),
        bytes: sum(|segment| segment.bytes),
    }
}
