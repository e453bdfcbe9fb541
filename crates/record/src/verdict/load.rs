//! Who used the processors, and what became of the clocks.

use observe::Fact;
use workload::Phase;

use super::limits::{OTHERS_MAX, OWN_MAX, SHARES_FROM_NS, STEAL_MAX};
use super::{Reason, Seen, is_ladder, transactions};
use crate::run::Record;
use crate::summary::operations;

/// The storage that measures the program itself.
const NULL: &str = "null";

pub(super) fn reasons(record: &Record, seen: &Seen) -> Vec<Reason> {
    let above = |fraction: &Fact<f64>, limit: f64| fraction.known().copied().filter(|fraction| *fraction > limit);
    let mut reasons = Vec::new();
    let own_cost = record.actual.own_cost.known();
    if let (Some(fraction), Some(cost)) = (above(&seen.own_fraction, OWN_MAX), own_cost) {
        reasons.push(Reason::OwnTime {
            fraction,
            ns_per_operation: cost.ns_per_operation,
        });
    }
    if let Some(fraction) = above(&seen.others_fraction, OTHERS_MAX) {
        reasons.push(Reason::OtherLoad { fraction });
    }
    if let Some(fraction) = above(&seen.steal_fraction, STEAL_MAX) {
        reasons.push(Reason::Steal { fraction });
    }
    let clocks = &record.during.clocks;
    if clocks.suspended_ns > 0 {
        reasons.push(Reason::Suspended {
            ns: clocks.suspended_ns,
        });
    }
    if clocks.wall_clock_stepped_ns != 0 {
        reasons.push(Reason::WallClockStepped {
            ns: clocks.wall_clock_stepped_ns,
        });
    }
    if let (Some(true), Some(before), Some(after)) = (
        clocks.clock_source_changed.known(),
        clocks.clock_source_before.known(),
        clocks.clock_source_after.known(),
    ) {
        reasons.push(Reason::ClockSourceChanged {
            before: before.clone(),
            after: after.clone(),
        });
    }
    reasons
}

/// What the program itself costs for each operation, over the workers' time. That is what it takes by itself on the
/// null storage: how the C library's buffers, page faults and waiting for a processor show in its processor time is the
/// storage's and the machine's matter. What the caches of a busy processor add is not in it.
pub(super) fn own_fraction(record: &Record) -> Fact<f64> {
    if record.storage == NULL || is_ladder(record) {
        return Fact::NotApplicable;
    }
    let Some(phase) = transactions(record) else {
        return Fact::NotApplicable;
    };
    let workers_ns: u64 = phase
        .workers
        .iter()
        .map(|worker| worker.ended_ns.saturating_sub(worker.began_ns))
        .sum();
    let operations: u64 = operations(phase).map(|operation| operation.meter.operations).sum();
    if workers_ns == 0 {
        return Fact::Unavailable(format!("no time was measured in {}", Phase::Transactions.name()));
    }
    let share = |ns_per_operation: f64| (ns_per_operation * operations as f64 / workers_ns as f64).min(1.0);
    record.actual.own_cost.as_ref().map(|cost| share(cost.ns_per_operation))
}

/// Where the run was long enough for the kernel's ticks.
fn judged(record: &Record, fraction: Fact<f64>) -> Fact<f64> {
    if record.during.clocks.elapsed_ns < SHARES_FROM_NS {
        return Fact::Unavailable(
            "the run was shorter than a second, of which the kernel's ticks tell too little".to_owned(),
        );
    }
    fraction
}

/// In user mode: write-back, journals and loop devices are threads of the kernel that work for the run, too, and have
/// none. A FUSE file system is a program, and works for the run as well.
pub(super) fn others_fraction(record: &Record) -> Fact<f64> {
    let targets = record.locations.iter().filter_map(|location| location.target.known());
    let mut kinds = targets.filter_map(|target| target.mount.known().map(|mount| &mount.file_system_type));
    if kinds.any(|kind| kind == "fuse" || kind.starts_with("fuse.")) {
        return Fact::Unavailable("the target's own program (FUSE) is among the others".to_owned());
    }
    judged(record, record.during.counted.others_user_fraction())
}

pub(super) fn steal_fraction(record: &Record) -> Fact<f64> {
    judged(record, record.during.counted.steal_fraction())
}
