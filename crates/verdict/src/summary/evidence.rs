//! What served a phase, derived from the counters in its evidence.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::counters::{DeviceReading, DeviceRole};
use system::{Accounted, DeviceCounters, Fact};
use workload::{Action, Phase};

use super::messages::{CommandsSent, MessagesSent, commands, over};
use super::reads::{self, Behind, ReadsServed, of_devices};
use record::evidence::{PhaseEvidence, Residency};
use record::merge::added;
use record::run::{OperationRecord, PhaseRecord, Record};
use record::server::ServerCounts;

/// What served the operations of a phase: the page cache, a device or a server. Device counters
/// include all activity on the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EvidenceSummary {
    /// Where the contents that operations read came from.
    pub reads: ReadsServed,
    /// What served each kind of operation: the server if the engine calls one itself, the cache if
    /// the target is in memory. For other targets it is available only for reads of contents, in a
    /// phase with a single kind of operation.
    pub operations: BTreeMap<String, Fact<ServedBy>>,
    /// What the devices read during the phase: contents, names and attributes together.
    pub device_reads: DeviceReads,
    /// Bytes written by operations and by devices.
    pub writes: WritesServed,
    /// Flushes of the devices' caches, in total and for each durable operation.
    pub flushes: FlushesServed,
    /// Requests to servers by counter: RPC calls, SMB and SCSI commands. Empty for targets without
    /// a server, and if no counter can be read; the record contains the reason.
    pub messages: Vec<MessagesSent>,
    /// Commands to the devices below the targets, from the topmost device down to the disks.
    /// Devices whose counters cannot be read are missing.
    pub commands: Vec<CommandsSent>,
    /// Share of the pool that was in the page cache, estimated from a sample of its files; null for
    /// phases without such a sample.
    pub residency: Option<Residency>,
    /// Counts of events that the engine's own client recorded, such as reconnections. Calls are not
    /// included. Absent if the engine calls no server itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerCounts>,
}

/// Shares of the cache, a server and a device in serving operations of one kind. They are shares of
/// the bytes, or of the operations if the operations move no bytes. The shares add up to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServedBy {
    /// Share that memory of this machine served.
    pub cache: f64,
    /// Share that another machine or a FUSE server served.
    pub server: f64,
    /// Share that a device of this machine served.
    pub device: f64,
}

/// Reads of the devices that contain the targets' file systems.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceReads {
    /// Number of read requests that the devices completed.
    pub reads: Fact<u64>,
    /// Bytes that the devices read, for all programs on the machine.
    pub bytes: Fact<u64>,
    /// Reads for each transaction, or for each file in `prepare` and `delete`; null if the reads
    /// are not known, or no work was completed.
    pub per_done: Option<f64>,
}

/// Bytes written by operations and by devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WritesServed {
    /// Bytes that operations wrote, whether or not they have reached a device.
    pub written_bytes: u64,
    /// Bytes written to the devices that contain the targets' file systems, including the sync
    /// after the phase.
    pub device_bytes: Fact<u64>,
    /// Write amplification: bytes written to the devices divided by bytes that operations wrote.
    /// Null if `device_bytes` is not known, or if operations wrote no bytes.
    pub amplification: Option<f64>,
}

/// Flushes of the caches of the devices that contain the targets' file systems.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlushesServed {
    /// Flushes that completed during the phase, excluding the sync after the phase.
    pub flushes: Fact<u64>,
    /// Operations that waited for their own sync, as the durability policy requires.
    pub durable_operations: u64,
    /// Flushes for each of the `durable_operations`; null if the flushes are not known, or if there
    /// were no such operations.
    pub per_durable_operation: Option<f64>,
}

