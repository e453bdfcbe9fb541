//! Counters of the kernel, which are in a record by phase, by second and of the whole run: parts
//! add up, and a part is no more than the whole. Columns are matched by their names.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use system::counters::DeviceReading;
use system::{Accounted, Fact};

use super::{Findings, Rule, Scope};
use record::evidence::{Residency, ResidencySample};
use record::machine::MachineOverTime;
use record::run::{PhaseRecord, SystemDuring};

/// Times that the kernel tells apart by its ticks may be off by this, in nanoseconds.
const TICKS_NS: u64 = 50_000_000;
/// Between the moment of a reading and the reading itself other programs may run for so long, in
/// nanoseconds.
const READ_LATE_NS: u64 = 5_000_000_000;
/// The unit of processor time in `/proc/stat`, in nanoseconds.
const TICK_NS: u64 = 10_000_000;
/// Architectures that have another.
const OTHER_TICKS: [&str; 2] = ["alpha", "ia64"];
/// The most files of a sample of the pool.
const SAMPLE_MAX: u64 = 100;

/// No more threads are read one by one.
const WORKERS_MAX: u32 = 16;

/// Counters that may go back.
const MAY_FALL: [&str; 1] = ["iowait_ns"];

pub(super) fn check(scope: &Scope<'_>, found: &mut Findings) {
    let whole = whole(scope.during);
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for (index, phase) in scope.phases.iter().enumerate() {
        let place = scope.place(index);
        if let Some(machine) = &phase.machine {
            let place = format!("{place}.machine");
            over_time(scope, phase, machine, &place, found);
            for (column, count) in columns(machine) {
                let sum = sums.entry(column).or_default();
                *sum = sum.saturating_add(count);
            }
        }
        evidence(scope, phase, &place, &whole, found);
    }
    sampled(scope, found);
    if !scope.has_ranks() {
        of_threads(scope, found);
    }
    // Of ranks the run's are added over processes, and its phases are of the first one.
    if scope.has_ranks() {
        return;
    }
    for (column, sum) in sums {
        if let Some(whole) = whole.get(&column).filter(|whole| sum > **whole) {
            let why = format!("{column}: {sum} in the phases, and {whole} in the whole run");
            found.broken(Rule::Counters, &scope.place, why);
        }
    }
    if scope.is_run {
        during(scope, found);
        if scope.workers <= WORKERS_MAX {
            threads(scope, found);
        }
    }
}

/// A number, or a fact that is known.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.get("known")?.as_u64())
}

fn fields(of: &impl Serialize) -> Vec<(String, Value)> {
    match serde_json::to_value(of) {
        Ok(Value::Object(fields)) => fields.into_iter().collect(),
        _ => Vec::new(),
    }
}

/// What was counted in the whole run, by the names that columns have.
fn whole(during: &SystemDuring) -> BTreeMap<String, u64> {
    let counted = &during.counted;
    let mut whole = BTreeMap::new();
    let mut add = |group: &str, fields: Vec<(String, Value)>| {
        let known = fields
            .into_iter()
            .filter_map(|(name, value)| Some((name, number(&value)?)));
        whole.extend(known.map(|(name, count)| (format!("{group}.{name}"), count)));
    };
    if let Fact::Known(process) = &counted.process {
        add("process", fields(process));
    }
    if let Fact::Known(times) = &counted.system.times {
        add("system", fields(times));
    }
    if let Fact::Known(count) = &counted.system.context_switches {
        add(
            "system",
            vec![("context_switches".to_owned(), (*count).into())],
        );
    }
    for device in counted.devices.known().into_iter().flatten() {
        if let Fact::Known(counters) = &device.counters {
            add(
                &format!("devices.{}", device.name),
                counts(fields(counters)),
            );
        }
    }
    whole
}

/// Those that are counts, and no states.
fn counts(mut fields: Vec<(String, Value)>) -> Vec<(String, Value)> {
    fields.retain(|(name, _)| name != "in_flight");
    fields
}

