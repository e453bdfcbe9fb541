//! Durations that are in a record several times: histograms with their sums, steps, service times,
//! the slowest operations, and the time that workers had for all of them.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::PathBuf;

use measure::{Histogram, SLOWEST_KEPT};
use workload::{Action, Phase};

use super::scope::{Findings, Rule, Scope, longest_ns, placed_operations, service};
use record::run::{LocationRecord, OperationRecord, PhaseRecord, Segment, SegmentKind};
use record::run::{SlowOperation, SlowStep};

pub(super) fn phase(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    for (index, waits) in phase.claim_waits.iter().enumerate() {
        let place = format!("{place}.claim_waits[{index}].wait");
        histogram(&waits.wait, &place, found);
    }
    for (place, operation) in placed_operations(phase, place) {
        self::operation(operation, &place, found);
    }
    if scope.spec.latencies {
        slowest(scope, phase, place, found);
        work_time(scope, phase, place, found);
    }
}

fn histogram(histogram: &Histogram, place: &str, found: &mut Findings) {
    if let Err(why) = histogram.agrees_with_its_buckets() {
        found.broken(Rule::Histograms, place, why);
    }
}

fn operation(operation: &OperationRecord, place: &str, found: &mut Findings) {
    let meter = &operation.meter;
    histogram(&meter.latency, &format!("{place}.meter.latency"), found);
    if let Some(service) = &meter.service {
        let place = format!("{place}.meter.service");
        histogram(service, &place, found);
        // A latency begins when the operation is due, which is not after it is issued.
        let is_longer = |of: fn(&Histogram) -> Option<u64>| of(service) > of(&meter.latency);
        if service.sum_ns() > meter.latency.sum_ns()
            || is_longer(Histogram::max_ns)
            || is_longer(Histogram::min_ns)
        {
            let why = "service times are longer than latencies, which begin before them";
            found.broken(Rule::Histograms, &place, why);
        }
    }
    steps(operation, place, found);
}

/// Steps follow one another from an operation's issue to its completion.
fn steps(operation: &OperationRecord, place: &str, found: &mut Findings) {
    if operation.steps.is_empty() {
        return;
    }
    let place = format!("{place}.steps");
    let whole = service(operation);
    let (mut sum_ns, mut count) = (0_u128, 0_u64);
    for (index, step) in operation.steps.iter().enumerate() {
        let place = format!("{place}[{index}].latency");
        histogram(&step.latency, &place, found);
        sum_ns += step.latency.sum_ns();
        count = count.saturating_add(step.latency.count());
        if step.latency.max_ns() > whole.max_ns() {
            let why = format!(
                "the longest {} took {} ns, and the longest operation {} ns",
                step.step,
                step.latency.max_ns().unwrap_or(0),
                whole.max_ns().unwrap_or(0)
            );
            found.broken(Rule::Steps, &place, why);
        }
    }
    if count < operation.meter.operations {
        let why = format!("{count} steps of {} operations", operation.meter.operations);
        found.broken(Rule::Steps, &place, why);
    }
    if sum_ns > whole.sum_ns() {
        let why = format!(
            "steps took {sum_ns} ns, and the operations {} ns",
            whole.sum_ns()
        );
        found.broken(Rule::Steps, &place, why);
    }
}

/// The greatest durations of all segments, each in the bucket of its histogram.
fn slowest(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let actions: BTreeSet<Action> = phase.all_operations().map(|known| known.action).collect();
    let mut known = phase.slowest.iter().map(|slowest| slowest.action);
    if let Some(other) = known.find(|action| !actions.contains(action)) {
        let why = format!("the segments have no {}", other.name());
        found.broken(Rule::Slowest, format!("{place}.slowest"), why);
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
        let place = format!("{place}.slowest[{}].operations", index.unwrap_or(0));
        let kept: Vec<u64> = operations
            .iter()
            .map(|slow| Histogram::kept(slow.ns))
            .collect();
        let by = "the greatest of the latencies are";
        found.at(Rule::Slowest, &place).same(&kept, &greatest, by);
        let max = latencies().filter_map(Histogram::max_ns).max();
        if let (Some(slow), Some(max)) = (operations.first(), max) {
            let place = format!("{place}[0].ns");
            found
                .at(Rule::Slowest, &place)
                .same(&slow.ns, &max, "the greatest latency is");
        }
        if !operations.is_sorted_by(|one, other| one.ns >= other.ns) {
            found.broken(Rule::Slowest, &place, "they are not in their order");
        }
        slow_ones(scope, phase, operations, &place, found);
    }
}

