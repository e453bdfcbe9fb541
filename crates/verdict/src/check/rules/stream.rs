//! What the generators make of the workload: fingerprint, hash of the stream, and what as many
//! transactions come to.

use std::collections::BTreeMap;

use system::Fact;
use workload::fingerprint::{GENERATORS_VERSION, fingerprint};
use workload::plan::followed::Followed;
use workload::plan::{Plan, Planner, Tally};
use workload::{Action, End, Phase, SkipReason, Skipped};

use super::{Findings, Rule, all_operations};
use record::run::{PhaseRecord, Record};

pub(super) fn check(record: &Record, found: &mut Findings) {
    let place = "record.fingerprint";
    let theirs = record.tool.generators;
    if theirs != GENERATORS_VERSION {
        let why = format!(
            "the record is of generators {theirs}, and this program has generators \
             {GENERATORS_VERSION}"
        );
        return found.unchecked(Rule::Fingerprint, place, why);
    }
    match fingerprint(&record.spec.workload) {
        Ok(derived) if record.fingerprint != derived && !is_of_its_first_step(record) => found
            .broken(
                Rule::Fingerprint,
                place,
                format!("{}, but the workload has {derived}", record.fingerprint),
            ),
        Ok(_) => {}
        Err(problem) => {
            return found.broken(
                Rule::Fingerprint,
                "record.spec.workload",
                problem.to_string(),
            );
        }
    }
    hash(record, found);
    counts(record, found);
}

/// A sweep of ranks has the fingerprint of its first step.
fn is_of_its_first_step(record: &Record) -> bool {
    let steps = &record.actual.sweep_steps;
    steps
        .first()
        .is_some_and(|step| matches!(step.load, record::run::Load::Ranks(_)))
}

fn hash(record: &Record, found: &mut Findings) {
    let Fact::Known(recorded) = &record.actual.stream_hash else {
        return;
    };
    let place = "record.actual.stream_hash";
    if Followed::of(&record.spec.workload).is_some() {
        return found.unchecked(
            Rule::StreamHash,
            place,
            "the stream is too long to be followed",
        );
    }
    if let Ok(plan) = Planner::new(&record.spec.workload).plan() {
        if *recorded != plan.stream_hash {
            let why = format!("{recorded}, but the workload has {}", plan.stream_hash);
            found.broken(Rule::StreamHash, place, why);
        }
    }
}

/// What was done in a phase.
#[derive(Default, PartialEq, Eq)]
struct Done {
    tallies: BTreeMap<Action, (u64, u64)>,
    skipped: Skipped,
}

impl Done {
    fn of(phase: &PhaseRecord) -> Self {
        let mut done = Self::default();
        for operation in all_operations(phase) {
            let sum = done.tallies.entry(operation.action).or_default();
            sum.0 += operation.meter.operations;
            sum.1 += operation.meter.bytes;
        }
        for segment in &phase.segments {
            done.skipped.merge(&segment.skipped);
        }
        done
    }
}

/// A private pool without failures gets exactly what its stream says, as far as its transactions
/// were performed.
fn counts(record: &Record, found: &mut Findings) {
    let (spec, actual) = (&record.spec, &record.actual);
    let is_whole_pool =
        !spec.workload.workers.is_shared() && !spec.keeping.reuse && spec.neighbour == 0;
    if !is_whole_pool || spec.drive.sweep.is_some() || actual.phases.iter().any(has_failures) {
        return;
    }
    let of_phase = |phase| {
        let mut known = actual.phases.iter().enumerate();
        known.find(|(_, known)| known.phase == phase && known.complete)
    };
    let Some((_, prepared)) = of_phase(Phase::Prepare) else {
        return;
    };
    let performed = of_phase(Phase::Transactions).and_then(|(_, phase)| performed(record, phase));
    let streams = spec.workload.streams() as usize;
    let transactions = performed.clone().unwrap_or_else(|| vec![0; streams]);
    let too_many = transactions
        .iter()
        .fold(0, |sum: u64, more| sum.saturating_add(*more))
        > Followed::TRANSACTIONS_MAX;
    let files = spec.workload.files().saturating_mul(streams as u64);
    if too_many || files > Followed::FILES_MAX {
        let why = "the stream is too long to be followed";
        return found.unchecked(Rule::StreamCounts, "record.actual.phases", why);
    }
    let Ok(plan) = Planner::new(&spec.workload)
        .with_transactions(transactions)
        .plan()
    else {
        return;
    };
    compare(
        &plan,
        Phase::Prepare,
        prepared,
        "record.actual.phases[0]",
        found,
    );
    if performed.is_some() {
        for phase in [Phase::Transactions, Phase::Delete] {
            if let Some((index, done)) = of_phase(phase) {
                compare(
                    &plan,
                    phase,
                    done,
                    &format!("record.actual.phases[{index}]"),
                    found,
                );
            }
        }
    }
}

fn has_failures(phase: &PhaseRecord) -> bool {
    let mut failures = phase
        .segments
        .iter()
        .map(|segment| segment.skipped.after_failure);
    let is_bad = |operation: &record::run::OperationRecord| {
        operation.meter.failed + operation.meter.missed > 0
    };
    failures.any(|count| count > 0) || all_operations(phase).any(is_bad)
}

/// How many transactions each worker performed; nothing where that is not recorded.
fn performed(record: &Record, phase: &PhaseRecord) -> Option<Vec<u64>> {
    let workload = &record.spec.workload;
    let each = workload.transactions();
    let workers = workload.workers.count();
    let all: u64 = phase.segments.iter().map(|segment| segment.issued).sum();
    let asked_for = each.saturating_mul(workers.into());
    let ends = [End::OutOfFiles, End::OutOfReach];
    let ran_dry = record
        .actual
        .end
        .known()
        .is_some_and(|end| ends.contains(end));
    if all == asked_for {
        return Some(vec![each; workers as usize]);
    }
    // A pool that runs dry ends the transactions of its own worker alone.
    if workers == 1 {
        return Some(vec![if ran_dry { each } else { all }]);
    }
    let is_all_measured = phase.measured().count() == phase.segments.len();
    let numbers = (0..workers).eq(phase.workers.iter().map(|worker| worker.worker));
    (is_all_measured && numbers && !ran_dry)
        .then(|| phase.workers.iter().map(|worker| worker.issued).collect())
}

fn compare(plan: &Plan, phase: Phase, performed: &PhaseRecord, place: &str, found: &mut Findings) {
    let done = Done::of(performed);
    let planned = &plan.tallies[phase as usize];
    for action in done.tallies.keys().chain(planned.keys()) {
        let (operations, bytes) = done.tallies.get(action).copied().unwrap_or_default();
        let Tally {
            operations: in_stream,
            bytes: bytes_in_stream,
        } = plan.tally(phase, *action);
        for (what, counted, expected) in [
            ("operations", operations, in_stream),
            ("bytes", bytes, bytes_in_stream),
        ] {
            let what = format!("{what} of {}", action.name());
            found.equal(
                Rule::StreamCounts,
                place,
                (&what, counted),
                ("in the stream", expected),
            );
        }
    }
    if phase == Phase::Transactions && done.skipped != plan.skipped {
        for reason in SkipReason::ALL {
            let what = format!("skipped ({reason})");
            let expected = ("in the stream", plan.skipped.get(*reason));
            found.equal(
                Rule::StreamCounts,
                place,
                (&what, done.skipped.get(*reason)),
                expected,
            );
        }
    }
}
