//! Synthetic records of runs with several workers, derived from the stored record of a real run
//! (`kept`). Every latency is computed from its index, so that reports are reproducible.

use std::ops::Range;

use record::machine::{
    Counts, DeviceOverTime, ProcessOverTime, States, SystemOverTime, ThreadOverTime, Unknown,
};
use record::{
    Accounted, Action, Cache, Check, ClaimWaits, DeviceCounters, DeviceReading, DeviceRole,
    Durability, EngineName, ErrorRecord, Fact, FirstDone, Histogram, MachineOverTime, Meter, Mix,
    OnError, OperationRecord, Outcome, OwnIo, Phase, PhaseEvidence, PhaseRecord, PhaseSync, Place,
    PlanRecord, Record, Residency, ResidencySample, Role, RunSpec, Segment, SegmentKind, Stalled,
    StepRecord, WorkerPhase, Workload,
};
use testkit::{
    records::{empty_phase, operation, segment, worker},
    runs::{self, by, keeping},
};
use workload::Skipped;

const MS: u64 = 1_000_000;

/// A histogram of `count` durations around `middle_ns`. One of 97 durations is seven times as long.
pub fn durations(count: u64, middle_ns: u64) -> Histogram {
    let mut histogram = Histogram::default();
    for number in 0..count {
        let tail = if number % 97 == 96 { 7 } else { 1 };
        histogram.record((middle_ns / 2 + number * 7_919 % middle_ns) * tail);
    }
    histogram
}

fn meter(operations: u64, bytes_each: u64, middle_ns: u64) -> Meter {
    Meter {
        operations,
        bytes: operations * bytes_each,
        latency: durations(operations, middle_ns),
        ..Meter::default()
    }
}

/// Returns a function that creates the record of an operation in a role. The returned function has
/// the parameters action, number of operations, bytes of each operation, and middle of the
/// durations in nanoseconds.
fn done_by(role: Role) -> impl Fn(Action, u64, u64, u64) -> OperationRecord {
    move |action, operations, bytes_each, middle_ns| {
        operation(role, action, meter(operations, bytes_each, middle_ns))
    }
}

/// Adds calls to an operation. Each call has a name and the middle of its durations in nanoseconds.
fn with_steps(mut operation: OperationRecord, steps: &[(&str, u64)]) -> OperationRecord {
    let step = |(step, middle_ns): &(&str, u64)| StepRecord {
        step: (*step).to_owned(),
        latency: durations(operation.meter.operations, *middle_ns),
    };
    operation.steps = steps.iter().map(step).collect();
    operation
}

/// A phase whose workers start together and end at different times. Each entry of `workers`
/// contains worker, role, milliseconds until the end, and number of operations.
fn phase(
    phase: Phase,
    ms: Range<u64>,
    workers: &[(u32, Role, u64, u64)],
    operations: Vec<OperationRecord>,
) -> PhaseRecord {
    let began_ns = ms.start * MS;
    let is_mixed = phase == Phase::Transactions;
    let workers: Vec<WorkerPhase> = workers
        .iter()
        .map(|(number, role, after_ms, done)| {
            let transactions = if is_mixed { *done } else { 0 };
            let ended_ns = began_ns + after_ms * MS;
            worker((*number, *role), began_ns, ended_ns, transactions, *done)
        })
        .collect();
    let all: u64 = workers.iter().map(|worker| worker.operations).sum();
    let first = workers.iter().min_by_key(|worker| worker.ended_ns).unwrap();
    let done_by_then = |worker: &WorkerPhase| {
        worker.operations * (first.ended_ns - began_ns) / (worker.ended_ns - began_ns)
    };
    let transactions = if is_mixed { all } else { 0 };
    let measured = SegmentKind::Measured;
    PhaseRecord {
        first_done: Some(FirstDone {
            worker: first.worker,
            at_ns: first.ended_ns,
            done: workers.iter().map(done_by_then).sum(),
        }),
        segments: vec![segment(
            measured,
            began_ns,
            ms.end * MS,
            transactions,
            operations,
        )],
        workers,
        ..empty_phase(phase)
    }
}

