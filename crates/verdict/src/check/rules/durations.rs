//! Checks durations that a record contains several times: histograms with their sums, calls,
//! service times, the slowest operations, and the time that workers had for all operations.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::PathBuf;

use measure::{Histogram, Meter, SLOWEST_KEPT};
use workload::{Action, Phase};

use super::scope::{At, Findings, Rule, Scope, longest_ns, placed_operations, service};
use record::run::{LocationRecord, OperationRecord, PhaseRecord, Segment};
use record::run::{SlowOperation, SlowStep};

pub(super) fn phase(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let mut at = found.at(Rule::Histograms, place);
    for (index, waits) in phase.claim_waits.iter().enumerate() {
        let field = format!(".claim_waits[{index}].wait");
        histogram(&waits.wait, &field, &mut at);
    }
    for (field, operation) in placed_operations(phase) {
        let mut at = at.below(&field);
        meter(&operation.meter, &mut at);
        steps(operation, &mut at.of(Rule::Steps));
    }
    if scope.spec.latencies {
        slowest(scope, phase, &mut at.of(Rule::Slowest));
        work_time(scope, phase, &mut at.of(Rule::WorkTime));
    }
}

fn histogram(histogram: &Histogram, field: &str, at: &mut At<'_>) {
    if let Err(why) = histogram.agrees_with_its_buckets() {
        at.of(Rule::Histograms).broken(field, why);
    }
}

fn meter(meter: &Meter, at: &mut At<'_>) {
    histogram(&meter.latency, ".meter.latency", at);
    if let Some(per_file) = &meter.per_file {
        histogram(per_file, ".meter.per_file", at);
    }
    let Some(service) = &meter.service else {
        return;
    };
    histogram(service, ".meter.service", at);
    // A latency starts when the operation is due, at the latest when it is issued. So a latency is
    // never shorter than the service time.
    let is_longer = |of: fn(&Histogram) -> Option<u64>| of(service) > of(&meter.latency);
    if service.sum_ns() > meter.latency.sum_ns()
        || is_longer(Histogram::max_ns)
        || is_longer(Histogram::min_ns)
    {
        let why = "service times are longer than latencies, which begin before them";
        at.broken(".meter.service", why);
    }
}

/// Checks that the calls of operations fit into the operations' service times. The calls of an
/// operation follow one another between its issue and its completion.
fn steps(operation: &OperationRecord, at: &mut At<'_>) {
    if operation.steps.is_empty() {
        return;
    }
    let whole = service(operation);
    let (mut sum_ns, mut count) = (0_u128, 0_u64);
    for (index, step) in operation.steps.iter().enumerate() {
        let field = format!(".steps[{index}].latency");
        histogram(&step.latency, &field, at);
        sum_ns += step.latency.sum_ns();
        count = count.saturating_add(step.latency.count());
        let most = whole.max_ns().unwrap_or(0);
        at.at_most(&field, step.latency.max_ns(), most, "of the operations");
    }
    let by = "of the operations";
    at.at_least(".steps", count, operation.meter.operations, by);
    at.within(".steps: ns", sum_ns, 0..=whole.sum_ns(), by);
}

/// Checks that the slowest operations have the greatest latencies of all segments, within the
/// precision of the histograms.
fn slowest(scope: &Scope<'_>, phase: &PhaseRecord, at: &mut At<'_>) {
    let actions: BTreeSet<Action> = phase.all_operations().map(|known| known.action).collect();
    let mut known = phase.slowest.iter().map(|slowest| slowest.action);
    if let Some(other) = known.find(|action| !actions.contains(action)) {
        let why = format!("the segments have no {}", other.name());
        at.broken(".slowest", why);
    }
    for action in actions {
        let latencies = || {
            let of_action = phase
                .all_operations()
                .filter(move |known| known.action == action);
            of_action.map(|operation| &operation.meter.latency)
        };
        let mut greatest: Vec<u64> = latencies()
            .flat_map(|latency| latency.greatest(SLOWEST_KEPT))
            .collect();
        greatest.sort_unstable_by_key(|ns| Reverse(*ns));
        greatest.truncate(SLOWEST_KEPT);
        let index = phase
            .slowest
            .iter()
            .position(|slowest| slowest.action == action);
        let operations = index.map_or(&[][..], |index| &phase.slowest[index].operations);
        let mut at = at.below(&format!(".slowest[{}].operations", index.unwrap_or(0)));
        let kept = operations.iter().map(|slow| Histogram::kept(slow.ns));
        let kept: Vec<u64> = kept.collect();
        at.same("", kept, greatest, "by the latencies");
        let max = latencies().filter_map(Histogram::max_ns).max();
        let first = operations.first().map(|slow| slow.ns);
        at.same("[0].ns", first, max, "the greatest latency is");
        if !operations.is_sorted_by(|one, other| one.ns >= other.ns) {
            at.broken("", "they are not in their order");
        }
        for (index, slow) in operations.iter().enumerate() {
            slow_one(scope, phase, slow, &mut at.below(&format!("[{index}]")));
        }
    }
}

