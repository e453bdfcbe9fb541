//! Checks that a record has the parts that its run spec requires.

use engine::Step;
use spec::{Durability, Keeping, Place, Stop};
use system::Fact;
use workload::{Phase, Role, Workers};

use super::scope::{At, Findings, Rule, Scope, placed_operations};
use record::Outcome;
use record::run::{OperationRecord, PhaseRecord, Record, SegmentKind};

pub(super) fn check(record: &Record, found: &mut Findings) {
    let (spec, actual) = (&record.spec, &record.actual);
    let is_complete = actual.outcome == Outcome::Complete;
    let is_sweep = spec.drive.sweep.is_some();
    let touches = spec.engine.makes_files();
    let mut at = found.at(Rule::Parts, "record");
    at.due(".spec.place", spec.place != Place::Nowhere, touches);
    at.due(".cluster", record.cluster.is_some(), spec.ranks > 1);
    let mut of_run = at.below(".actual");
    let mut due_at_end = |part: &str, is_there: bool, is_due: bool| {
        of_run.due_at_end(part, is_there, is_due, is_complete);
    };
    // The result of a check that was not requested is "not applicable".
    due_at_end(".check", is_applicable(&actual.check), spec.check);
    let has_work = actual.transactions().any(|phase| phase.transactions() > 0);
    let is_asked = spec.overhead && touches && has_work;
    due_at_end(".overhead", is_applicable(&actual.overhead), is_asked);
    let is_classic = spec.workload.classic().is_some() && !is_sweep;
    due_at_end(".classic", actual.classic.is_some(), is_classic);
    due_at_end(".sweep_steps", !actual.sweep_steps.is_empty(), is_sweep);
    let is_taken = spec.keeping.reuse || spec.neighbour > 0;
    due_at_end(".taken", actual.taken.is_some(), is_taken);
    if is_complete {
        of_run.due(".end", actual.end.is_known(), true);
        of_run.due(
            ".check",
            actual.check.is_known(),
            spec.check.then_some(true),
        );
        // A completed run with errors may need a clean-up, which removes the files of failed
        // operations.
        if actual.clean_up.is_some() && actual.errors.is_empty() {
            of_run.broken(".clean_up", "it is there, although the run was completed");
        }
        if actual.stalled.iter().any(|stalled| !stalled.came_back) {
            of_run.broken(
                ".stalled",
                "a call did not return, and the run was completed",
            );
        }
        phases_of(record, &mut of_run.below(".phases"));
    }
    let has_traffic = spec.engine.calls_server() && actual.outcome != Outcome::Unfinished;
    of_run.due(".traffic", actual.traffic.is_some(), has_traffic);
    locations(record, &mut at.below(".locations"));
}

fn is_applicable<T>(fact: &Fact<T>) -> bool {
    !matches!(fact, Fact::NotApplicable)
}

/// Checks that a completed run has all its phases.
fn phases_of(record: &Record, at: &mut At<'_>) {
    let actual = &record.actual;
    let Keeping { keep, reuse } = record.spec.keeping;
    let asked = Phase::ALL.into_iter().filter(|phase| match phase {
        Phase::Prepare => !reuse,
        Phase::Transactions => true,
        Phase::Delete => !keep,
    });
    if actual.sweep_steps.is_empty() {
        let phases: Vec<Phase> = actual.phases.iter().map(|phase| phase.phase).collect();
        at.same("", phases, asked.collect::<Vec<_>>(), "by the spec");
    }
    if let Some(left) = actual.all_phases().find(|phase| !phase.complete) {
        let name = left.phase.name();
        let why = format!("the run is complete, but its phase {name} is not");
        at.broken("", why);
    }
}

/// Checks that the locations are the requested targets, with their weights.
fn locations(record: &Record, at: &mut At<'_>) {
    let (spec, locations) = (&record.spec, &record.locations);
    if locations.is_empty() && record.actual.outcome != Outcome::Complete {
        return;
    }
    at.same(": how many", locations.len(), spec.targets.len(), "targets");
    let weights = spec.workload.location_weights();
    for (index, (location, weight)) in locations.iter().zip(weights).enumerate() {
        let mut at = at.below(&format!("[{index}]"));
        at.same(".weight", location.weight, weight, "in the workload");
        let calls_server = spec.engine.calls_server();
        at.due(".server", location.server.is_some(), calls_server);
    }
}