/// Derives what served a phase; `None` if the phase has no evidence. The phase may also be that of
/// a load level, although summaries do not contain such phases.
pub fn phase_evidence(record: &Record, phase: &PhaseRecord) -> Option<EvidenceSummary> {
    let evidence = phase.evidence.as_ref()?;
    let reads = reads::of(record, std::iter::once(phase))?;
    let whole = whole(record);
    let evidence = &PhaseEvidence {
        performing: of_whole(&evidence.performing, &whole),
        syncing: evidence
            .syncing
            .as_ref()
            .map(|syncing| of_whole(syncing, &whole)),
        residency: evidence.residency.clone(),
        server: evidence.server,
    };
    let performing = &evidence.performing;
    let device_reads = of_targets(performing, |device| &device.reads);
    Some(EvidenceSummary {
        operations: by_operation(record, phase, &reads),
        reads,
        device_reads: DeviceReads {
            per_done: over(&device_reads, done(phase)),
            bytes: of_targets(performing, |device| &device.read_bytes),
            reads: device_reads,
        },
        writes: writes(phase, evidence),
        flushes: flushes(record, phase, performing),
        messages: MessagesSent::of(performing, done(phase)),
        commands: commands(performing, done(phase)),
        residency: evidence.residency.clone(),
        server: evidence.server,
    })
}

/// Returns an error if the device of a target is not known, or if only some targets have a device.
/// The device counters then do not include all operations.
fn whole(record: &Record) -> Result<(), String> {
    let targets = record.targets();
    let (mut with, mut without) = (false, false);
    for target in targets {
        match &target.device {
            Fact::Known(_) => with = true,
            Fact::NotApplicable => without = true,
            Fact::Unavailable(why) => return Err(why.clone()),
        }
    }
    match (with, without) {
        (true, true) => Err("mixed: one of the targets lies on no device".to_owned()),
        _ => Ok(()),
    }
}

fn of_whole(counted: &Accounted, whole: &Result<(), String>) -> Accounted {
    let mut counted = counted.clone();
    if let (Err(why), Fact::Known(_)) = (whole, &counted.devices) {
        counted.devices = Fact::Unavailable(why.clone());
    }
    counted
}

/// Returns the work completed in all segments of a phase: transactions, or operations in `prepare`
/// and `delete`.
fn done(phase: &PhaseRecord) -> u64 {
    match phase.phase {
        Phase::Transactions => {
            let segments = phase.segments.iter();
            segments.map(|segment| segment.transactions).sum()
        }
        Phase::Prepare | Phase::Delete => {
            let operations = phase.all_operations();
            operations.map(|known| known.meter.operations).sum()
        }
    }
}

/// Returns what served each kind of completed operation. If the engine calls a server itself, the
/// server served all operations, because no cache of this machine is in between.
fn by_operation(
    record: &Record,
    phase: &PhaseRecord,
    reads: &ReadsServed,
) -> BTreeMap<String, Fact<ServedBy>> {
    let done = phase
        .all_operations()
        .filter(|operation| operation.meter.operations > 0);
    let actions: BTreeSet<Action> = done.map(|operation| operation.action).collect();
    let unavailable = |why: &str| Fact::Unavailable(why.to_owned());
    let served = |action: Action| match &reads.fetched_from {
        _ if record.spec.engine.calls_server() => Fact::Known(ServedBy {
            server: 1.0,
            ..ServedBy::default()
        }),
        Fact::Known(Behind::Memory) => Fact::Known(ServedBy {
            cache: 1.0,
            ..ServedBy::default()
        }),
        _ if actions.len() > 1 => unavailable("mixed: the phase has several kinds of operations"),
        Fact::Known(from) if action.moves_bytes_in() => served_reads(reads, *from),
        Fact::Unavailable(why) => unavailable(why),
        _ if action.moves_bytes_out() => {
            unavailable("writes are accepted, not served: see the durability tier")
        }
        _ => unavailable("the kernel does not count who served names and attributes"),
    };
    let actions = actions.iter();
    actions
        .map(|action| (action.name().to_owned(), served(*action)))
        .collect()
}

