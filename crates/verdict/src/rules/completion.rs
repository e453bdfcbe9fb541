//! How the run went: whether it came to its end, what failed, who was stalled.

use measure::Histogram;
use workload::End;

use super::limits::SKIPPED_MAX;
use super::{Reason, all_phases, is_partial, is_sweep, transactions};
use crate::summary::operations;
use record::run::{Check, Outcome, PhaseRecord, Record};

pub(super) fn reasons(record: &Record) -> Vec<Reason> {
    let found = [
        is_partial(record).then(|| Reason::Partial {
            outcome: record.actual.outcome.clone(),
        }),
        errors(record),
        skipped(record),
        wrong_names(record),
        ran_dry(record),
        stalled(record),
        overflow(record),
        record.spec.ack_log.as_ref().map(|path| Reason::AckLog {
            path: path.to_string_lossy().into_owned(),
        }),
    ];
    found.into_iter().flatten().collect()
}

fn errors(record: &Record) -> Option<Reason> {
    let errors: u64 = record.actual.errors.iter().map(|error| error.count).sum();
    let tried = |phase: &PhaseRecord| -> u64 {
        let meters = phase
            .segments
            .iter()
            .flat_map(|segment| &segment.operations);
        meters
            .map(|operation| {
                operation.meter.operations + operation.meter.failed + operation.meter.missed
            })
            .sum()
    };
    let operations = all_phases(record).map(tried).sum();
    (errors > 0).then(|| Reason::Errors {
        errors,
        operations,
        allowed: record.spec.on_error.to_string(),
        // A run of a sweep's that came to its end has kept to what is allowed; their sum need not.
        is_exceeded: !is_complete_sweep(record)
            && record.spec.on_error.is_exceeded(errors, operations),
    })
}

/// Of a sweep each step is judged by itself: one that skips so many does not hold.
fn skipped(record: &Record) -> Option<Reason> {
    let phase = transactions(record).filter(|_| !is_sweep(record))?;
    let fraction = phase.skipped_fraction();
    (fraction > SKIPPED_MAX).then(|| Reason::Skipped {
        skipped: phase.skipped(),
        operations: phase.tried().0,
        fraction,
    })
}

fn is_complete_sweep(record: &Record) -> bool {
    record.spec.drive.sweep.is_some() && record.actual.outcome == Outcome::Complete
}

fn wrong_names(record: &Record) -> Option<Reason> {
    let checks = record
        .actual
        .check
        .known()
        .into_iter()
        .chain(&record.actual.check_across);
    let check = checks
        .copied()
        .reduce(Check::beside)
        .filter(|check| check.wrong > 0)?;
    Some(Reason::WrongNames {
        wrong: check.wrong,
        names: check.names,
    })
}

fn ran_dry(record: &Record) -> Option<Reason> {
    let end = record
        .actual
        .end
        .known()
        .filter(|end| **end != End::Complete)?;
    Some(Reason::RanDry {
        end: *end,
        transactions: record
            .actual
            .transactions()
            .map(PhaseRecord::transactions)
            .sum(),
    })
}

fn stalled(record: &Record) -> Option<Reason> {
    let stalled = &record.actual.stalled;
    let longest_ns = stalled.iter().map(|stalled| stalled.ns).max()?;
    Some(Reason::Stalled {
        times: stalled.len() as u64,
        longest_ns,
        lost: stalled.iter().filter(|stalled| !stalled.came_back).count() as u64,
    })
}

fn overflow(record: &Record) -> Option<Reason> {
    let meters = all_phases(record)
        .flat_map(operations)
        .map(|operation| &operation.meter);
    let operations: u64 = meters
        .map(|meter| {
            // Where there are both, the latency is never the shorter one.
            let service = meter.service.as_ref().map_or(0, Histogram::overflow);
            meter.latency.overflow().max(service)
        })
        .sum();
    (operations > 0).then_some(Reason::LatencyOverflow {
        operations,
        range_ns: Histogram::RANGE_NS,
    })
}
