//! Operations that are not performed: in no rate, counted by reason; and a worker that can perform
//! none.

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

/// Files that have their maximum size as they are created.
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

/// The parts add up: what was issued, completed, skipped and failed.
fn adds_up(record: &Record) {
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
fn rates_do_not_count_skipped_operations() {
    let mix = full(
        Weights::default()
            .with(Action::Read, 1)
            .with(Action::Append, 4),
    );
    let record = run(&request(mix.into(), Stop::Transactions), 1);
    adds_up(&record);
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
fn a_writer_with_only_full_files_ends_the_run() {
    let began = Instant::now();
    let record = timed(full(Weights::default().with(Action::Append, 1)), private(2));
    began
        .elapsed()
        .assert(began.elapsed() < Duration::from_secs(30));
    assert_eq!(record.actual.end, Fact::Known(End::NothingPossible));
    assert_eq!(transactions(&record).transactions(), 0);
    adds_up(&record);
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
fn writers_of_a_shared_pool_with_only_full_files_end_the_run_of_its_readers() {
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
    adds_up(&record);
    assert_eq!(transactions(&record).skipped().at_maximum_size, 1_000);
}

#[test]
fn readers_of_a_pool_that_writers_empty_end_the_run() {
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
    adds_up(&record);
    assert!(transactions(&record).skipped().pool_empty >= 1_000);
}

#[test]
fn a_worker_that_can_perform_some_operations_goes_on() {
    // One in two thousand can be performed, so that rows of skipped operations are longer than the
    // number after which a worker without any is looked for.
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
    adds_up(&record);
}

#[test]
fn files_that_fill_up_end_the_run_when_all_are_full() {
    // The popular files are full long before the last one is.
    let mix = Mix {
        size_max_bytes: 1_200,
        popularity: "zipf:1.2".parse().unwrap(),
        ..full(Weights::default().with(Action::Append, 1))
    };
    let record = timed(mix, Workers::Private { workers: 1 });
    assert_eq!(record.actual.end, Fact::Known(End::NothingPossible));
    // Each file takes twenty appends of 10 bytes.
    assert_eq!(transactions(&record).transactions(), 50 * 20);
    adds_up(&record);
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
fn a_pair_counts_when_one_half_was_performed() {
    for depth in [1, 8] {
        // Appends only, to files that are soon full; each transaction also creates or deletes.
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
        // Without the other half, a skipped append is a transaction of which nothing was performed.
        let record = run(&request(classic(0, -1), Stop::Transactions), depth);
        let phase = transactions(&record);
        assert_eq!(phase.issued(), 3_000);
        assert_eq!(phase.transactions(), phase.tried().0, "depth {depth}");
        assert_eq!(phase.transactions() + phase.skipped().total(), 3_000);
        assert!(phase.skipped().at_maximum_size > 300);
        // A half that is turned off is not skipped.
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
fn a_number_of_classic_transactions_is_performed_to_its_end() {
    // Nothing can be performed, and the original goes through them all.
    let record = run(&request(classic(-1, -1), Stop::Transactions), 1);
    assert_eq!(record.actual.end, Fact::Known(End::Complete));
    assert_eq!(transactions(&record).issued(), 3_000);
    assert_eq!(transactions(&record).transactions(), 0);
    assert_eq!(transactions(&record).skipped(), Skipped::default());
}

#[test]
fn files_that_failed_are_skipped_and_end_the_run_when_none_is_left() {
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
    // The call that opens a file for an append fails, once for each file. The last calls of the
    // other run delete the files, one by one.
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
    adds_up(&record);
}
