//! Activity of the machine during the phases: processors, memory waiting for write-back, and the
//! devices under the targets.

use document::units::latency;
use document::{Block, Cell, Column, Document, Number, Table, kept};
use record::{DeviceRole, Phase, Record};
use verdict::summary::{DeviceSummary, MachineSummary};
use verdict::{PhaseSummary, Rate, Summary};

/// Minimum duration of a phase in the table. The kernel counts processor time in ticks of 10 ms,
/// which is too inaccurate for shorter phases. The record contains all phases.
const MIN_NS: u64 = 100_000_000;
/// Maximum number of devices in the table. The record contains all devices.
const DEVICES_MAX: usize = 4;

pub(crate) fn render(document: &mut Document, record: &Record, summary: &Summary) {
    processors(document, record, summary);
    devices(document, record, summary);
}

/// The phases with counters, except those shorter than [`MIN_NS`].
fn counted(summary: &Summary) -> Vec<(&PhaseSummary, &MachineSummary)> {
    let phases = summary.phases.iter();
    let counted = phases.filter_map(|phase| Some((phase, phase.machine.as_ref()?)));
    counted
        .filter(|(_, machine)| machine.ns >= MIN_NS)
        .collect()
}

fn of_transactions(summary: &Summary) -> Option<&MachineSummary> {
    let mut all = counted(summary).into_iter();
    all.find(|(phase, _)| phase.phase == Phase::Transactions)
        .map(|(_, machine)| machine)
}

/// Adds the activity of the processors and the memory in each phase.
pub(super) fn processors(document: &mut Document, record: &Record, summary: &Summary) {
    let phases = counted(summary);
    if phases.is_empty() {
        return;
    }
    of_phases(document, &phases);
    if let Some(machine) = of_transactions(summary) {
        threads(document, machine);
    }
    unknown(document, record);
    document.gap();
}

/// Adds the activity of the devices in the transactions.
pub(super) fn devices(document: &mut Document, record: &Record, summary: &Summary) {
    if counted(summary).is_empty() {
        return;
    }
    if let Some(machine) = of_transactions(summary) {
        table_of_devices(document, machine);
    }
    no_devices(document, record);
    document.gap();
}

fn of_phases(document: &mut Document, phases: &[(&PhaseSummary, &MachineSummary)]) {
    let columns: [Column<&(&PhaseSummary, &MachineSummary)>; 9] = [
        ("CPU, % of one", |(phase, _)| phase.phase.name().into()),
        ("user", |(_, of)| share(of.user)),
        ("system", |(_, of)| share(of.system)),
        ("others", |(_, of)| share(of.others)),
        ("steal", |(_, of)| share(of.steal)),
        ("switches/s", |(_, of)| Cell::rate(switches(of))),
        ("faults/s", |(_, of)| Cell::rate(faults(of))),
        ("dirty, max", |(_, of)| Cell::bytes(of.dirty_max_bytes)),
        ("write-back, max", |(_, of)| {
            Cell::bytes(of.write_back_max_bytes)
        }),
    ];
    document.table(Table::of(1, &columns, phases));
    document.note(
        "percent of one processor during the phase; others: everything else, with kernel threads",
    );
    document.note(
        "the verdict counts others over the whole run, in user mode, in percent of all processors",
    );
}

fn switches(of: &MachineSummary) -> Option<f64> {
    Some(of.voluntary_context_switches_per_second? + of.involuntary_context_switches_per_second?)
}

fn faults(of: &MachineSummary) -> Option<f64> {
    Some(of.minor_faults_per_second? + of.major_faults_per_second?)
}

/// A number of processors in percent of one processor.
fn share(processors: Option<f64>) -> Cell {
    Cell::decimal(processors.map(|processors| processors * 100.0), 1)
}

/// Adds the processor time of workers and other threads during the transactions, and the program's
/// memory.
fn threads(document: &mut Document, machine: &MachineSummary) {
    let mut words = Vec::new();
    let [others, memory] = [
        share(machine.other_threads),
        Cell::bytes(machine.resident_max_bytes),
    ]
    .map(|cell| cell.short());
    if let Some(workers) = machine.workers {
        let [sum, least, most] =
            [workers.sum, workers.min, workers.max].map(|used| share(Some(used)));
        words.push(match workers.count {
            1 => format!("the worker {sum}, other threads {others}"),
            _ => format!("workers {least} to {most} each, other threads {others}"),
        });
    }
    words.push(format!("the program's memory {memory}"));
    document.note(format!("transactions, CPU: {}", words.join("; ")));
}

