//! Random runs on the simulated engine. The totals in each record and report equal the sums of
//! their parts, and `check` finds no problem.
//!
//! `POSTMARK_SUMS` sets the number of runs. `POSTMARK_SUMS_SEED` selects other random runs.

use std::time::Duration;

use engines::simulated::{Code, Fault, Simulated};
use record::Record;
use runner::{
    Cache, Control, Drive, EngineName, Keeping, NoEvents, OnError, Pace, Place, RunSpec, Stop,
    SystemClock,
};
use serde_json::Value;
use spec::Durability;
use testkit::runs::{shared, uniform};
use testkit::{Random, Shows, number_of};
use verdict::check::check;
use verdict::{PhaseSummary, Rate, Summary};
use workload::arrivals::ArrivalProcess;
use workload::classic::Bias;
use workload::contents::{ContentKind, ContentSpec};
use workload::layout::{Layout, Shape};
use workload::popularity::Popularity;
use workload::sizes::Sizes;
use workload::{Action, Classic, Edition, Mix, Phase, Weights, Workers, Workload};

const RUNS: u64 = 100;
const AT: &str = "/files";

fn mix(draws: &mut Random, transactions: u64) -> Workload {
    let asked_for: Vec<Action> = Action::asked_for()
        .filter(|action| !action.is_on_tree())
        .collect();
    let mut weights = Weights::default().with(Action::Create, 1 + draws.below(4) as u32);
    for _ in 0..1 + draws.below(5) {
        weights = weights.with(*draws.pick(&asked_for), 1 + draws.below(5) as u32);
    }
    let high = 1 + draws.below(5_000);
    let sizes = match draws.below(3) {
        0 => Sizes::Fixed(high),
        _ => Sizes::Uniform { low: 0, high },
    };
    let shape = match draws.below(3) {
        0 => Shape::Flat,
        1 => Shape::Subdirectories(1 + draws.below(4) as u32),
        _ => Shape::Tree { width: 2, depth: 2 },
    };
    let workers = match draws.below(10) < 7 {
        true => Workers::Private {
            workers: 1 + draws.below(3) as u32,
        },
        false => shared(1 + draws.below(2) as u32, 0),
    };
    Workload {
        workers,
        contents: Some(ContentSpec {
            kind: *draws.pick(&[ContentKind::Text, ContentKind::Incompressible]),
            dedup: 1.0,
        }),
        ..Mix {
            files: 1 + draws.below(60),
            transactions,
            weights,
            sizes,
            append_sizes: uniform(1, 500),
            size_max_bytes: 6_000,
            popularity: *draws.pick(&[Popularity::Uniform, Popularity::Zipf { exponent: 0.9 }]),
            layout: Layout {
                shape,
                entries_max: None,
                maildir: (draws.below(10) < 3),
            },
            seed: draws.below(1 << 40),
            ..Mix::default()
        }
        .into()
    }
}

fn classic(draws: &mut Random, transactions: u64) -> Workload {
    let bias = |draws: &mut Random| Bias::new(draws.below(12) as i64 - 1).unwrap();
    Workload {
        workers: Workers::Private {
            workers: 1 + draws.below(3) as u32,
        },
        ..Classic {
            edition: *draws.pick(&[Edition::V1_0, Edition::V1_5]),
            files: 1 + draws.below(60),
            transactions,
            size_low_bytes: 50,
            size_high_bytes: 100 + draws.below(3_000),
            subdirectories: 1 + draws.below(5) as u32,
            bias_read: bias(draws),
            bias_create: bias(draws),
            seed: draws.below(1 << 30) as u32,
            ..Classic::default()
        }
        .into()
    }
}