/// Evidence with bytes fetched from and written to a partition. Flushes are counted on the disk of
/// the partition.
pub fn evidence(fetched_bytes: Fact<u64>, written_bytes: u64) -> PhaseEvidence {
    let device = |name: &str, role, flushes: Fact<u64>| DeviceReading {
        name: name.to_owned(),
        role,
        counters: Fact::Known(DeviceCounters {
            reads: fetched_bytes.clone().map(|bytes| bytes / 4_096),
            read_bytes: fetched_bytes.clone(),
            writes: Fact::Known(written_bytes / 4_096),
            written_bytes: Fact::Known(written_bytes),
            flushes,
            reads_merged: Fact::Known(0),
            reading_ms: Fact::Known(1),
            writes_merged: Fact::Known(0),
            writing_ms: Fact::Known(1),
            in_flight: Fact::Known(0),
            busy_ms: Fact::Known(2),
            queued_ms: Fact::Known(2),
            discards: Fact::Known(0),
            discards_merged: Fact::Known(0),
            discarded_bytes: Fact::Known(0),
            discarding_ms: Fact::Known(0),
            flushing_ms: Fact::NotApplicable,
        }),
    };
    let counted = Accounted {
        own: OwnIo {
            read_bytes: fetched_bytes.clone(),
            written_bytes: Fact::Known(written_bytes),
            cancelled_bytes: Fact::Known(0),
        },
        devices: Fact::Known(vec![
            device(
                "vda1",
                DeviceRole::Target,
                Fact::Unavailable("flushes are counted of the whole disk only".to_owned()),
            ),
            device("vda", DeviceRole::WholeDisk, Fact::Known(7)),
        ]),
        messages: Fact::NotApplicable,
        interfaces: Fact::NotApplicable,
        allocated_bytes: Fact::NotApplicable,
    };
    PhaseEvidence {
        performing: counted.clone(),
        syncing: Some(counted),
        residency: None,
        server: None,
    }
}

/// The spec of a run of another workload, with the command line and the targets of the stored run
/// (`kept`).
fn asked(kept: &Record, workload: Workload) -> RunSpec {
    RunSpec {
        command_line: kept.spec.command_line.clone(),
        preset: kept.spec.preset.clone(),
        ..RunSpec::classic(workload, kept.spec.targets.clone(), Place::OwnDirectory)
    }
}

/// The record of a classic run of three workers with private pools.
pub fn private(kept: &Record) -> Record {
    let workload = by(runs::private(3), kept.spec.workload.clone());
    let all = |ends: [u64; 3], done: [u64; 3]| {
        [0, 1, 2].map(|worker| (worker as u32, Role::Worker, ends[worker], done[worker]))
    };
    let one = done_by(Role::Worker);
    let mut record = Record {
        spec: RunSpec {
            pin: true,
            ..asked(kept, workload)
        },
        ..kept.clone()
    };
    record.actual.phases = vec![
        phase(
            Phase::Prepare,
            0..40,
            &all([36, 40, 38], [500; 3]),
            vec![one(Action::Create, 1_500, 5_268, 70_000)],
        ),
        phase(
            Phase::Transactions,
            41..101,
            &all([60, 48, 51], [500; 3]),
            vec![
                one(Action::Create, 743, 5_142, 66_000),
                one(Action::Read, 700, 5_450, 21_000),
                one(Action::Append, 800, 2_066, 30_000),
                one(Action::Delete, 757, 0, 41_000),
            ],
        ),
        phase(
            Phase::Delete,
            102..120,
            &all([16, 17, 18], [495, 490, 501]),
            vec![one(Action::Delete, 1_486, 0, 33_000)],
        ),
    ];
    record.actual.check = Fact::Known(Check {
        names: 1_486,
        directories: 9,
        wrong: 0,
        left_out: 0,
        duration_ns: 2_345_678,
    });
    record
}

