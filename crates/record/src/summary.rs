//! The numbers that follow from a record, each defined once: in `docs/measurement.md` in words, here in code.

use measure::{Histogram, Meter, Percentile};
use serde::{Deserialize, Serialize};
use workload::{Action, Phase};

use crate::run::{Outcome, PhaseRecord, Record, Segment};

/// A count with its rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// How many.
    pub count: u64,
    /// How many a second; nothing where no time passed.
    pub per_second: Option<f64>,
}

impl Rate {
    fn over(count: u64, ns: u64) -> Self {
        Self {
            count,
            per_second: (ns > 0).then(|| count as f64 * 1e9 / ns as f64),
        }
    }
}

/// Operations of one kind in one phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationSummary {
    /// Which kind.
    pub action: Action,
    /// Completed operations, and a second of the phase.
    pub operations: Rate,
    /// Bytes moved, and a second of the phase.
    pub bytes: Rate,
    /// Operations that failed.
    pub failed: u64,
    /// Mean latency in nanoseconds; nothing where latencies were not recorded.
    pub mean_ns: Option<f64>,
    /// Latency percentiles.
    pub percentiles: Vec<Percentile>,
    /// The greatest latency in nanoseconds.
    pub max_ns: Option<u64>,
    /// Latencies past the histogram's range.
    pub overflow: u64,
}

/// One phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseSummary {
    /// Which one.
    pub phase: Phase,
    /// Whether it was performed to its end.
    pub complete: bool,
    /// From its first segment's start to its last one's end, in nanoseconds.
    pub duration_ns: u64,
    /// Transactions, and a second of the phase; nothing in phases that have none.
    pub transactions: Option<Rate>,
    /// By kind of operation.
    pub operations: Vec<OperationSummary>,
}

/// The list of the 1997 paper's section III, with nanoseconds in place of whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaperFigures {
    /// Elapsed time: from the start of the first phase to the end of the last, in nanoseconds.
    pub elapsed_ns: u64,
    /// Elapsed time of the transactions, in nanoseconds.
    pub transactions_ns: u64,
    /// Transactions, and a second of the transactions.
    pub transactions: Rate,
    /// Files created, and a second of the elapsed time.
    pub created: Rate,
    /// Files created initially, and a second of that phase.
    pub created_alone: Rate,
    /// Files created in transactions, and a second of the transactions.
    pub created_mixed: Rate,
    /// Files read, and a second of the transactions.
    pub read: Rate,
    /// Files appended to, and a second of the transactions.
    pub appended: Rate,
    /// Files deleted, and a second of the elapsed time.
    pub deleted: Rate,
    /// Files deleted after the transactions, and a second of that phase.
    pub deleted_alone: Rate,
    /// Files deleted in transactions, and a second of the transactions.
    pub deleted_mixed: Rate,
    /// Bytes read, and a second of the elapsed time.
    pub bytes_read: Rate,
    /// Bytes written, and a second of the elapsed time.
    pub bytes_written: Rate,
}

/// All numbers that reports show beyond the record's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Whether the run was interrupted or failed, so that every number is of a part of the work.
    pub partial: bool,
    /// The paper's list.
    pub paper: PaperFigures,
    /// Every phase apart.
    pub phases: Vec<PhaseSummary>,
    /// The greatest relative error of a latency percentile.
    pub latency_error_bound: f64,
}

impl Summary {
    /// What follows from a record.
    pub fn of(record: &Record) -> Self {
        Self {
            partial: record.actual.outcome != Outcome::Complete,
            paper: paper(&record.actual.phases),
            phases: record.actual.phases.iter().map(phase).collect(),
            latency_error_bound: Histogram::ERROR_BOUND,
        }
    }

    /// The summary of a phase, where it was begun.
    pub fn phase(&self, phase: Phase) -> Option<&PhaseSummary> {
        self.phases.iter().find(|summary| summary.phase == phase)
    }
}

