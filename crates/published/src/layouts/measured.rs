//! Extracts from a run of a study the figures that published tables contain.

use std::collections::BTreeMap;

use document::units::{bytes, counted};
use record::{DeviceRole, MessageCounter, Record, ServerRecord, StudyPart};
use verdict::rules::Emulated;
use verdict::{Level, Reason, Summary};
use workload::Edition;

use crate::number::KILOBYTE_BYTES;
use crate::plain::why_not_plain;
use crate::shape::{ConfigurationShape, differences};
use crate::source::Figure;

/// A run of a study. Figures are in the units of published tables: seconds, files, and kilobytes
/// (of 1,024 bytes), or rates per second. With several processes, all rates and all counts of files
/// and bytes are per process.
#[derive(Clone, Debug, PartialEq)]
pub struct PaperRun {
    /// The compared configuration (cell), the block and the attempt to which the run belongs.
    pub part: StudyPart,
    /// Whether results include the run. Results exclude runs with the verdict INVALID.
    pub is_counted: bool,
    /// The configuration and the PostMark edition of the run's work; `None` for mixes.
    pub shape: Option<(ConfigurationShape, Edition)>,
    /// Reasons why the run is not comparable with published runs, for example a limited rate,
    /// another seed, or a mix.
    pub differences: Vec<String>,
    /// A short description of the machine and the file system.
    pub description: String,
    /// The protocol or device that served the operations: `nfs3`, `nfs4.2`, `iscsi`, `block device`
    /// or `memory`. `None` if not available.
    pub protocol: Option<String>,
    /// The run's figures. Figures that are not available are absent.
    pub figures: BTreeMap<Figure, f64>,
}

impl PaperRun {
    /// Extracts the figures of a run, or returns `None` if the run does not belong to a study.
    pub fn of(record: &Record) -> Option<Self> {
        let part = record.study.clone()?;
        let summary = Summary::of(record);
        let workload = &record.spec.workload;
        let mut differences = differences(workload);
        differences.extend(why_not_plain(record).map(|why| why.to_string()));
        if summary
            .verdict
            .reasons
            .contains(&Reason::Emulated(Emulated {}))
        {
            differences.push(
                "on emulated processors, where times are the emulator's and counts are true"
                    .to_owned(),
            );
        }
        Some(Self {
            is_counted: summary.verdict.level != Level::Invalid,
            shape: ConfigurationShape::of(workload),
            differences,
            description: description(record, &part),
            protocol: protocol(record, &summary),
            figures: figures(&summary, workload.workers.count()),
            part,
        })
    }
}

fn figures(summary: &Summary, processes: u32) -> BTreeMap<Figure, f64> {
    let mut figures = BTreeMap::new();
    let mut add = |figure: Figure, value: Option<f64>| {
        let value = value.filter(|value| value.is_finite());
        figures.extend(value.map(|value| (figure, value)));
    };
    add(Figure::Elapsed, Some(summary.elapsed_ns as f64 / 1e9));
    add(Figure::Messages, messages(summary));
    add(Figure::CpuTime, cpu_s(summary));
    let Some(paper) = &summary.paper else {
        return figures;
    };
    // The VERITAS brief reports numbers per process, so rates and counts are divided by the number
    // of processes.
    let processes = f64::from(processes.max(1));
    let of_each = |rate: Option<f64>| rate.map(|rate| rate / processes);
    let transactions_s = paper.transactions_ns as f64 / 1e9;
    add(Figure::TransactionsTime, Some(transactions_s));
    let transactions = paper.transactions.per_second;
    add(Figure::TransactionsRate, of_each(transactions));
    use Figure::*;
    for (count, each_second, rate, unit) in [
        (Created, CreatedRate, paper.created, 1.0),
        (CreatedAlone, CreatedAloneRate, paper.created_alone, 1.0),
        (CreatedMixed, CreatedMixedRate, paper.created_mixed, 1.0),
        (Read, ReadRate, paper.read, 1.0),
        (Appended, AppendedRate, paper.appended, 1.0),
        (Deleted, DeletedRate, paper.deleted, 1.0),
        (DeletedAlone, DeletedAloneRate, paper.deleted_alone, 1.0),
        (DeletedMixed, DeletedMixedRate, paper.deleted_mixed, 1.0),
        (DataRead, DataReadRate, paper.bytes_read, KILOBYTE_BYTES),
        (
            DataWritten,
            DataWrittenRate,
            paper.bytes_written,
            KILOBYTE_BYTES,
        ),
    ] {
        let in_unit = |number: Option<f64>| of_each(number).map(|number| number / unit);
        add(each_second, in_unit(rate.per_second));
        add(count, in_unit(Some(rate.count as f64)));
    }
    figures
}

