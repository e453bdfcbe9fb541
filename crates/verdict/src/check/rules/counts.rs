//! Counts that are in a record twice: of workers and segments, of errors and failures, of figures
//! and phases, of names and files.

use std::collections::BTreeMap;

use system::Fact;
use workload::{Action, Bias, Classic, Phase};

use super::{Findings, Rule, Scope, all_operations};
use record::Outcome;
use record::run::{OperationRecord, PhaseRecord, Record};

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

fn workers(phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let of_segments = |part: fn(&OperationRecord) -> u64| -> u64 {
        let operations = phase.measured().flat_map(|segment| &segment.operations);
        operations.map(part).sum()
    };
    let transactions = phase.workers.iter().map(|worker| worker.transactions).sum();
    let issued = phase.workers.iter().map(|worker| worker.issued).sum();
    let operations = phase.workers.iter().map(|worker| worker.operations).sum();
    // Bytes of workers are in no other sum, and may be any number.
    let bytes = phase
        .workers
        .iter()
        .fold(0_u64, |sum, worker| sum.saturating_add(worker.bytes));
    let place = format!("{place}.workers");
    for (what, of_workers, of_segments) in [
        ("transactions", transactions, phase.transactions()),
        ("issued transactions", issued, phase.issued()),
        (
            "operations",
            operations,
            of_segments(|operation| operation.meter.operations),
        ),
        (
            "bytes",
            bytes,
            of_segments(|operation| operation.meter.bytes),
        ),
    ] {
        let (of_workers, of_segments) = (
            (format!("{what} of all workers"), of_workers),
            (format!("{what} of the measured segments"), of_segments),
        );
        found.equal(
            Rule::Workers,
            &place,
            (&of_workers.0, of_workers.1),
            (&of_segments.0, of_segments.1),
        );
    }
}

/// What all had done when the first one was: at least its own, and no more than all; of one worker
/// exactly all.
fn first_done(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let place = format!("{place}.first_done");
    let Some(first) = &phase.first_done else {
        if !phase.workers.is_empty() {
            found.broken(
                Rule::Workers,
                &place,
                "no worker was done, and the phase is complete".to_owned(),
            );
        }
        return;
    };
    let Some(worker) = phase
        .workers
        .iter()
        .find(|worker| worker.worker == first.worker)
    else {
        return found.broken(
            Rule::Workers,
            &place,
            format!("there is no worker {}", first.worker),
        );
    };
    let (own, all) = match phase.phase {
        Phase::Transactions => (worker.transactions, phase.transactions()),
        Phase::Prepare | Phase::Delete => (worker.operations, phase.tried().0),
    };
    let least = match (scope.has_ranks(), &phase.workers[..]) {
        (false, [_]) if phase.measured().count() == phase.segments.len() => all,
        // Others may have been in the warm-up still.
        _ => own.saturating_sub(phase.workers.len() as u64),
    };
    if !(least..=all).contains(&first.done) {
        let why = format!(
            "{} were done by then, and there are {least} to {all}",
            first.done
        );
        found.broken(Rule::Workers, &place, why);
    }
}

fn latencies(phase: &PhaseRecord, place: &str, found: &mut Findings) {
    for (number, segment) in phase.segments.iter().enumerate() {
        for (index, OperationRecord { meter, .. }) in segment.operations.iter().enumerate() {
            let place = format!("{place}.segments[{number}].operations[{index}].meter");
            let histograms = [
                ("latency", Some(&meter.latency)),
                ("service", meter.service.as_ref()),
            ];
            for (name, histogram) in histograms {
                let Some(histogram) = histogram else {
                    continue;
                };
                let field = format!("{place}.{name}");
                let operations = ("operations", meter.operations);
                found.equal(
                    Rule::Latencies,
                    &field,
                    ("latencies", histogram.count()),
                    operations,
                );
            }
        }
    }
}

/// Operations move no more bytes than they can, and those without contents move none.
fn bytes(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let workload = &scope.spec.workload;
    let most_of_one = workload.size_max_bytes().max(workload.content_bytes_max());
    for (number, segment) in phase.segments.iter().enumerate() {
        for (index, OperationRecord { action, meter, .. }) in segment.operations.iter().enumerate()
        {
            let most = match action.moves_bytes_in()
                || action.moves_bytes_out()
                || *action == Action::Truncate
            {
                true => meter.operations.saturating_mul(most_of_one),
                false => 0,
            };
            if meter.bytes > most {
                let place = format!("{place}.segments[{number}].operations[{index}].meter.bytes");
                let why = format!("{} of {} can be at most {most}", meter.bytes, action.name());
                found.broken(Rule::Workers, &place, why);
            }
        }
    }
}

