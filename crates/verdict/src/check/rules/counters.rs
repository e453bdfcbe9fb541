//! Counters of the kernel, which are in a record by phase, by second and of the whole run: parts
//! add up, and a part is no more than the whole. Columns are matched by their names.

use serde_json::Value;
use system::Fact;

use super::columns::{Columns, fields, number, sum, with_ticks};
use super::scope::{Findings, Rule, Scope};
use super::{evidence, threads};
use record::machine::MachineOverTime;
use record::run::SystemDuring;

/// The unit of processor time in `/proc/stat`, in nanoseconds.
const TICK_NS: u64 = 10_000_000;
/// Architectures that have another.
const OTHER_TICKS: [&str; 2] = ["alpha", "ia64"];

pub(super) fn check(scope: &Scope<'_>, found: &mut Findings) {
    let whole = whole(scope.during);
    let mut sums = Columns::default();
    for (index, phase) in scope.phases.iter().enumerate() {
        let place = scope.place(index);
        if let Some(machine) = &phase.machine {
            let place = format!("{place}.machine");
            over_time(machine, &place, found);
            threads::over_time(scope, phase, machine, &place, found);
            for (part, value, of) in [
                ("process", fields(&machine.process), [1_000, 1]),
                ("system", fields(&machine.system), kernel_units(scope)),
            ] {
                units(of, part, &value, &format!("{place}.{part}"), found);
                sums.add(part, &value);
            }
            for device in machine.devices.known().into_iter().flatten() {
                sums.add(&format!("devices.{}", device.name), &fields(device));
            }
        }
        evidence::check(scope, phase, &place, &whole, found);
    }
    evidence::sampled(scope, found);
    // Of ranks the run's are added over processes, and its phases are of the first one.
    if scope.has_ranks() {
        return;
    }
    threads::of_run(scope, found);
    sums.within(&whole, "the phases", &scope.place, found);
    if scope.is_run {
        during(scope, found);
        threads::names(scope, found);
    }
}

/// What was counted in the whole run, by the names that columns have.
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

/// What is counted in slices.
fn over_time(machine: &MachineOverTime, place: &str, found: &mut Findings) {
    states(machine, place, found);
    let system = fields(&machine.system);
    let place = format!("{place}.system");
    for slice in 0..machine.len() {
        processor_times(|name| system[name][slice].as_u64(), &place, found);
    }
}

/// The times of all processors add up, and are no more than all; where one stood idle is not in
/// every list of them.
fn processor_times(of: impl Fn(&str) -> Option<u64>, place: &str, found: &mut Findings) {
    let sum = |names: &[&str]| names.iter().map(|name| of(name)).sum::<Option<u64>>();
    let used = sum(&["user_ns", "nice_ns", "system_ns", "irq_ns", "softirq_ns"]);
    if let (Some(busy), Some(used)) = (of("busy_ns"), used) {
        let place = format!("{place}.busy_ns");
        found
            .at(Rule::Counters, &place)
            .same(&busy, &used, "by its parts");
    }
    let unused = sum(&["iowait_ns", "steal_ns"]);
    if let (Some(total), Some(busy), Some(unused)) = (of("total_ns"), of("busy_ns"), unused) {
        let place = format!("{place}.total_ns");
        let all = busy.saturating_add(unused);
        if let Some(idle) = of("idle_ns") {
            let all = all.saturating_add(idle);
            found
                .at(Rule::Counters, &place)
                .same(&total, &all, "by its parts");
        } else if all > total {
            let why = format!("{total} ns in all, but {busy} ns busy and {unused} ns unused");
            found.broken(Rule::Counters, place, why);
        }
    }
}

/// In which units the kernel tells times of processors, in nanoseconds, and memory, in bytes.
fn kernel_units(scope: &Scope<'_>) -> [u64; 2] {
    let has_ticks = !OTHER_TICKS.contains(&scope.record.host.kernel.machine.as_str());
    [if has_ticks { TICK_NS } else { 1 }, 1_024]
}

/// Numbers are multiples of the unit that their name has.
fn units(of: [u64; 2], name: &str, value: &Value, place: &str, found: &mut Findings) {
    let unit = match name {
        _ if name.ends_with("_ns") => of[0],
        _ if name.ends_with("_bytes") => of[1],
        _ => 1,
    };
    match value {
        Value::Object(fields) => {
            for (inner, value) in fields {
                // Facts and states are of the name that they have.
                let is_name = inner.ends_with("_ns") || inner.ends_with("_bytes");
                let name = if is_name { inner } else { name };
                units(of, name, value, &format!("{place}.{inner}"), found);
            }
        }
        Value::Array(numbers) => {
            numbers
                .iter()
                .for_each(|value| units(of, name, value, place, found));
        }
        value => {
            if let Some(other) = value.as_u64().filter(|number| number % unit != 0) {
                let why = format!("{other}, and the kernel counts in multiples of {unit}");
                found.broken(Rule::Counters, place, why);
            }
        }
    }
}