fn table_of_devices(document: &mut Document, machine: &MachineSummary) {
    let columns: [Column<&DeviceSummary>; 8] = [
        ("Device, transactions", |of| of.name.as_str().into()),
        ("", |of| role(of.role).into()),
        ("reads/s", |of| per_second(of.reads, Number::Rate)),
        ("bytes/s", |of| per_second(of.read_bytes, Number::Bytes)),
        ("writes/s", |of| per_second(of.writes, Number::Rate)),
        ("bytes/s", |of| per_second(of.written_bytes, Number::Bytes)),
        ("flushes/s", |of| per_second(of.flushes, Number::Rate)),
        ("busy", |of| Cell::share(of.busy_fraction)),
    ];
    let table = Table::of(2, &columns, machine.devices.iter().take(DEVICES_MAX));
    if !table.is_empty() {
        document.table(table);
        document.note(format!(
            "all activity of the whole devices in {} of transactions, without warm-up and sync",
            latency(machine.ns as f64)
        ));
        each(document, machine);
    }
}

/// Adds the reason if the counters of devices are not available.
fn no_devices(document: &mut Document, record: &Record) {
    let mut phases = record.actual.phases.iter();
    if let Some(why) = phases.find_map(|phase| phase.machine.as_ref()?.devices.why()) {
        document.push(Block::Note {
            lead: "",
            text: format!("what reached the device: not available: {why}"),
        });
    }
}

pub(crate) fn role(role: DeviceRole) -> &'static str {
    match role {
        DeviceRole::Target => "target",
        DeviceRole::WholeDisk => "its whole disk",
        DeviceRole::Beneath => "beneath",
        DeviceRole::Journal => "journal",
    }
}

fn per_second(of: Option<Rate>, number: fn(f64) -> Number) -> Cell {
    of.and_then(|of| of.per_second).map(number).into()
}

/// Adds the number of reads, writes and flushes per transaction, for the target's device and for
/// the last device below it.
fn each(document: &mut Document, machine: &MachineSummary) {
    let shown = &machine.devices[..machine.devices.len().min(DEVICES_MAX)];
    let of = |device: &DeviceSummary| {
        let figures = [
            (device.reads_per_done, "reads"),
            (device.writes_per_done, "writes"),
            (device.flushes_per_done, "flushes"),
        ];
        let known = figures
            .into_iter()
            .filter_map(|(each, name)| Some(format!("{:.2} {name}", each?)));
        let known: Vec<String> = known.collect();
        (!known.is_empty()).then(|| format!("{} of {}", known.join(", "), device.name))
    };
    let ends = [shown.first(), shown.last().filter(|_| shown.len() > 1)];
    let words: Vec<String> = ends.into_iter().flatten().filter_map(of).collect();
    if !words.is_empty() {
        document.push(Block::Note {
            lead: "each transaction: ",
            text: kept(&words.join("; ")).replace(";\u{a0}", "; "),
        });
    }
}

/// Adds the reasons why numbers in the tables are missing.
fn unknown(document: &mut Document, record: &Record) {
    let phases = record.actual.phases.iter();
    let machines = phases.filter(|phase| phase.phase == Phase::Transactions);
    let unknown = machines.filter_map(|phase| phase.machine.as_ref());
    let is_shown = |column: &String| SHOWN.iter().any(|shown| column.ends_with(shown));
    for unknown in unknown.flat_map(|machine| &machine.unknown) {
        if unknown.columns.iter().any(is_shown) {
            document.note(format!("not available: {}", unknown.why));
        }
    }
}

/// Columns of the record that the tables show, given by the ends of their names. The text gives
/// reasons only for missing values of these columns.
const SHOWN: [&str; 15] = [
    "process.user_ns",
    "process.system_ns",
    "process.resident_bytes",
    "process.minor_faults",
    "process.voluntary_context_switches",
    "system.busy_ns",
    "system.steal_ns",
    "system.dirty_bytes",
    "system.write_back_bytes",
    ".reads",
    ".read_bytes",
    ".writes",
    ".written_bytes",
    ".flushes",
    ".busy_ms",
];
