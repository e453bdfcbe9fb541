//! Tests the numbers that are derived from a record, each in a case that can be calculated by hand.

use record::{
    Action, Cache, ClaimWaits, Fact, FirstDone, Meter, Mix, OperationRecord, Outcome, Overhead,
    Phase, PhaseRecord, PhaseSync, Record, Role, SegmentKind, StepRecord, SweepStep, WorkerPhase,
    Workload,
};
use testkit::{
    kept,
    records::{self, empty_phase, histogram, meter, segment},
    runs::shared,
};
use verdict::summary::{Surprise, shares, transactions_meant};
use verdict::{PhaseSummary, Summary};

use crate::verdict::made::reads;

const SECOND: u64 = 1_000_000_000;

fn operation(
    role: Role,
    action: Action,
    operations: u64,
    step_ns: &[(&str, u64)],
) -> OperationRecord {
    let steps = step_ns.iter().map(|(step, ns)| StepRecord {
        step: (*step).to_owned(),
        latency: histogram([*ns]),
    });
    let latency = histogram(vec![1_000; operations as usize]);
    let meter = Meter {
        bytes: operations * 100,
        latency,
        ..meter(operations)
    };
    OperationRecord {
        steps: steps.collect(),
        ..records::operation(role, action, meter)
    }
}

/// Returns a worker that started at 10 s and worked for `seconds`.
fn worker(worker: u32, role: Role, seconds: u64, done: u64, operations: u64) -> WorkerPhase {
    let ended_ns = (10 + seconds) * SECOND;
    records::worker((worker, role), 10 * SECOND, ended_ns, done, operations)
}

/// Returns a phase from 10 s to 14 s, with one segment for each list of operations.
fn phase(
    phase: Phase,
    segments: Vec<Vec<OperationRecord>>,
    workers: Vec<WorkerPhase>,
) -> PhaseRecord {
    let count = segments.len() as u64;
    let transactions: u64 = workers.iter().map(|worker| worker.transactions).sum();
    let segment = |(index, operations)| {
        let at_ns = |index: usize| 10 * SECOND + index as u64 * 4 * SECOND / count;
        // The first segment contains all transactions.
        let transactions = if index == 0 { transactions } else { 0 };
        let (began_ns, ended_ns) = (at_ns(index), at_ns(index + 1));
        segment(
            SegmentKind::Measured,
            began_ns,
            ended_ns,
            transactions,
            operations,
        )
    };
    PhaseRecord {
        segments: segments.into_iter().enumerate().map(segment).collect(),
        workers,
        ..empty_phase(phase)
    }
}

fn with_phases(phases: Vec<PhaseRecord>) -> Record {
    let mut record = kept();
    record.actual.phases = phases;
    record
}

fn summary_of(record: PhaseRecord) -> PhaseSummary {
    Summary::of(&with_phases(vec![record])).phases.remove(0)
}

#[test]
fn times_to_first_worker_last_worker_and_durable_are_measured_from_phase_start() {
    let creates = vec![vec![operation(Role::Worker, Action::Create, 120, &[])]];
    let mut prepare = phase(Phase::Prepare, creates, Vec::new());
    prepare.first_done = Some(FirstDone {
        worker: 1,
        at_ns: 12 * SECOND,
        done: 90,
    });
    prepare.sync = Some(PhaseSync {
        began_ns: 15 * SECOND,
        ended_ns: 17 * SECOND,
        space_back_ns: Fact::NotApplicable,
    });
    let summary = summary_of(prepare);
    let first = summary.first_done.unwrap();
    assert_eq!(
        (first.ns, first.done.count, first.done.per_second),
        (2 * SECOND, 90, Some(45.0))
    );
    assert_eq!(
        (summary.last_done.ns, summary.last_done.done.per_second),
        (4 * SECOND, Some(30.0))
    );
    // The phase takes 4 s, and the sync after it takes 2 s. The pause of 1 s between phase and sync
    // does not count.
    let durable = summary.until_durable.unwrap();
    assert_eq!(
        (durable.ns, durable.done.per_second),
        (6 * SECOND, Some(20.0))
    );
    assert_eq!(summary.sync_ns, Some(2 * SECOND));
    assert_eq!(
        summary.space_back_ns, None,
        "it is looked at after deletion"
    );
}