/// The last state of a slice is one of those whose greatest it has; of a slice of one second both
/// are one reading.
fn states(machine: &MachineOverTime, place: &str, found: &mut Findings) {
    let system = &machine.system;
    let devices = machine.devices.known().into_iter().flatten();
    let all = [
        &machine.process.resident_bytes,
        &system.running_tasks,
        &system.blocked_tasks,
        &system.dirty_bytes,
        &system.write_back_bytes,
    ];
    let is_second = machine.width_ns == measure::SLICE_NS;
    for states in all
        .into_iter()
        .chain(devices.map(|device| &device.in_flight))
    {
        let differs = |(max, last)| last > max || (is_second && last != max);
        if states.max.iter().zip(&states.last).any(differs) {
            let why = "the last state of a slice is not among those whose greatest it has";
            found.broken(Rule::Counters, place, why);
        }
    }
}

/// The whole run by itself.
fn during(scope: &Scope<'_>, found: &mut Findings) {
    let SystemDuring {
        counted,
        clocks,
        busiest,
        fuse_servers,
    } = scope.during;
    let place = "record.during.counted";
    let system = fields(&counted.system);
    let times = format!("{place}.system.times");
    processor_times(
        |name| number(&system["times"]["known"][name]),
        &times,
        found,
    );
    units(
        kernel_units(scope),
        "system",
        &system,
        &format!("{place}.system"),
        found,
    );
    clock(scope, found);
    if let Fact::Known(process) = &counted.process {
        let cpu_ns = process.user_ns.saturating_add(process.system_ns);
        threads::during(scope, cpu_ns, found);
        if cpu_ns > with_ticks(clocks.elapsed_ns).saturating_mul(online(scope)) {
            let why = format!(
                "the process ran for {cpu_ns} ns in {} ns",
                clocks.elapsed_ns
            );
            found.broken(Rule::Counters, format!("{place}.process"), why);
        }
        resident(scope, &process.max_resident_bytes, found);
    }
    for (programs, most, field) in [
        (busiest, 3, "record.during.busiest"),
        (fuse_servers, usize::MAX, "record.during.fuse_servers"),
    ] {
        let Some(Fact::Known(programs)) = programs else {
            continue;
        };
        let in_order = programs.is_sorted_by(|one, other| one.fraction >= other.fraction);
        let shares = 0.0..=1.0;
        let are_shares = programs
            .iter()
            .all(|program| shares.contains(&program.fraction));
        if (most < usize::MAX && !in_order) || !are_shares || programs.len() > most {
            let why = "they are not in their order, or used more than all processors have";
            found.broken(Rule::Counters, field, why);
        }
    }
}

fn online(scope: &Scope<'_>) -> u64 {
    let online = scope.record.host.processors.online.known();
    online.copied().unwrap_or(u64::MAX)
}

fn clock(scope: &Scope<'_>, found: &mut Findings) {
    let clocks = &scope.during.clocks;
    let place = "record.during.clocks";
    let least = clocks.uncertainty_ns;
    let stepped_ns = clocks.wall_clock_stepped_ns.unsigned_abs();
    for (ns, name) in [
        (clocks.suspended_ns, "suspended_ns"),
        (stepped_ns, "wall_clock_stepped_ns"),
    ] {
        if ns > 0 && ns <= least {
            let why = format!("{ns} ns, and {least} ns and less cannot be seen");
            found.broken(Rule::Counters, format!("{place}.{name}"), why);
        }
    }
    if let (Fact::Known(before), Fact::Known(after), Fact::Known(changed)) = (
        &clocks.clock_source_before,
        &clocks.clock_source_after,
        &clocks.clock_source_changed,
    ) {
        let place = format!("{place}.clock_source_changed");
        found
            .at(Rule::Counters, &place)
            .same(changed, &(before != after), "by their names");
    }
}

/// The greatest resident memory is no less than any that was read.
fn resident(scope: &Scope<'_>, max: &Fact<u64>, found: &mut Findings) {
    let machines = scope
        .phases
        .iter()
        .filter_map(|phase| phase.machine.as_ref());
    let read = machines.flat_map(|machine| machine.process.resident_bytes.max.iter().flatten());
    let greatest = read
        .chain(scope.during.counted.resident_bytes.known())
        .max();
    let (Fact::Known(max), Some(greatest)) = (max, greatest) else {
        return;
    };
    // The kernel adds memory up by processor and by thread, and not always at once.
    let online = online(scope);
    let each = online.saturating_mul(2).max(32).saturating_mul(4);
    let threads = u64::from(scope.workers)
        .saturating_add(16)
        .saturating_mul(64);
    let pages = online.saturating_mul(each).saturating_add(threads);
    let off = pages.saturating_mul(scope.record.host.page_size_bytes);
    if *greatest > sum([*max, max / 10, off]) {
        let place = "record.during.counted.process.max_resident_bytes";
        let why = format!("{greatest} bytes were resident, and at most {max}");
        found.broken(Rule::Counters, place, why);
    }
}
