//! Checks moments of phases, segments, workers, syncs and readings of the machine: their order, and
//! that they are within the phase or the run that contains them.

use workload::Phase;

use super::scope::{At, Findings, Rule, Scope};
use record::Outcome;
use record::Pauses;
use record::run::PhaseRecord;

/// Minimum duration of a sync of a real file system, in nanoseconds. A sync is a system call in a
/// separate thread, which takes longer than this.
const SYNC_MIN_NS: u64 = 1_000;

pub(super) fn check(scope: &Scope<'_>, found: &mut Findings) {
    for (index, phase) in scope.phases.iter().enumerate() {
        let mut at = found.at(Rule::Times, scope.place(index));
        if let Some(earlier) = index.checked_sub(1) {
            let earlier = &scope.phases[earlier];
            order(scope, earlier, phase, &mut at.of(Rule::PhaseOrder));
        }
        workers(phase, &mut at);
        machine(scope, phase, &mut at);
        sync(scope, phase, &mut at);
        pauses(scope, index, &mut at);
        within_run(scope, phase, &mut at);
    }
}

pub(super) fn ended_ns(phase: &PhaseRecord) -> Option<u64> {
    phase.span_ns().map(|(_, ended_ns)| ended_ns)
}

fn order(scope: &Scope<'_>, earlier: &PhaseRecord, later: &PhaseRecord, at: &mut At<'_>) {
    if later.phase <= earlier.phase {
        let why = format!("{} after {}", later.phase.name(), earlier.phase.name());
        return at.broken("", why);
    }
    let synced_ns = earlier.sync.as_ref().map(|sync| sync.ended_ns);
    let ended_ns = ended_ns(earlier).max(synced_ns);
    let least = ended_ns.map(|ns| ns.saturating_sub(scope.clocks_ns()));
    let began_ns = later.span_ns().map(|(began_ns, _)| began_ns);
    at.at_least(": beginning", began_ns, least, "after the last one");
}

/// Checks that the measured segments begin with the first worker and end with the last worker.
fn workers(phase: &PhaseRecord, at: &mut At<'_>) {
    let Some(first) = phase.measured().next().filter(|_| phase.complete) else {
        return;
    };
    let is_all_measured = phase.is_all_measured();
    // A worker that finished before the measured segments has no measured time, and is ignored.
    let with_part = || {
        let workers = phase.workers.iter();
        workers.filter(|worker| is_all_measured || worker.began_ns < worker.ended_ns)
    };
    let began_ns = with_part().map(|worker| worker.began_ns).min();
    let ended_ns = with_part().map(|worker| worker.ended_ns).max();
    let measured_ns = phase.measured().map(|segment| segment.ended_ns).max();
    let by = "in the measured segments";
    at.same(".workers: first beginning", began_ns, first.began_ns, by);
    at.same(".workers: last end", ended_ns, measured_ns, by);
    if let (Some(first_done), true) = (&phase.first_done, began_ns.is_some()) {
        let ends = || phase.workers.iter().map(|worker| worker.ended_ns);
        let mut own = phase.workers.iter();
        let own = own.find(|worker| worker.worker == first_done.worker);
        let mut at = at.below(".first_done.at_ns");
        at.same("", first_done.at_ns, ends().min(), "the first end is at");
        let own_ns = own.map(|worker| worker.ended_ns);
        at.same("", first_done.at_ns, own_ns, "that worker ended at");
    }
}

/// Checks that the machine is read before a phase begins, at the end of each second, and when the
/// phase has ended.
fn machine(scope: &Scope<'_>, phase: &PhaseRecord, at: &mut At<'_>) {
    let (Some(machine), Some((began_ns, ended_ns))) = (&phase.machine, phase.span_ns()) else {
        return;
    };
    let mut at = at.below(".machine");
    let most = began_ns.saturating_add(scope.clocks_ns());
    at.at_most(".began_ns", machine.began_ns, most, "before the phase");
    // The first rank reads the machine's counters. Other ranks may end the phase earlier or later,
    // so the remaining moments are checked only if one process performed the run.
    if scope.has_ranks() {
        return;
    }
    let last_ns = machine.ended_ns.last().copied().unwrap_or(machine.began_ns);
    let synced_ns = phase.sync.as_ref().map(|sync| sync.began_ns);
    at.at_least(".ended_ns: last", last_ns, ended_ns, "after the phase");
    at.at_most(".ended_ns: last", last_ns, synced_ns, "before the sync");
    let seconds = (machine.width_ns.max(1) / measure::SLICE_NS).max(1);
    let last = machine.index.len().saturating_sub(1);
    let slices = machine
        .ended_ns
        .iter()
        .enumerate()
        .map(|(index, ended_ns)| {
            let since = ended_ns.saturating_sub(machine.began_ns) / measure::SLICE_NS;
            // Each reading but the last is taken just after the end of its second, so 1 is
            // subtracted. The last reading is taken at the end of the phase, within its second.
            since.saturating_sub(u64::from(index < last)) / seconds
        });
    let slices: Vec<u64> = slices.collect();
    at.same(".index", &machine.index, slices, "by its moment");
}

