//! Checks counts that a record contains twice, such as those of workers and segments, of errors and
//! failed operations, or of names and created files.

use std::collections::BTreeMap;

use measure::Histogram;
use system::Fact;
use workload::{Action, Bias, Classic, Phase};

use super::columns::sum;
use super::scope::{At, Findings, Rule, Scope, placed_operations};
use record::Outcome;
use record::run::{Actual, Check, OperationRecord, PhaseRecord, Record, WorkerPhase};

pub(super) fn phase(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let mut at = found.at(Rule::Workers, place);
    operations(scope, phase, &mut at);
    // If a phase did not complete, the counts of a worker may be missing.
    if phase.complete {
        workers(phase, &mut at);
        first_done(scope, phase, &mut at);
    }
    transactions(scope, phase, &mut at.of(Rule::Transactions));
}

/// Compares the counts of the workers with those of the segments.
fn workers(phase: &PhaseRecord, at: &mut At<'_>) {
    let meters = || phase.measured_operations().map(|known| &known.meter);
    // No other check limits the bytes of workers, so their sum must saturate instead of
    // overflowing.
    let all = |of: fn(&WorkerPhase) -> u64| sum(phase.workers.iter().map(of));
    let (operations, bytes) = meters().fold((0, 0), |(operations, bytes), meter| {
        (operations + meter.operations, bytes + meter.bytes)
    });
    for (field, of_workers, of_segments) in [
        (
            ".transactions",
            all(|one| one.transactions),
            phase.transactions(),
        ),
        (".issued", all(|one| one.issued), phase.issued()),
        (".operations", all(|one| one.operations), operations),
        (".bytes", all(|one| one.bytes), bytes),
    ] {
        let mut at = at.below(".workers");
        at.same(field, of_workers, of_segments, "of the measured segments");
    }
}

/// Checks the work that all workers had completed when the first worker finished. This work is at
/// least that of the first worker to finish, and at most that of the whole phase. With one worker,
/// it equals the work of the phase.
fn first_done(scope: &Scope<'_>, phase: &PhaseRecord, at: &mut At<'_>) {
    let mut at = at.below(".first_done");
    let Some(first) = &phase.first_done else {
        if !phase.workers.is_empty() {
            at.broken("", "no worker was done, and the phase is complete");
        }
        return;
    };
    let mut workers = phase.workers.iter();
    let Some(worker) = workers.find(|worker| worker.worker == first.worker) else {
        return at.broken(".worker", format!("there is no worker {}", first.worker));
    };
    let (own, all) = match phase.phase {
        Phase::Transactions => (worker.transactions, phase.transactions()),
        Phase::Prepare | Phase::Delete => (worker.operations, phase.tried().0),
    };
    let least = match (scope.has_ranks(), &phase.workers[..]) {
        (false, [_]) if phase.is_all_measured() => all,
        // `done` is the published progress of all workers, minus their transactions before the
        // measured segments. Each worker may have one transaction that was not yet published, so
        // `done` may be too small by one per worker.
        (_, workers) => own.saturating_sub(workers.len() as u64),
    };
    at.within(".done", first.done, least..=all, "of the workers");
}

/// Checks that there are as many latencies as operations, and that the operations move no more
/// bytes than the workload allows. Operations without contents move no bytes.
fn operations(scope: &Scope<'_>, phase: &PhaseRecord, at: &mut At<'_>) {
    let workload = &scope.spec.workload;
    let most_of_one = workload.content_bytes_max();
    for (field, OperationRecord { action, meter, .. }) in placed_operations(phase) {
        let mut at = at.below(&format!("{field}.meter"));
        let moves = action.moves_bytes_in() || action.moves_bytes_out();
        let most = match moves || action.sets_size() {
            true if action.is_on_tree() => u64::MAX,
            true => meter.operations.saturating_mul(most_of_one),
            false => 0,
        };
        at.at_most(".bytes", meter.bytes, most, "of as many operations");
        if scope.spec.latencies {
            let mut at = at.of(Rule::Latencies);
            let latencies = meter.latency.count();
            at.same(".latency: count", latencies, meter.operations, "operations");
            let services = meter.service.as_ref().map(Histogram::count);
            at.same(".service: count", services, meter.operations, "operations");
            let per_file = meter.per_file.as_ref().map_or(0, Histogram::count);
            at.at_most(".per_file: count", per_file, meter.operations, "operations");
        }
    }
}

