//! A valid record, and changes that tests make to it.

use record::{
    Action, ArrivalProcess, Climb, Fact, FirstDone, Meter, OperationRecord, Overhead, Phase,
    PhaseRecord, Record, Role, Segment, SegmentKind, SliceMeter, Sweep, SweepStep,
};
use system::Mount;
pub use testkit::records::{histogram, kept, meter};
use testkit::{
    records::{self, worker},
    runs::at_rate,
};
use verdict::rules::Seen;
use verdict::{Level, Reason, Summary, Verdict};

pub const SECOND: u64 = 1_000_000_000;
/// Start of the transactions, in nanoseconds since the origin.
pub const BEGAN: u64 = 7 * SECOND;

/// Returns the record of [`kept`], changed to a valid run with a measured time of one minute.
pub fn well() -> Record {
    let mut record = kept();
    measure_for(&mut record, 60 * SECOND, 60_000);
    tell_rates(&mut record, &[1_000; 60]);
    let process = 60 * SECOND;
    let during = &mut record.during;
    during.clocks.elapsed_ns = 61 * SECOND;
    let counted = &mut during.counted;
    let times = known(&mut counted.system.times);
    // Two processors offered 61 s each. The run used one of them for 60 s.
    times.total_ns = Fact::Known(122 * SECOND);
    times.user_ns = Fact::Known(process / 4);
    times.nice_ns = Fact::Known(0);
    times.steal_ns = Fact::Known(0);
    times.busy_ns = Fact::Known(process);
    known(&mut counted.process).user_ns = process / 4;
    known(&mut counted.process).system_ns = process * 3 / 4;
    record
}

pub fn known<T>(fact: &mut Fact<T>) -> &mut T {
    match fact {
        Fact::Known(value) => value,
        _ => panic!("the kept record knows it"),
    }
}

pub fn phase(record: &mut Record, phase: Phase) -> &mut PhaseRecord {
    let mut phases = record.actual.phases.iter_mut();
    phases.find(|record| record.phase == phase).unwrap()
}

pub fn transactions(record: &mut Record) -> &mut PhaseRecord {
    phase(record, Phase::Transactions)
}

/// Changes the evidence: transactions read `read_bytes`, of which the kernel fetched
/// `fetched_bytes`.
pub fn reads(record: &mut Record, fetched_bytes: Fact<u64>, read_bytes: u64) {
    let evidence = serde_json::json!({
        "performing": {
            "own": { "read_bytes": fetched_bytes, "written_bytes": "not_applicable",
                "cancelled_bytes": "not_applicable" },
            "devices": "not_applicable",
            "messages": "not_applicable",
            "interfaces": "not_applicable",
            "allocated_bytes": "not_applicable",
        },
        "syncing": null,
        "residency": null,
    });
    let phase = transactions(record);
    phase.evidence = Some(serde_json::from_value(evidence).unwrap());
    let segments = phase.segments.iter_mut();
    let operations = segments.flat_map(|segment| &mut segment.operations);
    let mut reads = operations.filter(|operation| operation.action == Action::Read);
    reads.next().unwrap().meter.bytes = read_bytes;
    reads.for_each(|operation| operation.meter.bytes = 0);
}

pub fn segment(kind: SegmentKind, began_ns: u64, ended_ns: u64, operations: u64) -> Segment {
    let reads = vec![operation(Action::Read, meter(operations))];
    records::segment(kind, began_ns, ended_ns, operations, reads)
}

pub fn operation(action: Action, meter: Meter) -> OperationRecord {
    records::operation(Role::Worker, action, meter)
}

/// Replaces the measured transactions: one worker completed `operations` reads in `ns` nanoseconds.
pub fn measure_for(record: &mut Record, ns: u64, operations: u64) {
    let transactions = transactions(record);
    let ended = BEGAN + ns;
    transactions.segments = vec![segment(SegmentKind::Measured, BEGAN, ended, operations)];
    let of_worker = worker((0, Role::Worker), BEGAN, ended, operations, operations);
    transactions.workers = vec![of_worker];
    transactions.first_done = Some(FirstDone {
        worker: 0,
        at_ns: ended,
        done: operations,
    });
}

