//! Which parts a record has, by what its spec asks for.

use engine::Step;
use spec::{Durability, Keeping, Place, Stop};
use system::Fact;
use workload::{Phase, Workers};

use super::{Findings, Rule, Scope, all_operations};
use record::Outcome;
use record::run::{OperationRecord, PhaseRecord, Record, SegmentKind};

/// Something is there, or is not.
fn is_there(found: &mut Findings, field: &str, is_there: bool, is_due: bool, of: &str) {
    if is_there != is_due {
        let why = match is_there {
            true => format!("it is there, although the run has no {of}"),
            false => format!("it is missing, although the run has {of}"),
        };
        found.broken(Rule::Parts, field, why);
    }
}

pub(super) fn check(record: &Record, found: &mut Findings) {
    let (spec, actual) = (&record.spec, &record.actual);
    let is_complete = actual.outcome == Outcome::Complete;
    let is_sweep = spec.drive.sweep.is_some();
    let touches = spec.storage.makes_files();
    is_there(
        found,
        "record.spec.place",
        spec.place != Place::Nowhere,
        touches,
        "files anywhere",
    );
    // How it ended is known, or is not, for all of these.
    for (field, fact, is_asked, what) in [
        (
            "record.actual.check",
            is_applicable(&actual.check),
            spec.check,
            "a check of names",
        ),
        (
            "record.actual.overhead",
            is_applicable(&actual.overhead),
            spec.overhead && touches && actual.transactions().any(|phase| phase.transactions() > 0),
            "a measurement of the overhead",
        ),
    ] {
        // One that was asked for and had nothing to look at is not applicable.
        if is_complete || !is_asked {
            is_there(found, field, fact, is_asked, what);
        }
    }
    if is_complete {
        let is_known = actual.end.known().is_some();
        is_there(found, "record.actual.end", is_known, true, "an end");
        if spec.check {
            let is_known = actual.check.known().is_some();
            is_there(
                found,
                "record.actual.check",
                is_known,
                true,
                "a check of names",
            );
        }
        // Files that operations failed on are removed after a run that errors did not end.
        if actual.errors.is_empty() {
            let clean_up = actual.clean_up.is_some();
            is_there(
                found,
                "record.actual.clean_up",
                clean_up,
                false,
                "end before its time",
            );
        }
        let hangs = actual.stalled.iter().any(|stalled| !stalled.came_back);
        is_there(
            found,
            "record.actual.stalled",
            hangs,
            false,
            "call that did not return",
        );
        phases_of(record, found);
    }
    let is_alone = spec.ranks <= 1;
    is_there(
        found,
        "record.cluster",
        record.cluster.is_some(),
        !is_alone,
        "several ranks",
    );
    is_there(
        found,
        "record.actual.traffic",
        actual.traffic.is_some(),
        spec.storage.calls_server() && actual.outcome != Outcome::Unfinished,
        "servers",
    );
    let is_classic = spec.workload.classic().is_some() && !is_sweep;
    if is_complete || !is_classic {
        is_there(
            found,
            "record.actual.classic",
            actual.classic.is_some(),
            is_classic,
            "classic workload",
        );
    }
    is_there(
        found,
        "record.actual.sweep_steps",
        !actual.sweep_steps.is_empty(),
        is_sweep && (is_complete || !actual.sweep_steps.is_empty()),
        "sweep",
    );
    let is_taken = spec.keeping.reuse || spec.neighbour > 0;
    if is_complete || !is_taken {
        is_there(
            found,
            "record.actual.taken",
            actual.taken.is_some(),
            is_taken,
            "pool that was taken",
        );
    }
    locations(record, found);
    loads(record, found);
}

fn is_applicable<T>(fact: &Fact<T>) -> bool {
    !matches!(fact, Fact::NotApplicable)
}

