//! Which parts a record has, by what its spec asks for.

use engine::Step;
use spec::{Durability, Keeping, Place, Stop};
use system::Fact;
use workload::{Phase, Role, Workers};

use super::scope::{Findings, Rule, Scope, placed_operations};
use record::Outcome;
use record::run::{OperationRecord, PhaseRecord, Record, SegmentKind};

/// What is there or is not.
trait Part {
    fn is_there(&self) -> bool;
}

impl Part for bool {
    fn is_there(&self) -> bool {
        *self
    }
}

impl<T> Part for Option<T> {
    fn is_there(&self) -> bool {
        self.is_some()
    }
}

impl<T> Part for Vec<T> {
    fn is_there(&self) -> bool {
        !self.is_empty()
    }
}

/// What a run has of which each part is.
const OF: [(&str, &str); 22] = [
    ("spec.place", "files anywhere"),
    ("actual.check", "a check of names"),
    ("actual.overhead", "a measurement of the overhead"),
    ("actual.end", "an end"),
    ("actual.clean_up", "end before its time"),
    ("actual.stalled", "call that did not return"),
    ("cluster", "several ranks"),
    ("actual.traffic", "servers"),
    ("actual.classic", "classic workload"),
    ("actual.sweep_steps", "sweep"),
    ("actual.taken", "pool that was taken"),
    ("machine", "series"),
    ("slices", "series of operations"),
    ("slowest", "latencies"),
    ("waiting", "arrivals of their own"),
    ("caught_up_ns", "arrivals of their own"),
    ("meter.service", "arrivals of their own"),
    ("steady", "rule of steady state"),
    ("sync", "sync after the phase"),
    ("evidence", "files of its own anywhere"),
    ("evidence.syncing", "sync after the phase"),
    ("evidence.residency", "sample of the pool"),
];

/// What a run has whose engine speaks to servers.
const SERVER: &str = "server of its own";
/// What a run has whose steps are timed.
const STEPS: &str = "steps of operations";

/// The parts of one place.
struct Parts<'a> {
    found: &'a mut Findings,
    place: String,
    /// Whether what they are of came to its end: otherwise a part that is due may be missing.
    is_complete: bool,
}

impl<'a> Parts<'a> {
    fn new(found: &'a mut Findings, place: String, is_complete: bool) -> Self {
        Self {
            found,
            place,
            is_complete,
        }
    }

    /// A part is there, or is not, as the run has something; where nothing is said, either.
    fn due_of(&mut self, part: &str, is: &impl Part, is_due: impl Into<Option<bool>>, of: &str) {
        if let Some(is_due) = is_due.into().filter(|is_due| is.is_there() != *is_due) {
            let why = match is_due {
                false => format!("it is there, although the run has no {of}"),
                true => format!("it is missing, although the run has {of}"),
            };
            let place = format!("{}.{part}", self.place);
            let place = place.trim_end_matches('.');
            self.found.broken(Rule::Parts, place, why);
        }
    }

    /// The same of a part that is always of one thing.
    fn due(&mut self, part: &str, is: &impl Part, is_due: impl Into<Option<bool>>) {
        let of = OF.iter().find(|(known, _)| *known == part);
        self.due_of(part, is, is_due, of.map_or(SERVER, |(_, of)| of));
    }

    /// The same of what is made at the end.
    fn due_at_end(&mut self, part: &str, is: &impl Part, is_due: bool) {
        self.due(part, is, due_if(self.is_complete || !is_due, is_due));
    }
}

/// Whether a part is due, where that follows.
fn due_if(follows: bool, is_due: bool) -> Option<bool> {
    follows.then_some(is_due)
}

