//! Checks counters of the kernel, which a record contains by phase, by second and for the whole
//! run. The counters of parts add up, and are at most those of the whole run. Columns are matched
//! by their names.

use system::{ClocksDifference, Fact};

use super::columns::{Columns, fields, number, sum, units, with_ticks};
use super::scope::{At, Findings, Rule, Scope};
use super::{evidence, threads};
use record::machine::MachineOverTime;
use record::run::SystemDuring;

/// The unit of processor time in `/proc/stat`, in nanoseconds.
const TICK_NS: u64 = 10_000_000;
/// Architectures on which a tick is not [`TICK_NS`].
const OTHER_TICKS: [&str; 2] = ["alpha", "ia64"];

pub(super) fn check(scope: &Scope<'_>, found: &mut Findings) {
    let whole = whole(scope.during);
    let mut sums = Columns::default();
    for (index, phase) in scope.phases.iter().enumerate() {
        let mut at = found.at(Rule::Counters, scope.place(index));
        if let Some(machine) = &phase.machine {
            let mut at = at.below(".machine");
            over_time(machine, &mut at);
            threads::over_time(scope, phase, machine, &mut at);
            for (part, value, of) in [
                ("process", fields(&machine.process), [1_000, 1]),
                ("system", fields(&machine.system), kernel_units(scope)),
            ] {
                units(of, part, &value, &mut at.below(&format!(".{part}")));
                sums.add(part, &value);
            }
            for device in machine.devices.known().into_iter().flatten() {
                sums.add(&format!("devices.{}", device.name), &fields(device));
            }
        }
        evidence::check(scope, phase, &whole, &mut at);
    }
    evidence::sampled(scope, found);
    // With several ranks, the run's counters are sums over the ranks, but the phases contain the
    // counters of the first rank only. The phases are then not compared with the run.
    if scope.has_ranks() {
        return;
    }
    threads::of_run(scope, found);
    sums.within(&whole, &mut found.at(Rule::Counters, &*scope.place));
    if scope.is_run {
        during(scope, &mut found.at(Rule::Counters, "record.during"));
        threads::names(scope, found);
    }
}

/// Returns the counters of the whole run, by the names of the columns.
fn whole(during: &SystemDuring) -> Columns {
    let counted = &during.counted;
    let mut whole = Columns::default();
    whole.add("process", &fields(&counted.process.known()));
    whole.add("system", &fields(&counted.system.times.known()));
    whole.add("system", &fields(&counted.system));
    for device in counted.devices.known().into_iter().flatten() {
        let counters = fields(&device.counters.known());
        whole.add(&format!("devices.{}", device.name), &counters);
    }
    whole
}

/// Checks the counters of each interval.
fn over_time(machine: &MachineOverTime, at: &mut At<'_>) {
    states(machine, at);
    let system = fields(&machine.system);
    let mut at = at.below(".system");
    for slice in 0..machine.len() {
        processor_times(|name| system[name][slice].as_u64(), &mut at);
    }
}

/// Checks that the parts of processor time add up to the total. If the idle time is not recorded,
/// the other parts must be at most the total.
fn processor_times(of: impl Fn(&str) -> Option<u64>, at: &mut At<'_>) {
    let sum = |names: &[&str]| {
        let mut names = names.iter();
        names.try_fold(0_u64, |sum, name| Some(sum.saturating_add(of(name)?)))
    };
    let used = sum(&["user_ns", "nice_ns", "system_ns", "irq_ns", "softirq_ns"]);
    at.same(".busy_ns", of("busy_ns"), used, "by its parts");
    let known = sum(&["busy_ns", "iowait_ns", "steal_ns"]);
    at.at_least(".total_ns", of("total_ns"), known, "by its parts");
    if let (Some(known), Some(idle)) = (known, of("idle_ns")) {
        let all = known.saturating_add(idle);
        at.same(".total_ns", of("total_ns"), all, "by its parts");
    }
}

/// Returns the kernel's unit of processor times, in nanoseconds, and its unit of memory, in bytes.
fn kernel_units(scope: &Scope<'_>) -> [u64; 2] {
    let has_ticks = !OTHER_TICKS.contains(&scope.record.host.kernel.machine.as_str());
    [if has_ticks { TICK_NS } else { 1 }, 1_024]
}