/// Checks that issued transactions completed, failed or were skipped. Other phases than
/// `transactions` have no transactions.
fn transactions(scope: &Scope<'_>, phase: &PhaseRecord, at: &mut At<'_>) {
    let is_transactions = phase.phase == Phase::Transactions;
    let pairs = scope.spec.workload.classic().map(halves);
    // With several operations in flight, the two operations of a transaction may end in different
    // segments. In an incomplete phase, the last transaction may lack its second operation.
    let is_exact = scope.spec.depth <= 1 && phase.complete && scope.has_ended();
    for (number, segment) in phase.segments.iter().enumerate() {
        let mut at = at.below(&format!(".segments[{number}]"));
        let (issued, transactions) = (segment.issued, segment.transactions);
        let (mut completed, mut ended) = (0, segment.skipped.total());
        for OperationRecord { meter, .. } in &segment.operations {
            completed += meter.operations;
            ended += meter.operations + meter.failed;
        }
        let Some(halves) = pairs.filter(|_| is_transactions) else {
            let (ended, completed, by) = match is_transactions {
                true => (ended, completed, "completed, failed and skipped"),
                false => (0, 0, "in this phase"),
            };
            at.same(".issued", issued, ended, by);
            at.same(".transactions", transactions, completed, by);
            continue;
        };
        if is_exact {
            let ended_pairs = issued.saturating_mul(halves);
            at.same(": halves", ended, ended_pairs, "of those issued");
            let fewest = completed.div_ceil(halves.max(1));
            let range = fewest..=completed.min(issued);
            at.within(".transactions", transactions, range, "by the operations");
        }
    }
    let most_of_one = pairs.unwrap_or(1).clamp(1, 2);
    for (index, worker) in phase.workers.iter().enumerate() {
        let (transactions, operations) = (worker.transactions, worker.operations);
        let mut at = at.below(&format!(".workers[{index}]"));
        if is_transactions {
            at.at_least(".issued", worker.issued, transactions, "transactions");
        }
        if is_transactions && scope.spec.depth <= 1 {
            let all = transactions..=transactions.saturating_mul(most_of_one);
            at.within(".operations", operations, all, "of its transactions");
        }
    }
}

/// Returns the number of operations in a classic transaction: one for each bias that is not
/// disabled.
fn halves(classic: &Classic) -> u64 {
    let biases = [classic.bias_read, classic.bias_create];
    biases
        .into_iter()
        .filter(|bias| *bias != Bias::DISABLED)
        .count() as u64
}

/// Checks that each failed operation is recorded as an error of the same kind of operation. Errors
/// that verification found are not compared, because their operations completed.
pub(super) fn errors(record: &Record, found: &mut Findings) {
    let actual = &record.actual;
    let hangs = actual.stalled.iter().any(|stalled| !stalled.came_back);
    let cluster = record.cluster.as_ref();
    let is_lost = cluster.is_some_and(|cluster| !cluster.missing.is_empty());
    // Errors are recorded at the end of a run, so an unfinished run may lack some errors.
    if actual.outcome == Outcome::Unfinished || hangs || is_lost {
        return;
    }
    let mut at = found.at(Rule::Errors, "record.actual.errors");
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
        // Errors that belong to no operation of the workload are not compared.
        if let Some(count) = counted.get_mut(error.operation.as_str()) {
            *count += error.count;
        }
    }
    at.same("", &counted, &failed, "operations that failed:");
    let checks = [
        actual.check.known(),
        actual.check_across.as_ref(),
        actual.taken.as_ref(),
    ];
    let wrong: u64 = checks.into_iter().flatten().map(|check| check.wrong).sum();
    let all: u64 = actual.errors.iter().map(|error| error.count).sum();
    at.at_least("", all, wrong, "by the names that were wrong");
    let least = actual.errors.iter().map(|error| error.count).min();
    at.at_least(": the rarest", least, 1, "in an error");
    let most = &record.spec.on_error;
    if actual.outcome == Outcome::Complete && most.is_exceeded(all, performed) {
        let why = format!("{all} in {performed} operations are more than --on-error {most}");
        at.broken("", why);
    }
}

/// The value of `step` in errors that verification found in the result of an operation.
const VERIFY: &str = "verify";

/// Returns the number of names that the preparation and the transactions added. `None` if an
/// operation failed, because its name may or may not exist.
fn pool(record: &Record) -> Option<i128> {
    let mut names = 0_i128;
    for phase in &record.actual.phases {
        if phase.phase == Phase::Delete {
            continue;
        }
        for operation in phase.all_operations() {
            if operation.meter.failed > 0 {
                return None;
            }
            let count = i128::from(operation.meter.operations);
            names += match operation.action {
                Action::Link
                | Action::InstallLink
                | Action::SymbolicLink
                | Action::MakeDirectory => count,
                action if action.makes_tree() => count,
                action if action.removes() => -count,
                action if action.changes_count() == Some(true) => count,
                _ => 0,
            };
        }
    }
    Some(names)
}

/// Compares the number of names that the run checked and deleted with the number of names that
/// existed after the transactions. After a failed operation, the number of existing names is not
/// known.
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
    let mut at = found.at(Rule::NamesChecked, "record.actual.check");
    let by = "by the names that were made and not removed";
    if let Some(delete) = actual.phase(Phase::Delete) {
        let (completed, failed) = delete.tried();
        let removed = completed.saturating_add(failed);
        at.same(": names removed in delete", removed, names, by);
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
    at.same(".known", check, right, by);
    let workload = &spec.workload;
    let roots = workload.location_weights().len() as u64;
    let pools = u64::from(workload.workers.pools().max(1));
    let directories = workload.directories().saturating_add(pools);
    let each = directories.saturating_add(1);
    let range = 1..=each.saturating_mul(roots);
    at.within(".directories", check.directories, range, "of the pools");
    let lasted = 1..=between(actual).unwrap_or(record.during.clocks.elapsed_ns);
    at.within(".duration_ns", check.duration_ns, lasted, "in the run");
}

/// Returns the time from the end of the transactions to the start of the deletion, in nanoseconds.
/// The names are checked in this time.
fn between(actual: &Actual) -> Option<u64> {
    let ended_ns = actual.phase(Phase::Transactions)?.segments.last()?.ended_ns;
    let began_ns = actual.phase(Phase::Delete)?.segments.first()?.began_ns;
    Some(began_ns.saturating_sub(ended_ns))
}