/// A run that came to its end has all its phases.
fn phases_of(record: &Record, found: &mut Findings) {
    let (spec, actual) = (&record.spec, &record.actual);
    let Keeping { keep, reuse } = spec.keeping;
    let of_steps = !actual.sweep_steps.is_empty();
    let asked = Phase::ALL.into_iter().filter(|phase| match phase {
        Phase::Prepare => !reuse,
        Phase::Transactions => true,
        Phase::Delete => !keep,
    });
    if !of_steps && !asked.eq(actual.phases.iter().map(|phase| phase.phase)) {
        let names: Vec<&str> = actual
            .phases
            .iter()
            .map(|phase| phase.phase.name())
            .collect();
        let why = format!(
            "the run is complete, but has the phases {}",
            names.join(", ")
        );
        found.broken(Rule::Parts, "record.actual.phases", why);
    }
    let of_steps = actual.sweep_steps.iter().flat_map(|step| &step.phases);
    if let Some(left) = actual
        .phases
        .iter()
        .chain(of_steps)
        .find(|phase| !phase.complete)
    {
        let why = format!(
            "the run is complete, but its phase {} is not",
            left.phase.name()
        );
        found.broken(Rule::Parts, "record.actual.phases", why);
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
    let of_servers = spec.storage.calls_server();
    for (index, (location, weight)) in locations
        .iter()
        .zip(spec.workload.location_weights())
        .enumerate()
    {
        let place = format!("{place}[{index}]");
        let weights = (
            ("its weight", location.weight.into()),
            ("in the workload", u64::from(*weight)),
        );
        found.equal(
            Rule::Parts,
            &format!("{place}.weight"),
            weights.0,
            weights.1,
        );
        let server = format!("{place}.server");
        is_there(
            found,
            &server,
            location.server.is_some(),
            of_servers,
            "server of its own",
        );
    }
}

/// The steps of a sweep are those that were asked for, in their order; between rates others may
/// lie.
fn loads(record: &Record, found: &mut Findings) {
    use record::run::Load;
    use spec::Climb;
    let Some(sweep) = &record.spec.drive.sweep else {
        return;
    };
    let place = "record.actual.sweep_steps";
    let steps = &record.actual.sweep_steps;
    let count = steps.len();
    let is_rate = |step: &record::run::SweepStep| matches!(step.load, Load::Rate(_));
    let is_right = match &sweep.climb {
        Climb::Rates(rates) => {
            let asked = steps
                .iter()
                .zip(rates)
                .all(|(step, rate)| step.load == Load::Rate(*rate));
            asked && steps.iter().all(is_rate)
        }
        Climb::OfClosedLoop(_) => {
            let mut steps = steps.iter();
            steps.next().is_none_or(|first| first.load == Load::Closed) && steps.all(is_rate)
        }
        Climb::Workers(workers) => {
            let asked = workers
                .iter()
                .map(|workers| Load::Workers(*workers))
                .take(count);
            asked.eq(steps.iter().map(|step| step.load))
        }
        Climb::Ranks(ranks) => {
            let asked = ranks.iter().map(|ranks| Load::Ranks(*ranks)).take(count);
            asked.eq(steps.iter().map(|step| step.load))
        }
    };
    if !is_right {
        found.broken(
            Rule::Parts,
            place,
            "their loads are not those of the sweep".to_owned(),
        );
    }
    let workers = record.spec.workload.workers.count();
    let ranks = record.spec.ranks.max(1);
    for (index, step) in steps.iter().enumerate() {
        let expected = match step.load {
            Load::Closed | Load::Rate(_) => workers,
            Load::Workers(each) => each.saturating_mul(ranks),
            Load::Ranks(some) => workers / ranks * some,
        };
        let own = ("its workers", step.workers.into());
        let place = format!("{place}[{index}].workers");
        found.equal(Rule::Parts, &place, own, ("by the sweep", expected.into()));
    }
}

pub(super) fn phase(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let spec = scope.spec;
    let is_transactions = phase.phase == Phase::Transactions;
    let is_open = scope.is_open(phase);
    let mut due = |part: &str, is: bool, is_due: bool, of: &str| {
        is_there(found, &format!("{place}.{part}"), is, is_due, of);
    };
    let done = all_operations(phase).any(|operation| operation.meter.operations > 0);
    due("machine", phase.machine.is_some(), spec.series, "series");
    // What was begun when a rank was lost is in no slice.
    if phase.complete || !spec.series {
        due(
            "slices",
            !phase.slices.is_empty(),
            spec.series && has_any(phase),
            "series of operations",
        );
    }
    if phase.complete || !spec.latencies {
        due(
            "slowest",
            !phase.slowest.is_empty(),
            spec.latencies && done,
            "latencies",
        );
    }
    due(
        "waiting",
        phase.waiting.is_some(),
        is_open,
        "arrivals of their own",
    );
    if !is_open {
        due(
            "caught_up_ns",
            phase.caught_up_ns.is_some(),
            false,
            "arrivals of their own",
        );
    }
    let is_steady = is_transactions && spec.drive.steady().is_some();
    if phase.complete || !is_steady {
        due(
            "steady",
            phase.steady.is_some(),
            is_steady,
            "rule of steady state",
        );
    }
    let is_synced = spec.sync_phases && phase.complete && scope.is_complete();
    if is_synced || !spec.sync_phases || !phase.complete {
        // A run that was stopped may have had one synced.
        due(
            "sync",
            phase.sync.is_some(),
            is_synced,
            "sync after the phase",
        );
    }
    // Records of before there was evidence have none in some phases.
    let has_evidence = phase.evidence.is_some();
    let is_later = scope
        .phases
        .iter()
        .filter(|phase| phase.evidence.is_some())
        .count()
        > 1;
    if is_later || has_evidence {
        let touches = spec.storage.makes_files();
        due(
            "evidence",
            has_evidence,
            touches,
            "files of its own anywhere",
        );
    }
    if let Some(evidence) = &phase.evidence {
        let syncing = evidence.syncing.is_some();
        if (scope.is_complete() && is_later) || phase.sync.is_none() {
            due(
                "evidence.syncing",
                syncing,
                phase.sync.is_some(),
                "sync after the phase",
            );
        }
        let residency = evidence.residency.is_some();
        let is_sampled = is_transactions && spec.sync_phases;
        if (scope.is_complete() && is_later) || !is_sampled {
            due(
                "evidence.residency",
                residency,
                is_sampled,
                "sample of the pool",
            );
        }
        due(
            "evidence.server",
            evidence.server.is_some(),
            spec.storage.calls_server(),
            "server of its own",
        );
    }
    // A short one, in which nothing was done yet, has no segment.
    if phase.warm_up().is_some() {
        let is_asked = is_transactions && !spec.drive.warm_up.is_zero();
        due("segments", true, is_asked, "warm-up");
    }
    let approach = phase
        .segments
        .iter()
        .any(|segment| segment.kind == SegmentKind::Approach);
    if approach {
        due("segments", true, is_steady, "rule of steady state");
    }
    if !is_steady && phase.measured().count() > 1 {
        due("segments", true, false, "second measurement");
    }
    segments(scope, phase, place, found);
    workers(scope, phase, place, found);
}

/// Whether operations were completed or failed.
fn has_any(phase: &PhaseRecord) -> bool {
    all_operations(phase).any(|operation| operation.meter.operations + operation.meter.failed > 0)
}

/// Parts of each kind of operation.
fn segments(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let spec = scope.spec;
    let is_open = scope.is_open(phase);
    let allowed = spec.workload.actions(phase.phase);
    let shared = spec.workload.workers.is_shared();
    for (number, segment) in phase.segments.iter().enumerate() {
        let place = format!("{place}.segments[{number}]");
        for (index, operation) in segment.operations.iter().enumerate() {
            let place = format!("{place}.operations[{index}]");
            let meter = &operation.meter;
            if !allowed.contains(&operation.action) {
                let why = format!(
                    "the workload has no {} in {}",
                    operation.action.name(),
                    phase.phase.name()
                );
                found.broken(Rule::Parts, &format!("{place}.action"), why);
            }
            if (operation.role == workload::Role::Worker) == shared {
                let why = format!("the run has no {}", operation.role.name());
                found.broken(Rule::Parts, &format!("{place}.role"), why);
            }
            let service = format!("{place}.meter.service");
            if meter.operations > 0 || !is_open {
                is_there(
                    found,
                    &service,
                    meter.service.is_some(),
                    is_open,
                    "arrivals of their own",
                );
            }
            steps(scope, operation, &format!("{place}.steps"), found);
        }
    }
    for (index, slowest) in phase.slowest.iter().enumerate() {
        let mut operations =
            all_operations(phase).filter(|operation| operation.action == slowest.action);
        let have_steps = operations.any(|operation| !operation.steps.is_empty());
        if let Some(slow) = slowest
            .operations
            .iter()
            .find(|slow| slow.step.is_some() != have_steps)
        {
            let slowest = format!("{place}.slowest[{index}]");
            is_there(
                found,
                &slowest,
                slow.step.is_some(),
                have_steps,
                "steps of operations",
            );
        }
    }
}

/// An operation has the steps of its kind, and those of durability as the policy has them.
fn steps(scope: &Scope<'_>, operation: &OperationRecord, place: &str, found: &mut Findings) {
    let spec = scope.spec;
    // What a policy of durability costs is shown as a step, always.
    let are_timed = spec.latencies
        && (spec.steps || spec.durability != Durability::None)
        && spec.storage.makes_files();
    if operation.steps.is_empty() || operation.meter.operations == 0 || !are_timed {
        let is_due = are_timed && operation.meter.operations > 0;
        return is_there(
            found,
            place,
            !operation.steps.is_empty(),
            is_due,
            "steps of operations",
        );
    }
    let Some(kind) = operation.action.performs() else {
        return;
    };
    let of_kind = |step: Step| kind.steps().iter().any(|part| part.step == step);
    let has = |step: Step| {
        operation
            .steps
            .iter()
            .any(|known| known.step == step.name())
    };
    let policy = spec.durability;
    let file = matches!(
        policy,
        Durability::Fdatasync | Durability::Fsync | Durability::FsyncDirectory
    );
    let directory = policy == Durability::FsyncDirectory;
    let batch = matches!(policy, Durability::Batch(_));
    for (step, is_asked) in [(Step::Sync, file), (Step::SyncDirectory, directory)] {
        let is_due = is_asked && of_kind(step);
        // Servers sync in calls of their own.
        if spec.storage.uses_directories() {
            is_there(found, place, has(step), is_due, step.name());
        }
    }
    if !batch {
        is_there(
            found,
            place,
            has(Step::SyncFileSystem),
            false,
            Step::SyncFileSystem.name(),
        );
    }
    let is_known = |name: &str| {
        let known = Step::ALL.iter().find(|step| step.name() == name);
        known.is_some_and(|step| of_kind(*step) || *step == Step::SyncFileSystem)
    };
    if let Some(other) = operation.steps.iter().find(|known| !is_known(&known.step)) {
        let why = format!("{} has no step {}", operation.action.name(), other.step);
        found.broken(Rule::Parts, place, why);
    }
}

/// Each worker once, with its role.
fn workers(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let place = format!("{place}.workers");
    if phase.complete && phase.workers.len() as u64 != u64::from(scope.workers) {
        let why = format!(
            "there are {}, and {} are at work",
            phase.workers.len(),
            scope.workers
        );
        found.broken(Rule::Parts, &place, why);
    }
    let mut next = 0;
    for (index, worker) in phase.workers.iter().enumerate() {
        let place = format!("{place}[{index}]");
        if worker.worker < next || worker.worker >= scope.workers {
            let why = format!(
                "worker {} of {} is not in its place",
                worker.worker, scope.workers
            );
            found.broken(Rule::Parts, &format!("{place}.worker"), why);
        }
        next = worker.worker.saturating_add(1);
        let role = match scope.spec.workload.workers {
            Workers::Private { .. } => workload::Role::Worker,
            shared @ Workers::Shared { .. } => shared.role(worker.worker),
        };
        if worker.role != role {
            let why = format!(
                "a {}, and by the workload a {}",
                worker.role.name(),
                role.name()
            );
            found.broken(Rule::Parts, &format!("{place}.role"), why);
        }
    }
    // How it ends is for the stop alone: a number of transactions, or time.
    if let (Stop::Transactions, Some(per_worker)) =
        (&scope.spec.drive.stop, per_worker(scope, phase))
    {
        let all: u64 = phase.segments.iter().map(|segment| segment.issued).sum();
        let expected = per_worker.saturating_mul(scope.workers.into());
        let all = ("transactions issued in all segments", all);
        found.equal(Rule::Parts, &place, all, ("by the workload", expected));
    }
}

/// Transactions that each worker was to perform, and has.
fn per_worker(scope: &Scope<'_>, phase: &PhaseRecord) -> Option<u64> {
    let is_whole = phase.phase == Phase::Transactions && phase.complete && scope.is_run;
    let end = scope.record.actual.end.known();
    (is_whole && end == Some(&workload::End::Complete)).then(|| scope.spec.workload.transactions())
}
