//! Checks whether the numbers of phases can be those of a run.

use std::collections::BTreeSet;

use measure::{Histogram, SLOWEST_KEPT};
use workload::Workload;

use super::numbers::{
    RANKS_MAX, Totals, Valid, Within, at_most, distinct, each, moment, not_negative, order, wrong,
};
use crate::host_phase::HostPhase;
use crate::phase::{OperationRecord, PhaseRecord, Segment, SlowestRecord, WorkerPhase};
use crate::sizing::SteadyFound;

/// Maximum number of segments in a phase. A run has a warm-up, one segment of merged rounds, and a
/// window of rounds.
const SEGMENTS_MAX: usize = 4096;
/// Maximum number of kinds of calls in a phase. It is limited because later code searches kinds of
/// calls one by one. All I/O engines together have fewer.
const STEPS_MAX: usize = 64;
/// Maximum length of the name of a call or a device, in bytes, because a long name widens a column
/// of a table.
const NAME_BYTES_MAX: usize = 255;
/// Maximum length of the path of a slow operation, in bytes, because a long path widens a column of
/// a table. The kernel accepts paths of at most 4,096 bytes.
const PATH_BYTES_MAX: usize = 16 << 10;

/// Names of the sums that reports compute over segments, phases, calls and workers.
const OPERATIONS: &str = "all operations";
const BYTES: &str = "all bytes";
const DURATIONS: &str = "all durations in histograms";
const TRANSACTIONS: &str = "all transactions";
const ISSUED: &str = "all transactions that were issued";
const SKIPPED: &str = "all operations that were skipped";
const WORKERS: &str = "all that workers did";
const WORKERS_NS: &str = "the times of all workers";
const PHASES_NS: &str = "the times of all phases";

pub(super) fn phases(phases: &[PhaseRecord], totals: &mut Totals) -> Valid {
    distinct("phases", phases.iter().map(|phase| phase.phase))?;
    each("phases", phases, |phase| self::phase(phase, totals))
}

fn phase(phase: &PhaseRecord, totals: &mut Totals) -> Valid {
    at_most("segments", phase.segments.len(), SEGMENTS_MAX)?;
    let mut operations = Vec::new();
    operations.extend(
        phase
            .segments
            .iter()
            .flat_map(|segment| &segment.operations),
    );
    let steps = operations.iter().flat_map(|operation| &operation.steps);
    let steps: BTreeSet<&String> = steps.map(|step| &step.step).collect();
    at_most("segments: kinds of steps", steps.len(), STEPS_MAX)?;
    hosts(&phase.hosts)?;
    let mut earlier_ns = 0;
    each("segments", &phase.segments, |segment| {
        let began_ns = segment.began_ns;
        order(
            "began_ns",
            std::mem::replace(&mut earlier_ns, began_ns),
            began_ns,
        )?;
        self::segment(segment, totals)
    })?;
    totals.add(PHASES_NS, "segments", &[phase.measured_ns()])?;
    let waiting = phase.waiting.unwrap_or(0);
    totals.add(TRANSACTIONS, "waiting", &[waiting])?;
    let most = Workload::WORKERS_MAX as usize;
    at_most("workers", phase.workers.len(), most)?;
    each("workers", &phase.workers, |worker| {
        self::worker(worker, totals)
    })?;
    if let Some(first) = &phase.first_done {
        moment("first_done.at_ns", first.at_ns)?;
    }
    moment("caught_up_ns", phase.caught_up_ns.unwrap_or(0))?;
    let roles = phase.claim_waits.iter().map(|waits| waits.role);
    distinct("claim_waits", roles)?;
    each("claim_waits", &phase.claim_waits, |waits| {
        totals.add(DURATIONS, "wait", &[waits.wait.count()])
    })?;
    slices(phase)?;
    let actions = phase.slowest.iter().map(|slowest| slowest.action);
    distinct("slowest", actions)?;
    each("slowest", &phase.slowest, slowest)?;
    machine(phase)?;
    if let Some(found) = &phase.steady {
        steady(found).within(|| "steady".to_owned())?;
    }
    if let Some(sync) = &phase.sync {
        order("sync.ended_ns", sync.began_ns, sync.ended_ns)?;
    }
    Ok(())
}

fn hosts(hosts: &[HostPhase]) -> Valid {
    at_most("hosts", hosts.len(), RANKS_MAX)?;
    let identities = hosts.iter().map(|host| &host.host);
    distinct(
        "hosts",
        identities.map(|host| (&host.hostname, host.boot_id.known())),
    )?;
    let mut ranks = 0;
    let mut totals = Totals::default();
    each("hosts", hosts, |host| {
        ranks += u64::from(host.ranks);
        if ranks > RANKS_MAX as u64 {
            return wrong("ranks", "more than can be launched");
        }
        match &host.workers {
            Some(workers) => {
                let both = [workers.cpu_ns, workers.ns];
                totals.add("the times of all workers of all hosts", "workers", &both)
            }
            None => Ok(()),
        }
    })
}

