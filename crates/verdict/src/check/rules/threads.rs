//! Processor times of threads, by second and of the whole run.

use std::collections::BTreeMap;

use record::machine::{MachineOverTime, WORKER_THREAD};
use record::run::PhaseRecord;
use system::Fact;

use super::columns::{sum, with_ticks};
use super::scope::{Findings, Rule, Scope};

/// No more threads are read one by one.
const WORKERS_MAX: u32 = 16;

fn known(counts: &[Option<u64>]) -> u64 {
    sum(counts.iter().copied().flatten())
}

/// No thread runs or waits for longer than a slice takes, and all of them no longer than their
/// process.
pub(super) fn over_time(
    scope: &Scope<'_>,
    phase: &PhaseRecord,
    machine: &MachineOverTime,
    place: &str,
    found: &mut Findings,
) {
    let began_ns = phase.segments.first().map(|segment| segment.began_ns);
    let ended_ns = phase.segments.last().map(|segment| segment.ended_ns);
    let lasted_ns = ended_ns
        .zip(began_ns)
        .map(|(ended_ns, began_ns)| ended_ns.saturating_sub(began_ns));
    let mut of_threads = 0_u64;
    for (number, thread) in machine.threads.known().into_iter().flatten().enumerate() {
        let place = format!("{place}.threads[{number}]");
        let slices = thread.cpu_ns.each().iter().zip(thread.waiting_ns.each());
        for ((cpu, waiting), span) in slices.zip(machine.spans()) {
            let both = known(&[*cpu, *waiting]);
            let span = span.end.saturating_sub(span.start);
            if both > with_ticks(span) {
                let why = format!("it ran or waited for {both} ns in {span} ns");
                found.broken(Rule::Counters, &place, why);
            }
        }
        let cpu_ns = known(thread.cpu_ns.each());
        of_threads = of_threads.saturating_add(cpu_ns);
        let is_whole = thread.is_worker() && phase.complete && !scope.has_ranks();
        if let Some(lasted_ns) = lasted_ns.filter(|ns| is_whole && cpu_ns > with_ticks(*ns)) {
            let why = format!("it ran for {cpu_ns} ns in a phase of {lasted_ns} ns");
            found.broken(Rule::WorkTime, &place, why);
        }
    }
    let [user, system] = [&machine.process.user_ns, &machine.process.system_ns];
    let process = known(user.each()).saturating_add(known(system.each()));
    if of_threads > with_ticks(process) && user.each().iter().all(Option::is_some) {
        let why = format!("its threads ran for {of_threads} ns, and the process for {process} ns");
        found.broken(Rule::Counters, format!("{place}.process"), why);
    }
}

/// A thread has one name, and a worker one thread, for the whole run; readings have threads in the
/// order of their numbers.
pub(super) fn names(scope: &Scope<'_>, found: &mut Findings) {
    if scope.workers > WORKERS_MAX {
        return;
    }
    let mut lists: Vec<(String, Vec<_>)> = Vec::new();
    for (index, phase) in scope.phases.iter().enumerate() {
        let machine = phase.machine.as_ref();
        if let Some(threads) = machine.and_then(|machine| machine.threads.known()) {
            let list = threads.iter().map(|thread| (thread.tid, &thread.name));
            lists.push((
                format!("{}.machine.threads", scope.place(index)),
                list.collect(),
            ));
        }
    }
    if let Fact::Known(threads) = &scope.during.counted.threads {
        let list = threads.each.iter().map(|thread| (thread.tid, &thread.name));
        lists.push(("record.during.counted.threads".to_owned(), list.collect()));
    }
    let is_worker = |name: &str| name.starts_with(WORKER_THREAD);
    let mut names = BTreeMap::new();
    let mut workers = BTreeMap::new();
    for (place, list) in lists {
        if !list.is_sorted_by(|one, other| one.0 < other.0) {
            found.broken(
                Rule::Counters,
                &place,
                "threads are not in the order of their numbers",
            );
        }
        let mut counted = 0;
        for (tid, name) in list {
            let Fact::Known(name) = name else {
                return;
            };
            // A thread may name itself after its first reading; numbers are used again when threads
            // have ended.
            let known = *names.entry(tid).or_insert(name);
            let is_other = known != name && (is_worker(known) || is_worker(name));
            if is_other || (is_worker(name) && *workers.entry(name).or_insert(tid) != tid) {
                let why = format!(
                    "thread {tid} is {name}, and elsewhere {known}, or {name} has another number"
                );
                found.broken(Rule::Counters, &place, why);
            }
            counted += u32::from(is_worker(name));
        }
        // Some may have ended before the first slice did.
        if counted > scope.workers {
            let why = format!(
                "{counted} of them are workers, and there are {}",
                scope.workers
            );
            found.broken(Rule::Counters, &place, why);
        }
    }
}

/// What a thread that was there at the end did in all phases is no more than what it did in the
/// whole run.
pub(super) fn of_run(scope: &Scope<'_>, found: &mut Findings) {
    let Fact::Known(of_run) = &scope.during.counted.threads else {
        return;
    };
    let machines = scope
        .phases
        .iter()
        .filter_map(|phase| phase.machine.as_ref());
    let of_phases: Vec<_> = machines
        .flat_map(|machine| machine.threads.known().into_iter().flatten())
        .collect();
    for thread in &of_run.each {
        let same = || {
            let known = of_phases.iter();
            known.filter(|known| (known.tid, &known.name) == (thread.tid, &thread.name))
        };
        let cpu_ns = sum(same().map(|known| self::known(known.cpu_ns.each())));
        let waiting_ns = sum(same().map(|known| self::known(known.waiting_ns.each())));
        for (what, in_phases, in_run) in [
            ("ran", cpu_ns, &thread.cpu_ns),
            ("waited", waiting_ns, &thread.waiting_ns),
        ] {
            if let Some(in_run) = in_run.known().filter(|in_run| in_phases > **in_run) {
                let why = format!(
                    "thread {} {what} for {in_phases} ns in the phases, and for {in_run} ns in \
                     the whole run",
                    thread.tid
                );
                found.broken(Rule::Counters, "record.during.counted.threads", why);
            }
        }
    }
}

/// The threads of the whole run, against what the process ran for.
pub(super) fn during(scope: &Scope<'_>, cpu_ns: u64, found: &mut Findings) {
    let place = "record.during.counted.threads";
    let Fact::Known(threads) = &scope.during.counted.threads else {
        return;
    };
    let each: Option<Vec<u64>> = threads
        .each
        .iter()
        .map(|thread| thread.cpu_ns.known().copied())
        .collect();
    if let (Fact::Known(rest), Some(each)) = (&threads.rest_cpu_ns, each) {
        let expected = cpu_ns.saturating_sub(sum(each));
        let place = format!("{place}.rest_cpu_ns");
        found.at(Rule::Counters, &place).same(
            rest,
            &expected,
            "by the process without its threads",
        );
    }
    let elapsed_ns = scope.during.clocks.elapsed_ns;
    let waited = threads
        .each
        .iter()
        .filter_map(|thread| thread.waiting_ns.known())
        .max();
    if let Some(waited) = waited.filter(|waited| **waited > with_ticks(elapsed_ns)) {
        let why = format!("a thread waited for {waited} ns in a run of {elapsed_ns} ns");
        found.broken(Rule::Counters, place, why);
    }
    let told_apart = threads.each.len();
    if let Some(count) = threads
        .count
        .known()
        .filter(|count| **count < told_apart as u64)
    {
        let why = format!("{count} threads, and {told_apart} are told apart");
        found.broken(Rule::Counters, format!("{place}.count"), why);
    }
}
