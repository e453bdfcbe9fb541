//! Checks what the generators derive from the workload: the fingerprint, the hash of the stream,
//! and the operations of the performed transactions.

use std::collections::BTreeMap;

use serde::Serialize;
use system::Fact;
use workload::fingerprint::{GENERATORS_VERSION, fingerprint};
use workload::plan::followed::Followed;
use workload::plan::{Plan, Planner};
use workload::{Action, End, Phase, Skipped};

use super::scope::{Findings, Rule};
use record::run::{OperationRecord, PhaseRecord, Record};

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
        Ok(derived) if !is_of_its_first_step(record) => {
            let mut at = found.at(Rule::Fingerprint, place);
            at.same("", &record.fingerprint, derived, "the workload has");
        }
        Ok(_) => {}
        Err(problem) => {
            let mut at = found.at(Rule::Fingerprint, "record.spec.workload");
            return at.broken("", problem.to_string());
        }
    }
    hash(record, found);
    counts(record, found);
}

/// Whether the run is a sweep over numbers of ranks. The fingerprint of such a run is that of the
/// first load level.
fn is_of_its_first_step(record: &Record) -> bool {
    let first = record.actual.sweep_steps.first();
    first.is_some_and(|step| matches!(step.load, record::run::Load::Ranks(_)))
}

fn hash(record: &Record, found: &mut Findings) {
    let Fact::Known(recorded) = &record.actual.stream_hash else {
        return;
    };
    let place = "record.actual.stream_hash";
    if Followed::of(&record.spec.workload).is_some() {
        return found.unchecked(Rule::StreamHash, place, TOO_LONG);
    }
    if let Ok(plan) = Planner::new(&record.spec.workload).plan() {
        let mut at = found.at(Rule::StreamHash, place);
        at.same("", recorded, &plan.stream_hash, "the workload has");
    }
}

const TOO_LONG: &str = "the stream is too long to be followed";

/// Work of a phase: either the performed work, or the work that the stream contains.
#[derive(Default, Serialize)]
struct Done {
    operations: BTreeMap<&'static str, u64>,
    bytes: BTreeMap<&'static str, u64>,
    skipped: Skipped,
}

impl Done {
    fn add(&mut self, action: Action, operations: u64, bytes: u64) {
        // Kinds of operations that were never performed are left out.
        if operations + bytes > 0 {
            *self.operations.entry(action.name()).or_default() += operations;
            *self.bytes.entry(action.name()).or_default() += bytes;
        }
    }

    fn of(phase: &PhaseRecord) -> Self {
        let mut done = Self::default();
        for OperationRecord { action, meter, .. } in phase.all_operations() {
            done.add(*action, meter.operations, meter.bytes);
        }
        for segment in &phase.segments {
            done.skipped.merge(&segment.skipped);
        }
        done
    }

    fn planned(plan: &Plan, phase: Phase) -> Self {
        let mut done = Self::default();
        for (action, tally) in &plan.tallies[phase as usize] {
            done.add(*action, tally.operations, tally.bytes);
        }
        done.skipped.merge(&plan.skipped);
        done
    }
}

/// Checks that the run performed exactly the operations that the stream contains for its
/// transactions. Shared pools, reused pools, load sweeps and runs with failures are not checked.
fn counts(record: &Record, found: &mut Findings) {
    let (spec, actual) = (&record.spec, &record.actual);
    let is_whole_pool =
        !spec.workload.workers.is_shared() && !spec.keeping.reuse && spec.neighbour == 0;
    if !is_whole_pool || spec.drive.sweep.is_some() || actual.phases.iter().any(has_failures) {
        return;
    }
    let of_phase = |phase| actual.phase(phase).filter(|known| known.complete);
    let Some(prepared) = of_phase(Phase::Prepare) else {
        return;
    };
    let performed = of_phase(Phase::Transactions).and_then(|phase| performed(record, phase));
    let streams = spec.workload.streams() as usize;
    let transactions = performed.clone().unwrap_or_else(|| vec![0; streams]);
    let all = transactions.iter().copied().fold(0, u64::saturating_add);
    let files = spec.workload.files().saturating_mul(streams as u64);
    if all > Followed::TRANSACTIONS_MAX || files > Followed::FILES_MAX {
        return found.unchecked(Rule::StreamCounts, "record.actual.phases", TOO_LONG);
    }
    let planner = Planner::new(&spec.workload).with_transactions(transactions);
    let Ok(plan) = planner.plan() else {
        return;
    };
    let others = [Phase::Transactions, Phase::Delete]
        .into_iter()
        .filter_map(of_phase);
    for phase in std::iter::once(prepared).chain(others.filter(|_| performed.is_some())) {
        let (done, mut planned) = (Done::of(phase), Done::planned(&plan, phase.phase));
        if phase.phase != Phase::Transactions {
            planned.skipped.clone_from(&done.skipped);
        }
        let place = format!("record.actual: {}", phase.phase.name());
        let mut at = found.at(Rule::StreamCounts, place);
        at.same("", done, planned, "in the stream");
    }
}

fn has_failures(phase: &PhaseRecord) -> bool {
    phase
        .segments
        .iter()
        .any(|segment| segment.skipped.after_failure > 0)
        || phase.all_operations().any(|known| known.meter.failed > 0)
}

/// Returns the number of transactions that each worker performed; `None` if these numbers are not
/// recorded.
fn performed(record: &Record, phase: &PhaseRecord) -> Option<Vec<u64>> {
    let workload = &record.spec.workload;
    let each = workload.transactions();
    let workers = workload.workers.count();
    let all = phase.all_issued();
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
    // A single worker performed all transactions. With several workers, a pool that runs dry ends
    // only the transactions of its own worker. How many transactions each worker performed is then
    // not known.
    if workers == 1 {
        return Some(vec![if ran_dry { each } else { all }]);
    }
    let numbers = (0..workers).eq(phase.workers.iter().map(|worker| worker.worker));
    (phase.is_all_measured() && numbers && !ran_dry)
        .then(|| phase.workers.iter().map(|worker| worker.issued).collect())
}