pub(super) fn check(record: &Record, found: &mut Findings) {
    let (spec, actual) = (&record.spec, &record.actual);
    let is_complete = actual.outcome == Outcome::Complete;
    let is_sweep = spec.drive.sweep.is_some();
    let touches = spec.engine.makes_files();
    let place = "record".to_owned();
    let mut parts = Parts::new(found, place, is_complete);
    parts.due("spec.place", &(spec.place != Place::Nowhere), touches);
    // One that was asked for and had nothing to look at is not applicable.
    let check = &actual.check;
    parts.due_at_end("actual.check", &is_applicable(check), spec.check);
    let has_work = actual.transactions().any(|phase| phase.transactions() > 0);
    let is_asked = spec.overhead && touches && has_work;
    let overhead = is_applicable(&actual.overhead);
    parts.due_at_end("actual.overhead", &overhead, is_asked);
    if is_complete {
        parts.due("actual.end", &actual.end.known(), true);
        parts.due("actual.check", &check.known(), due_if(spec.check, true));
        // Files that operations failed on are removed after a run that errors did not end.
        let is_left = due_if(actual.errors.is_empty(), false);
        parts.due("actual.clean_up", &actual.clean_up, is_left);
        let hangs = actual.stalled.iter().any(|stalled| !stalled.came_back);
        parts.due("actual.stalled", &hangs, false);
    }
    parts.due("cluster", &record.cluster, spec.ranks > 1);
    let has_traffic = spec.engine.calls_server() && actual.outcome != Outcome::Unfinished;
    parts.due("actual.traffic", &actual.traffic, has_traffic);
    let is_classic = spec.workload.classic().is_some() && !is_sweep;
    parts.due_at_end("actual.classic", &actual.classic, is_classic);
    parts.due_at_end("actual.sweep_steps", &actual.sweep_steps, is_sweep);
    let is_taken = spec.keeping.reuse || spec.neighbour > 0;
    parts.due_at_end("actual.taken", &actual.taken, is_taken);
    if is_complete {
        phases_of(record, found);
    }
    locations(record, found);
}

fn is_applicable<T>(fact: &Fact<T>) -> bool {
    !matches!(fact, Fact::NotApplicable)
}

/// A run that came to its end has all its phases.
fn phases_of(record: &Record, found: &mut Findings) {
    let actual = &record.actual;
    let Keeping { keep, reuse } = record.spec.keeping;
    let asked = Phase::ALL.into_iter().filter(|phase| match phase {
        Phase::Prepare => !reuse,
        Phase::Transactions => true,
        Phase::Delete => !keep,
    });
    let place = "record.actual.phases";
    let phases = actual.phases.iter().map(|phase| phase.phase);
    if actual.sweep_steps.is_empty() && !asked.eq(phases.clone()) {
        let names: Vec<&str> = phases.map(Phase::name).collect();
        let why = format!(
            "the run is complete, but has the phases {}",
            names.join(", ")
        );
        found.broken(Rule::Parts, place, why);
    }
    if let Some(left) = actual.all_phases().find(|phase| !phase.complete) {
        let why = format!(
            "the run is complete, but its phase {} is not",
            left.phase.name()
        );
        found.broken(Rule::Parts, place, why);
    }
}

/// Targets as said, with their weights.
fn locations(record: &Record, found: &mut Findings) {
    let (spec, locations) = (&record.spec, &record.locations);
    let place = "record.locations";
    let due = spec.targets.len();
    if locations.is_empty() && due > 0 && record.actual.outcome != Outcome::Complete {
        return;
    }
    if locations.len() != due {
        let why = format!("there are {}, and {due} targets", locations.len());
        return found.broken(Rule::Parts, place, why);
    }
    let of_servers = spec.engine.calls_server();
    let weights = spec.workload.location_weights();
    for (index, (location, weight)) in locations.iter().zip(weights).enumerate() {
        let place = format!("{place}[{index}]");
        let (weight, expected) = (location.weight, (*weight));
        let field = format!("{place}.weight");
        found
            .at(Rule::Parts, &field)
            .same(&weight, &expected, "in the workload");
        let mut parts = Parts::new(found, place, true);
        parts.due("server", &location.server, of_servers);
    }
}

