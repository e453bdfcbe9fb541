//! Moments: of phases, segments, workers, syncs and readings of the machine; how long they last,
//! and what must lie within what.

use spec::{Durability, Stop};
use workload::{End, Phase};

use super::{Findings, Rule, Scope, all_operations, longest_ns};
use record::Outcome;
use record::Pauses;
use record::run::PhaseRecord;

/// A worker that is at work without a pause may be kept from it by other programs for so long, in
/// nanoseconds.
const SOON_NS: u64 = 10_000_000_000;
/// A sync of a real file system is a call in a thread: it takes so long at least, in nanoseconds.
const SYNC_MIN_NS: u64 = 1_000;

pub(super) fn check(scope: &Scope<'_>, found: &mut Findings) {
    let mut earlier: Option<&PhaseRecord> = None;
    for (index, phase) in scope.phases.iter().enumerate() {
        let place = scope.place(index);
        if let Some(earlier) = earlier {
            order(scope, earlier, phase, &place, found);
        }
        workers(phase, &place, found);
        machine(scope, phase, &place, found);
        sync(scope, phase, &place, found);
        pauses(scope, index, &place, found);
        within_run(scope, phase, &place, found);
        lasts(scope, phase, &place, earlier, found);
        earlier = Some(phase);
    }
}

fn began_ns(phase: &PhaseRecord) -> Option<u64> {
    phase.segments.iter().map(|segment| segment.began_ns).min()
}

fn ended_ns(phase: &PhaseRecord) -> Option<u64> {
    phase.segments.iter().map(|segment| segment.ended_ns).max()
}

fn order(
    scope: &Scope<'_>,
    earlier: &PhaseRecord,
    later: &PhaseRecord,
    place: &str,
    found: &mut Findings,
) {
    if later.phase <= earlier.phase {
        let why = format!("{} after {}", later.phase.name(), earlier.phase.name());
        return found.broken(Rule::PhaseOrder, place, why);
    }
    let synced_ns = earlier.sync.as_ref().map(|sync| sync.ended_ns);
    let (ended, began) = (ended_ns(earlier).max(synced_ns), began_ns(later));
    if let (Some(ended_ns), Some(began_ns)) = (ended, began) {
        if began_ns.saturating_add(scope.clocks_ns()) < ended_ns {
            let why = format!(
                "it began at {began_ns} ns, and {} ended at {ended_ns} ns",
                earlier.phase.name()
            );
            found.broken(Rule::PhaseOrder, place, why);
        }
    }
}

/// The measured segments reach from the first worker's beginning to the last one's end.
fn workers(phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let (Some(first), Some(last)) = (phase.measured().next(), phase.measured().last()) else {
        return;
    };
    if !phase.complete || phase.workers.is_empty() {
        return;
    }
    let is_all_measured = phase.measured().count() == phase.segments.len();
    // One that was done before the measured ones has no time in them.
    let has_part =
        |worker: &&record::run::WorkerPhase| is_all_measured || worker.began_ns < worker.ended_ns;
    let with_part = || phase.workers.iter().filter(has_part);
    let (Some(began_ns), Some(ended_ns)) = (
        with_part().map(|worker| worker.began_ns).min(),
        with_part().map(|worker| worker.ended_ns).max(),
    ) else {
        return;
    };
    let place = format!("{place}.workers");
    let measured_ended = phase.measured().map(|segment| segment.ended_ns).max();
    for (what, of_workers, of_segments) in [
        ("the first worker began at", began_ns, first.began_ns),
        (
            "the last worker ended at",
            ended_ns,
            measured_ended.unwrap_or(last.ended_ns),
        ),
    ] {
        let of_segments = ("the measured segments", of_segments);
        found.equal(Rule::Times, &place, (what, of_workers), of_segments);
    }
    let Some(first_done) = &phase.first_done else {
        return;
    };
    let place = format!("{place}: first_done");
    let ends = || phase.workers.iter().map(|worker| worker.ended_ns);
    let least = ends().min().unwrap_or(0);
    let own = phase
        .workers
        .iter()
        .find(|worker| worker.worker == first_done.worker);
    let at = ("the first worker was done at", first_done.at_ns);
    found.equal(
        Rule::Times,
        &place,
        at,
        ("the first end of a worker", least),
    );
    if let Some(own) = own {
        found.equal(Rule::Times, &place, at, ("its own end", own.ended_ns));
    }
}

