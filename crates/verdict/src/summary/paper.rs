use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::{Action, Phase, Work};

use super::rate::Rate;
use record::run::{Outcome, PhaseRecord, Record};

/// The figures that section III of the 1997 PostMark paper lists, in nanoseconds instead of whole
/// seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PaperFigures {
    /// Elapsed time, as in the summary, in nanoseconds.
    pub elapsed_ns: u64,
    /// Elapsed time of the transactions, in nanoseconds.
    pub transactions_ns: u64,
    /// Transactions, and their rate over the time of the transactions.
    pub transactions: Rate,
    /// Files created, and their rate over the elapsed time.
    pub created: Rate,
    /// Files created in `prepare`, and their rate over that phase.
    pub created_alone: Rate,
    /// Files created by transactions, and their rate over the time of the transactions.
    pub created_mixed: Rate,
    /// Files read, and their rate over the time of the transactions.
    pub read: Rate,
    /// Files appended to, and their rate over the time of the transactions.
    pub appended: Rate,
    /// Files deleted, and their rate over the elapsed time.
    pub deleted: Rate,
    /// Files deleted in `delete`, and their rate over that phase.
    pub deleted_alone: Rate,
    /// Files deleted by transactions, and their rate over the time of the transactions.
    pub deleted_mixed: Rate,
    /// Bytes read, and their rate over the elapsed time.
    pub bytes_read: Rate,
    /// Bytes written, and their rate over the elapsed time.
    pub bytes_written: Rate,
}

/// Whether the workload has the paper's operations only, and the record contains every phase that
/// began. If so, a missing phase never began, and its numbers are 0.
pub(super) fn applies(record: &Record) -> bool {
    if record.actual.outcome == Outcome::Unfinished || record.spec.drive.sweep.is_some() {
        return false;
    }
    match &record.spec.workload.work {
        Work::Classic(_) => true,
        Work::Mix(mix) => mix.weights.actions().all(|action| {
            matches!(
                action,
                Action::Create | Action::Read | Action::Append | Action::Delete
            )
        }),
    }
}

pub(super) fn figures(phases: &[PhaseRecord], elapsed_ns: u64) -> PaperFigures {
    let find = |phase| phases.iter().find(|record| record.phase == phase);
    let duration = |phase| find(phase).map_or(0, PhaseRecord::measured_ns);
    let count = |phase, action| find(phase).map_or(0, |record| completed(record, action));
    let transactions_ns = duration(Phase::Transactions);
    let bytes = |moves: fn(Action) -> bool| -> u64 {
        let operations = phases.iter().flat_map(PhaseRecord::measured_operations);
        operations
            .filter(|operation| moves(operation.action))
            .map(|operation| operation.meter.bytes)
            .sum()
    };
    let mixed = |action| count(Phase::Transactions, action);
    let (created_alone, created_mixed) =
        (count(Phase::Prepare, Action::Create), mixed(Action::Create));
    let (deleted_alone, deleted_mixed) =
        (count(Phase::Delete, Action::Delete), mixed(Action::Delete));
    let transactions = find(Phase::Transactions).map_or(0, PhaseRecord::transactions);
    PaperFigures {
        elapsed_ns,
        transactions_ns,
        transactions: Rate::over(transactions, transactions_ns),
        created: Rate::over(created_alone + created_mixed, elapsed_ns),
        created_alone: Rate::over(created_alone, duration(Phase::Prepare)),
        created_mixed: Rate::over(created_mixed, transactions_ns),
        read: Rate::over(mixed(Action::Read), transactions_ns),
        appended: Rate::over(mixed(Action::Append), transactions_ns),
        deleted: Rate::over(deleted_alone + deleted_mixed, elapsed_ns),
        deleted_alone: Rate::over(deleted_alone, duration(Phase::Delete)),
        deleted_mixed: Rate::over(deleted_mixed, transactions_ns),
        bytes_read: Rate::over(bytes(Action::moves_bytes_in), elapsed_ns),
        bytes_written: Rate::over(bytes(Action::moves_bytes_out), elapsed_ns),
    }
}

fn completed(record: &PhaseRecord, action: Action) -> u64 {
    record
        .measured_operations()
        .filter(|operation| operation.action == action)
        .map(|operation| operation.meter.operations)
        .sum()
}
