//! Checks processor times of threads, by second and for the whole run.

use std::collections::BTreeMap;

use record::machine::{MachineOverTime, WORKER_THREAD};
use record::run::PhaseRecord;
use system::Fact;

use super::columns::{sum, with_ticks};
use super::scope::{At, Findings, Rule, Scope};

/// Maximum number of workers for which the names of threads are checked.
const WORKERS_MAX: u32 = 16;

fn known(counts: &[Option<u64>]) -> u64 {
    sum(counts.iter().copied().flatten())
}

/// Checks that no thread runs or waits for longer than an interval lasts, and that all threads
/// together run no longer than their process.
pub(super) fn over_time(
    scope: &Scope<'_>,
    phase: &PhaseRecord,
    machine: &MachineOverTime,
    at: &mut At<'_>,
) {
    let lasted_ns = phase
        .span_ns()
        .filter(|_| phase.complete && !scope.has_ranks())
        .map(|(began_ns, ended_ns)| ended_ns.saturating_sub(began_ns));
    let mut of_threads = 0_u64;
    for (number, thread) in machine.threads.known().into_iter().flatten().enumerate() {
        let mut at = at.below(&format!(".threads[{number}]"));
        let slices = thread.cpu_ns.each().iter().zip(thread.waiting_ns.each());
        for ((cpu, waiting), span) in slices.zip(machine.spans()) {
            let most = with_ticks(span.end.saturating_sub(span.start));
            at.at_most("", known(&[*cpu, *waiting]), most, "in its slice");
        }
        let cpu_ns = known(thread.cpu_ns.each());
        of_threads = of_threads.saturating_add(cpu_ns);
        let most = lasted_ns.filter(|_| thread.is_worker()).map(with_ticks);
        at.of(Rule::WorkTime)
            .at_most("", cpu_ns, most, "in the phase");
    }
    let [user, system] = [&machine.process.user_ns, &machine.process.system_ns];
    if user.each().iter().all(Option::is_some) {
        let process = known(user.each()).saturating_add(known(system.each()));
        let most = with_ticks(process);
        at.at_most(".threads", of_threads, most, "of the process");
    }
}

/// Checks that no worker's thread changes its name, and that no worker changes its thread, during
/// the whole run. Readings must list threads in the order of their numbers.
pub(super) fn names(scope: &Scope<'_>, found: &mut Findings) {
    if scope.workers > WORKERS_MAX {
        return;
    }
    let mut lists: Vec<(String, Vec<_>)> = Vec::new();
    for (index, phase) in scope.phases.iter().enumerate() {
        let machine = phase.machine.as_ref();
        if let Some(threads) = machine.and_then(|machine| machine.threads.known()) {
            let list = threads.iter().map(|thread| (thread.tid, &thread.name));
            let place = format!("{}.machine.threads", scope.place(index));
            lists.push((place, list.collect()));
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
        let mut at = found.at(Rule::Counters, place);
        if !list.is_sorted_by(|one, other| one.0 < other.0) {
            at.broken("", "threads are not in the order of their numbers");
        }
        let mut counted = 0;
        for (tid, name) in list {
            let Fact::Known(name) = name else {
                return;
            };
            // A thread may set its name after its counters were first read, and the kernel reuses
            // the IDs of ended threads. So only the workers' names are compared.
            let known = *names.entry(tid).or_insert(name);
            let is_other = known != name && (is_worker(known) || is_worker(name));
            if is_other || (is_worker(name) && *workers.entry(name).or_insert(tid) != tid) {
                let why = format!("thread {tid} is {name}, and another name or number elsewhere");
                at.broken("", why);
            }
            counted += u64::from(is_worker(name));
        }
        // A list lacks workers that ended before the end of the first interval. So it may be
        // shorter than the number of workers.
        at.at_most(": workers", counted, u64::from(scope.workers), "in the run");
    }
}

/// Checks that a thread's times, summed over all phases, are at most its times in the whole run.
pub(super) fn of_run(scope: &Scope<'_>, found: &mut Findings) {
    let Fact::Known(of_run) = &scope.during.counted.threads else {
        return;
    };
    let threads = scope
        .machines()
        .filter_map(|machine| machine.threads.known());
    let of_phases: Vec<_> = threads.flatten().collect();
    for (index, thread) in of_run.each.iter().enumerate() {
        let same = || {
            let known = of_phases.iter();
            known.filter(|known| (known.tid, &known.name) == (thread.tid, &thread.name))
        };
        let cpu_ns = sum(same().map(|known| self::known(known.cpu_ns.each())));
        let waiting_ns = sum(same().map(|known| self::known(known.waiting_ns.each())));
        let place = format!("record.during.counted.threads.each[{index}]");
        let mut at = found.at(Rule::Counters, place);
        for (field, in_phases, in_run) in [
            (".cpu_ns", cpu_ns, &thread.cpu_ns),
            (".waiting_ns", waiting_ns, &thread.waiting_ns),
        ] {
            at.at_least(field, in_run.known().copied(), in_phases, "in the phases");
        }
    }
}

/// Checks the threads of the whole run against the processor time of the process.
pub(super) fn during(scope: &Scope<'_>, cpu_ns: u64, at: &mut At<'_>) {
    let Fact::Known(threads) = &scope.during.counted.threads else {
        return;
    };
    let each = || threads.each.iter();
    let of_each: Option<Vec<u64>> = each()
        .map(|thread| thread.cpu_ns.known().copied())
        .collect();
    let expected = of_each.map(|each| cpu_ns.saturating_sub(sum(each)));
    let rest_ns = threads.rest_cpu_ns.known();
    at.same(".rest_cpu_ns", rest_ns, expected, "by the process");
    let waited = each().filter_map(|thread| thread.waiting_ns.known()).max();
    let most = with_ticks(scope.during.clocks.elapsed_ns);
    at.at_most(".each: waiting", waited.copied(), most, "in the run");
    let told_apart = threads.each.len() as u64;
    let count = threads.count.known().copied();
    at.at_least(".count", count, told_apart, "are told apart");
}