/// The machine is read before a phase begins, at the end of each second, and when the phase has
/// ended.
fn machine(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let (Some(machine), Some(began_ns), Some(ended_ns)) =
        (&phase.machine, began_ns(phase), ended_ns(phase))
    else {
        return;
    };
    let place = format!("{place}.machine");
    let slack_ns = scope.clocks_ns();
    let last_ns = machine.ended_ns.last().copied().unwrap_or(machine.began_ns);
    if machine.began_ns > began_ns.saturating_add(slack_ns)
        || last_ns.saturating_add(slack_ns) < ended_ns && !scope.has_ranks()
    {
        let why = format!(
            "it was read from {} to {last_ns} ns, and the phase was from {began_ns} to {ended_ns} \
             ns",
            machine.began_ns
        );
        found.broken(Rule::Times, &place, why);
    }
    // Another rank may end sooner or later than the first, whose readings they are.
    if scope.has_ranks() {
        return;
    }
    let synced_ns = phase.sync.as_ref().map(|sync| sync.began_ns);
    if let Some(synced_ns) = synced_ns.filter(|synced_ns| *synced_ns < last_ns) {
        let why = format!(
            "it was read at {last_ns} ns, and the sync after the phase began at {synced_ns} ns"
        );
        found.broken(Rule::Times, &place, why);
    }
    let width_ns = machine.width_ns.max(1);
    let seconds = width_ns / measure::SLICE_NS;
    for (position, (index, ended_ns)) in machine.index.iter().zip(&machine.ended_ns).enumerate() {
        let since = ended_ns.saturating_sub(machine.began_ns) / measure::SLICE_NS;
        let is_last = position + 1 == machine.index.len();
        // Before the last one a reading follows the end of its second.
        let second = if is_last {
            since
        } else {
            since.saturating_sub(1)
        };
        let expected = second / seconds.max(1);
        if *index != expected {
            let why =
                format!("the reading at {ended_ns} ns ends slice {index}, and not {expected}");
            found.broken(Rule::Times, &format!("{place}.index"), why);
        }
    }
}

fn sync(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let (Some(sync), Some(ended_ns)) = (&phase.sync, ended_ns(phase)) else {
        return;
    };
    let place = format!("{place}.sync");
    if sync.began_ns.saturating_add(scope.clocks_ns()) < ended_ns {
        let why = format!(
            "it began at {} ns, and the phase ended at {ended_ns} ns",
            sync.began_ns
        );
        found.broken(Rule::Times, &place, why);
    }
    let lasted_ns = sync.ended_ns.saturating_sub(sync.began_ns);
    if lasted_ns < SYNC_MIN_NS
        && scope.spec.storage.makes_files()
        && scope.during.clocks.elapsed_ns > 0
    {
        let why = format!("it took {lasted_ns} ns, and a sync takes {SYNC_MIN_NS} ns at least");
        found.broken(Rule::Times, &place, why);
    }
    let next = match phase.phase {
        Phase::Delete => None,
        _ => scope.phases.iter().find(|next| next.phase > phase.phase),
    };
    let next_ns = next
        .and_then(|next| next.machine.as_ref())
        .map(|machine| machine.began_ns);
    if next_ns.is_some_and(|next_ns| next_ns.saturating_add(scope.clocks_ns()) < sync.ended_ns) {
        let why = format!(
            "it ended at {} ns, when the next phase was being read",
            sync.ended_ns
        );
        found.broken(Rule::Times, &place, why);
    }
}

/// A thread watches for pauses from before the workers begin until after they have ended, in each
/// phase of a run or in none.
fn pauses(scope: &Scope<'_>, index: usize, place: &str, found: &mut Findings) {
    let phase = &scope.phases[index];
    let place = format!("{place}.pauses");
    let is_watched = || scope.phases.iter().any(|phase| phase.pauses.is_some());
    let Some(pauses) = &phase.pauses else {
        if phase.complete && is_watched() && scope.record.actual.outcome != Outcome::Unfinished {
            let why = "it is missing, although another phase has it".to_owned();
            found.broken(Rule::Parts, &place, why);
        }
        return;
    };
    let Pauses {
        watched_ns,
        shortest_ns,
        times,
        total_ns,
        longest_ns,
    } = *pauses;
    let is_none = times == 0 && total_ns == 0 && longest_ns == 0;
    let in_order = shortest_ns <= longest_ns
        && longest_ns <= total_ns
        && total_ns <= longest_ns.saturating_mul(times)
        && times.saturating_mul(shortest_ns) <= total_ns;
    if shortest_ns == 0 || !(is_none || (times > 0 && in_order)) {
        let why =
            format!("{times} of {shortest_ns} ns to {longest_ns} ns cannot come to {total_ns} ns");
        found.broken(Rule::Times, &place, why);
    }
    // Of ranks they are those of the rank that paused more.
    let (Some(machine), Some(ended_ns), false) =
        (&phase.machine, ended_ns(phase), scope.has_ranks())
    else {
        return;
    };
    let began_ns = began_ns(phase).unwrap_or(ended_ns);
    let synced_ns = phase.sync.as_ref().map(|sync| sync.began_ns);
    let next_ns = || {
        let next = scope.phases.get(index + 1)?;
        Some(next.machine.as_ref()?.began_ns)
    };
    let most_ns = synced_ns
        .or_else(next_ns)
        .unwrap_or(scope.during.clocks.elapsed_ns)
        .saturating_sub(machine.began_ns);
    let lasted_ns = ended_ns.saturating_sub(began_ns);
    if phase.complete && !(lasted_ns..=most_ns).contains(&watched_ns) {
        let why = format!(
            "watched for {watched_ns} ns, and the phase lasted {lasted_ns} ns, with what is \
             beside it {most_ns} ns"
        );
        found.broken(Rule::Times, &place, why);
    }
}