#[test]
fn unmeasured_values_are_none() {
    let summary = summary_of(phase(Phase::Delete, vec![Vec::new()], Vec::new()));
    assert_eq!(summary.first_done, None);
    assert_eq!((summary.until_durable, summary.sync_ns), (None, None));
    assert_eq!(summary.last_done.done.per_second, Some(0.0));
    assert!(summary.spread.is_empty() && summary.claim_waits.is_empty());
    let empty = summary_of(phase(Phase::Prepare, Vec::new(), Vec::new()));
    assert_eq!(
        (empty.duration_ns, empty.last_done.done.per_second),
        (0, None)
    );
}

#[test]
fn time_until_space_is_free_is_reported() {
    for fact in [
        Fact::Known(3 * SECOND),
        Fact::Unavailable("it went on".to_owned()),
    ] {
        let mut delete = phase(Phase::Delete, Vec::new(), Vec::new());
        delete.sync = Some(PhaseSync {
            began_ns: 14 * SECOND,
            ended_ns: 15 * SECOND,
            space_back_ns: fact.clone(),
        });
        assert_eq!(summary_of(delete).space_back_ns, Some(fact));
    }
}

#[test]
fn rates_of_workers_use_their_own_time() {
    let workers = vec![
        worker(0, Role::Writer, 4, 40, 80),
        worker(1, Role::Writer, 2, 40, 80),
        worker(2, Role::Reader, 1, 5, 5),
        worker(3, Role::Reader, 1, 9, 9),
        worker(4, Role::Reader, 1, 1, 1),
    ];
    let spread = summary_of(phase(
        Phase::Transactions,
        vec![Vec::new()],
        workers.clone(),
    ))
    .spread;
    let figures: Vec<_> = spread
        .iter()
        .map(|of| {
            let sum = (of.sum_per_second, of.mean_per_second);
            (
                of.role,
                of.workers,
                sum,
                of.min_per_second,
                of.median_per_second,
                of.max_per_second,
            )
        })
        .collect();
    assert_eq!(
        figures,
        [
            (Role::Writer, 2, (30.0, 15.0), 10.0, 15.0, 20.0),
            (Role::Reader, 3, (15.0, 5.0), 1.0, 5.0, 9.0),
        ]
    );
    // Workers have different roles in transactions only. In other phases, rates count operations.
    let spread = summary_of(phase(Phase::Delete, vec![Vec::new()], workers)).spread;
    assert_eq!(spread.len(), 1);
    assert_eq!((spread[0].role, spread[0].workers), (Role::Worker, 5));
    assert_eq!(
        (spread[0].min_per_second, spread[0].max_per_second),
        (1.0, 40.0)
    );
}

#[test]
fn one_worker_has_no_spread_and_a_worker_without_time_no_rate() {
    let one = vec![worker(0, Role::Worker, 4, 40, 80)];
    assert!(
        summary_of(phase(Phase::Transactions, vec![Vec::new()], one))
            .spread
            .is_empty()
    );
    let two = vec![
        worker(0, Role::Worker, 0, 0, 0),
        worker(1, Role::Worker, 4, 40, 80),
    ];
    let spread = &summary_of(phase(Phase::Transactions, vec![Vec::new()], two)).spread[0];
    assert_eq!((spread.min_per_second, spread.max_per_second), (0.0, 10.0));
}

#[test]
fn operations_of_one_kind_are_added_up_over_segments() {
    let segments = || {
        vec![
            vec![
                operation(
                    Role::Writer,
                    Action::Create,
                    30,
                    &[("open", 100), ("close", 10)],
                ),
                operation(Role::Reader, Action::Create, 10, &[("open", 300)]),
            ],
            vec![operation(
                Role::Writer,
                Action::Create,
                60,
                &[("open", 200), ("write", 50)],
            )],
        ]
    };
    let prepare = summary_of(phase(Phase::Prepare, segments(), Vec::new()));
    let [create] = &prepare.operations[..] else {
        panic!("one kind of operation: {:?}", prepare.operations);
    };
    assert_eq!((create.role, create.operations.count), (Role::Worker, 100));
    assert_eq!(
        create.operations.per_second,
        Some(25.0),
        "over both segments"
    );
    assert_eq!(create.bytes.count, 10_000);
    let steps: Vec<_> = create
        .steps
        .iter()
        .map(|step| {
            (
                step.step.as_str(),
                step.count,
                step.duration_ns.mean,
                step.duration_ns.max,
            )
        })
        .collect();
    assert_eq!(
        steps,
        [
            ("open", 3, Some(200.0), Some(300)),
            ("close", 1, Some(10.0), Some(10)),
            ("write", 1, Some(50.0), Some(50)),
        ]
    );
    let mixed = summary_of(phase(Phase::Transactions, segments(), Vec::new()));
    let roles: Vec<_> = mixed
        .operations
        .iter()
        .map(|operation| (operation.role, operation.operations.count))
        .collect();
    assert_eq!(roles, [(Role::Writer, 90), (Role::Reader, 10)]);
}