/// The columns of all slices added up; those that may go back are left out.
fn columns(machine: &MachineOverTime) -> Vec<(String, u64)> {
    let mut columns = Vec::new();
    let mut add = |group: &str, fields: Vec<(String, Value)>| {
        for (name, value) in fields {
            let Value::Array(slices) = value else {
                continue;
            };
            if MAY_FALL.contains(&name.as_str()) {
                continue;
            }
            let sum = slices
                .iter()
                .filter_map(Value::as_u64)
                .fold(0, u64::saturating_add);
            columns.push((format!("{group}.{name}"), sum));
        }
    };
    add("process", fields(&machine.process));
    add("system", fields(&machine.system));
    for device in machine.devices.known().into_iter().flatten() {
        add(&format!("devices.{}", device.name), fields(device));
    }
    columns
}

/// What is counted in slices.
fn over_time(
    scope: &Scope<'_>,
    phase: &PhaseRecord,
    machine: &MachineOverTime,
    place: &str,
    found: &mut Findings,
) {
    let system = &machine.system;
    let spans: Vec<u64> = machine
        .spans()
        .map(|span| span.end.saturating_sub(span.start))
        .collect();
    for slice in 0..machine.len() {
        let of = |counts: &record::machine::Counts| counts.each().get(slice).copied().flatten();
        let parts = [
            &system.user_ns,
            &system.nice_ns,
            &system.system_ns,
            &system.irq_ns,
            &system.softirq_ns,
        ];
        let parts: Option<u64> = parts.into_iter().map(of).sum();
        let busy = of(&system.busy_ns);
        if let (Some(parts), Some(busy)) = (parts, busy) {
            let place = format!("{place}.system.busy_ns");
            found.equal(Rule::Counters, &place, ("busy", busy), ("its parts", parts));
        }
        let unused: Option<u64> = [&system.iowait_ns, &system.steal_ns]
            .into_iter()
            .map(of)
            .sum();
        if let (Some(total), Some(busy), Some(unused)) = (of(&system.total_ns), busy, unused) {
            if busy.saturating_add(unused) > total {
                let why = format!(
                    "slice {slice} has {total} ns in all, but {busy} ns busy and {unused} ns \
                     unused"
                );
                found.broken(Rule::Counters, &format!("{place}.system.total_ns"), why);
            }
        }
    }
    let process: u64 = known(machine.process.user_ns.each())
        .saturating_add(known(machine.process.system_ns.each()));
    let mut of_threads = 0_u64;
    for (number, thread) in machine.threads.known().into_iter().flatten().enumerate() {
        let place = format!("{place}.threads[{number}]");
        of_threads = of_threads.saturating_add(known(thread.cpu_ns.each()));
        let slices = thread.cpu_ns.each().iter().zip(thread.waiting_ns.each());
        for ((cpu, waiting), span) in slices.zip(&spans) {
            let both = cpu.unwrap_or(0).saturating_add(waiting.unwrap_or(0));
            if both > with_ticks(*span) {
                let why = format!("it ran or waited for {both} ns in {span} ns");
                found.broken(Rule::Counters, &place, why);
            }
        }
        let (Some(first), Some(last)) = (phase.segments.first(), phase.segments.last()) else {
            continue;
        };
        let lasted_ns = last.ended_ns.saturating_sub(first.began_ns);
        let cpu_ns = known(thread.cpu_ns.each());
        if thread.is_worker()
            && phase.complete
            && !scope.has_ranks()
            && cpu_ns > with_ticks(lasted_ns)
        {
            let why = format!("it ran for {cpu_ns} ns in a phase of {lasted_ns} ns");
            found.broken(Rule::WorkTime, &place, why);
        }
    }
    if of_threads > with_ticks(process)
        && machine.process.user_ns.each().iter().all(Option::is_some)
    {
        let why = format!("its threads ran for {of_threads} ns, and the process for {process} ns");
        found.broken(Rule::Counters, &format!("{place}.process"), why);
    }
    states(machine, place, found);
    units(scope, machine, place, found);
}