fn span(segments: &[Segment]) -> u64 {
    match (segments.first(), segments.last()) {
        (Some(first), Some(last)) => last.ended_ns.saturating_sub(first.began_ns),
        _ => 0,
    }
}

/// All operations of a kind in a phase, its segments merged.
fn merged(record: &PhaseRecord, action: Action) -> Option<Meter> {
    let mut meters = record
        .segments
        .iter()
        .flat_map(|segment| &segment.operations)
        .filter(|operation| operation.action == action)
        .map(|operation| &operation.meter);
    let mut sum = meters.next()?.clone();
    meters.for_each(|meter| sum.merge(meter));
    Some(sum)
}

fn phase(record: &PhaseRecord) -> PhaseSummary {
    let duration_ns = span(&record.segments);
    let operations = Action::OPERATIONS
        .into_iter()
        .filter_map(|action| {
            let meter = merged(record, action)?;
            Some(OperationSummary {
                action,
                operations: Rate::over(meter.operations, duration_ns),
                bytes: Rate::over(meter.bytes, duration_ns),
                failed: meter.failed,
                mean_ns: meter.latency.mean_ns(),
                percentiles: meter.latency.percentiles(),
                max_ns: meter.latency.max_ns(),
                overflow: meter.latency.overflow(),
            })
        })
        .collect();
    PhaseSummary {
        phase: record.phase,
        complete: record.complete,
        duration_ns,
        transactions: (record.phase == Phase::Transactions).then(|| Rate::over(record.transactions, duration_ns)),
        operations,
    }
}

fn paper(phases: &[PhaseRecord]) -> PaperFigures {
    let find = |phase| phases.iter().find(|record| record.phase == phase);
    let duration = |phase| find(phase).map_or(0, |record| span(&record.segments));
    let count = |phase, action| {
        find(phase)
            .and_then(|record| merged(record, action))
            .map_or((0, 0), |meter| (meter.operations, meter.bytes))
    };
    let began = phases
        .iter()
        .flat_map(|record| &record.segments)
        .map(|segment| segment.began_ns)
        .min();
    let ended = phases
        .iter()
        .flat_map(|record| &record.segments)
        .map(|segment| segment.ended_ns)
        .max();
    let elapsed_ns = ended.unwrap_or(0).saturating_sub(began.unwrap_or(0));
    let transactions_ns = duration(Phase::Transactions);
    let (created_alone, bytes_alone) = count(Phase::Prepare, Action::Create);
    let (created_mixed, bytes_mixed) = count(Phase::Transactions, Action::Create);
    let (read, bytes_read) = count(Phase::Transactions, Action::Read);
    let (appended, bytes_appended) = count(Phase::Transactions, Action::Append);
    let (deleted_mixed, _) = count(Phase::Transactions, Action::Delete);
    let (deleted_alone, _) = count(Phase::Delete, Action::Delete);
    let transactions = find(Phase::Transactions).map_or(0, |record| record.transactions);
    PaperFigures {
        elapsed_ns,
        transactions_ns,
        transactions: Rate::over(transactions, transactions_ns),
        created: Rate::over(created_alone + created_mixed, elapsed_ns),
        created_alone: Rate::over(created_alone, duration(Phase::Prepare)),
        created_mixed: Rate::over(created_mixed, transactions_ns),
        read: Rate::over(read, transactions_ns),
        appended: Rate::over(appended, transactions_ns),
        deleted: Rate::over(deleted_alone + deleted_mixed, elapsed_ns),
        deleted_alone: Rate::over(deleted_alone, duration(Phase::Delete)),
        deleted_mixed: Rate::over(deleted_mixed, transactions_ns),
        bytes_read: Rate::over(bytes_read, elapsed_ns),
        bytes_written: Rate::over(bytes_alone + bytes_mixed + bytes_appended, elapsed_ns),
    }
}