fn segment(segment: &Segment, totals: &mut Totals) -> Valid {
    order("ended_ns", segment.began_ns, segment.ended_ns)?;
    let transactions = segment.transactions;
    totals.add(TRANSACTIONS, "transactions", &[transactions])?;
    totals.add(ISSUED, "issued", &[segment.issued])?;
    totals.add(SKIPPED, "skipped", &[segment.skipped.total()])?;
    let operations = segment.operations.iter();
    let keys = operations.map(|operation| (operation.role, operation.action));
    distinct("operations", keys)?;
    each("operations", &segment.operations, |operation| {
        self::operation(operation, totals)
    })
}

fn operation(operation: &OperationRecord, totals: &mut Totals) -> Valid {
    let meter = &operation.meter;
    let counts = [meter.operations, meter.failed];
    totals.add(OPERATIONS, "meter", &counts)?;
    totals.add(BYTES, "meter.bytes", &[meter.bytes])?;
    let service = meter.service.as_ref().map_or(0, Histogram::count);
    let per_file = meter.per_file.as_ref().map_or(0, Histogram::count);
    let durations = [meter.latency.count(), service, per_file];
    totals.add(DURATIONS, "meter.latency", &durations)?;
    distinct("steps", operation.steps.iter().map(|step| &step.step))?;
    each("steps", &operation.steps, |step| {
        name("step", &step.step)?;
        totals.add(DURATIONS, "latency", &[step.latency.count()])
    })
}

fn name(field: &'static str, name: &str) -> Valid {
    let length = name.len();
    if length > NAME_BYTES_MAX {
        let why = format!("a name of {length} bytes, and they have at most {NAME_BYTES_MAX}");
        return wrong(field, why);
    }
    Ok(())
}

fn worker(worker: &WorkerPhase, totals: &mut Totals) -> Valid {
    order("ended_ns", worker.began_ns, worker.ended_ns)?;
    let lasted_ns = worker.ended_ns - worker.began_ns;
    totals.add(WORKERS_NS, "ended_ns", &[lasted_ns])?;
    totals.add(WORKERS, "transactions", &[worker.transactions])?;
    totals.add(WORKERS, "issued", &[worker.issued])?;
    totals.add(WORKERS, "operations", &[worker.operations])
}

/// Checks that the sums of operations and bytes over all slices do not overflow.
fn slices(phase: &PhaseRecord) -> Valid {
    let mut totals = Totals::default();
    for meter in phase.slices.iter().flat_map(|slice| slice.values()) {
        let operations = [meter.operations, meter.failed];
        totals.add("all operations of the slices", "slices", &operations)?;
        totals.add("all bytes of the slices", "slices", &[meter.bytes])?;
    }
    Ok(())
}

fn slowest(slowest: &SlowestRecord) -> Valid {
    at_most("operations", slowest.operations.len(), SLOWEST_KEPT)?;
    each("operations", &slowest.operations, |slow| {
        let length = slow.path.len();
        if length > PATH_BYTES_MAX {
            let why = format!("it has {length} bytes, and paths have at most {PATH_BYTES_MAX}");
            return wrong("path", why);
        }
        match &slow.step {
            Some(step) => name("step.step", &step.step),
            None => Ok(()),
        }
    })
}

fn machine(phase: &PhaseRecord) -> Valid {
    let Some(machine) = &phase.machine else {
        return Ok(());
    };
    let ended_ns = machine.ended_ns.last().copied();
    moment("machine.ended_ns", ended_ns.unwrap_or(0))?;
    moment("machine.began_ns", machine.began_ns)?;
    let devices = machine.devices.known().map_or(&[][..], |devices| devices);
    each("machine.devices.known", devices, |device| {
        name("name", &device.name)
    })
}

fn steady(found: &SteadyFound) -> Valid {
    for number in found.rounds.iter().chain(&found.seconds) {
        not_negative("rounds", *number)?;
    }
    if let Some(snia) = &found.snia {
        not_negative("snia.average", snia.average)?;
        not_negative("snia.excursion", snia.excursion)?;
        not_negative("snia.slope_excursion", snia.slope_excursion)?;
    }
    if let Some(slope) = &found.slope {
        not_negative("slope.average", slope.average)?;
        not_negative("slope.limit", slope.limit)?;
    }
    Ok(())
}