pub(super) fn phase(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let spec = scope.spec;
    let mut at = found.at(Rule::Parts, place);
    let mut due_at_end = |part: &str, is_there: bool, is_due: bool| {
        at.due_at_end(part, is_there, is_due, phase.complete);
    };
    let meters = || phase.all_operations().map(|operation| &operation.meter);
    // After the loss of a rank, the time series (`slices`) lacks operations that had begun before.
    // So the series of an incomplete phase may be empty.
    let has_any = meters().any(|meter| meter.operations + meter.failed > 0);
    let is_due = spec.series && (has_any || !phase.complete);
    due_at_end(".slices", !phase.slices.is_empty(), is_due);
    let done = meters().any(|meter| meter.operations > 0);
    let is_due = spec.latencies && (done || !phase.complete);
    due_at_end(".slowest", !phase.slowest.is_empty(), is_due);
    let is_transactions = phase.phase == Phase::Transactions;
    let is_steady = is_transactions && spec.drive.steady().is_some();
    due_at_end(".steady", phase.steady.is_some(), is_steady);
    at.due(".machine", phase.machine.is_some(), spec.series);
    let is_open = scope.is_open(phase);
    at.due(".waiting", phase.waiting.is_some(), is_open);
    let caught_up = phase.caught_up_ns.is_some();
    at.due(".caught_up_ns", caught_up, (!is_open).then_some(false));
    let is_synced = spec.sync_phases && phase.complete && scope.is_complete();
    // In a run that was stopped, a complete phase need not have been synced. Its sync is then not
    // checked.
    let is_told = is_synced || !spec.sync_phases || !phase.complete;
    at.due(".sync", phase.sync.is_some(), is_told.then_some(is_synced));
    // A run detects pauses in all phases or in no phase. So if one phase has pauses, all complete
    // phases must have pauses.
    let is_watched = scope.phases.iter().any(|phase| phase.pauses.is_some());
    let is_told = phase.complete && scope.record.actual.outcome != Outcome::Unfinished;
    let is_due = (is_watched && is_told).then_some(true);
    at.due(".pauses", phase.pauses.is_some(), is_due);
    evidence(scope, phase, &mut at);
    // If no operation completed in the warm-up, the phase has no segment for it.
    let is_warm = is_transactions && !spec.drive.warm_up.is_zero();
    let has = |kind| phase.segments.iter().any(|segment| segment.kind == kind);
    for (kind, is_asked) in [
        (SegmentKind::WarmUp, is_warm),
        (SegmentKind::Approach, is_steady),
    ] {
        at.due_at_end(".segments: before the measured", has(kind), is_asked, false);
    }
    let is_second = phase.measured().count() > 1;
    at.due_at_end(".segments: several measured", is_second, is_steady, false);
    operations(scope, phase, &mut at);
    workers(scope, phase, &mut at.below(".workers"));
}

/// Checks the parts of a phase's evidence. Earlier program versions recorded evidence of the
/// transactions only. If two phases have evidence, a later version wrote the record, and every
/// phase must have evidence.
fn evidence(scope: &Scope<'_>, phase: &PhaseRecord, at: &mut At<'_>) {
    let spec = scope.spec;
    let phases = scope.phases.iter();
    let is_later = phases.filter(|phase| phase.evidence.is_some()).count() > 1;
    let is_told = is_later || phase.evidence.is_some();
    let is_due = is_told.then_some(spec.engine.makes_files());
    at.due(".evidence", phase.evidence.is_some(), is_due);
    let Some(evidence) = &phase.evidence else {
        return;
    };
    let mut at = at.below(".evidence");
    let is_whole = scope.is_complete() && is_later;
    let has_sync = phase.sync.is_some();
    at.due_at_end(".syncing", evidence.syncing.is_some(), has_sync, is_whole);
    let is_sampled = phase.phase == Phase::Transactions && spec.sync_phases;
    let has_sample = evidence.residency.is_some();
    at.due_at_end(".residency", has_sample, is_sampled, is_whole);
    let calls_server = spec.engine.calls_server();
    at.due(".server", evidence.server.is_some(), calls_server);
}

