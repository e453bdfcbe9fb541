//! Moments: of phases, segments, workers, syncs and readings of the machine; what
//! must lie within what.

use workload::Phase;

use super::scope::{Findings, Rule, Scope};
use record::Outcome;
use record::Pauses;
use record::run::PhaseRecord;

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
        earlier = Some(phase);
    }
}

pub(super) fn began_ns(phase: &PhaseRecord) -> Option<u64> {
    phase.span_ns().map(|(began_ns, _)| began_ns)
}

pub(super) fn ended_ns(phase: &PhaseRecord) -> Option<u64> {
    phase.span_ns().map(|(_, ended_ns)| ended_ns)
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
    let is_all_measured = phase.is_all_measured();
    // One that was done before the measured ones has no time in them.
    let with_part = || {
        let workers = phase.workers.iter();
        workers.filter(|worker| is_all_measured || worker.began_ns < worker.ended_ns)
    };
    let began_ns = with_part().map(|worker| worker.began_ns).min();
    let ended_ns = with_part().map(|worker| worker.ended_ns).max();
    let (Some(began_ns), Some(ended_ns)) = (began_ns, ended_ns) else {
        return;
    };
    let measured_ended_ns = phase.measured().map(|segment| segment.ended_ns).max();
    let measured = (first.began_ns, measured_ended_ns.unwrap_or(last.ended_ns));
    let by = "in the measured segments";
    let span = format!("{place}.workers: from the first beginning to the last end");
    found
        .at(Rule::Times, &span)
        .same(&(began_ns, ended_ns), &measured, by);
    let Some(first_done) = &phase.first_done else {
        return;
    };
    let place = format!("{place}.first_done.at_ns");
    let workers = phase.workers.iter();
    let least = workers
        .clone()
        .map(|worker| worker.ended_ns)
        .min()
        .unwrap_or(0);
    let at_ns = &first_done.at_ns;
    found
        .at(Rule::Times, &place)
        .same(at_ns, &least, "the first worker to end did so at");
    let mut own = workers.filter(|worker| worker.worker == first_done.worker);
    if let Some(own) = own.next() {
        found
            .at(Rule::Times, &place)
            .same(at_ns, &own.ended_ns, "that worker ended at");
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
            found.broken(Rule::Times, format!("{place}.index"), why);
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
        && scope.spec.engine.makes_files()
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
            let why = "it is missing, although another phase has it";
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
            found.broken(Rule::Times, format!("{place}.caught_up_ns"), why);
        }
    }
}