/// Checks the time, the worker, the longest call and the path of a slow operation.
fn slow_one(scope: &Scope<'_>, phase: &PhaseRecord, slow: &SlowOperation, at: &mut At<'_>) {
    // An operation may begin in the warm-up, or end after the other workers have finished. It is
    // therefore compared with the whole phase instead of the measured segments.
    let Some((began_ns, ended_ns)) = phase.span_ns() else {
        return;
    };
    let slack_ns = scope.clocks_ns();
    let phase_ns = began_ns.saturating_sub(slack_ns)..=ended_ns.saturating_add(slack_ns);
    let lasted_ns = if scope.is_open(phase) { 0 } else { slow.ns };
    let completed_ns = slow.issued_ns.saturating_add(lasted_ns);
    for (field, ns) in [
        (".issued_ns", slow.issued_ns),
        (".issued_ns + ns", completed_ns),
    ] {
        at.within(field, ns, phase_ns.clone(), "in the phase");
    }
    if slow.worker >= scope.workers {
        at.broken(".worker", format!("there is no worker {}", slow.worker));
    }
    if let Some(SlowStep { step, ns }) = &slow.step {
        let mut steps = phase
            .all_operations()
            .flat_map(|operation| &operation.steps);
        let is_known =
            steps.any(|known| known.step == *step && known.latency.max_ns() >= Some(*ns));
        if *ns > slow.ns || !is_known {
            let why = format!("{step} of {ns} ns does not belong to the operation");
            at.broken(".step", why);
        }
    }
    if !is_in_location(scope, &slow.path) {
        at.broken(".path", format!("{} is in no location", slow.path));
    }
}

/// Whether a path begins with the directory of a location. The path may contain the target as
/// recorded, or as the user wrote it.
fn is_in_location(scope: &Scope<'_>, path: &str) -> bool {
    let locations = &scope.record.locations;
    let is_in = |(location, said): (&LocationRecord, &PathBuf)| {
        let target = location.target.known();
        let below = target.and_then(|target| location.directory.strip_prefix(&target.path));
        let as_said = below.map(|below| format!("{}{below}", spec::directory(said).display()));
        path.starts_with(&location.directory) || as_said.is_some_and(|said| path.starts_with(&said))
    };
    locations.is_empty() || locations.iter().zip(&scope.spec.targets).any(is_in)
}

/// Checks that no worker performs more operations at a time than its queue depth.
fn work_time(scope: &Scope<'_>, phase: &PhaseRecord, at: &mut At<'_>) {
    if !phase.complete {
        return;
    }
    let depth = u128::from(scope.spec.depth.max(1));
    let all_workers = u128::from(scope.workers);
    // An operation counts in the segment in which it completes, but may have begun before the
    // segment.
    let begun_before = match depth {
        1 => 0,
        _ => all_workers * depth * u128::from(longest_ns(phase)),
    };
    let clocks = u128::from(scope.clocks_ns()) * all_workers;
    let mut compare = |field: &str, segments: &[&Segment], had_ns: u128| {
        let operations = segments.iter().flat_map(|segment| &segment.operations);
        let spent_ns: u128 = operations.map(|known| service(known).sum_ns()).sum();
        let most = had_ns
            .saturating_mul(depth)
            .saturating_add(begun_before)
            .saturating_add(clocks);
        let field = format!("{field}: time of operations");
        at.within(&field, spent_ns, 0..=most, "of the workers");
    };
    let measured: Vec<&Segment> = phase.measured().collect();
    let of_workers = phase
        .workers
        .iter()
        .map(|worker| u128::from(worker.ended_ns.saturating_sub(worker.began_ns)))
        .sum();
    compare(".workers", &measured, of_workers);
    for (number, segment) in phase.segments.iter().enumerate() {
        let lasted = u128::from(segment.ended_ns.saturating_sub(segment.began_ns));
        let field = format!(".segments[{number}]");
        compare(&field, &[segment], lasted * all_workers);
    }
    if phase.phase == Phase::Transactions && all_workers == 0 {
        at.broken("", "there is no worker");
    }
}