/// No moment lies beyond the run.
fn within_run(scope: &Scope<'_>, phase: &PhaseRecord, place: &str, found: &mut Findings) {
    // The clock of the machine is read once more at the end, and each part of a killed run was told
    // before.
    if scope.has_ranks() || scope.record.actual.outcome == Outcome::Unfinished {
        return;
    }
    let machine = phase
        .machine
        .as_ref()
        .and_then(|machine| machine.ended_ns.last().copied());
    let sync = phase.sync.as_ref().map(|sync| sync.ended_ns);
    let space_back = phase.sync.as_ref().and_then(|sync| {
        let back = sync.space_back_ns.known()?;
        Some(sync.began_ns.saturating_add(*back))
    });
    let caught_up = phase.caught_up_ns;
    let last = [ended_ns(phase), machine, sync, space_back, caught_up]
        .into_iter()
        .flatten()
        .max();
    let elapsed_ns = scope.during.clocks.elapsed_ns;
    if let Some(last_ns) = last
        .filter(|last_ns| *last_ns > elapsed_ns.saturating_add(scope.during.clocks.uncertainty_ns))
    {
        let why = format!("it has a moment at {last_ns} ns, and the run took {elapsed_ns} ns");
        found.broken(Rule::Times, place, why);
    }
    if let (Some(caught_up_ns), Some(ended_ns)) = (caught_up, ended_ns(phase)) {
        if caught_up_ns > ended_ns
            || began_ns(phase).is_some_and(|began_ns| caught_up_ns < began_ns)
        {
            let why = format!(
                "a worker was up to its arrivals at {caught_up_ns} ns, outside of the phase"
            );
            found.broken(Rule::Times, &format!("{place}.caught_up_ns"), why);
        }
    }
}

/// Whether the machine was read each second: then nothing kept this process from its work for long.
pub(super) fn is_undisturbed(phase: &PhaseRecord) -> bool {
    let Some(machine) = &phase.machine else {
        return false;
    };
    let most = machine.width_ns.saturating_add(machine.width_ns / 2);
    machine.spans().all(|span| span.end - span.start <= most)
}

/// How long a worker may think, in nanoseconds.
fn think_ns(scope: &Scope<'_>) -> u64 {
    use workload::mix::Think;
    match scope.spec.workload.mix().map(|mix| &mix.think) {
        Some(Think::Fixed(ns)) => *ns,
        Some(Think::Exponential(mean_ns)) => mean_ns.saturating_mul(100),
        Some(Think::None) | None => 0,
    }
}

/// Whether a transaction follows upon the other.
fn is_busy(scope: &Scope<'_>, phase: &PhaseRecord) -> bool {
    !scope.is_open(phase) && think_ns(scope) == 0
}

/// How long a worker may be in one operation or wait for others', as far as that is recorded.
fn at_most_in_one_ns(phase: &PhaseRecord) -> u64 {
    let waits = phase
        .claim_waits
        .iter()
        .filter_map(|waits| waits.wait.max_ns());
    longest_ns(phase).saturating_add(waits.max().unwrap_or(0))
}

