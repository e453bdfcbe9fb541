//! Durations that are in a record several times: histograms with their sums, steps, service times,
//! the slowest operations, and the time that workers had for all of them.

use measure::{Histogram, SLOWEST_KEPT};
use workload::{Action, Phase};

use super::{Findings, Rule, Scope, all_operations, longest_ns, service};
use record::run::{OperationRecord, PhaseRecord, Segment, SegmentKind};

pub(super) fn phase(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    for (index, waits) in phase.claim_waits.iter().enumerate() {
        histogram(
            &waits.wait,
            &format!("{place}.claim_waits[{index}].wait"),
            found,
        );
    }
    for (number, segment) in phase.segments.iter().enumerate() {
        for (index, operation) in segment.operations.iter().enumerate() {
            let place = format!("{place}.segments[{number}].operations[{index}]");
            self::operation(operation, &place, found);
        }
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
        let shorter =
            service.sum_ns() > meter.latency.sum_ns() || service.max_ns() > meter.latency.max_ns();
        if shorter || service.min_ns() > meter.latency.min_ns() {
            let why = "service times are longer than latencies, which begin before them".to_owned();
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
    let mut actions: Vec<Action> = all_operations(phase)
        .map(|operation| operation.action)
        .collect();
    actions.sort_unstable();
    actions.dedup();
    let known = phase.slowest.iter().map(|slowest| slowest.action);
    if let Some(other) = known.into_iter().find(|action| !actions.contains(action)) {
        let why = format!("the segments have no {}", other.name());
        found.broken(Rule::Slowest, &format!("{place}.slowest"), why);
    }
    for action in actions {
        let of_action =
            || all_operations(phase).filter(move |operation| operation.action == action);
        let mut greatest: Vec<u64> = of_action()
            .flat_map(|operation| operation.meter.latency.greatest(SLOWEST_KEPT))
            .collect();
        greatest.sort_unstable_by(|one, other| other.cmp(one));
        greatest.truncate(SLOWEST_KEPT);
        let entry = phase
            .slowest
            .iter()
            .enumerate()
            .find(|(_, slowest)| slowest.action == action);
        let operations = entry.map_or(&[][..], |(_, slowest)| &slowest.operations);
        let place = format!("{place}.slowest[{}]", entry.map_or(0, |(index, _)| index));
        let kept: Vec<u64> = operations
            .iter()
            .map(|slow| Histogram::kept(slow.ns))
            .collect();
        if kept != greatest {
            let why = format!(
                "those of {} are not the greatest of its latencies",
                action.name()
            );
            found.broken(Rule::Slowest, &place, why);
        }
        let max = of_action()
            .filter_map(|operation| operation.meter.latency.max_ns())
            .max();
        if let (Some(slow), Some(max)) = (operations.first(), max) {
            let name = format!("the slowest {}", action.name());
            found.equal(
                Rule::Slowest,
                &place,
                (&name, slow.ns),
                ("the greatest latency", max),
            );
        }
        if !operations.is_sorted_by(|one, other| one.ns >= other.ns) {
            found.broken(
                Rule::Slowest,
                &place,
                "they are not in their order".to_owned(),
            );
        }
        slow_ones(scope, phase, operations, &place, found);
    }
}

/// When they were, whose they were, and where.
fn slow_ones(
    scope: &Scope<'_>,
    phase: &PhaseRecord,
    operations: &[record::run::SlowOperation],
    place: &str,
    found: &mut Findings,
) {
    let began_ns = phase.segments.iter().map(|segment| segment.began_ns).min();
    // A worker that was kept by an operation of the warm-up may end that later than others end the
    // measurement.
    let ended_ns = phase.segments.iter().map(|segment| segment.ended_ns).max();
    let (Some(began_ns), Some(ended_ns)) = (began_ns, ended_ns) else {
        return;
    };
    let slack_ns = scope.clocks_ns();
    let phase_ns =
        began_ns.saturating_sub(slack_ns)..ended_ns.saturating_add(slack_ns).saturating_add(1);
    for (index, slow) in operations.iter().enumerate() {
        let place = format!("{place}.operations[{index}]");
        let lasted_ns = if scope.is_open(phase) { 0 } else { slow.ns };
        let is_within = phase_ns.contains(&slow.issued_ns)
            && phase_ns.contains(&slow.issued_ns.saturating_add(lasted_ns));
        if !is_within {
            let why = "it was issued, or completed, outside of the phase".to_owned();
            found.broken(Rule::Slowest, &place, why);
        }
        if slow.worker >= scope.workers {
            let why = format!("there is no worker {}", slow.worker);
            found.broken(Rule::Slowest, &place, why);
        }
        if let Some(step) = &slow.step {
            let is_known = all_operations(phase).any(|operation| {
                let mut steps = operation
                    .steps
                    .iter()
                    .filter(|known| known.step == step.step);
                steps.any(|known| known.latency.max_ns() >= Some(step.ns))
            });
            if step.ns > slow.ns || !is_known {
                let why = format!(
                    "its step {} of {} ns does not belong to the operation",
                    step.step, step.ns
                );
                found.broken(Rule::Slowest, &place, why);
            }
        }
        let locations = &scope.record.locations;
        let is_there = locations
            .iter()
            .zip(&scope.spec.targets)
            .any(|(location, said)| {
                let below = |target: &system::Target| {
                    location
                        .directory
                        .strip_prefix(&target.path)
                        .map(str::to_owned)
                };
                let below = location.target.known().and_then(below);
                let as_said =
                    below.map(|below| format!("{}{below}", spec::directory(said).display()));
                let all = [Some(&location.directory), as_said.as_ref()];
                all.into_iter()
                    .flatten()
                    .any(|directory| slow.path.starts_with(directory))
            });
        if !locations.is_empty() && !is_there {
            let why = format!("{} is in no location", slow.path);
            found.broken(Rule::Slowest, &place, why);
        }
    }
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
        let whose = if is_measured {
            "a measured segment"
        } else {
            "the segments before the measured ones"
        };
        compare(
            spent(&mut std::iter::once(segment)),
            lasted * all_workers,
            whose,
        );
    }
    if phase.phase == Phase::Transactions && all_workers == 0 {
        compare(1, 0, "no worker");
    }
}
