//! Checks the work over time: intervals against segments, arrivals against their rate, rounds
//! against the steady-state rule.

use std::collections::BTreeMap;

use measure::steady::{self, DRIFT_MAX, WINDOW_ROUNDS};
use measure::{LATENCY_PRECISION_BITS, Meter, SLICE_NS, SLICES_MAX, SLOWEST_KEPT, SparseHistogram};
use spec::{SteadyRule, Stop};
use workload::{Action, Phase, Role};

use super::lengths::is_undisturbed;
use super::scope::{At, Findings, Rule, Scope};
use record::SteadyFound;
use record::run::{OperationRecord, PhaseRecord, SlowOperation};

pub(super) fn phase(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    if phase.complete && !phase.slices.is_empty() {
        series(scope, phase, &mut found.at(Rule::Series, place));
        extremes(scope, phase, &mut found.at(Rule::Slowest, place));
    }
    arrivals(scope, phase, &mut found.at(Rule::Arrivals, place));
    self::steady(scope, phase, &mut found.at(Rule::Steady, place));
}

type RoleAction = (Role, Action);

/// Checks that the sums and the latencies of all intervals equal those of all segments.
fn series(scope: &Scope<'_>, phase: &PhaseRecord, at: &mut At<'_>) {
    let mut at = at.below(".slices");
    let mut done: BTreeMap<RoleAction, Meter> = BTreeMap::new();
    for OperationRecord {
        role,
        action,
        meter,
        ..
    } in phase.all_operations()
    {
        if meter.operations + meter.failed > 0 {
            done.entry((*role, *action)).or_default().merge(meter);
        }
    }
    let series = phase.slices.totals();
    // Intervals become wider only if there would be more than `SLICES_MAX` of them.
    if phase.slices.width_ns() > SLICE_NS {
        let (slices, least) = (phase.slices.len() as u64, SLICES_MAX as u64 / 2 + 1);
        at.at_least(": wide ones", slices, least, "before they are wider");
    }
    let none = SparseHistogram::default();
    for key in done.keys().chain(series.keys()) {
        let name = key.1.name();
        let of_slices = series.get(key);
        let of_slices = of_slices.map_or([0; 3], |sum| [sum.operations, sum.bytes, sum.failed]);
        let of_segments = done.get(key);
        let of_segments = of_segments.map_or([0; 3], |sum| [sum.operations, sum.bytes, sum.failed]);
        let counts = format!(": operations, bytes and failures of {name}");
        at.same(&counts, of_slices, of_segments, "in the segments");
        let Some(Meter { latency, .. }) = done.get(key).filter(|_| scope.spec.latencies) else {
            continue;
        };
        let of_slices = series.get(key).map_or(&none, |sum| &sum.latency);
        if let Err(why) = of_slices.is_coarse_of(latency, LATENCY_PRECISION_BITS) {
            at.broken("", format!("latencies of {name}: {why} as in the segments"));
        }
    }
    shared(phase, &mut at);
}

/// Checks groups of intervals that share their latencies: each group has as many latencies as
/// operations. The latencies of a role and kind of operation are stored in the first interval of
/// the group that contains such operations.
fn shared(phase: &PhaseRecord, at: &mut At<'_>) {
    let slices: Vec<_> = phase.slices.iter().collect();
    for (number, group) in slices.chunks(phase.slices.sharing().max(1)).enumerate() {
        let mut sums: BTreeMap<&RoleAction, (u64, u64)> = BTreeMap::new();
        for (key, meter) in group.iter().copied().flatten() {
            let sum = sums.entry(key).or_default();
            sum.0 = sum.0.saturating_add(meter.operations);
            sum.1 = sum.1.saturating_add(meter.latency.count());
        }
        for (key, (operations, latencies)) in sums {
            let field = format!(": latencies of {} in group {number}", key.1.name());
            at.same(&field, latencies, operations, "operations:");
        }
    }
}

/// Checks that each of the slowest operations is in the interval in which it completed. The longest
/// operation of an interval must be in the list of slowest operations, or the list must be full of
/// longer operations.
fn extremes(scope: &Scope<'_>, phase: &PhaseRecord, at: &mut At<'_>) {
    let (Some(machine), Some(first)) = (&phase.machine, phase.segments.first()) else {
        return;
    };
    // In an open loop the completion times are not recorded, and other ranks have their own clocks.
    // So the interval in which an operation completed is not known.
    if scope.is_open(phase) || scope.has_ranks() {
        return;
    }
    let width_ns = phase
        .slices
        .width_ns()
        .saturating_mul(phase.slices.sharing() as u64)
        .max(1);
    let slices: Vec<_> = phase.slices.iter().collect();
    let groups: Vec<_> = slices.chunks(phase.slices.sharing().max(1)).collect();
    // The first interval starts after the reading of the machine and before the start of the first
    // worker. The exact moment is not recorded, so an operation may belong to any group from
    // `early` to `late`.
    let group_of = |ns: u64| {
        let early = ns.saturating_sub(first.began_ns) / width_ns;
        let late = ns.saturating_sub(machine.began_ns) / width_ns;
        early as usize..=late as usize
    };
    let greatest = |group: usize, action: Action| -> Option<u64> {
        let meters = groups.get(group)?.iter().copied().flatten();
        let of_action = meters.filter(|((_, known), _)| *known == action);
        of_action
            .filter_map(|(_, meter)| meter.latency.max_ns())
            .max()
    };
    for (index, slowest) in phase.slowest.iter().enumerate() {
        let mut at = at.below(&format!(".slowest[{index}]"));
        let greatest = |group: usize| greatest(group, slowest.action);
        let groups_of = |slow: &SlowOperation| group_of(slow.issued_ns.saturating_add(slow.ns));
        for slow in &slowest.operations {
            if !groups_of(slow).any(|group| greatest(group) >= Some(slow.ns)) {
                let ns = slow.ns;
                let why = format!("one of {ns} ns is not in the slice in which it completed");
                at.broken("", why);
            }
        }
        let least = slowest.operations.last().map_or(0, |slow| slow.ns);
        let is_full = slowest.operations.len() == SLOWEST_KEPT;
        for group in 0..groups.len() {
            let max = greatest(group).filter(|max| !is_full || *max > least);
            let is_it =
                |slow: &SlowOperation| Some(slow.ns) == max && groups_of(slow).contains(&group);
            if let Some(max) = max.filter(|_| !slowest.operations.iter().any(is_it)) {
                let why =
                    format!("slices have one of {max} ns, which is not among them at that time");
                at.broken("", why);
            }
        }
    }
}