/// The time of a phase by what was asked for, and by what was done over it.
fn lasts(
    scope: &Scope<'_>,
    phase: &PhaseRecord,
    place: &str,
    earlier: Option<&PhaseRecord>,
    found: &mut Findings,
) {
    let (Some(began_ns), Some(ended_ns)) = (began_ns(phase), ended_ns(phase)) else {
        return;
    };
    let lasted_ns = ended_ns.saturating_sub(began_ns);
    // Slices count from before the workers begin.
    let read_ns = phase.machine.as_ref().map(|machine| machine.began_ns);
    let least_ns = read_ns
        .or_else(|| earlier.and_then(self::ended_ns))
        .unwrap_or(0)
        .min(began_ns);
    let width_ns = phase.slices.width_ns();
    let last_slice_ns = (phase.slices.len() as u64)
        .saturating_sub(1)
        .saturating_mul(width_ns);
    let slack_ns = if scope.has_ranks() { SOON_NS } else { 0 };
    if last_slice_ns > ended_ns.saturating_sub(least_ns).saturating_add(slack_ns) {
        let why = format!(
            "it lasted {lasted_ns} ns, and has operations {last_slice_ns} ns after its beginning"
        );
        found.broken(Rule::Duration, place, why);
    }
    let has_failures = all_operations(phase).any(|operation| operation.meter.failed > 0);
    // What is synced in batches is synced once more at the end, and no operation tells of it.
    let is_batch = matches!(scope.spec.durability, Durability::Batch(_));
    let is_timed = scope.spec.latencies && !is_batch;
    let is_even = is_undisturbed(phase) && !has_failures && is_timed && phase.complete;
    let silent_ns = lasted_ns.saturating_sub(last_slice_ns.saturating_add(width_ns));
    let pause_ns = SOON_NS.saturating_add(at_most_in_one_ns(phase).saturating_mul(2));
    let has_series = !phase.slices.is_empty();
    // Directories are made and removed in the other phases, and no operation tells of it.
    let is_work = phase.phase == Phase::Transactions && has_work(phase);
    if has_series && is_even && is_busy(scope, phase) && silent_ns > pause_ns && is_work {
        let why =
            format!("it lasted {lasted_ns} ns, and nothing was done in its last {silent_ns} ns");
        found.broken(Rule::Duration, place, why);
    }
    if phase.phase == Phase::Transactions && phase.complete {
        as_asked(
            scope,
            phase,
            place,
            (least_ns, began_ns, ended_ns),
            pause_ns,
            is_even,
            found,
        );
    }
}

/// Whether workers did not spend their time with what they left undone.
fn has_work(phase: &PhaseRecord) -> bool {
    phase
        .segments
        .iter()
        .all(|segment| segment.skipped.total() == 0)
}

fn ns(nanoseconds: u128) -> u64 {
    u64::try_from(nanoseconds).unwrap_or(u64::MAX)
}

/// Transactions that end with time last so long, and a warm-up does.
fn as_asked(
    scope: &Scope<'_>,
    phase: &PhaseRecord,
    place: &str,
    (least_ns, began_ns, ended_ns): (u64, u64, u64),
    pause_ns: u64,
    is_even: bool,
    found: &mut Findings,
) {
    let drive = &scope.spec.drive;
    let warm_up_ns = ns(drive.warm_up.as_nanos());
    let workload = &scope.spec.workload;
    let all: u64 = phase.segments.iter().map(|segment| segment.issued).sum();
    let asked_for = workload.transactions().saturating_mul(scope.workers.into());
    let is_by_number = all >= asked_for || scope.record.actual.end.known() != Some(&End::Complete);
    let late_ns = pause_ns.saturating_add(think_ns(scope));
    // The thread that ends them saw them begin before the workers did, and after the machine was
    // read.
    let early_ns = began_ns
        .saturating_sub(least_ns)
        .saturating_add(scope.clocks_ns());
    let mut compare = |what: &str, lasted_ns: u64, asked_ns: u64| {
        // What ends before its time has come to the end of its number.
        let is_short = lasted_ns.saturating_add(early_ns) < asked_ns && !is_by_number;
        let is_long = is_even
            && lasted_ns
                > asked_ns
                    .saturating_add(late_ns)
                    .saturating_add(asked_ns / 20);
        if is_short || is_long {
            let why = format!("{what} lasted {lasted_ns} ns, and {asked_ns} ns were asked for");
            found.broken(Rule::Duration, place, why);
        }
    };
    let before = phase
        .measured()
        .next()
        .map(|first| first.began_ns.saturating_sub(began_ns));
    if let (Some(before_ns), true, None) = (before, warm_up_ns > 0, drive.steady()) {
        compare("the warm-up", before_ns, warm_up_ns);
    }
    let lasted_ns = ended_ns.saturating_sub(began_ns);
    match drive.stop {
        Stop::Transactions => {}
        Stop::After(time) => compare(
            "they",
            lasted_ns,
            warm_up_ns.saturating_add(ns(time.as_nanos())),
        ),
        Stop::Steady(asked) => {
            let rounds = phase
                .steady
                .as_ref()
                .map_or(0, |found| found.rounds.len() as u64);
            compare(
                "they",
                lasted_ns,
                warm_up_ns.saturating_add(rounds.saturating_mul(asked.round_ns)),
            );
        }
    }
}
