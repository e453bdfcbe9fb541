//! What the machine did meanwhile: processors, memory that waits to be written, and the devices under the targets.

use record::machine::Unknown;
use record::summary::{DeviceSummary, MachineSummary};
use record::{DeviceRole, Phase, PhaseSummary, Rate, Record, Summary};

use super::line;
use crate::table::Table;
use crate::units::{bytes, percent, rate};

/// Shorter stretches are in the record only: the kernel counts the machine's processors in ticks of 10 ms.
const MIN_NS: u64 = 100_000_000;
/// Lines are no wider.
const COLUMNS: usize = 100;
/// More devices than these are in the record only.
const DEVICES_MAX: usize = 4;

pub(super) fn render(text: &mut String, record: &Record, summary: &Summary) {
    let phases: Vec<(&PhaseSummary, &MachineSummary)> = summary
        .phases
        .iter()
        .filter_map(|phase| Some((phase, phase.machine.as_ref()?)))
        .filter(|(_, machine)| machine.ns >= MIN_NS)
        .collect();
    if phases.is_empty() {
        return;
    }
    processors(text, &phases);
    let transactions = phases.iter().find(|(phase, _)| phase.phase == Phase::Transactions);
    if let Some((_, machine)) = transactions {
        threads(text, machine);
        devices(text, machine);
    }
    unknown(text, record);
    text.push('\n');
}

fn processors(text: &mut String, phases: &[(&PhaseSummary, &MachineSummary)]) {
    let header = [
        "CPU, % of one",
        "user",
        "system",
        "others",
        "stolen",
        "switches/s",
        "faults/s",
        "dirty, max",
        "write-back, max",
    ];
    let mut table = Table::new(1, &header);
    for (phase, machine) in phases {
        let own = machine.voluntary_context_switches_per_second;
        let switches = own
            .zip(machine.involuntary_context_switches_per_second)
            .map(|(voluntary, involuntary)| voluntary + involuntary);
        let faults = machine
            .minor_faults_per_second
            .zip(machine.major_faults_per_second)
            .map(|(minor, major)| minor + major);
        table.row(vec![
            phase.phase.name().to_owned(),
            share(machine.user),
            share(machine.system),
            share(machine.others),
            share(machine.steal),
            rate(switches),
            rate(faults),
            size(machine.dirty_max_bytes),
            size(machine.write_back_max_bytes),
        ]);
    }
    text.push_str(&table.render());
}

/// Of a processor, in percent.
fn share(processors: Option<f64>) -> String {
    processors.map_or_else(|| "-".to_owned(), |processors| format!("{:.1}", processors * 100.0))
}

fn size(number: Option<u64>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| bytes(number as f64))
}

/// How the transactions' threads shared in the program's time.
fn threads(text: &mut String, machine: &MachineSummary) {
    let mut words = Vec::new();
    if let Some(workers) = machine.workers {
        let others = share(machine.other_threads);
        words.push(match workers.count {
            1 => format!("the worker {}, other threads {others}", share(Some(workers.sum))),
            _ => {
                let [least, most] = [workers.min, workers.max].map(|used| share(Some(used)));
                format!("workers {least} to {most} each, other threads {others}")
            }
        });
    }
    words.push(format!("the program's memory {}", size(machine.resident_max_bytes)));
    line(text, format_args!("  (transactions: {})", words.join("; ")));
}

fn devices(text: &mut String, machine: &MachineSummary) {
    let header = [
        "Device, transactions",
        "",
        "reads/s",
        "bytes/s",
        "writes/s",
        "bytes/s",
        "flushes/s",
        "busy",
    ];
    let mut table = Table::new(2, &header);
    for device in machine.devices.iter().take(DEVICES_MAX) {
        table.row(vec![
            device.name.clone(),
            role(device.role).to_owned(),
            per_second(device.reads),
            bytes_per_second(device.read_bytes),
            per_second(device.writes),
            bytes_per_second(device.written_bytes),
            per_second(device.flushes),
            device.busy_fraction.map_or_else(|| "-".to_owned(), percent),
        ]);
    }
    if !table.is_empty() {
        text.push_str(&table.render());
        each(text, machine);
    }
}

fn role(role: DeviceRole) -> &'static str {
    match role {
        DeviceRole::Target => "target",
        DeviceRole::WholeDisk => "its whole disk",
        DeviceRole::Beneath => "beneath",
    }
}

fn per_second(of: Option<Rate>) -> String {
    rate(of.and_then(|of| of.per_second))
}

fn bytes_per_second(of: Option<Rate>) -> String {
    let per_second = of.and_then(|of| of.per_second);
    per_second.map_or_else(|| "-".to_owned(), bytes)
}

/// What a transaction was for the device that the target lies on, and for the last one beneath it.
fn each(text: &mut String, machine: &MachineSummary) {
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
    if words.is_empty() {
        return;
    }
    let begin = "  (each transaction: ";
    let together = format!("{begin}{})", words.join("; "));
    if together.chars().count() <= COLUMNS {
        line(text, format_args!("{together}"));
    } else {
        for (index, word) in words.iter().enumerate() {
            let lead = if index == 0 { begin } else { "" };
            let end = if index + 1 == words.len() { ")" } else { ";" };
            line(text, format_args!("{lead:width$}{word}{end}", width = begin.len()));
        }
    }
}

/// Why numbers above are missing.
fn unknown(text: &mut String, record: &Record) {
    let phases = record.actual.phases.iter();
    let machines = phases.filter(|phase| phase.phase == Phase::Transactions);
    let unknown = machines.filter_map(|phase| phase.machine.as_ref());
    let is_shown = |unknown: &&Unknown| {
        unknown
            .columns
            .iter()
            .any(|column| SHOWN.iter().any(|shown| column.ends_with(shown)))
    };
    for unknown in unknown.flat_map(|machine| &machine.unknown).filter(is_shown) {
        line(text, format_args!("  (not known: {})", unknown.why));
    }
}

/// The columns that are in the text.
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