/// A random valid run spec, and a simulated engine that can perform it.
fn drawn(number: u64) -> (RunSpec, Simulated) {
    let draws = &mut Random(number);
    let by_time = draws.below(10) < 3;
    let transactions = if by_time {
        Workload::ENDLESS
    } else {
        1 + draws.below(300)
    };
    let is_classic = draws.below(10) < 3;
    let workload = match is_classic {
        true => classic(draws, transactions),
        false => mix(draws, transactions),
    };
    let contents = workload.contents.as_ref();
    let has_made_contents = contents.is_some_and(|contents| contents.kind != ContentKind::Text);
    let is_open = by_time && (draws.below(10) < 4);
    let latencies = draws.below(10) < 9;
    let fails = draws.below(10) < 2;
    let ms = |ms: u64| Duration::from_millis(ms);
    let spec = RunSpec {
        engine: EngineName::POSIX,
        durability: (*draws.pick(&[
            Durability::None,
            Durability::Fsync,
            Durability::FsyncDirectory,
            Durability::Batch(7),
        ]))
        .into(),
        cache: Cache::AsIs,
        drive: Drive {
            // Other tests run at the same time, so a thread may wait for a processor. The warm-up
            // must be longer than such a wait.
            warm_up: if draws.below(10) < 3 {
                ms(20 + draws.below(30))
            } else {
                Duration::ZERO
            },
            stop: if by_time {
                Stop::After(ms(20 + draws.below(30)))
            } else {
                Stop::Transactions
            },
            pace: match is_open {
                true => Pace::Open {
                    per_second: 500.0 + draws.below(5_000) as f64,
                    arrivals: *draws.pick(&[ArrivalProcess::Poisson, ArrivalProcess::Constant]),
                },
                false => Pace::Closed,
            },
            sweep: None,
        },
        on_error: if fails {
            OnError::Percent(100.0)
        } else {
            OnError::Stop
        },
        keeping: Keeping {
            keep: (draws.below(10) < 2) && !workload.workers.is_shared(),
            reuse: false,
        },
        verify: has_made_contents && (draws.below(10) < 5),
        check: (draws.below(10) < 8),
        sync_phases: (draws.below(10) < 7),
        latencies,
        steps: latencies && (draws.below(10) < 4),
        series: latencies && (draws.below(10) < 7),
        room_check: false,
        ..RunSpec::classic(workload, vec![AT.into()], Place::OwnDirectory)
    };
    let mut engine = Simulated::new(Code::Posix, 7).with_directory(AT);
    for _ in 0..if fails { 1 + draws.below(5) } else { 0 } {
        engine = engine.fault_at(200 + draws.below(2_000), Fault::Error(5));
    }
    (spec, engine)
}

fn rate(what: &str, rate: Rate, ns: u64) {
    let expected = (ns > 0).then(|| rate.count as f64 * 1e9 / ns as f64);
    assert_eq!(rate.per_second, expected, "{what}");
}

/// Asserts that the totals of a phase in the summary equal the sums of its operations.
fn phase(record: &Record, shown: &PhaseSummary) {
    let performed = record.actual.phase(shown.phase).unwrap();
    let completed: u64 = shown
        .operations
        .iter()
        .map(|operation| operation.operations.count)
        .sum();
    let bytes: u64 = shown
        .operations
        .iter()
        .map(|operation| operation.bytes.count)
        .sum();
    let failed: u64 = shown
        .operations
        .iter()
        .map(|operation| operation.failed)
        .sum();
    assert_eq!((completed, failed), performed.tried());
    assert_eq!(
        bytes,
        performed
            .workers
            .iter()
            .map(|worker| worker.bytes)
            .sum::<u64>()
    );
    assert_eq!(
        completed,
        performed
            .workers
            .iter()
            .map(|worker| worker.operations)
            .sum::<u64>()
    );
    for operation in &shown.operations {
        rate("operations", operation.operations, shown.duration_ns);
        rate("bytes", operation.bytes, shown.duration_ns);
        let latency = &operation.latency_ns;
        let known = [
            latency.p50,
            latency.p90,
            latency.p95,
            latency.p99,
            latency.p99_9,
            latency.p99_99,
            latency.max,
        ];
        let known: Vec<u64> = known.into_iter().flatten().collect();
        assert!(known.is_sorted(), "percentiles rise: {known:?}");
        assert!(
            latency
                .mean
                .is_none_or(|mean| mean <= latency.max.unwrap() as f64 + 0.5)
        );
    }
    let skipped = shown.skipped.total();
    let all = completed + failed + skipped;
    let share = if all == 0 {
        0.0
    } else {
        skipped as f64 / all as f64
    };
    assert!((shown.skipped_fraction - share).abs() < 1e-12);
    if shown.phase != Phase::Transactions {
        return;
    }
    let transactions = shown.transactions.unwrap();
    rate("transactions", transactions, shown.duration_ns);
    assert_eq!(transactions.count, performed.transactions());
    if record.spec.workload.mix().is_some() {
        assert_eq!(transactions.count, completed);
        assert_eq!(performed.issued(), all);
    } else {
        assert!((completed.div_ceil(2)..=completed).contains(&transactions.count));
        assert!(all <= 2 * performed.issued() + u64::from(record.spec.workload.workers.count()));
    }
    assert_eq!(shown.last_done.done.count, transactions.count);
    if shown.workers.is_empty() {
        return;
    }
    assert_eq!(
        shown
            .workers
            .iter()
            .map(|worker| worker.done.count)
            .sum::<u64>(),
        transactions.count
    );
    for spread in &shown.spread {
        let in_order = [
            spread.min_per_second,
            spread.median_per_second,
            spread.max_per_second,
        ];
        assert!(in_order.is_sorted(), "{spread:?}");
        let sum = spread.mean_per_second * spread.workers as f64;
        assert!((sum - spread.sum_per_second).abs() <= sum * 1e-9);
    }
}