/// Sets the time series: `rates` contains the operations of each second of the transactions.
pub fn tell_rates(record: &mut Record, rates: &[u64]) {
    let transactions = transactions(record);
    transactions.slices = Default::default();
    for (index, operations) in (0..).zip(rates) {
        let meter = SliceMeter {
            operations: *operations,
            ..SliceMeter::default()
        };
        if *operations > 0 {
            transactions
                .slices
                .add(index, (Role::Worker, Action::Read), meter);
        }
    }
}

/// Returns the verdict on a valid record after a change.
pub fn of(change: impl FnOnce(&mut Record)) -> Verdict {
    let mut record = well();
    change(&mut record);
    let verdict = Verdict::of(&record);
    assert_eq!(Summary::of(&record).verdict, verdict);
    let worst = verdict.reasons.iter().map(Reason::level).max();
    assert_eq!(verdict.level, worst.unwrap_or(Level::Valid));
    verdict
}

pub fn is_valid(change: impl FnOnce(&mut Record)) -> Seen {
    let verdict = of(change);
    assert_eq!(
        (verdict.level, &verdict.reasons[..]),
        (Level::Valid, &[][..])
    );
    verdict.seen
}

/// Applies a change to a valid record. Returns the only reason of its verdict, with its level.
pub fn reason(change: impl FnOnce(&mut Record)) -> (Level, Reason) {
    let verdict = of(change);
    let [reason] = &verdict.reasons[..] else {
        panic!("{:?}", verdict.reasons);
    };
    (verdict.level, reason.clone())
}

pub fn close(read: f64, expected: f64) {
    assert!(
        (read - expected).abs() < 1e-9,
        "{read} instead of {expected}"
    );
}

/// Returns a rate for each second. The rates have a mean of 1,000,000 and change linearly. `change`
/// is the total change as a share of the mean.
pub fn ramp(seconds: u64, change: f64) -> Vec<u64> {
    let at = |second: u64| 1e6 * (1.0 + change * (second as f64 / (seconds - 1) as f64 - 0.5));
    (0..seconds).map(|second| at(second) as u64).collect()
}

pub fn arrivals(record: &mut Record, per_second: f64, arrivals: ArrivalProcess) {
    record.spec.drive.pace = at_rate(per_second, arrivals);
}

pub fn overhead(record: &mut Record, ns_per_operation: f64) {
    record.actual.overhead = Fact::Known(Overhead {
        workers: 1,
        files: 500,
        transactions: 500,
        operations: 1_000,
        ns_per_operation,
    });
}

/// Adds processor time of other programs: a share of the 122 s of both processors.
pub fn others(record: &mut Record, fraction: f64) {
    let times = known(&mut record.during.counted.system.times);
    let own = *times.user_ns.known().unwrap();
    times.user_ns = Fact::Known(own + (122e9 * fraction) as u64);
}

pub fn steal(record: &mut Record, fraction: f64) {
    let times = known(&mut record.during.counted.system.times);
    times.steal_ns = Fact::Known((122e9 * fraction) as u64);
}

pub fn target(record: &mut Record) -> &mut record::Target {
    known(&mut record.locations[0].target)
}

pub fn mount(record: &mut Record) -> &mut Mount {
    known(&mut target(record).mount)
}

/// Makes the run a load sweep with one level, which did not reach its rate.
pub fn sweep(record: &mut Record, phase: PhaseRecord) {
    arrivals(record, 1_000_000.0, ArrivalProcess::Constant);
    record.spec.drive.sweep = Some(Sweep {
        climb: Climb::Rates(vec![1_000_000.0]),
        arrivals: ArrivalProcess::Constant,
        fresh: false,
        slo_operation: None,
        slo_p99_ns: None,
    });
    record
        .actual
        .phases
        .retain(|phase| phase.phase != Phase::Transactions);
    record.actual.sweep_steps = vec![SweepStep {
        load: record::Load::Rate(1_000_000.0),
        name: None,
        workers: 1,
        phases: vec![phase],
        of_run: None,
    }];
}