/// Checks states, such as memory: the last value in an interval is at most the maximum in the
/// interval. An interval of one second has one reading, so both values are equal.
fn states(machine: &MachineOverTime, at: &mut At<'_>) {
    let is_second = machine.width_ns == measure::SLICE_NS;
    let differs = |(max, last): (&_, &_)| last > max || (is_second && last != max);
    for states in machine.states() {
        if states.max.iter().zip(&states.last).any(differs) {
            let why = "the last state of a slice is not among those whose greatest it has";
            at.broken("", why);
        }
    }
}

/// Checks the counters of the whole run.
fn during(scope: &Scope<'_>, at: &mut At<'_>) {
    let SystemDuring {
        counted,
        clocks,
        busiest,
        fuse_servers,
    } = scope.during;
    let system = fields(&counted.system);
    let times = |name: &str| number(&system["times"]["known"][name]);
    processor_times(times, &mut at.below(".counted.system.times"));
    let mut of_system = at.below(".counted.system");
    units(kernel_units(scope), "system", &system, &mut of_system);
    clock(clocks, &mut at.below(".clocks"));
    if let Fact::Known(process) = &counted.process {
        let cpu_ns = process.user_ns.saturating_add(process.system_ns);
        threads::during(scope, cpu_ns, &mut at.below(".counted.threads"));
        let most = with_ticks(clocks.elapsed_ns).saturating_mul(online(scope));
        at.at_most(".counted.process", cpu_ns, most, "on all processors");
        if let Fact::Known(max) = process.max_resident_bytes {
            let place = ".counted.process.max_resident_bytes: read";
            at.at_most(place, resident(scope), with_pages(scope, max), "by the run");
        }
    }
    for (programs, place) in [(busiest, ".busiest"), (fuse_servers, ".fuse_servers")] {
        for program in programs.iter().filter_map(Fact::known).flatten() {
            at.within(place, program.fraction, 0.0..=1.0, "of all processors");
        }
    }
    let busiest = busiest.as_ref().and_then(Fact::known);
    if busiest.is_some_and(|programs| {
        programs.len() > 3 || !programs.is_sorted_by(|one, other| one.fraction >= other.fraction)
    }) {
        at.broken(".busiest", "more than three, or not in their order");
    }
}

fn online(scope: &Scope<'_>) -> u64 {
    let online = scope.record.host.processors.online.known();
    online.copied().unwrap_or(u64::MAX)
}

fn clock(clocks: &ClocksDifference, at: &mut At<'_>) {
    let least = clocks.uncertainty_ns.saturating_add(1);
    let stepped_ns = clocks.wall_clock_stepped_ns.unsigned_abs();
    for (ns, name) in [
        (clocks.suspended_ns, ".suspended_ns"),
        (stepped_ns, ".wall_clock_stepped_ns"),
    ] {
        at.at_least(name, (ns > 0).then_some(ns), least, "can be seen");
    }
    let before = clocks.clock_source_before.known();
    let after = clocks.clock_source_after.known();
    let changed = before.zip(after).map(|(before, after)| before != after);
    let recorded = clocks.clock_source_changed.known();
    at.same(".clock_source_changed", recorded, changed, "by their names");
}

/// Returns the maximum of all readings of the resident memory, in bytes.
fn resident(scope: &Scope<'_>) -> Option<u64> {
    let machines = scope.machines();
    let read = machines.flat_map(|machine| machine.process.resident_bytes.max.iter().flatten());
    read.chain(scope.during.counted.resident_bytes.known())
        .max()
        .copied()
}

/// Adds tolerances: 10 %, and memory that the kernel has counted by processor and by thread, but
/// not yet added to the process's total.
fn with_pages(scope: &Scope<'_>, bytes: u64) -> u64 {
    let online = online(scope);
    let each = online.saturating_mul(2).max(32).saturating_mul(4);
    let threads = u64::from(scope.workers)
        .saturating_add(16)
        .saturating_mul(64);
    let pages = online.saturating_mul(each).saturating_add(threads);
    let off = pages.saturating_mul(scope.record.host.page_size_bytes);
    sum([bytes, bytes / 10, off])
}