/// Returns the messages of the whole run: requests to servers or, without a server, commands to the
/// devices of the file systems.
fn messages(summary: &Summary) -> Option<f64> {
    let mut sum = 0;
    for phase in &summary.phases {
        let evidence = phase.evidence.as_ref()?;
        if !evidence.messages.is_empty() {
            for sent in &evidence.messages {
                sum += sent.requests.known()?;
            }
            continue;
        }
        let mut devices = evidence
            .commands
            .iter()
            .filter(|device| device.role == DeviceRole::Target)
            .peekable();
        devices.peek()?;
        sum += devices
            .flat_map(|device| &device.kinds)
            .map(|kind| kind.requests)
            .sum::<u64>();
    }
    Some(sum as f64)
}

/// Returns the processor time of the program in the whole run, in seconds of user and system mode.
fn cpu_s(summary: &Summary) -> Option<f64> {
    let seconds = summary.phases.iter().map(|phase| {
        let machine = phase.machine.as_ref()?;
        Some((machine.user? + machine.system?) * phase.duration_ns as f64 / 1e9)
    });
    seconds.sum()
}

fn protocol(record: &Record, summary: &Summary) -> Option<String> {
    let evidence = summary
        .phases
        .iter()
        .find_map(|phase| phase.evidence.as_ref());
    if let Some(sent) = evidence.and_then(|evidence| evidence.messages.first()) {
        return Some(match sent.counter {
            // The name distinguishes this engine, which has no cache, from the kernel's client,
            // which has a cache.
            MessageCounter::Engine => format!("{} in user space", sent.protocol),
            _ => sent.protocol.clone(),
        });
    }
    let target = record.locations.first()?.target.known()?;
    if target.device.known().is_some() {
        return Some("block device".to_owned());
    }
    let is_memory = target
        .mount
        .known()
        .is_some_and(|mount| matches!(mount.file_system_type.as_str(), "tmpfs" | "ramfs"));
    is_memory.then(|| "memory".to_owned())
}

/// Returns the file system, kernel, processors and memory as text.
fn description(record: &Record, part: &StudyPart) -> String {
    let location = record.locations.first();
    let target = location.and_then(|location| location.target.known());
    let mount = target.and_then(|target| target.mount.known());
    let mut words = Vec::new();
    words.extend(mount.map(|mount| mount.file_system_type.clone()));
    let server = location.and_then(|location| location.server.as_ref());
    words.extend(server.map(ServerRecord::one_line));
    match &part.made {
        Some(made) => words.push(format!("made as {}", made.asked)),
        None => words.extend(mount.map(|mount| format!("mounted from {}", mount.source))),
    }
    let host = &record.host;
    words.push(format!("{} {}", host.kernel.sysname, host.kernel.release));
    let online = host.processors.online.known();
    words.extend(online.map(|online| counted(*online, "processor")));
    words.extend(host.processors.model.known().cloned());
    let memory = host.memory_total_bytes.known();
    words.extend(memory.map(|memory| format!("{} of memory", bytes(*memory as f64))));
    words.join(", ")
}