/// Returns the shares of the bytes read that the cache, the server and the device served. If
/// read-ahead fetched more bytes than operations read, the cache's share is 0.
fn served_reads(reads: &ReadsServed, from: Behind) -> Fact<ServedBy> {
    let Some(fraction) = reads.fraction else {
        return reads.served_bytes().and_then(|_| Fact::NotApplicable);
    };
    let fetched = fraction.min(1.0);
    let cache = 1.0 - fetched;
    let (server, device) = match from {
        Behind::Server => (fetched, 0.0),
        Behind::Device | Behind::Memory => (0.0, fetched),
        Behind::Several => {
            return Fact::Unavailable("mixed: the targets are a server and a device".to_owned());
        }
    };
    Fact::Known(ServedBy {
        cache,
        server,
        device,
    })
}

fn writes(phase: &PhaseRecord, evidence: &PhaseEvidence) -> WritesServed {
    let written = phase
        .all_operations()
        .filter(|operation| operation.action.moves_bytes_out());
    let written_bytes = written.map(|operation| operation.meter.bytes).sum();
    let written_to = |counted: &Accounted| of_targets(counted, |device| &device.written_bytes);
    let performing = written_to(&evidence.performing);
    let device_bytes = match evidence.syncing.as_ref().map(written_to) {
        Some(syncing) => {
            performing.and_then(|bytes| syncing.map(|more| bytes.saturating_add(more)))
        }
        None => performing,
    };
    WritesServed {
        amplification: over(&device_bytes, written_bytes),
        written_bytes,
        device_bytes,
    }
}

fn flushes(record: &Record, phase: &PhaseRecord, counted: &Accounted) -> FlushesServed {
    let durability = &record.spec.durability;
    let is_durable = |operation: &&OperationRecord| {
        let kind = operation.action.performs();
        kind.is_some_and(|kind| durability.of(operation.action).covers(kind))
    };
    let durable = phase.all_operations().filter(is_durable);
    let durable_operations = durable.map(|operation| operation.meter.operations).sum();
    let flushes = counted_flushes(counted);
    FlushesServed {
        per_durable_operation: over(&flushes, durable_operations),
        flushes,
        durable_operations,
    }
}

/// Returns the flushes of the devices that contain the targets' file systems. For a partition,
/// these are the flushes of the whole disk, because the kernel does not count flushes of a
/// partition.
fn counted_flushes(counted: &Accounted) -> Fact<u64> {
    counted.devices.clone().and_then(|devices| {
        let mut sum = Fact::NotApplicable;
        let mut devices = devices.iter().peekable();
        while let Some(device) = devices.next() {
            if device.role != DeviceRole::Target {
                continue;
            }
            let disk = devices.next_if(|next| next.role == DeviceRole::WholeDisk);
            let flushes = disk.unwrap_or(device).counters.as_ref();
            sum = added(sum, flushes.and_then(|counters| counters.flushes.clone()));
        }
        sum
    })
}

/// Adds up a counter of the devices that contain the targets' file systems.
fn of_targets(counted: &Accounted, counter: fn(&DeviceCounters) -> &Fact<u64>) -> Fact<u64> {
    let is_target = |device: &DeviceReading| device.role == DeviceRole::Target;
    of_devices(counted, is_target, counter)
}

/// Returns the most used network interface in a phase, including warm-ups, and the used share of
/// its speed.
pub(crate) fn busiest_interface(
    phase: &PhaseRecord,
    evidence: &PhaseEvidence,
) -> Option<(String, f64)> {
    let (began_ns, ended_ns) = phase.span_ns()?;
    let seconds = ended_ns.saturating_sub(began_ns) as f64 / 1e9;
    let interfaces = evidence.performing.interfaces.known()?;
    let used = interfaces.iter().filter_map(|interface| {
        let fraction = interface.utilization(seconds).into_known()?;
        Some((interface.name.clone(), fraction))
    });
    used.max_by(|a, b| a.1.total_cmp(&b.1))
}
