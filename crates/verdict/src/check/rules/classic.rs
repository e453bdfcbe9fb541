//! Checks the figures of the original PostMark's report against the phases.

use workload::{Action, Classic, Phase};

use super::scope::{At, Findings, Rule};
use record::ClassicFigures;
use record::run::{PhaseRecord, Record, WorkerPhase};

/// Maximum difference between two readings of the same moment, in seconds. Each reading is rounded
/// to whole seconds.
const SECONDS: i64 = 1;
/// Maximum relative error of a sum of at most [`FLOATS_EXACT`] bytes in 32-bit floats.
const FLOATS_OFF: f64 = 0.01;
/// Sums of more bytes are not checked, because large sums of 32-bit floats stop growing.
const FLOATS_EXACT: f64 = 1e9;

pub(super) fn check(record: &Record, found: &mut Findings) {
    let Some((figures, work)) = record.actual.classic.zip(record.spec.workload.classic()) else {
        return;
    };
    let mut at = found.at(Rule::Classic, "record.actual.classic");
    let expected = expected(record, &figures, work);
    at.same("", figures, expected, "by the phases");
    seconds(record, &figures, &mut at);
}

/// Returns the figures that follow from the workload and the phases. The other figures are copied
/// from the record.
fn expected(record: &Record, figures: &ClassicFigures, work: &Classic) -> ClassicFigures {
    let actual = &record.actual;
    let operations = || actual.phases.iter().flat_map(PhaseRecord::all_operations);
    let count = |phase: Phase, action: Action| -> u64 {
        let of_phase = actual.phases.iter().filter(|known| known.phase == phase);
        let of_action = of_phase
            .flat_map(PhaseRecord::all_operations)
            .filter(|known| known.action == action);
        of_action.map(|operation| operation.meter.operations).sum()
    };
    let is_float = !figures.edition.rules().whole_sums;
    let bytes = |figure: f64, moves: fn(Action) -> bool| {
        let moving = operations().filter(|operation| moves(operation.action));
        let exact = moving.map(|operation| operation.meter.bytes).sum::<u64>() as f64;
        let is_near = (figure - exact).abs() <= exact * FLOATS_OFF + 1.0 || exact > FLOATS_EXACT;
        if is_float && is_near { figure } else { exact }
    };
    let in_transactions = |action| count(Phase::Transactions, action);
    ClassicFigures {
        edition: work.edition,
        end: actual.end.known().copied().unwrap_or(figures.end),
        transactions: record.spec.workload.transactions_of_all(),
        created_alone: count(Phase::Prepare, Action::Create),
        created_mixed: in_transactions(Action::Create),
        read: in_transactions(Action::Read),
        appended: in_transactions(Action::Append),
        deleted_alone: count(Phase::Delete, Action::Delete),
        deleted_mixed: in_transactions(Action::Delete),
        bytes_read: bytes(figures.bytes_read, Action::moves_bytes_in),
        bytes_written: bytes(figures.bytes_written, Action::moves_bytes_out),
        ..*figures
    }
}

/// Checks the figures in whole seconds of the wall clock. They are not checked if the clock was
/// set, if the machine was suspended, or with several ranks.
fn seconds(record: &Record, figures: &ClassicFigures, at: &mut At<'_>) {
    let clocks = &record.during.clocks;
    if clocks.wall_clock_stepped_ns != 0 || clocks.suspended_ns != 0 || record.cluster.is_some() {
        return;
    }
    let second = |ns: u64| {
        let ns = i64::try_from(ns).unwrap_or(i64::MAX);
        record
            .origin
            .unix_ns
            .saturating_add(ns)
            .div_euclid(1_000_000_000)
    };
    // Worker 0 read the wall clock for the times in `figures`. The monotonic times of its phases
    // give the earliest and the latest second of each reading.
    let moment = |phase: Phase, at: fn(&WorkerPhase) -> u64| {
        let worker = record.actual.phase(phase)?.workers.first()?;
        (worker.worker == 0).then(|| second(at(worker)))
    };
    let began = |phase: Phase| moment(phase, |worker| worker.began_ns);
    let ended = |phase: Phase| moment(phase, |worker| worker.ended_ns);
    let last = second(clocks.elapsed_ns);
    let [prepare, work, delete] = Phase::ALL;
    for (field, figure, earliest, latest) in [
        (".began_s", figures.began_s, Some(second(0)), began(prepare)),
        (
            ".transactions_began_s",
            figures.transactions_began_s,
            ended(prepare),
            began(work),
        ),
        (
            ".transactions_ended_s",
            figures.transactions_ended_s,
            ended(work),
            began(delete),
        ),
        (".ended_s", figures.ended_s, ended(delete), Some(last)),
    ] {
        let least = earliest.map_or(i64::MIN, |earliest| earliest - SECONDS);
        let most = latest.unwrap_or(last) + SECONDS;
        at.within(field, figure, least..=most, "by the phases");
    }
}