/// The mix of the run that [`shared`] returns.
pub fn mix() -> Mix {
    let mut mix = Mix {
        files: 2_000,
        transactions: 1_000,
        weights: "read=6,read-range=1,stat=2,append=2,create=2,delete=2,replace=1"
            .parse()
            .unwrap(),
        sizes: "lognormal:median=8KiB,sigma=1.2,max=1MiB".parse().unwrap(),
        size_max_bytes: 1 << 20,
        popularity: "zipf:0.99".parse().unwrap(),
        names: "hashed:16".parse().unwrap(),
        think: Default::default(),
        seed: 7,
        ..Mix::default()
    };
    mix.layout.shape = "tree:4x2".parse().unwrap();
    mix
}

/// The workload of two writers and two readers with a shared pool.
pub fn shared_workload() -> Workload {
    let contents = "compressible:3".parse().unwrap();
    let mut workload = by(runs::shared(2, 2), mix());
    if let Some(spec) = &mut workload.contents {
        spec.kind = contents;
        spec.dedup = 2.0;
    }
    workload
}

/// The record of two writers and two readers with a shared pool, and with everything that a report
/// can show.
pub fn shared(kept: &Record) -> Record {
    let mut record = Record {
        spec: RunSpec {
            engine: EngineName::POSIX,
            durability: Durability::FsyncDirectory.into(),
            cache: Cache::Cold,
            verify: true,
            on_error: OnError::Count(10),
            keeping: keeping(true, false),
            ack_log: Some("/var/ack_log".into()),
            ..asked(kept, shared_workload())
        },
        ..kept.clone()
    };
    let actual = &mut record.actual;
    actual.classic = None;
    actual.stream_hash = Fact::NotApplicable;
    actual.phases = vec![shared_prepare(), shared_transactions(), shared_delete()];
    for phase in &mut actual.phases {
        phase.machine = Some(machine(&phase.segments[0]));
    }
    actual.check =
        Fact::Unavailable("files whose operations had failed are in an unknown state".to_owned());
    for (phase, (fetched_bytes, written_bytes)) in
        actual
            .phases
            .iter_mut()
            .zip([(0, 25_600_000), (5_640_192, 40_960), (0, 8_192)])
    {
        phase.evidence = Some(evidence(Fact::Known(fetched_bytes), written_bytes));
    }
    let residency = Residency {
        before: Fact::Known(ResidencySample {
            files: 50,
            pages: 400,
            cached: 100,
            dirty: Fact::Known(0),
            under_write_back: Fact::Known(0),
        }),
        after: Fact::Unavailable("cannot open a file of the pool: Stale file handle".to_owned()),
    };
    actual.phases[1].evidence.as_mut().unwrap().residency = Some(residency);
    failures(&mut record);
    record
}

/// Two writers and two readers, each with milliseconds until the end, and number of operations.
fn workers(ends: [u64; 4], done: [u64; 4]) -> [(u32, Role, u64, u64); 4] {
    let role = |worker| {
        if worker < 2 {
            Role::Writer
        } else {
            Role::Reader
        }
    };
    [0, 1, 2, 3].map(|worker| (worker as u32, role(worker), ends[worker], done[worker]))
}

