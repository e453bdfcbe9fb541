//! Skipped operations, which are excluded from rates and counted by reason. The transactions end if
//! workers can perform no operation.

use std::time::{Duration, Instant};

use engines::simulated::{Code, Fault, Simulated};
use record::{End, Fact, PhaseRecord, Record};
use runner::{Place, RunSpec};
use spec::{Drive, OnError, Stop};
use testkit::{
    Assert,
    runs::{by, private, shared},
    simulate,
};
use verdict::rules::RanDry;
use verdict::{Level, Reason, Summary};
use workload::classic::Bias;
use workload::sizes::Sizes;
use workload::{Action, Classic, Mix, Skipped, Weights, Workers, Workload};

const MIB: u64 = 1 << 20;

/// Returns a mix whose files are created with their maximum size.
fn full(weights: Weights) -> Mix {
    Mix {
        files: 50,
        transactions: 4_000,
        weights,
        sizes: Sizes::Fixed(1_000),
        append_sizes: Sizes::Fixed(10),
        size_max_bytes: 1_000,
        ..Mix::default()
    }
}

fn request(workload: Workload, stop: Stop) -> RunSpec {
    RunSpec {
        room_check: false,
        check: true,
        drive: Drive {
            stop,
            ..Drive::default()
        },
        ..RunSpec::classic(workload, vec!["/simulated/0".into()], Place::Nowhere)
    }
}

fn run(request: &RunSpec, depth: usize) -> Record {
    let engine = Simulated::new(Code::Posix, 5).with_depth(depth, 1);
    simulate(request, &engine)
}

fn timed(mix: Mix, workers: Workers) -> Record {
    let mix = Mix {
        transactions: Workload::ENDLESS,
        ..mix
    };
    let workload = by(workers, mix);
    run(&request(workload, Stop::After(Duration::from_secs(60))), 1)
}

fn transactions(record: &Record) -> &PhaseRecord {
    record.actual.transactions().next().unwrap()
}

/// Asserts that the number of issued transactions is the sum of completed, failed and skipped
/// transactions.
fn assert_counts_add_up(record: &Record) {
    let phase = transactions(record);
    let (completed, failed) = phase.tried();
    let skipped = phase.skipped().total();
    assert_eq!(phase.issued(), completed + failed + skipped);
    assert_eq!(phase.transactions(), completed);
    let of_workers: u64 = phase.workers.iter().map(|worker| worker.transactions).sum();
    assert_eq!(of_workers, completed);
    let rate = Summary::of(record).transactions.unwrap().rate;
    assert_eq!(rate.count, completed);
}

#[test]
fn rates_exclude_skipped_operations() {
    let mix = full(
        Weights::default()
            .with(Action::Read, 1)
            .with(Action::Append, 4),
    );
    let record = run(&request(mix.into(), Stop::Transactions), 1);
    assert_counts_add_up(&record);
    let phase = transactions(&record);
    assert_eq!(phase.issued(), 4_000);
    let skipped = phase.skipped();
    assert_eq!(skipped.at_maximum_size, skipped.total());
    assert!((3_000..3_400).contains(&skipped.total()), "{skipped:?}");
    let summary = Summary::of(&record);
    let reason =
        |reason: &&Reason| matches!(reason, Reason::Skipped(skipped) if skipped.fraction > 0.7);
    assert!(summary.verdict.reasons.iter().any(|found| reason(&found)));
    assert_eq!(summary.verdict.level, Level::Invalid);
}

#[test]
fn run_ends_if_no_file_can_grow() {
    let began = Instant::now();
    let record = timed(full(Weights::default().with(Action::Append, 1)), private(2));
    began
        .elapsed()
        .assert(began.elapsed() < Duration::from_secs(30));
    assert_eq!(record.actual.end, Fact::Known(End::NothingPossible));
    assert_eq!(transactions(&record).transactions(), 0);
    assert_counts_add_up(&record);
    let verdict = Summary::of(&record).verdict;
    assert!(verdict.reasons.iter().any(|reason| matches!(
        reason,
        Reason::RanDry(RanDry {
            end: End::NothingPossible,
            ..
        })
    )));
}

#[test]
fn run_with_readers_ends_if_its_writer_can_append_to_no_file() {
    let began = Instant::now();
    let mix = full(
        Weights::default()
            .with(Action::Read, 1)
            .with(Action::Append, 1),
    );
    let workers = shared(1, 2);
    let record = timed(mix, workers);
    began
        .elapsed()
        .assert(began.elapsed() < Duration::from_secs(30));
    assert_eq!(record.actual.end, Fact::Known(End::NothingPossible));
    assert_counts_add_up(&record);
    assert_eq!(transactions(&record).skipped().at_maximum_size, 1_000);
}

#[test]
fn run_ends_once_its_writer_has_deleted_all_files() {
    let began = Instant::now();
    let mix = Mix {
        weights: Weights::default()
            .with(Action::Read, 1)
            .with(Action::Delete, 1),
        ..full(Weights::default())
    };
    let workers = shared(1, 1);
    let record = timed(mix, workers);
    began
        .elapsed()
        .assert(began.elapsed() < Duration::from_secs(30));
    assert_eq!(record.actual.end, Fact::Known(End::NothingPossible));
    assert_counts_add_up(&record);
    assert!(transactions(&record).skipped().pool_empty >= 1_000);
}

