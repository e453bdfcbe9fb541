//! Counts that are in a record twice: of workers and segments, of errors and failures, of figures
//! and phases, of names and files.

use std::collections::BTreeMap;

use measure::Histogram;
use serde::Serialize;
use system::Fact;
use workload::{Action, Bias, Classic, End, Phase};

use super::scope::{Findings, Rule, Scope, placed_operations};
use record::Outcome;
use record::run::{Actual, Check, OperationRecord, PhaseRecord, Record};

pub(super) fn phase(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    bytes(scope, phase, place, found);
    // Where a phase was left, a worker may have been lost with what it had done.
    if phase.complete {
        workers(phase, place, found);
        first_done(scope, phase, place, found);
    }
    if scope.spec.latencies {
        latencies(phase, place, found);
    }
    transactions(scope, phase, place, found);
}

/// What workers and segments count alike.
#[derive(Default, Serialize)]
struct Sums {
    transactions: u64,
    issued: u64,
    operations: u64,
    bytes: u64,
}

fn workers(phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let mut of_segments = Sums {
        transactions: phase.transactions(),
        issued: phase.issued(),
        ..Sums::default()
    };
    for operation in phase.measured().flat_map(|segment| &segment.operations) {
        of_segments.operations += operation.meter.operations;
        of_segments.bytes += operation.meter.bytes;
    }
    let mut of_workers = Sums::default();
    for worker in &phase.workers {
        of_workers.transactions += worker.transactions;
        of_workers.issued += worker.issued;
        of_workers.operations += worker.operations;
        // Bytes of workers are in no other sum, and may be any number.
        of_workers.bytes = of_workers.bytes.saturating_add(worker.bytes);
    }
    let place = format!("{place}.workers");
    let by = "of the measured segments";
    found
        .at(Rule::Workers, &place)
        .same(&of_workers, &of_segments, by);
}

/// What all had done when the first one was: at least its own, and no more than all; of one worker
/// exactly all.
fn first_done(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let place = format!("{place}.first_done");
    let mut broken = |why: String| found.broken(Rule::Workers, &place, why);
    let Some(first) = &phase.first_done else {
        if !phase.workers.is_empty() {
            broken("no worker was done, and the phase is complete".to_owned());
        }
        return;
    };
    let mut workers = phase.workers.iter();
    let Some(worker) = workers.find(|worker| worker.worker == first.worker) else {
        return broken(format!("there is no worker {}", first.worker));
    };
    let (own, all) = match phase.phase {
        Phase::Transactions => (worker.transactions, phase.transactions()),
        Phase::Prepare | Phase::Delete => (worker.operations, phase.tried().0),
    };
    let least = match (scope.has_ranks(), &phase.workers[..]) {
        (false, [_]) if phase.is_all_measured() => all,
        // Others may have been in the warm-up still.
        _ => own.saturating_sub(phase.workers.len() as u64),
    };
    if !(least..=all).contains(&first.done) {
        broken(format!(
            "{} were done by then, and there are {least} to {all}",
            first.done
        ));
    }
}

fn latencies(phase: &PhaseRecord, place: &str, found: &mut Findings) {
    for (place, OperationRecord { meter, .. }) in placed_operations(phase, place) {
        let histograms = [
            ("latency", Some(&meter.latency)),
            ("service", meter.service.as_ref()),
        ];
        for (name, histogram) in histograms {
            let count = histogram.map_or(meter.operations, Histogram::count);
            let place = format!("{place}.meter.{name}: count");
            found
                .at(Rule::Latencies, &place)
                .same(&count, &meter.operations, "operations");
        }
    }
}

/// Operations move no more bytes than they can, and those without contents move none.
fn bytes(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let workload = &scope.spec.workload;
    let most_of_one = workload.content_bytes_max();
    for (place, OperationRecord { action, meter, .. }) in placed_operations(phase, place) {
        let moves = action.moves_bytes_in() || action.moves_bytes_out();
        let most = match moves || *action == Action::Truncate {
            true => meter.operations.saturating_mul(most_of_one),
            false => 0,
        };
        if meter.bytes > most {
            let why = format!("{} of {} can be at most {most}", meter.bytes, action.name());
            found.broken(Rule::Workers, format!("{place}.meter.bytes"), why);
        }
    }
}