/// When they were, whose they were, and where.
fn slow_ones(
    scope: &Scope<'_>,
    phase: &PhaseRecord,
    operations: &[SlowOperation],
    place: &str,
    found: &mut Findings,
) {
    // A worker that was kept by an operation of the warm-up may end that later than others end the
    // measurement.
    let Some((began_ns, ended_ns)) = phase.span_ns() else {
        return;
    };
    let slack_ns = scope.clocks_ns();
    let phase_ns = began_ns.saturating_sub(slack_ns)..=ended_ns.saturating_add(slack_ns);
    for (index, slow) in operations.iter().enumerate() {
        let place = format!("{place}[{index}]");
        let mut broken = |why: String| found.broken(Rule::Slowest, &place, why);
        let lasted_ns = if scope.is_open(phase) { 0 } else { slow.ns };
        let completed_ns = slow.issued_ns.saturating_add(lasted_ns);
        if [slow.issued_ns, completed_ns]
            .iter()
            .any(|ns| !phase_ns.contains(ns))
        {
            broken("it was issued, or completed, outside of the phase".to_owned());
        }
        if slow.worker >= scope.workers {
            broken(format!("there is no worker {}", slow.worker));
        }
        if let Some(SlowStep { step, ns }) = &slow.step {
            let mut steps = phase
                .all_operations()
                .flat_map(|operation| &operation.steps);
            let is_known =
                steps.any(|known| known.step == *step && known.latency.max_ns() >= Some(*ns));
            if *ns > slow.ns || !is_known {
                broken(format!(
                    "its step {step} of {ns} ns does not belong to the operation"
                ));
            }
        }
        if !is_in_location(scope, &slow.path) {
            broken(format!("{} is in no location", slow.path));
        }
    }
}

/// Whether a path begins with a location's directory, as it is or below the target as it was said.
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

/// No worker performs more at a time than its depth.
fn work_time(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    if !phase.complete {
        return;
    }
    let depth = u128::from(scope.spec.depth.max(1));
    let all_workers = u128::from(scope.workers);
    // In flight an operation is of the segment in which it completes.
    let begun_before = match depth {
        1 => 0,
        _ => all_workers * depth * u128::from(longest_ns(phase)),
    };
    let spent = |segments: &mut dyn Iterator<Item = &Segment>| -> u128 {
        let operations = segments.flat_map(|segment| &segment.operations);
        operations
            .map(|operation| service(operation).sum_ns())
            .sum()
    };
    let clocks = u128::from(scope.clocks_ns()) * all_workers;
    let mut compare = |spent_ns: u128, had_ns: u128, whose: &str| {
        let had_ns = had_ns
            .saturating_mul(depth)
            .saturating_add(begun_before)
            .saturating_add(clocks);
        if spent_ns > had_ns {
            let why =
                format!("operations took {spent_ns} ns, and {whose} had {had_ns} ns for them");
            found.broken(Rule::WorkTime, place, why);
        }
    };
    let of_workers = phase
        .workers
        .iter()
        .map(|worker| u128::from(worker.ended_ns.saturating_sub(worker.began_ns)))
        .sum();
    compare(spent(&mut phase.measured()), of_workers, "the workers");
    for segment in &phase.segments {
        let lasted = u128::from(segment.ended_ns.saturating_sub(segment.began_ns));
        let is_measured = segment.kind == SegmentKind::Measured;
        let whose = match is_measured {
            true => "a measured segment",
            false => "the segments before the measured ones",
        };
        let spent_ns = spent(&mut std::iter::once(segment));
        compare(spent_ns, lasted * all_workers, whose);
    }
    if phase.phase == Phase::Transactions && all_workers == 0 {
        compare(1, 0, "no worker");
    }
}