#[test]
fn run_continues_if_some_operations_are_possible() {
    // Only one operation in two thousand can be performed: a read. The consecutive skips between
    // reads often reach the number at which the pool is checked for possible operations.
    let weights = Weights::default()
        .with(Action::Read, 1)
        .with(Action::Append, 2_000);
    let mix = Mix {
        transactions: 40_000,
        ..full(weights)
    };
    let record = run(&request(mix.into(), Stop::Transactions), 1);
    assert_eq!(record.actual.end, Fact::Known(End::Complete));
    assert_eq!(transactions(&record).issued(), 40_000);
    assert!(transactions(&record).transactions() > 5);
    assert_counts_add_up(&record);
}

#[test]
fn run_ends_once_appends_have_filled_all_files() {
    // Popular files reach their maximum size long before the least popular file.
    let mix = Mix {
        size_max_bytes: 1_200,
        popularity: "zipf:1.2".parse().unwrap(),
        ..full(Weights::default().with(Action::Append, 1))
    };
    let record = timed(mix, Workers::Private { workers: 1 });
    assert_eq!(record.actual.end, Fact::Known(End::NothingPossible));
    // Each file grows by twenty appends of 10 bytes until it is full.
    assert_eq!(transactions(&record).transactions(), 50 * 20);
    assert_counts_add_up(&record);
}

fn classic(bias_read: i64, bias_create: i64) -> Workload {
    Classic {
        files: 200,
        transactions: 3_000,
        size_low_bytes: 500,
        size_high_bytes: 600,
        bias_read: Bias::new(bias_read).unwrap(),
        bias_create: Bias::new(bias_create).unwrap(),
        ..Classic::default()
    }
    .into()
}

#[test]
fn transaction_counts_if_one_operation_of_its_pair_was_performed() {
    for depth in [1, 8] {
        // The first operation of each transaction is an append, and the other one creates or
        // deletes a file. Files soon reach their maximum size, so later appends are skipped.
        let record = run(&request(classic(0, 5), Stop::Transactions), depth);
        let phase = transactions(&record);
        let (completed, failed) = phase.tried();
        assert_eq!(phase.issued(), 3_000);
        assert_eq!(phase.transactions(), 3_000, "depth {depth}");
        assert_eq!(failed, 0);
        phase
            .skipped()
            .assert(phase.skipped().at_maximum_size > 300);
        assert_eq!(completed + phase.skipped().total(), 6_000);
        // The second operation is disabled, so a transaction whose append is skipped performs no
        // operation and does not count.
        let record = run(&request(classic(0, -1), Stop::Transactions), depth);
        let phase = transactions(&record);
        assert_eq!(phase.issued(), 3_000);
        assert_eq!(phase.transactions(), phase.tried().0, "depth {depth}");
        assert_eq!(phase.transactions() + phase.skipped().total(), 3_000);
        assert!(phase.skipped().at_maximum_size > 300);
        // A disabled operation of a pair does not count as skipped.
        let record = run(&request(classic(5, -1), Stop::Transactions), depth);
        let phase = transactions(&record);
        let appends_at_maximum = phase.skipped();
        assert_eq!(
            phase.transactions() + appends_at_maximum.total(),
            3_000,
            "depth {depth}"
        );
        assert_eq!(
            appends_at_maximum.total(),
            appends_at_maximum.at_maximum_size
        );
    }
}

#[test]
fn classic_run_without_operations_processes_all_transactions() {
    // Both operations of each pair are disabled. The original PostMark nevertheless processes all
    // transactions.
    let record = run(&request(classic(-1, -1), Stop::Transactions), 1);
    assert_eq!(record.actual.end, Fact::Known(End::Complete));
    assert_eq!(transactions(&record).issued(), 3_000);
    assert_eq!(transactions(&record).transactions(), 0);
    assert_eq!(transactions(&record).skipped(), Skipped::default());
}

#[test]
fn run_ends_when_all_files_have_unknown_state() {
    let mix = Mix {
        size_max_bytes: MIB,
        ..full(Weights::default().with(Action::Append, 1))
    };
    let endless = Mix {
        transactions: Workload::ENDLESS,
        ..mix.clone()
    };
    let request = RunSpec {
        check: false,
        on_error: OnError::Percent(100.0),
        ..request(endless.into(), Stop::After(Duration::from_secs(60)))
    };
    let prepared = RunSpec {
        check: false,
        workload: Mix {
            transactions: 0,
            ..mix.clone()
        }
        .into(),
        drive: Drive::default(),
        ..request.clone()
    };
    let calls = {
        let engine = Simulated::new(Code::Posix, 5);
        simulate(&prepared, &engine);
        engine.calls()
    };
    // The last 50 calls of the run without transactions delete its 50 files. In the run with
    // transactions, the calls with the same numbers open the files for appends, and fail.
    let faults = (calls - 50)..calls;
    let engine = faults.fold(Simulated::new(Code::Posix, 5), |engine, call| {
        engine.fault_at(call, Fault::Error(rustix::io::Errno::IO.raw_os_error()))
    });
    let record = simulate(&request, &engine);
    assert_eq!(record.actual.end, Fact::Known(End::NothingPossible));
    let phase = transactions(&record);
    let (completed, failed) = phase.tried();
    assert!(
        failed > 0 && completed < 1_000_000,
        "{completed} completed, {failed} failed"
    );
    assert_eq!(phase.skipped().after_failure, phase.skipped().total());
    assert_counts_add_up(&record);
}