#[test]
fn totals_of_transactions_include_all_segments_and_roles() {
    let mut record = kept();
    let segments = vec![
        vec![
            operation(Role::Writer, Action::Append, 1_500, &[]),
            operation(Role::Reader, Action::Read, 400, &[]),
        ],
        vec![operation(Role::Writer, Action::Read, 600, &[])],
    ];
    let workers = vec![worker(0, Role::Writer, 4, 2_000, 2_500)];
    record.actual.phases = vec![phase(Phase::Transactions, segments, workers)];
    let summary = Summary::of(&record);
    let all = summary.transactions.unwrap();
    assert_eq!((all.rate.count, all.rate.per_second), (2_000, Some(500.0)));
    assert_eq!(
        (all.read_bytes.count, all.written_bytes.count),
        (100_000, 150_000)
    );
    assert_eq!(summary.operations.len(), 2);
    let read = &summary.operations["read"];
    assert_eq!(
        (read.rate.count, read.rate.per_second),
        (1_000, Some(250.0)),
        "of both roles"
    );
    // Ten of a thousand durations are beyond the 99th percentile, and one is beyond the 99.9th. A
    // percentile is reported only if at least ten are beyond it.
    assert_eq!(
        (read.latency_ns.p99, read.latency_ns.p99_9),
        (Some(1_000), None)
    );
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["transactions"]["per_second"], 500.0);
    assert_eq!(json["operations"]["read"]["latency_ns"]["p99"], 1_000);
    assert!(json["operations"]["read"]["latency_ns"]["p99_9"].is_null());
}

#[test]
fn roles_without_claim_waits_are_omitted() {
    let mut transactions = phase(Phase::Transactions, vec![Vec::new()], Vec::new());
    transactions.claim_waits = [(Role::Writer, &[][..]), (Role::Reader, &[100, 200, 600])]
        .map(|(role, waits)| ClaimWaits {
            role,
            wait: histogram(waits.iter().copied()),
        })
        .to_vec();
    let waits = summary_of(transactions).claim_waits;
    assert_eq!(waits.len(), 1);
    assert_eq!((waits[0].role, waits[0].count), (Role::Reader, 3));
    assert_eq!(
        (waits[0].wait_ns.mean, waits[0].wait_ns.max),
        (Some(300.0), Some(600))
    );
}

#[test]
fn workload_with_other_operations_has_no_paper_figures() {
    let mut record = kept();
    assert_eq!(Summary::of(&record).paper.unwrap().created.count, 748);
    record.spec.workload = Workload::from(Mix::default());
    let summary = Summary::of(&record);
    assert_eq!(summary.paper.unwrap().deleted_mixed.count, 252);
    let weights = Mix::classic_pairs(5, 5).with(Action::Stat, 1);
    record.spec.workload = Workload::from(Mix {
        weights,
        ..Mix::default()
    });
    assert_eq!(Summary::of(&record).paper, None);
}

#[test]
fn a_killed_run_has_no_paper_figures() {
    let mut record = kept();
    record.actual.outcome = Outcome::Unfinished;
    record.actual.phases.truncate(1);
    assert_eq!(
        Summary::of(&record).paper,
        None,
        "how many were deleted is not known"
    );
    // An interrupted run records its end. A phase that is missing in its record performed no work.
    record.actual.outcome = Outcome::Interrupted { signal: 2 };
    let paper = Summary::of(&record).paper.unwrap();
    assert_eq!(
        (paper.created_alone.count > 0, paper.deleted.count),
        (true, 0)
    );
}

#[test]
fn elapsed_time_excludes_the_time_between_phases() {
    let create = |role| vec![operation(role, Action::Create, 8, &[])];
    let mut later = phase(Phase::Transactions, vec![create(Role::Worker)], Vec::new());
    later.segments[0].began_ns += 90 * SECOND;
    later.segments[0].ended_ns += 90 * SECOND;
    let summary = Summary::of(&with_phases(vec![
        phase(Phase::Prepare, vec![create(Role::Worker)], Vec::new()),
        later,
    ]));
    assert_eq!(summary.elapsed_ns, 8 * SECOND);
    let paper = summary.paper.unwrap();
    assert_eq!(
        (paper.created.count, paper.created.per_second),
        (16, Some(16.0 / 8.0))
    );
}