pub(super) fn phase(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let spec = scope.spec;
    let is_complete = phase.complete;
    let mut parts = Parts::new(found, place.to_owned(), is_complete);
    parts.due("machine", &phase.machine, spec.series);
    // What was begun when a rank was lost is in no slice.
    let is_due = due_if(is_complete || !spec.series, spec.series && has_any(phase));
    parts.due("slices", &!phase.slices.is_empty(), is_due);
    let done = phase
        .all_operations()
        .any(|operation| operation.meter.operations > 0);
    let is_due = due_if(is_complete || !spec.latencies, spec.latencies && done);
    parts.due("slowest", &phase.slowest, is_due);
    let is_open = scope.is_open(phase);
    parts.due("waiting", &phase.waiting, is_open);
    parts.due("caught_up_ns", &phase.caught_up_ns, due_if(!is_open, false));
    let is_transactions = phase.phase == Phase::Transactions;
    let is_steady = is_transactions && spec.drive.steady().is_some();
    parts.due_at_end("steady", &phase.steady, is_steady);
    let is_synced = spec.sync_phases && is_complete && scope.is_complete();
    // A run that was stopped may have had one synced.
    let is_told = is_synced || !spec.sync_phases || !is_complete;
    parts.due("sync", &phase.sync, due_if(is_told, is_synced));
    evidence(scope, phase, &mut parts);
    // A short one, in which nothing was done yet, has no segment.
    let has_warm_up = phase.warm_up().is_some();
    let is_asked = is_transactions && !spec.drive.warm_up.is_zero();
    parts.due_of("segments", &true, due_if(has_warm_up, is_asked), "warm-up");
    let mut kinds = phase.segments.iter().map(|segment| segment.kind);
    let approaches = kinds.any(|kind| kind == SegmentKind::Approach);
    let is_due = due_if(approaches, is_steady);
    parts.due_of("segments", &true, is_due, "rule of steady state");
    let is_second = !is_steady && phase.measured().count() > 1;
    parts.due_of("segments", &is_second, false, "second measurement");
    segments(scope, phase, place, found);
    workers(scope, phase, place, found);
}

/// Records of before there was evidence have none in some phases.
fn evidence(scope: &Scope<'_>, phase: &PhaseRecord, parts: &mut Parts<'_>) {
    let spec = scope.spec;
    let phases = scope.phases.iter();
    let is_later = phases.filter(|phase| phase.evidence.is_some()).count() > 1;
    let is_told = is_later || phase.evidence.is_some();
    let is_due = due_if(is_told, spec.engine.makes_files());
    parts.due("evidence", &phase.evidence, is_due);
    let Some(evidence) = &phase.evidence else {
        return;
    };
    let is_whole = scope.is_complete() && is_later;
    let has_sync = phase.sync.is_some();
    let is_due = due_if(is_whole || !has_sync, has_sync);
    parts.due("evidence.syncing", &evidence.syncing, is_due);
    let is_sampled = phase.phase == Phase::Transactions && spec.sync_phases;
    let is_due = due_if(is_whole || !is_sampled, is_sampled);
    parts.due("evidence.residency", &evidence.residency, is_due);
    let calls_server = spec.engine.calls_server();
    parts.due("evidence.server", &evidence.server, calls_server);
}

/// Whether operations were completed or failed.
fn has_any(phase: &PhaseRecord) -> bool {
    phase
        .all_operations()
        .any(|operation| operation.meter.operations + operation.meter.failed > 0)
}

/// Parts of each kind of operation.
fn segments(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let spec = scope.spec;
    let is_open = scope.is_open(phase);
    let allowed = spec.workload.actions(phase.phase);
    let shared = spec.workload.workers.is_shared();
    for (place, operation) in placed_operations(phase, place) {
        let meter = &operation.meter;
        if !allowed.contains(&operation.action) {
            let [action, phase] = [operation.action.name(), phase.phase.name()];
            let why = format!("the workload has no {action} in {phase}");
            found.broken(Rule::Parts, format!("{place}.action"), why);
        }
        if (operation.role == Role::Worker) == shared {
            let why = format!("the run has no {}", operation.role.name());
            found.broken(Rule::Parts, format!("{place}.role"), why);
        }
        let mut parts = Parts::new(found, place, true);
        let is_due = due_if(meter.operations > 0 || !is_open, is_open);
        parts.due("meter.service", &meter.service, is_due);
        steps(scope, operation, &mut parts);
    }
    for (index, slowest) in phase.slowest.iter().enumerate() {
        let place = format!("{place}.slowest[{index}]");
        let mut parts = Parts::new(found, place, true);
        let mut operations = phase
            .all_operations()
            .filter(|known| known.action == slowest.action);
        let have_steps = operations.any(|operation| !operation.steps.is_empty());
        for slow in &slowest.operations {
            parts.due_of("", &slow.step, have_steps, STEPS);
        }
    }
}