/// What is issued is completed, failed or skipped; other phases have no transactions.
fn transactions(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let is_transactions = phase.phase == Phase::Transactions;
    let pairs = scope.spec.workload.classic().map(halves);
    // Halves in flight may end in another segment than their transaction, and the last one may be
    // left without its other half.
    let has_ended = scope.record.actual.end.known() == Some(&End::Complete);
    let is_exact = scope.spec.depth <= 1 && phase.complete && has_ended;
    for (number, segment) in phase.segments.iter().enumerate() {
        let place = format!("{place}.segments[{number}]");
        let (issued, transactions) = (segment.issued, segment.transactions);
        let (mut completed, mut ended) = (0, segment.skipped.total());
        for OperationRecord { meter, .. } in &segment.operations {
            completed += meter.operations;
            ended += meter.operations + meter.failed + meter.missed;
        }
        let (expected, by) = match is_transactions {
            true => ((ended, completed), "completed, failed and skipped"),
            false => ((0, 0), "in this phase"),
        };
        let Some(halves) = pairs.filter(|_| is_transactions) else {
            let place = format!("{place}: issued and performed");
            found
                .at(Rule::Transactions, &place)
                .same(&(issued, transactions), &expected, by);
            continue;
        };
        if is_exact && ended != issued.saturating_mul(halves) {
            let why = format!("{issued} pairs of {halves} have {ended} halves {by}");
            found.broken(Rule::Transactions, &place, why);
        }
        let fewest = completed.div_ceil(halves.max(1));
        if is_exact && !(fewest..=completed.min(issued)).contains(&transactions) {
            let why = format!("{transactions} transactions with {completed} operations");
            found.broken(Rule::Transactions, &place, why);
        }
    }
    let most_of_one = if pairs.is_some_and(|halves| halves > 1) {
        2
    } else {
        1
    };
    for (index, worker) in phase.workers.iter().enumerate() {
        let (transactions, operations) = (worker.transactions, worker.operations);
        let all = transactions..=transactions.saturating_mul(most_of_one);
        let differ = scope.spec.depth <= 1 && !all.contains(&operations);
        if is_transactions && (worker.issued < transactions || differ) {
            let why = format!(
                "{transactions} transactions of {} that were issued have {operations} operations",
                worker.issued
            );
            found.broken(Rule::Transactions, format!("{place}.workers[{index}]"), why);
        }
    }
}

/// Of how many operations a transaction is.
fn halves(classic: &Classic) -> u64 {
    let biases = [classic.bias_read, classic.bias_create];
    biases
        .into_iter()
        .filter(|bias| *bias != Bias::DISABLED)
        .count() as u64
}

/// Each operation that failed is an error of its kind. What is verified of one that was completed
/// is an error, too.
pub(super) fn errors(record: &Record, found: &mut Findings) {
    let actual = &record.actual;
    let hangs = actual.stalled.iter().any(|stalled| !stalled.came_back);
    let cluster = record.cluster.as_ref();
    let is_lost = cluster.is_some_and(|cluster| !cluster.missing.is_empty());
    // Errors are told at the end.
    if actual.outcome == Outcome::Unfinished || hangs || is_lost {
        return;
    }
    let place = "record.actual.errors";
    let none = || Action::operations().map(|action| (action.name(), 0));
    let mut failed: BTreeMap<&str, u64> = none().collect();
    let mut counted = failed.clone();
    let mut performed = 0;
    for OperationRecord { action, meter, .. } in
        actual.all_phases().flat_map(PhaseRecord::all_operations)
    {
        *failed.entry(action.name()).or_default() += meter.failed;
        performed += meter.operations + meter.failed;
    }
    for error in actual.errors.iter().filter(|error| error.step != VERIFY) {
        // Others are of no operation that a workload has.
        if let Some(count) = counted.get_mut(error.operation.as_str()) {
            *count += error.count;
        }
    }
    found
        .at(Rule::Errors, place)
        .same(&counted, &failed, "operations that failed:");
    let checks = [
        actual.check.known(),
        actual.check_across.as_ref(),
        actual.taken.as_ref(),
    ];
    let wrong: u64 = checks.into_iter().flatten().map(|check| check.wrong).sum();
    let all: u64 = actual.errors.iter().map(|error| error.count).sum();
    if wrong > all {
        let why = format!("{wrong} names were wrong, and there are {all} errors");
        found.broken(Rule::Errors, "record.actual.check", why);
    }
    if let Some(error) = actual.errors.iter().find(|error| error.count == 0) {
        let why = format!("an error of {} that never occurred", error.operation);
        found.broken(Rule::Errors, place, why);
    }
    let most = &record.spec.on_error;
    if actual.outcome == Outcome::Complete && most.is_exceeded(all, performed) {
        let why = format!("{all} in {performed} operations are more than --on-error {most}");
        found.broken(Rule::Errors, place, why);
    }
}