fn adds_up(record: &Record) {
    let summary = Summary::of(record);
    summary.phases.iter().for_each(|shown| phase(record, shown));
    let lasted = summary
        .phases
        .iter()
        .map(|phase| phase.duration_ns)
        .sum::<u64>();
    assert_eq!(summary.elapsed_ns, lasted);
    let shares: f64 = summary.shares.iter().map(|share| share.fraction).sum();
    let roles = if record.spec.workload.mix().is_some() {
        1.0
    } else {
        0.0
    };
    assert!((shares - roles).abs() < 1e-9, "{shares}");
    if let Some(transactions) = &summary.transactions {
        rate("transactions", transactions.rate, transactions.duration_ns);
        let failed: u64 = summary
            .operations
            .values()
            .map(|operation| operation.failed)
            .sum();
        assert_eq!(transactions.failed, failed);
        // The byte count of truncations, copies and clones is the new size of the file. These bytes
        // are not transferred.
        let sized = Action::operations().filter(|action| action.sets_size());
        let sized: Vec<&str> = sized.map(Action::name).collect();
        let moves = |(name, _): &(&String, _)| !sized.contains(&name.as_str());
        let moving = summary.operations.iter().filter(moves);
        let moved: u64 = moving.map(|(_, operation)| operation.bytes.count).sum();
        assert_eq!(
            transactions.read_bytes.count + transactions.written_bytes.count,
            moved
        );
    }
    let json = verdict::to_json(record);
    let shown: Value = serde_json::from_str(&json).unwrap();
    let count = &shown["summary"]["transactions"]["count"];
    assert_eq!(
        count.as_u64(),
        summary
            .transactions
            .as_ref()
            .map(|transactions| transactions.rate.count)
    );
    let text = report::text::render(record);
    text.shows(summary.verdict.level.name());
    let checked = check(&json, &|_| None).unwrap();
    assert!(checked.differences.is_empty(), "{:?}", checked.differences);
    assert!(checked.broken.is_empty(), "{:?}", checked.broken);
}

#[test]
fn totals_of_random_runs_equal_the_sums_of_their_parts() {
    let first = number_of("POSTMARK_SUMS_SEED", 0);
    let runs = number_of("POSTMARK_SUMS", RUNS);
    let mut complete = 0;
    for number in first..first + runs {
        let (spec, engine) = drawn(number);
        let performed = runner::run(
            &spec,
            &engine,
            &SystemClock,
            &mut Control::default,
            &mut NoEvents,
        );
        let record = performed.unwrap_or_else(|refused| panic!("{number}: {refused}: {spec:?}"));
        complete += u64::from(record.actual.outcome == record::Outcome::Complete);
        let found = std::panic::catch_unwind(|| adds_up(&record));
        assert!(found.is_ok(), "run {number}, of {spec:?}");
    }
    assert!(
        complete * 10 > runs * 7,
        "{complete} of {runs} runs came to their end"
    );
}