/// Number of waiting transactions at which a worker stops counting further arrivals.
const WAITING_MAX: u64 = 10_000_000;
/// Maximum difference between the number of random arrivals and the expected number, in standard
/// deviations.
const DEVIATIONS: f64 = 8.0;

/// Checks that the number of arrivals is the rate multiplied by the time.
fn arrivals(scope: &Scope<'_>, phase: &PhaseRecord, at: &mut At<'_>) {
    let (Some(per_second), Some(waiting)) = (scope.per_second, phase.waiting) else {
        return;
    };
    let is_by_time = matches!(scope.spec.drive.stop, Stop::After(_));
    let is_whole = phase.phase == Phase::Transactions && phase.complete && is_by_time;
    if !is_whole || !scope.has_ended() {
        return;
    }
    let (Some(first), Some(last)) = (phase.segments.first(), phase.segments.last()) else {
        return;
    };
    let done = phase.all_issued();
    if done >= scope.asked_for() {
        return;
    }
    let arrived = done.saturating_add(waiting) as f64;
    // The first arrival is after the reading of the machine and before the start of the first
    // worker. Each worker counts its own arrivals until it ends.
    let workers = || phase.workers.iter();
    let ends_ns = workers().map(|worker| worker.ended_ns.saturating_sub(first.began_ns));
    let least_s = ends_ns.min().unwrap_or(0) as f64 / 1e9;
    let read_ns = phase.machine.as_ref().map_or(0, |machine| machine.began_ns);
    let most_s = last.ended_ns.saturating_sub(read_ns) as f64 / 1e9;
    let off =
        |expected: f64| DEVIATIONS * expected.sqrt() + f64::from(scope.workers) + expected * 0.01;
    let (least, most) = (per_second * least_s, per_second * most_s);
    // A worker stops counting arrivals when `WAITING_MAX` of them are waiting.
    let is_short = arrived < least - off(least) && waiting < WAITING_MAX;
    if is_short || arrived > most + off(most) {
        let why = format!(
            "{arrived} have arrived in {least_s:.3} to {most_s:.3} s, at {per_second} a second"
        );
        at.broken(".waiting", why);
    }
}

/// Maximum relative error of a round's rate. A thread that is not a worker measures this rate, and
/// may be late on a busy machine.
const ROUND_OFF: f64 = 0.5;

fn steady(scope: &Scope<'_>, phase: &PhaseRecord, at: &mut At<'_>) {
    let (Some(what), Some(asked)) = (&phase.steady, scope.spec.drive.steady()) else {
        return;
    };
    let mut at = at.below(".steady");
    let first = what.rounds.len().saturating_sub(WINDOW_ROUNDS);
    let is_whole = what.rounds.len() >= WINDOW_ROUNDS;
    let snia = steady::window(&what.rounds[first..]).filter(|_| is_whole);
    let slope = steady::drift(&what.seconds, DRIFT_MAX).filter(|_| is_whole);
    let is_steady = match asked.rule {
        SteadyRule::Snia => snia.as_ref().is_some_and(|verdict| verdict.is_steady),
        SteadyRule::Slope => slope.as_ref().is_some_and(|verdict| verdict.is_steady),
    };
    let expected = SteadyFound {
        snia,
        slope,
        is_steady,
        ..what.clone()
    };
    at.same("", what, expected, "by the rule");
    let (count, most) = (what.rounds.len() as u64, u64::from(asked.rounds_max));
    at.at_most(".rounds", count, most, "by the spec");
    if !phase.complete || !is_undisturbed(phase) {
        return;
    }
    // The measured segments begin with one segment for each round of the last window. The work
    // after these rounds has no rate.
    for (segment, rate) in phase.measured().zip(&what.rounds[first..]) {
        let seconds = segment.ended_ns.saturating_sub(segment.began_ns) as f64 / 1e9;
        let (counted, seen) = (segment.transactions as f64, rate * seconds);
        let off = counted.max(seen) * ROUND_OFF + f64::from(scope.workers) * 4.0;
        let range = counted - off..=counted + off;
        at.within(".rounds: transactions", seen, range, "in the segment");
    }
}