/// The step of an error that was found in the result of an operation.
const VERIFY: &str = "verify";

/// How many names there are more after the preparation and the transactions.
fn pool(record: &Record) -> Option<i128> {
    let mut names = 0_i128;
    for phase in &record.actual.phases {
        if phase.phase == Phase::Delete {
            continue;
        }
        for operation in phase.all_operations() {
            if operation.meter.failed + operation.meter.missed > 0 {
                return None;
            }
            let count = i128::from(operation.meter.operations);
            names += match operation.action {
                Action::Create | Action::Deliver => count,
                Action::Link | Action::SymbolicLink | Action::MakeDirectory => count,
                action if action.removes() => -count,
                _ => 0,
            };
        }
    }
    Some(names)
}

/// Without failures the names that were looked at are those that were made and not removed, and so
/// are those that are removed.
pub(super) fn names(record: &Record, found: &mut Findings) {
    let (spec, actual) = (&record.spec, &record.actual);
    let is_whole =
        actual.outcome == Outcome::Complete && spec.drive.sweep.is_none() && spec.ranks <= 1;
    if !is_whole || spec.keeping.reuse || !actual.errors.is_empty() {
        return;
    }
    let Some(names) = pool(record) else {
        return;
    };
    let place = "record.actual.check";
    let by = "by the names that were made and not removed";
    if let Some(delete) = actual.phase(Phase::Delete) {
        let (completed, failed) = delete.tried();
        let removed = i128::from(completed.saturating_add(failed));
        let place = format!("{place}: names removed in delete");
        found
            .at(Rule::NamesChecked, &place)
            .same(&removed, &names, by);
    }
    let Fact::Known(check) = &actual.check else {
        return;
    };
    let right = Check {
        names: u64::try_from(names).unwrap_or(0),
        wrong: 0,
        left_out: 0,
        ..*check
    };
    let place_known = "record.actual.check.known";
    found
        .at(Rule::NamesChecked, place_known)
        .same(check, &right, by);
    let workload = &spec.workload;
    let roots = workload.location_weights().len() as u64;
    let pools = u64::from(workload.workers.pools().max(1));
    let directories = workload.directories().saturating_add(pools);
    let each = directories.saturating_add(1);
    let most = each.saturating_mul(roots);
    if !(1..=most).contains(&check.directories) {
        let count = check.directories;
        let why = format!("{count} directories were checked, and there are at most {most}");
        found.broken(Rule::NamesChecked, place, why);
    }
    let lasted = between(actual).unwrap_or(record.during.clocks.elapsed_ns);
    if !(1..=lasted).contains(&check.duration_ns) {
        let why = format!(
            "it took {} ns, and there were {lasted} ns",
            check.duration_ns
        );
        found.broken(Rule::NamesChecked, place, why);
    }
}

/// From the end of the transactions to the beginning of the deletion, in nanoseconds: the names are
/// checked between them.
fn between(actual: &Actual) -> Option<u64> {
    let ended_ns = actual.phase(Phase::Transactions)?.segments.last()?.ended_ns;
    let began_ns = actual.phase(Phase::Delete)?.segments.first()?.began_ns;
    Some(began_ns.saturating_sub(ended_ns))
}