/// The kernel tells times of processors in ticks, and memory in kilobytes.
fn units(scope: &Scope<'_>, machine: &MachineOverTime, place: &str, found: &mut Findings) {
    let has_ticks = !OTHER_TICKS.contains(&scope.record.host.kernel.machine.as_str());
    for (name, value) in fields(&machine.process) {
        let times = value
            .as_array()
            .filter(|_| name.ends_with("_ns"))
            .into_iter()
            .flatten();
        if let Some(other) = times.filter_map(Value::as_u64).find(|ns| ns % 1_000 != 0) {
            let why = format!("{other} ns, and the kernel counts in whole microseconds");
            found.broken(Rule::Counters, &format!("{place}.process.{name}"), why);
        }
    }
    for (name, value) in fields(&machine.system) {
        let numbers = match &value {
            Value::Array(numbers) => numbers.iter().collect(),
            Value::Object(states) => states
                .values()
                .filter_map(Value::as_array)
                .flatten()
                .collect(),
            _ => Vec::new(),
        };
        let numbers = numbers.into_iter().filter_map(Value::as_u64);
        unit(has_ticks, &name, numbers, &format!("{place}.system"), found);
    }
}

fn unit(
    has_ticks: bool,
    name: &str,
    numbers: impl Iterator<Item = u64>,
    place: &str,
    found: &mut Findings,
) {
    let unit = match name {
        _ if name.ends_with("_bytes") => 1_024,
        _ if name.ends_with("_ns") && has_ticks => TICK_NS,
        _ => return,
    };
    let mut numbers = numbers;
    if let Some(other) = numbers.find(|number| number % unit != 0) {
        let why = format!("{other}, and the kernel counts in multiples of {unit}");
        found.broken(Rule::Counters, &format!("{place}.{name}"), why);
    }
}