/// What is issued is completed, failed or skipped; and so it is for each worker, as far as its
/// counts are recorded. Other phases have no transactions.
fn transactions(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let is_transactions = phase.phase == Phase::Transactions;
    let pairs = scope.spec.workload.classic().map(halves);
    for (number, segment) in phase.segments.iter().enumerate() {
        let place = format!("{place}.segments[{number}]");
        let issued = ("issued", segment.issued);
        let transactions = ("transactions", segment.transactions);
        if !is_transactions {
            found.equal(Rule::Transactions, &place, issued, ("in this phase", 0));
            found.equal(
                Rule::Transactions,
                &place,
                transactions,
                ("in this phase", 0),
            );
            continue;
        }
        let meters = segment.operations.iter().map(|operation| &operation.meter);
        let (completed, ended) =
            meters.fold((0, segment.skipped.total()), |(completed, ended), meter| {
                let all = meter.operations + meter.failed + meter.missed;
                (completed + meter.operations, ended + all)
            });
        let Some(halves) = pairs else {
            found.equal(
                Rule::Transactions,
                &place,
                issued,
                ("completed, failed and skipped", ended),
            );
            found.equal(
                Rule::Transactions,
                &place,
                transactions,
                ("completed operations", completed),
            );
            continue;
        };
        // Halves in flight may end in another segment than their transaction, and the last one may
        // be left without its other half.
        let has_ended = scope.record.actual.end.known() == Some(&workload::End::Complete);
        let is_exact = scope.spec.depth <= 1 && phase.complete && has_ended;
        let most = segment.issued.saturating_mul(halves);
        if is_exact && ended != most {
            let why = format!(
                "{} pairs of {halves} have {ended} halves completed, failed and skipped",
                segment.issued
            );
            found.broken(Rule::Transactions, &place, why);
        }
        let fewest = completed.div_ceil(halves.max(1));
        if is_exact && !(fewest..=completed.min(segment.issued)).contains(&segment.transactions) {
            let why = format!(
                "{} transactions with {completed} operations",
                segment.transactions
            );
            found.broken(Rule::Transactions, &place, why);
        }
    }
    for (index, worker) in phase.workers.iter().enumerate() {
        let place = format!("{place}.workers[{index}]");
        let least = if is_transactions {
            worker.transactions
        } else {
            0
        };
        let is_pair = pairs.is_some_and(|halves| halves > 1);
        let operations_differ = match is_pair {
            _ if !is_transactions => false,
            true => !(worker.transactions..=worker.transactions.saturating_mul(2))
                .contains(&worker.operations),
            false => worker.transactions != worker.operations,
        };
        if worker.issued < least || (operations_differ && scope.spec.depth <= 1) {
            let why = format!(
                "{} transactions of {} that were issued have {} operations",
                worker.transactions, worker.issued, worker.operations
            );
            found.broken(Rule::Transactions, &place, why);
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

/// All phases, those of steps too.
fn phases(record: &Record) -> impl Iterator<Item = &PhaseRecord> {
    let of_steps = record
        .actual
        .sweep_steps
        .iter()
        .flat_map(|step| &step.phases);
    record.actual.phases.iter().chain(of_steps)
}

/// Each operation that failed is an error of its kind. What is verified of one that was completed
/// is an error, too.
pub(super) fn errors(record: &Record, found: &mut Findings) {
    let actual = &record.actual;
    let hangs = actual.stalled.iter().any(|stalled| !stalled.came_back);
    // Errors are told at the end.
    if actual.outcome == Outcome::Unfinished || hangs {
        return;
    }
    let is_lost = record
        .cluster
        .as_ref()
        .is_some_and(|cluster| !cluster.missing.is_empty());
    if is_lost {
        return;
    }
    let mut failed: BTreeMap<&str, u64> = Action::operations()
        .map(|action| (action.name(), 0))
        .collect();
    for operation in phases(record).flat_map(all_operations) {
        *failed.entry(operation.action.name()).or_default() += operation.meter.failed;
    }
    for (operation, failed) in failed {
        let of_it = actual
            .errors
            .iter()
            .filter(|error| error.operation == operation);
        let counted = of_it
            .filter(|error| error.step != VERIFY)
            .map(|error| error.count);
        let what = format!("errors of {operation}");
        let counted = (what.as_str(), counted.sum());
        found.equal(
            Rule::Errors,
            "record.actual.errors",
            counted,
            ("failed operations", failed),
        );
    }
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
    let known = |error: &&record::run::ErrorRecord| error.count == 0;
    if let Some(error) = actual.errors.iter().find(known) {
        let why = format!("an error of {} that never occurred", error.operation);
        found.broken(Rule::Errors, "record.actual.errors", why);
    }
    let all_operations: u64 = phases(record)
        .flat_map(all_operations)
        .map(|operation| operation.meter.operations + operation.meter.failed)
        .sum();
    if actual.outcome == Outcome::Complete && record.spec.on_error.is_exceeded(all, all_operations)
    {
        let why = format!(
            "{all} in {all_operations} operations are more than --on-error {}",
            record.spec.on_error
        );
        found.broken(Rule::Errors, "record.actual.errors", why);
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
        for operation in all_operations(phase) {
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
    let mut told = |what: &str, count: u64| {
        if i128::from(count) != names {
            let why = format!("{what}: {count}, but names that were made and not removed: {names}");
            found.broken(Rule::NamesChecked, place, why);
        }
    };
    if let Some(delete) = actual
        .phases
        .iter()
        .find(|phase| phase.phase == Phase::Delete)
    {
        let (completed, failed) = delete.tried();
        told("names removed in delete", completed.saturating_add(failed));
    }
    if let Fact::Known(check) = &actual.check {
        told("names that were checked", check.names);
        let roots = spec.workload.location_weights().len() as u64;
        let pools = u64::from(spec.workload.workers.pools().max(1));
        let made = spec.workload.directories().saturating_mul(roots);
        let (wrong, left_out) = (
            ("wrong names", check.wrong),
            ("names left out", check.left_out),
        );
        for counted in [wrong, left_out] {
            found.equal(Rule::NamesChecked, place, counted, ("without errors", 0));
        }
        let most = made
            .saturating_add(roots.saturating_mul(pools))
            .saturating_add(roots);
        if check.directories > most || check.directories == 0 {
            let why = format!(
                "{} directories were checked, and there are at most {most}",
                check.directories
            );
            found.broken(Rule::NamesChecked, place, why);
        }
        let lasted = between(record).unwrap_or(record.during.clocks.elapsed_ns);
        if check.duration_ns > lasted || check.duration_ns == 0 {
            let why = format!(
                "it took {} ns, and there were {lasted} ns",
                check.duration_ns
            );
            found.broken(Rule::NamesChecked, place, why);
        }
    }
}

/// From the end of the transactions to the beginning of the deletion, in nanoseconds: the names are
/// checked between them.
fn between(record: &Record) -> Option<u64> {
    let of = |phase: Phase| {
        record
            .actual
            .phases
            .iter()
            .find(|known| known.phase == phase)
    };
    let ended_ns = of(Phase::Transactions)?.segments.last()?.ended_ns;
    let began_ns = of(Phase::Delete)?.segments.first()?.began_ns;
    Some(began_ns.saturating_sub(ended_ns))
}

/// Two clocks that are rounded to whole seconds may differ by this.
const SECONDS: i64 = 1;

pub(super) fn classic(record: &Record, found: &mut Findings) {
    let (Some(figures), Some(work)) = (&record.actual.classic, record.spec.workload.classic())
    else {
        return;
    };
    let phases = &record.actual.phases;
    let count = |phase: Phase, action: Action| -> u64 {
        let of_phase = phases.iter().filter(|known| known.phase == phase);
        let operations = of_phase.flat_map(all_operations);
        let of_action = operations.filter(|operation| operation.action == action);
        of_action.map(|operation| operation.meter.operations).sum()
    };
    let workers = u64::from(record.spec.workload.workers.count());
    let asked = record.spec.workload.transactions().saturating_mul(workers);
    let place = "record.actual.classic";
    let (prepare, transactions, delete) = (Phase::Prepare, Phase::Transactions, Phase::Delete);
    for (what, figure, counted) in [
        ("transactions", figures.transactions, asked),
        (
            "created_alone",
            figures.created_alone,
            count(prepare, Action::Create),
        ),
        (
            "created_mixed",
            figures.created_mixed,
            count(transactions, Action::Create),
        ),
        ("read", figures.read, count(transactions, Action::Read)),
        (
            "appended",
            figures.appended,
            count(transactions, Action::Append),
        ),
        (
            "deleted_alone",
            figures.deleted_alone,
            count(delete, Action::Delete),
        ),
        (
            "deleted_mixed",
            figures.deleted_mixed,
            count(transactions, Action::Delete),
        ),
    ] {
        found.equal(
            Rule::Classic,
            place,
            (what, figure),
            ("in the phases", counted),
        );
    }
    if figures.edition != work.edition {
        found.broken(
            Rule::Classic,
            place,
            "its edition is not the workload's".to_owned(),
        );
    }
    if record
        .actual
        .end
        .known()
        .is_some_and(|end| *end != figures.end)
    {
        found.broken(
            Rule::Classic,
            place,
            "its end is not that of the transactions".to_owned(),
        );
    }
    let moved = |moves: fn(Action) -> bool| -> u64 {
        let operations = phases.iter().flat_map(all_operations);
        let moving = operations.filter(|operation| moves(operation.action));
        moving.map(|operation| operation.meter.bytes).sum()
    };
    for (what, figure, bytes) in [
        (
            "bytes_read",
            figures.bytes_read,
            moved(Action::moves_bytes_in),
        ),
        (
            "bytes_written",
            figures.bytes_written,
            moved(Action::moves_bytes_out),
        ),
    ] {
        // Sums of 32-bit floats stop growing when they are large.
        let exact = bytes as f64;
        let is_float = !figures.edition.rules().whole_sums;
        let allowed = if is_float {
            exact * FLOATS_OFF + 1.0
        } else {
            0.0
        };
        let stops_growing = is_float && exact > FLOATS_EXACT;
        if (figure - exact).abs() > allowed && !stops_growing {
            let why = format!("{what} is {figure}, and the phases have {bytes}");
            found.broken(Rule::Classic, place, why);
        }
    }
    seconds(record, found);
}

/// A sum of 32-bit floats is off by no more than this share of itself while it is small.
const FLOATS_OFF: f64 = 0.01;
/// Up to this many bytes.
const FLOATS_EXACT: f64 = 1e9;

/// Whole seconds of the wall clock, where nobody set it.
fn seconds(record: &Record, found: &mut Findings) {
    let Some(figures) = &record.actual.classic else {
        return;
    };
    let clocks = &record.during.clocks;
    if clocks.wall_clock_stepped_ns != 0 || clocks.suspended_ns != 0 || record.cluster.is_some() {
        return;
    }
    let second = |ns: u64| {
        let unix_ns = record
            .origin
            .unix_ns
            .saturating_add(i64::try_from(ns).unwrap_or(i64::MAX));
        unix_ns.div_euclid(1_000_000_000)
    };
    // The first worker reads the clock between these moments of its own.
    let of_first = |phase: Phase| {
        let phase = record
            .actual
            .phases
            .iter()
            .find(|known| known.phase == phase)?;
        phase.workers.first().filter(|worker| worker.worker == 0)
    };
    let began = |phase: Phase| of_first(phase).map(|worker| second(worker.began_ns));
    let ended = |phase: Phase| of_first(phase).map(|worker| second(worker.ended_ns));
    let last = Some(second(clocks.elapsed_ns));
    let [prepare, transactions, delete] = Phase::ALL;
    for (what, figure, earliest, latest) in [
        ("began_s", figures.began_s, Some(second(0)), began(prepare)),
        (
            "transactions_began_s",
            figures.transactions_began_s,
            ended(prepare),
            began(transactions),
        ),
        (
            "transactions_ended_s",
            figures.transactions_ended_s,
            ended(transactions),
            began(delete),
        ),
        ("ended_s", figures.ended_s, ended(delete), last),
    ] {
        let is_early = earliest.is_some_and(|earliest| figure < earliest - SECONDS);
        if is_early
            || latest
                .or(last)
                .is_some_and(|latest| figure > latest + SECONDS)
        {
            let why = format!(
                "{what} is {figure}, and by the moments of the phases {earliest:?} to {latest:?}"
            );
            found.broken(Rule::Classic, "record.actual.classic", why);
        }
    }
}