/// Counters of a machine with two processors and one partition of a disk, which is busy for half of
/// the time.
fn machine(segment: &Segment) -> MachineOverTime {
    let ns = segment.ended_ns - segment.began_ns;
    let count = |number: u64| Counts::from(vec![Some(number)]);
    let state = |number: u64| States {
        max: vec![Some(number)],
        last: vec![Some(number / 2)],
    };
    let thread = |tid: u32, name: &str, cpu_ns: u64| ThreadOverTime {
        tid,
        name: Fact::Known(name.to_owned()),
        cpu_ns: count(cpu_ns),
        waiting_ns: count(cpu_ns / 20),
    };
    let operations = segment
        .operations
        .iter()
        .map(|operation| operation.meter.operations)
        .sum::<u64>();
    let device = |name: &str, role, flushes| DeviceOverTime {
        name: name.to_owned(),
        role,
        reads: count(operations / 11),
        reads_merged: count(0),
        read_bytes: count(operations / 11 * 4_096),
        reading_ms: count(operations / 100),
        writes: count(operations * 2),
        writes_merged: count(operations / 7),
        written_bytes: count(operations * 20_480),
        writing_ms: count(operations / 4),
        discards: count(0),
        discarded_bytes: count(0),
        flushes,
        flushing_ms: count(operations / 3),
        busy_ms: count(ns / 2 / MS),
        queued_ms: count(operations),
        in_flight: state(4),
    };
    MachineOverTime {
        width_ns: 1_000 * MS,
        began_ns: segment.began_ns,
        index: vec![0],
        ended_ns: vec![segment.ended_ns],
        process: ProcessOverTime {
            user_ns: count(ns / 10),
            system_ns: count(ns / 3),
            voluntary_context_switches: count(operations * 2),
            involuntary_context_switches: count(operations / 40),
            minor_faults: count(operations / 50),
            major_faults: count(0),
            resident_bytes: state(12 << 20),
        },
        threads: Fact::Known(vec![
            thread(900, "postmark", ns / 200),
            thread(901, "worker 0", ns / 10),
            thread(902, "worker 1", ns / 9),
            thread(903, "worker 2", ns / 11),
            thread(904, "worker 3", ns / 10),
        ]),
        system: SystemOverTime {
            total_ns: count(ns * 2),
            busy_ns: count(ns * 3 / 5),
            user_ns: count(ns / 9),
            nice_ns: count(0),
            system_ns: count(ns * 2 / 5),
            iowait_ns: count(ns / 4),
            irq_ns: count(0),
            softirq_ns: count(ns / 100),
            steal_ns: count(ns / 400),
            context_switches: count(operations * 5),
            running_tasks: state(3),
            blocked_tasks: state(2),
            dirty_bytes: state(operations * 9_000),
            write_back_bytes: state(1 << 20),
        },
        devices: Fact::Known(vec![
            device("vda1", DeviceRole::Target, Counts::from(vec![None])),
            device("vda", DeviceRole::WholeDisk, count(operations / 2)),
        ]),
        unknown: vec![Unknown {
            why: "/sys/class/block/vda1/stat: flushes are counted of the whole disk only"
                .to_owned(),
            columns: vec![
                "devices.vda1.flushes".to_owned(),
                "devices.vda1.flushing_ms".to_owned(),
            ],
        }],
    }
}

fn sync(ms: Range<u64>, space_back_ns: Fact<u64>) -> PhaseSync {
    PhaseSync {
        began_ns: ms.start * MS,
        ended_ns: ms.end * MS,
        space_back_ns,
    }
}

fn shared_prepare() -> PhaseRecord {
    let create = |role| {
        let create = operation(role, Action::Create, meter(1_000, 12_800, 1_400_000));
        let steps = [
            ("open", 30_000),
            ("write", 25_000),
            ("sync", 900_000),
            ("close", 2_000),
            ("sync directory", 440_000),
        ];
        with_steps(create, &steps)
    };
    let workers = workers([680, 700, 693, 688], [500; 4]);
    let mut prepare = phase(
        Phase::Prepare,
        0..700,
        &workers,
        vec![create(Role::Writer), create(Role::Reader)],
    );
    prepare.sync = Some(sync(700..812, Fact::NotApplicable));
    prepare
}

