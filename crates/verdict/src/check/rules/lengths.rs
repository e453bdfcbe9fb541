//! Checks durations of phases against the spec and against the work in them.

use spec::{Durability, Stop};
use workload::Phase;

use super::columns::sum;
use super::scope::{At, Findings, Rule, Scope, longest_ns};
use super::times;
use record::run::PhaseRecord;

/// Maximum time for which other programs may keep a busy worker from its work, in nanoseconds.
const SOON_NS: u64 = 10_000_000_000;

/// Whether the counters of the machine were read in time in every interval. If so, other programs
/// never kept this process from its work for long.
pub(super) fn is_undisturbed(phase: &PhaseRecord) -> bool {
    let Some(machine) = &phase.machine else {
        return false;
    };
    let most = machine.width_ns.saturating_add(machine.width_ns / 2);
    machine.spans().all(|span| span.end - span.start <= most)
}

/// Returns the maximum duration of a worker's think time and computation before one operation, in
/// nanoseconds. Exponential think times are assumed to be at most 100 times their mean.
fn before_one_ns(scope: &Scope<'_>) -> u64 {
    use workload::mix::Think;
    let Some(mix) = scope.spec.workload.mix() else {
        return 0;
    };
    let think_ns = match mix.think {
        Think::Fixed(ns) => ns,
        Think::Exponential(mean_ns) => mean_ns.saturating_mul(100),
        Think::None => 0,
    };
    think_ns.saturating_add(mix.compute.max_ns())
}

/// Returns the time of the longest operation plus that of the longest wait for a claimed file, in
/// nanoseconds.
fn at_most_in_one_ns(phase: &PhaseRecord) -> u64 {
    let waits = phase
        .claim_waits
        .iter()
        .filter_map(|waits| waits.wait.max_ns());
    longest_ns(phase).saturating_add(waits.max().unwrap_or(0))
}

pub(super) fn phase(scope: &Scope<'_>, index: usize, place: &str, found: &mut Findings) {
    let phase = &scope.phases[index];
    let Some((began_ns, ended_ns)) = phase.span_ns() else {
        return;
    };
    let mut at = found.at(Rule::Duration, place);
    let lasted_ns = ended_ns.saturating_sub(began_ns);
    // Intervals are counted from the first reading of the machine, before the workers start.
    let read_ns = phase.machine.as_ref().map(|machine| machine.began_ns);
    let least_ns = read_ns
        .or_else(|| times::ended_ns(&scope.phases[index.checked_sub(1)?]))
        .unwrap_or(0)
        .min(began_ns);
    let width_ns = phase.slices.width_ns();
    let last_slice_ns = (phase.slices.len() as u64)
        .saturating_sub(1)
        .saturating_mul(width_ns);
    let slack_ns = if scope.has_ranks() { SOON_NS } else { 0 };
    let most = ended_ns.saturating_sub(least_ns).saturating_add(slack_ns);
    at.at_most(".slices: last", last_slice_ns, most, "in the phase");
    let has_failures = phase
        .all_operations()
        .any(|operation| operation.meter.failed > 0);
    // With durability `batch:N`, a last sync ends the phase, and no operation includes the time of
    // this sync.
    let is_batch = matches!(scope.spec.durability.rest, Durability::Batch(_));
    let is_timed = scope.spec.latencies && !is_batch;
    let is_even = is_undisturbed(phase) && !has_failures && is_timed && phase.complete;
    let silent_ns = lasted_ns.saturating_sub(last_slice_ns.saturating_add(width_ns));
    let pause_ns = SOON_NS.saturating_add(at_most_in_one_ns(phase).saturating_mul(2));
    if phase.phase != Phase::Transactions {
        // Other phases also make and remove directories, and no operation includes this time.
        return;
    }
    // Workers spend time on skipped operations, but no interval includes these operations.
    let mut segments = phase.segments.iter();
    let has_work = segments.all(|segment| segment.skipped.total() == 0);
    let is_busy = !scope.is_open(phase) && before_one_ns(scope) == 0 && has_work;
    if !phase.slices.is_empty() && is_even && is_busy {
        at.at_most(": silent at its end", silent_ns, pause_ns, "by its slices");
    }
    if phase.complete {
        let early_ns = began_ns
            .saturating_sub(least_ns)
            .saturating_add(scope.clocks_ns());
        let pause_ns = is_even.then(|| pause_ns.saturating_add(before_one_ns(scope)));
        as_asked(scope, phase, (early_ns, pause_ns), &mut at);
    }
}

fn ns(nanoseconds: u128) -> u64 {
    u64::try_from(nanoseconds).unwrap_or(u64::MAX)
}

/// Checks that timed transactions and warm-ups last as long as the spec requires. A duration may be
/// shorter by `early_ns`, because the thread that ends the phase starts its timer before the
/// workers start. A duration may be longer by 5 % plus `pause_ns`; if `pause_ns` is `None`, the
/// upper limit is not checked.
fn as_asked(
    scope: &Scope<'_>,
    phase: &PhaseRecord,
    (early_ns, pause_ns): (u64, Option<u64>),
    at: &mut At<'_>,
) {
    let Some((began_ns, ended_ns)) = phase.span_ns() else {
        return;
    };
    let drive = &scope.spec.drive;
    let warm_up_ns = ns(drive.warm_up.as_nanos());
    // Transactions that end before the requested time have reached their requested number.
    let is_by_time = phase.all_issued() < scope.asked_for() && scope.has_ended();
    let mut lasts = |what: &str, until_ns: u64, asked_ns: u64| {
        let lasted_ns = until_ns.saturating_sub(began_ns);
        let least = is_by_time.then(|| asked_ns.saturating_sub(early_ns));
        at.at_least(what, lasted_ns, least, "by the spec");
        let most = pause_ns.map(|pause_ns| sum([asked_ns, asked_ns / 20, pause_ns]));
        at.at_most(what, lasted_ns, most, "by the spec");
    };
    let first = phase.measured().next();
    if let Some(first) = first.filter(|_| warm_up_ns > 0 && drive.steady().is_none()) {
        lasts(": the warm-up", first.began_ns, warm_up_ns);
    }
    let rounds = phase.steady.as_ref().map_or(0, |found| found.rounds.len());
    let asked_ns = match drive.stop {
        Stop::Transactions => return,
        Stop::After(time) => ns(time.as_nanos()),
        Stop::Steady(asked) => asked.round_ns.saturating_mul(rounds as u64),
    };
    lasts("", ended_ns, warm_up_ns.saturating_add(asked_ns));
}