fn sync(scope: &Scope<'_>, phase: &PhaseRecord, at: &mut At<'_>) {
    let (Some(sync), Some(ended_ns)) = (&phase.sync, ended_ns(phase)) else {
        return;
    };
    let mut at = at.below(".sync");
    let least = ended_ns.saturating_sub(scope.clocks_ns());
    at.at_least(".began_ns", sync.began_ns, least, "after the phase");
    if scope.spec.engine.makes_files() && scope.during.clocks.elapsed_ns > 0 {
        let lasted_ns = sync.ended_ns.saturating_sub(sync.began_ns);
        at.at_least(": nanoseconds", lasted_ns, SYNC_MIN_NS, "for a call");
    }
    let mut phases = scope.phases.iter();
    let next = phases.find(|next| next.phase > phase.phase && phase.phase != Phase::Delete);
    let next = next.and_then(|next| next.machine.as_ref());
    let most = next.map(|machine| machine.began_ns.saturating_add(scope.clocks_ns()));
    at.at_most(".ended_ns", sync.ended_ns, most, "before the next phase");
}

/// Checks the pauses of a phase. The thread that detects pauses runs from before the workers start
/// until after they have ended.
fn pauses(scope: &Scope<'_>, index: usize, at: &mut At<'_>) {
    let phase = &scope.phases[index];
    let Some(pauses) = phase.pauses else {
        return;
    };
    let mut at = at.below(".pauses");
    let Pauses {
        watched_ns,
        shortest_ns,
        times,
        total_ns,
        longest_ns,
    } = pauses;
    at.at_least(".shortest_ns", shortest_ns, 1, "of a pause");
    let longest = shortest_ns.min(total_ns)..=total_ns;
    at.within(".longest_ns", longest_ns, longest, "of all");
    let (least, most) = (
        times.saturating_mul(shortest_ns),
        times.saturating_mul(longest_ns),
    );
    at.within(".total_ns", total_ns, least..=most, "of as many");
    // With several ranks, the pauses are those of the rank that paused most. The record does not
    // contain when this rank began and ended, so the watched time is not checked.
    let (Some(machine), Some((began_ns, ended_ns)), false) =
        (&phase.machine, phase.span_ns(), scope.has_ranks())
    else {
        return;
    };
    let synced_ns = phase.sync.as_ref().map(|sync| sync.began_ns);
    let next_ns = || {
        let next = scope.phases.get(index + 1)?;
        Some(next.machine.as_ref()?.began_ns)
    };
    let most_ns = synced_ns
        .or_else(next_ns)
        .unwrap_or(scope.during.clocks.elapsed_ns)
        .saturating_sub(machine.began_ns);
    if phase.complete {
        let lasted_ns = ended_ns.saturating_sub(began_ns);
        let range = lasted_ns..=most_ns;
        at.within(".watched_ns", watched_ns, range, "of the phase");
    }
}

/// Checks that no moment is after the end of the run.
fn within_run(scope: &Scope<'_>, phase: &PhaseRecord, at: &mut At<'_>) {
    // The end of the run is the last reading of the clock. The record of a killed run does not
    // contain this reading.
    if scope.has_ranks() || scope.record.actual.outcome == Outcome::Unfinished {
        return;
    }
    let machine = phase
        .machine
        .as_ref()
        .and_then(|machine| machine.ended_ns.last().copied());
    let sync = phase.sync.as_ref();
    let space_back = sync.and_then(|sync| {
        let back = sync.space_back_ns.known()?;
        Some(sync.began_ns.saturating_add(*back))
    });
    let synced = sync.map(|sync| sync.ended_ns);
    let last = [
        ended_ns(phase),
        machine,
        synced,
        space_back,
        phase.caught_up_ns,
    ];
    let clocks = &scope.during.clocks;
    let most = clocks.elapsed_ns.saturating_add(clocks.uncertainty_ns);
    let last_ns = last.into_iter().max().flatten();
    at.at_most(": last moment", last_ns, most, "in the run");
    if let (Some(caught_up_ns), Some((began_ns, ended_ns))) = (phase.caught_up_ns, phase.span_ns())
    {
        let range = began_ns..=ended_ns;
        at.within(".caught_up_ns", caught_up_ns, range, "in the phase");
    }
}