#[test]
fn shares_of_a_role_are_computed_from_its_own_weights() {
    let mut workload = Workload::from(Mix {
        weights: "read=3,stat=1,append=2,create=1,delete=1".parse().unwrap(),
        transactions: 1_000,
        ..Mix::default()
    });
    let all = shares(&workload);
    let sum: f64 = all.iter().map(|share| share.fraction).sum();
    assert!((sum - 1.0).abs() < 1e-12, "{all:?}");
    workload.workers = shared(2, 1);
    let of = |role, action| {
        let all = shares(&workload);
        let found = all
            .iter()
            .find(|share| (share.role, share.action) == (role, action));
        found.map(|share| share.fraction)
    };
    assert_eq!(of(Role::Writer, Action::Append), Some(0.5));
    assert_eq!(of(Role::Reader, Action::Read), Some(0.75));
    assert_eq!(of(Role::Writer, Action::Read), None);
    assert_eq!(transactions_meant(&workload), 3_000);
    workload.workers = shared(0, 1);
    assert!(
        shares(&workload)
            .iter()
            .all(|share| share.role == Role::Reader)
    );
    assert!(
        shares(&kept().spec.workload).is_empty(),
        "the classic pairs are no mix"
    );
}

#[test]
fn an_unexpected_cache_state_is_reported() {
    use Surprise::{LittleThoughCold, MuchThoughWarm};
    for (cache, direct, device_bytes, read_bytes, expected) in [
        (Cache::Cold, false, 899, 1_000, Some(LittleThoughCold)),
        (Cache::Cold, false, 900, 1_000, None),
        (Cache::ColdData, false, 0, 1_000, Some(LittleThoughCold)),
        (Cache::Cold, true, 0, 1_000, None),
        (Cache::Warm, false, 100, 1_000, None),
        (Cache::Warm, false, 101, 1_000, Some(MuchThoughWarm)),
        (Cache::AsIs, false, 0, 1_000, None),
        (Cache::Cold, false, 0, 0, None),
    ] {
        let mut record = kept();
        record.spec.cache = cache;
        record.spec.direct = direct;
        reads(&mut record, Fact::Known(device_bytes), read_bytes);
        let served_by = Summary::of(&record).reads.unwrap();
        let why = format!("{cache}, direct {direct}, {device_bytes} of {read_bytes}");
        assert_eq!(served_by.surprise, expected, "{why}");
        assert_eq!(
            served_by.fraction,
            (read_bytes > 0).then(|| device_bytes as f64 / 1_000.0),
            "{why}"
        );
    }
}

#[test]
fn fraction_of_reads_from_device_is_unknown_without_fetched_bytes() {
    let mut record = kept();
    record.spec.cache = Cache::Cold;
    reads(&mut record, Fact::Unavailable("no /proc".to_owned()), 1_000);
    let served_by = Summary::of(&record).reads.unwrap();
    assert_eq!((served_by.fraction, served_by.surprise), (None, None));
}

#[test]
fn overhead_is_a_share_of_the_workers_time() {
    let mut record = with_phases(vec![
        phase(
            Phase::Prepare,
            vec![vec![]],
            vec![worker(0, Role::Worker, 100, 0, 100_000_000)],
        ),
        phase(
            Phase::Transactions,
            vec![vec![]],
            vec![
                worker(0, Role::Worker, 3, 1_000, 1_500_000),
                worker(1, Role::Worker, 5, 1_000, 2_500_000),
            ],
        ),
    ]);
    assert_eq!(Summary::of(&record).overhead, None, "it was not measured");
    record.actual.overhead = Fact::Known(Overhead {
        workers: 2,
        files: 1,
        transactions: 1,
        operations: 1,
        ns_per_operation: 200.0,
    });
    let own = Summary::of(&record).overhead.unwrap();
    // The overhead of four million operations is 0.8 s (0.2 µs each). This is 10 % of the 8 s for
    // which the two workers ran together.
    assert_eq!((own.ns_per_operation, own.fraction), (200.0, Some(0.1)));
    // In a load sweep, the overhead is the maximum share of all load levels.
    let transactions = record.actual.phases.pop().unwrap();
    record.actual.sweep_steps = vec![SweepStep {
        load: record::Load::Closed,
        name: None,
        workers: 2,
        phases: vec![transactions],
        of_run: None,
    }];
    assert_eq!(Summary::of(&record).overhead.unwrap().fraction, Some(0.1));
    record.actual.sweep_steps.clear();
    assert_eq!(
        Summary::of(&record).overhead.unwrap().fraction,
        None,
        "there is no time"
    );
}