fn shared_transactions() -> PhaseRecord {
    let (writer, reader) = (done_by(Role::Writer), done_by(Role::Reader));
    let reads = ["open", "read", "close"];
    let looks = [(reads[0], 9_000), (reads[1], 31_000), (reads[2], 1_000)];
    let mut append = writer(Action::Append, 570, 5_000, 950_000);
    append.meter.failed = 2;
    let appends = [
        ("open", 9_000),
        ("write", 20_000),
        ("sync", 920_000),
        ("close", 1_500),
    ];
    let operations = vec![
        writer(Action::Create, 576, 12_800, 1_450_000),
        with_steps(append, &appends),
        writer(Action::Delete, 560, 0, 480_000),
        writer(Action::Replace, 289, 12_800, 1_900_000),
        with_steps(reader(Action::Read, 1_330, 12_800, 41_000), &looks),
        with_steps(reader(Action::ReadRange, 221, 4_096, 17_000), &looks),
        reader(Action::Stat, 449, 0, 4_000),
    ];
    let workers = workers([990, 1_000, 141, 150], [1_000; 4]);
    let mut transactions = phase(Phase::Transactions, 830..1_830, &workers, operations);
    transactions.segments[0].skipped = Skipped {
        at_maximum_size: 3,
        after_failure: 4,
        ..Skipped::default()
    };
    transactions.segments[0].issued += 7;
    let waits = |role, count, middle_ns| ClaimWaits {
        role,
        wait: durations(count, middle_ns),
    };
    transactions.claim_waits = vec![
        waits(Role::Writer, 12, 33_000),
        waits(Role::Reader, 214, 900_000),
    ];
    transactions.sync = Some(sync(1_830..1_842, Fact::NotApplicable));
    transactions
}

fn shared_delete() -> PhaseRecord {
    let delete = |role| operation(role, Action::Delete, meter(1_007, 0, 500_000));
    let workers = workers([501, 503, 499, 508], [503, 504, 504, 503]);
    let mut delete = phase(
        Phase::Delete,
        1_850..2_358,
        &workers,
        vec![delete(Role::Writer), delete(Role::Reader)],
    );
    delete.sync = Some(sync(2_358..2_399, Fact::Known(1_041 * MS)));
    delete
}

fn failures(record: &mut Record) {
    let actual = &mut record.actual;
    actual.errors.push(ErrorRecord {
        operation: "append".to_owned(),
        step: "write".to_owned(),
        errno: Fact::Known(28),
        message: "No space left on device (os error 28)".to_owned(),
        count: 2,
        first_path: "/mnt/disk/pool/s1/s3/61c8864680b583eb".to_owned(),
        moved_bytes: Fact::Known(4_096),
    });
    let stalled = |worker, operation: &str, path: &str, seconds: u64, came_back| Stalled {
        worker,
        operation: operation.to_owned(),
        path: path.to_owned(),
        ns: seconds * 1_000 * MS,
        came_back,
    };
    actual.stalled = vec![
        stalled(
            Some(3),
            "read",
            "/mnt/disk/pool/s0/s2/3c6ef372fe94f82b",
            61,
            true,
        ),
        stalled(None, "sync (syncfs)", "/mnt/disk/pool", 300, false),
    ];
    actual.outcome = Outcome::Complete;
}

/// The plan of a workload on the targets of the stored run (`kept`). The space is known only for
/// the workload of that run.
pub fn plan(kept: &Record, workload: Workload) -> PlanRecord {
    let targets = kept
        .locations
        .iter()
        .filter_map(|location| location.target.known());
    let room = kept.room.clone().filter(|_| workload == kept.spec.workload);
    PlanRecord {
        tool: kept.tool.clone(),
        plan: workload::Planner::new(&workload).plan().unwrap(),
        spec: RunSpec {
            workload,
            engine: EngineName::POSIX,
            ..kept.spec.clone()
        },
        load_level: None,
        sizing: None,
        followed: None,
        room: room.map_or(Fact::NotApplicable, Fact::Known),
        targets: targets.cloned().collect(),
        refused: Vec::new(),
        time: None,
        expected: Vec::new(),
        process: Fact::NotApplicable,
    }
}