/// An operation has the steps of its kind, and those of durability as the policy has them.
fn steps(scope: &Scope<'_>, operation: &OperationRecord, parts: &mut Parts<'_>) {
    let spec = scope.spec;
    let policy = spec.durability;
    // What a policy of durability costs is shown as a step, always.
    let are_timed =
        spec.latencies && (spec.steps || policy != Durability::None) && spec.engine.makes_files();
    let is_due = are_timed && operation.meter.operations > 0;
    if operation.steps.is_empty() || !is_due {
        return parts.due_of("steps", &operation.steps, is_due, STEPS);
    }
    let Some(kind) = operation.action.performs() else {
        return;
    };
    let of_kind = |step: Step| kind.steps().iter().any(|part| part.step == step);
    let names = || operation.steps.iter().map(|known| known.step.as_str());
    let has = |step: Step| names().any(|name| name == step.name());
    let directory = policy == Durability::FsyncDirectory;
    let file = directory || matches!(policy, Durability::Fdatasync | Durability::Fsync);
    // Servers sync in calls of their own.
    let is_told = spec.engine.uses_directories();
    for (step, is_asked) in [(Step::Sync, file), (Step::SyncDirectory, directory)] {
        let is_due = due_if(is_told, is_asked && of_kind(step));
        parts.due_of("steps", &has(step), is_due, step.name());
    }
    let whole = Step::SyncFileSystem;
    let is_due = due_if(!matches!(policy, Durability::Batch(_)), false);
    parts.due_of("steps", &has(whole), is_due, whole.name());
    let known = Step::ALL
        .iter()
        .filter(|step| of_kind(**step) || **step == whole);
    let known: Vec<&str> = known.map(|step| step.name()).collect();
    if let Some(other) = names().find(|name| !known.contains(name)) {
        let why = format!("{} has no step {other}", operation.action.name());
        let place = format!("{}.steps", parts.place);
        parts.found.broken(Rule::Parts, place, why);
    }
}

/// Each worker once, with its role.
fn workers(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let place = format!("{place}.workers");
    let count = scope.workers;
    if phase.complete && phase.workers.len() as u64 != u64::from(count) {
        let why = format!("there are {}, and {count} are at work", phase.workers.len());
        found.broken(Rule::Parts, &place, why);
    }
    let mut next = 0;
    for (index, worker) in phase.workers.iter().enumerate() {
        let place = format!("{place}[{index}]");
        if !(next..count).contains(&worker.worker) {
            let why = format!("worker {} of {count} is not in its place", worker.worker);
            found.broken(Rule::Parts, format!("{place}.worker"), why);
        }
        next = worker.worker.saturating_add(1);
        let role = match scope.spec.workload.workers {
            Workers::Private { .. } => Role::Worker,
            shared @ Workers::Shared { .. } => shared.role(worker.worker),
        };
        found.at(Rule::Parts, &format!("{place}.role")).same(
            &worker.role,
            &role,
            "by the workload",
        );
    }
    // How it ends is for the stop alone: a number of transactions, or time.
    if let (Stop::Transactions, Some(per_worker)) =
        (&scope.spec.drive.stop, per_worker(scope, phase))
    {
        let all = phase.all_issued();
        let expected = per_worker.saturating_mul(scope.workers.into());
        let place = format!("{place}: issued in all segments");
        found
            .at(Rule::Parts, &place)
            .same(&all, &expected, "by the workload");
    }
}

/// Transactions that each worker was to perform, and has.
fn per_worker(scope: &Scope<'_>, phase: &PhaseRecord) -> Option<u64> {
    let is_whole = phase.phase == Phase::Transactions && phase.complete && scope.is_run;
    let end = scope.record.actual.end.known();
    (is_whole && end == Some(&workload::End::Complete)).then(|| scope.spec.workload.transactions())
}