/// A thread has one name, and a worker one thread, for the whole run; readings have threads in the
/// order of their numbers.
fn threads(scope: &Scope<'_>, found: &mut Findings) {
    let mut names: BTreeMap<u32, String> = BTreeMap::new();
    // By place in the record, each thread with its name.
    type Named<'a> = Vec<(u32, &'a Fact<String>)>;
    let mut lists: Vec<(String, Named<'_>)> = Vec::new();
    for (index, phase) in scope.phases.iter().enumerate() {
        let threads = phase
            .machine
            .as_ref()
            .and_then(|machine| machine.threads.known());
        if let Some(threads) = threads {
            let place = format!("{}.machine.threads", scope.place(index));
            let list = threads
                .iter()
                .map(|thread| (thread.tid, &thread.name))
                .collect();
            lists.push((place, list));
        }
    }
    if let Fact::Known(threads) = &scope.during.counted.threads {
        let list = threads
            .each
            .iter()
            .map(|thread| (thread.tid, &thread.name))
            .collect();
        lists.push(("record.during.counted.threads".to_owned(), list));
    }
    let mut workers: BTreeMap<String, u32> = BTreeMap::new();
    for (place, list) in lists {
        if !list.is_sorted_by(|one, other| one.0 < other.0) {
            let why = "threads are not in the order of their numbers".to_owned();
            found.broken(Rule::Counters, &place, why);
        }
        let mut counted = 0;
        for (tid, name) in list {
            let Fact::Known(name) = name else {
                return;
            };
            counted += u32::from(name.starts_with(record::machine::WORKER_THREAD));
            // A thread may name itself after its first reading; numbers are used again when threads
            // have ended.
            let known = names.entry(tid).or_insert_with(|| name.clone());
            let is_worker = |name: &String| name.starts_with(record::machine::WORKER_THREAD);
            let of_worker = is_worker(name).then(|| *workers.entry(name.clone()).or_insert(tid));
            if (known != name && (is_worker(known) || is_worker(name)))
                || of_worker.is_some_and(|of| of != tid)
            {
                let why = format!(
                    "thread {tid} is {name}, and elsewhere {known}, or {name} has another number"
                );
                found.broken(Rule::Counters, &place, why);
            }
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
fn of_threads(scope: &Scope<'_>, found: &mut Findings) {
    let Fact::Known(of_run) = &scope.during.counted.threads else {
        return;
    };
    let machines = || {
        scope
            .phases
            .iter()
            .filter_map(|phase| phase.machine.as_ref())
    };
    for thread in &of_run.each {
        let of_phases =
            machines().flat_map(|machine| machine.threads.known().into_iter().flatten());
        let same = of_phases.filter(|known| known.tid == thread.tid && known.name == thread.name);
        let (mut cpu_ns, mut waiting_ns) = (0_u64, 0_u64);
        for known in same {
            cpu_ns = cpu_ns.saturating_add(self::known(known.cpu_ns.each()));
            waiting_ns = waiting_ns.saturating_add(self::known(known.waiting_ns.each()));
        }
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

/// With a twentieth, with ticks, and with what runs on while the counters are read.
fn with_ticks(ns: u64) -> u64 {
    ns.saturating_add(ns / 20)
        .saturating_add(TICKS_NS)
        .saturating_add(READ_LATE_NS)
}

fn known(counts: &[Option<u64>]) -> u64 {
    counts
        .iter()
        .flatten()
        .fold(0, |sum, more| sum.saturating_add(*more))
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
        let differs =
            |(max, last): (&Option<u64>, &Option<u64>)| last > max || (is_second && last != max);
        if states.max.iter().zip(&states.last).any(differs) {
            let why =
                "the last state of a slice is not among those whose greatest it has".to_owned();
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
    if let Fact::Known(times) = &counted.system.times {
        let of = |fact: &Fact<u64>| fact.known().copied();
        let used = [
            &times.user_ns,
            &times.nice_ns,
            &times.system_ns,
            &times.irq_ns,
            &times.softirq_ns,
        ];
        let unused = [&times.idle_ns, &times.iowait_ns, &times.steal_ns];
        let (used, unused): (Option<u64>, Option<u64>) = (
            used.into_iter().map(of).sum(),
            unused.into_iter().map(of).sum(),
        );
        let place = format!("{place}.system.times");
        if let (Some(used), Some(unused), Some(busy), Some(total)) =
            (used, unused, of(&times.busy_ns), of(&times.total_ns))
        {
            found.equal(Rule::Counters, &place, ("busy", busy), ("its parts", used));
            let all = used.saturating_add(unused);
            found.equal(Rule::Counters, &place, ("total", total), ("its parts", all));
        }
    }
    let has_ticks = !OTHER_TICKS.contains(&scope.record.host.kernel.machine.as_str());
    for (name, value) in fields(&counted.system) {
        let of_times = value.get("known").and_then(Value::as_object);
        for (inner, value) in of_times.into_iter().flatten() {
            unit(has_ticks, inner, number(value).into_iter(), place, found);
        }
        unit(has_ticks, &name, number(&value).into_iter(), place, found);
    }
    let least = clocks.uncertainty_ns;
    let suspended = (clocks.suspended_ns, "suspended_ns");
    for (ns, name) in [
        suspended,
        (
            clocks.wall_clock_stepped_ns.unsigned_abs(),
            "wall_clock_stepped_ns",
        ),
    ] {
        if ns > 0 && ns <= least {
            let why = format!("{ns} ns, and {least} ns and less cannot be seen");
            found.broken(Rule::Counters, &format!("record.during.clocks.{name}"), why);
        }
    }
    let Fact::Known(process) = &counted.process else {
        return;
    };
    let cpu_ns = process.user_ns.saturating_add(process.system_ns);
    if let Fact::Known(threads) = &counted.threads {
        let each = threads
            .each
            .iter()
            .filter_map(|thread| thread.cpu_ns.known());
        let each = each.fold(0_u64, |sum, more| sum.saturating_add(*more));
        let all_known = threads
            .each
            .iter()
            .all(|thread| thread.cpu_ns.known().is_some());
        if let (Fact::Known(rest), true) = (&threads.rest_cpu_ns, all_known) {
            let place = format!("{place}.threads.rest_cpu_ns");
            let expected = cpu_ns.saturating_sub(each);
            found.equal(
                Rule::Counters,
                &place,
                ("rest", *rest),
                ("the process without threads", expected),
            );
        }
        let waited = threads
            .each
            .iter()
            .filter_map(|thread| thread.waiting_ns.known())
            .max();
        if let Some(waited) = waited.filter(|waited| **waited > with_ticks(clocks.elapsed_ns)) {
            let why = format!(
                "a thread waited for {waited} ns in a run of {} ns",
                clocks.elapsed_ns
            );
            found.broken(Rule::Counters, &format!("{place}.threads"), why);
        }
        if let Some(count) = threads
            .count
            .known()
            .filter(|count| (**count as usize) < threads.each.len())
        {
            let why = format!("{count} threads, and {} are told apart", threads.each.len());
            found.broken(Rule::Counters, &format!("{place}.threads.count"), why);
        }
    }
    let online = scope
        .record
        .host
        .processors
        .online
        .known()
        .copied()
        .unwrap_or(u64::MAX);
    if cpu_ns > with_ticks(clocks.elapsed_ns).saturating_mul(online) {
        let why = format!(
            "the process ran for {cpu_ns} ns in {} ns",
            clocks.elapsed_ns
        );
        found.broken(Rule::Counters, &format!("{place}.process"), why);
    }
    resident(scope, &process.max_resident_bytes, found);
    let changed = match (&clocks.clock_source_before, &clocks.clock_source_after) {
        (Fact::Known(before), Fact::Known(after)) => Some(before != after),
        _ => None,
    };
    if let (Some(changed), Some(told)) = (changed, clocks.clock_source_changed.known()) {
        if changed != *told {
            let why =
                "whether the source of time changed does not follow from its names".to_owned();
            found.broken(
                Rule::Counters,
                "record.during.clocks.clock_source_changed",
                why,
            );
        }
    }
    for (programs, most, field) in [
        (busiest, 3, "record.during.busiest"),
        (fuse_servers, usize::MAX, "record.during.fuse_servers"),
    ] {
        let Some(Fact::Known(programs)) = programs else {
            continue;
        };
        let in_order = programs.is_sorted_by(|one, other| one.fraction >= other.fraction);
        let are_shares = programs
            .iter()
            .all(|program| (0.0..=1.0).contains(&program.fraction));
        if (most < usize::MAX && !in_order) || !are_shares || programs.len() > most {
            let why =
                "they are not in their order, or used more than all processors have".to_owned();
            found.broken(Rule::Counters, field, why);
        }
    }
}

/// The greatest resident memory is no less than any that was read.
fn resident(scope: &Scope<'_>, max: &Fact<u64>, found: &mut Findings) {
    let phases = scope
        .phases
        .iter()
        .filter_map(|phase| phase.machine.as_ref());
    let read = phases.flat_map(|machine| machine.process.resident_bytes.max.iter().flatten());
    let end = scope.during.counted.resident_bytes.known();
    let greatest = read.chain(end).max();
    if let (Fact::Known(max), Some(greatest)) = (max, greatest) {
        // The kernel adds memory up by processor and by thread, and not always at once.
        let online = scope
            .record
            .host
            .processors
            .online
            .known()
            .copied()
            .unwrap_or(u64::MAX);
        let parts = online
            .saturating_mul(2)
            .max(32)
            .saturating_mul(online)
            .saturating_mul(4);
        let threads = u64::from(scope.workers)
            .saturating_add(16)
            .saturating_mul(64);
        let page = scope.record.host.page_size_bytes;
        let off = parts.saturating_add(threads).saturating_mul(page);
        if *greatest > max.saturating_add(max / 10).saturating_add(off) {
            let why = format!("{greatest} bytes were resident, and at most {max}");
            found.broken(
                Rule::Counters,
                "record.during.counted.process.max_resident_bytes",
                why,
            );
        }
    }
}

/// Counters of a phase and of the sync after it are within those of the run, and of as many
/// devices.
fn evidence(
    scope: &Scope<'_>,
    phase: &PhaseRecord,
    place: &str,
    whole: &BTreeMap<String, u64>,
    found: &mut Findings,
) {
    let Some(evidence) = &phase.evidence else {
        return;
    };
    let place = format!("{place}.evidence");
    if let (true, Some(residency)) = (!scope.has_ranks(), &evidence.residency) {
        sample(scope, residency, &place, found);
    }
    if scope.has_ranks() {
        return;
    }
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    let stretches = [
        ("performing", Some(&evidence.performing)),
        ("syncing", evidence.syncing.as_ref()),
    ];
    for (name, accounted) in stretches {
        let Some(accounted) = accounted else {
            continue;
        };
        let place = format!("{place}.{name}");
        devices(scope, accounted, &place, found);
        for device in accounted.devices.known().into_iter().flatten() {
            if let Fact::Known(counters) = &device.counters {
                for (name, value) in counts(fields(counters)) {
                    let sum = sums
                        .entry(format!("devices.{}.{name}", device.name))
                        .or_default();
                    *sum = sum.saturating_add(number(&value).unwrap_or(0));
                }
                sectors(device, &place, found);
            }
        }
    }
    for (column, sum) in sums {
        if let Some(whole) = whole.get(&column).filter(|whole| sum > **whole) {
            let why = format!("{column}: {sum} in the phase, and {whole} in the whole run");
            found.broken(Rule::Counters, &place, why);
        }
    }
}

/// Devices are those of the whole run, in their order.
fn devices(scope: &Scope<'_>, accounted: &Accounted, place: &str, found: &mut Findings) {
    let (Fact::Known(of_phase), Fact::Known(of_run)) =
        (&accounted.devices, &scope.during.counted.devices)
    else {
        return;
    };
    let names = |devices: &[DeviceReading]| -> Vec<String> {
        let names = devices
            .iter()
            .map(|device| format!("{} {:?}", device.name, device.role));
        names.collect()
    };
    if names(of_phase) != names(of_run) {
        let why = format!(
            "{}, and the run has {}",
            names(of_phase).join(", "),
            names(of_run).join(", ")
        );
        found.broken(Rule::Counters, &format!("{place}.devices"), why);
    }
}

/// What a device cannot have counted.
fn sectors(device: &DeviceReading, place: &str, found: &mut Findings) {
    let Fact::Known(counters) = &device.counters else {
        return;
    };
    for (bytes, what) in [
        (&counters.read_bytes, "reads"),
        (&counters.written_bytes, "writes"),
        (&counters.discarded_bytes, "discards"),
    ] {
        // A sector is the kernel's unit.
        if let Some(bytes) = bytes.known().filter(|bytes| **bytes % 512 != 0) {
            let why = format!("{} had {what} of {bytes} bytes", device.name);
            found.broken(Rule::Counters, &format!("{place}.devices"), why);
        }
    }
}

fn sample(scope: &Scope<'_>, residency: &Residency, place: &str, found: &mut Findings) {
    let largest = scope
        .spec
        .workload
        .size_max_bytes()
        .max(scope.spec.workload.content_bytes_max());
    let page = scope.record.host.page_size_bytes.max(1);
    for (name, sample) in [("before", &residency.before), ("after", &residency.after)] {
        let Fact::Known(ResidencySample {
            files,
            pages,
            cached,
            dirty,
            under_write_back,
        }) = sample
        else {
            continue;
        };
        let most = files.saturating_mul(largest.div_ceil(page));
        let parts = [Some(cached), dirty.known(), under_write_back.known()];
        let is_beyond = parts.into_iter().flatten().any(|part| part > pages)
            || dirty.known().is_some_and(|dirty| dirty > cached);
        if is_beyond || *pages > most || *files > SAMPLE_MAX || *files == 0 {
            let why = format!("{files} files have {pages} pages, {cached} of them in memory");
            found.broken(Rule::Counters, &format!("{place}.residency.{name}"), why);
        }
    }
}

/// A sample has a hundredth of the files that there were, and no more than a hundred.
fn sampled(scope: &Scope<'_>, found: &mut Findings) {
    let workload = &scope.spec.workload;
    let is_whole = scope.is_run
        && !scope.has_ranks()
        && !workload.workers.is_shared()
        && !scope.spec.keeping.reuse;
    if !is_whole || scope.workers == 0 || !scope.record.actual.errors.is_empty() {
        return;
    }
    let mut files = 0_u64;
    for (index, phase) in scope.phases.iter().enumerate() {
        let before = files;
        for operation in super::all_operations(phase) {
            let count = operation.meter.operations;
            files = match operation.action.changes_count() {
                Some(true) => files.saturating_add(count),
                Some(false) => files.saturating_sub(count),
                None => files,
            };
        }
        let residency = phase
            .evidence
            .as_ref()
            .and_then(|evidence| evidence.residency.as_ref());
        let Some(residency) = residency.filter(|_| phase.complete) else {
            continue;
        };
        let most = SAMPLE_MAX / u64::from(scope.workers) * u64::from(scope.workers);
        for (name, sample, files) in [
            ("before", &residency.before, before),
            ("after", &residency.after, files),
        ] {
            let Some(sample) = sample.known() else {
                continue;
            };
            let expected = (files / 100).min(most.max(1));
            // Each worker gives what it has, and a file may be gone under another name.
            if sample.files > expected.max(1) {
                let why = format!(
                    "a sample of {} of {files} files, of which a hundredth is taken at most",
                    sample.files
                );
                let place = format!("{}.evidence.residency.{name}", scope.place(index));
                found.broken(Rule::Counters, &place, why);
            }
        }
    }
}