/// Checks that the role and the action of each operation occur in the workload, and that the
/// operation has the parts that the spec requires.
fn operations(scope: &Scope<'_>, phase: &PhaseRecord, at: &mut At<'_>) {
    let spec = scope.spec;
    let is_open = scope.is_open(phase);
    let allowed = spec.workload.actions(phase.phase);
    let shared = spec.workload.workers.is_shared();
    for (field, operation) in placed_operations(phase) {
        let mut at = at.below(&field);
        let meter = &operation.meter;
        if !allowed.contains(&operation.action) {
            let [action, phase] = [operation.action.name(), phase.phase.name()];
            let why = format!("the workload has no {action} in {phase}");
            at.broken(".action", why);
        }
        if (operation.role == Role::Worker) == shared {
            let why = format!("the run has no {}", operation.role.name());
            at.broken(".role", why);
        }
        let has_any = meter.operations > 0;
        at.due_at_end(".meter.service", meter.service.is_some(), is_open, has_any);
        steps(scope, operation, &mut at);
    }
    for (index, slowest) in phase.slowest.iter().enumerate() {
        let mut operations = phase
            .all_operations()
            .filter(|known| known.action == slowest.action);
        let have_steps = operations.any(|operation| !operation.steps.is_empty());
        for slow in &slowest.operations {
            let field = format!(".slowest[{index}]: steps");
            at.due(&field, slow.step.is_some(), have_steps);
        }
    }
}

/// Checks that an operation has the calls of its kind, and the syncs that the durability policy
/// requires.
fn steps(scope: &Scope<'_>, operation: &OperationRecord, at: &mut At<'_>) {
    let spec = scope.spec;
    let policy = spec.durability.of(operation.action);
    // The call that makes an operation durable is always timed. Other calls are timed only on
    // request.
    let are_timed =
        spec.latencies && (spec.steps || spec.durability.sync()) && spec.engine.makes_files();
    let is_due = are_timed && operation.meter.operations > 0;
    at.due(".steps", !operation.steps.is_empty(), is_due);
    let Some(kind) = operation.action.performs().filter(|_| is_due) else {
        return;
    };
    let of_kind = |step: Step| kind.steps().iter().any(|part| part.step == step);
    let names = || operation.steps.iter().map(|known| known.step.as_str());
    let has = |step: Step| names().any(|name| name == step.name());
    let directory = policy == Durability::FsyncDirectory;
    let file = directory || matches!(policy, Durability::Fdatasync | Durability::Fsync);
    // An engine that calls a server syncs by calls of its protocol, which are not checked.
    let is_told = spec.engine.uses_directories();
    let whole = matches!(policy, Durability::Batch(_));
    for (step, is_due) in [
        (Step::Sync, is_told.then_some(file && of_kind(Step::Sync))),
        (
            Step::SyncDirectory,
            is_told.then_some(directory && of_kind(Step::SyncDirectory)),
        ),
        (Step::SyncFileSystem, (!whole).then_some(false)),
    ] {
        at.due(&format!(".steps: {}", step.name()), has(step), is_due);
    }
    let is_known = |name: &str| {
        let mut known = Step::ALL.iter().filter(|step| step.name() == name);
        known.any(|step| of_kind(*step) || *step == Step::SyncFileSystem)
    };
    if let Some(other) = names().find(|name| !is_known(name)) {
        let why = format!("{} has no call {other}", operation.action.name());
        at.broken(".steps", why);
    }
}

/// Checks that each worker occurs once, with its role.
fn workers(scope: &Scope<'_>, phase: &PhaseRecord, at: &mut At<'_>) {
    let count = scope.workers;
    if phase.complete {
        at.same(": how many", phase.workers.len(), count, "at work");
    }
    let mut next = 0;
    for (index, worker) in phase.workers.iter().enumerate() {
        let mut at = at.below(&format!("[{index}]"));
        if !(next..count).contains(&worker.worker) {
            let why = format!("worker {} of {count} is not in its place", worker.worker);
            at.broken(".worker", why);
        }
        next = worker.worker.saturating_add(1);
        let role = match scope.spec.workload.workers {
            Workers::Private { .. } => Role::Worker,
            shared @ Workers::Shared { .. } => shared.role(worker.worker),
        };
        at.same(".role", worker.role, role, "by the workload");
    }
    // If the number of transactions ends the run, all requested transactions must have been issued.
    let is_whole = phase.phase == Phase::Transactions && phase.complete && scope.is_run;
    let is_by_number = matches!(scope.spec.drive.stop, Stop::Transactions);
    if is_by_number && is_whole && scope.has_ended() {
        let all = phase.all_issued();
        at.same(": all issued", all, scope.asked_for(), "by the workload");
    }
}
