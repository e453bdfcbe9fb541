//! Tests several operations in flight on the simulated engine. The engine performs each operation
//! at a random time between its submission and its completion, and operations complete in random
//! order. Results, counts and remaining files must equal those at depth 1.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use engine::namespace::Namespace;
use engines::simulated::{Code, Fault, Simulated};
use proptest::prelude::*;
use record::{Fact, Meter, Outcome, Record};
use runner::{Clock, Control, NoEvents, OnError, Place, RunSpec};
use testkit::{
    Assert,
    runs::{self, at_rate, by, keeping, layout, paced, uniform, verifiable, weighted},
    simulate, transactions,
};
use workload::arrivals::ArrivalProcess;
use workload::layout::Shape;
use workload::mix::Think;
use workload::sizes::Sizes;
use workload::{Action, Classic, Mix, Phase, Planner, Weights, Workers, Workload};

const AT: &str = "/files";
const COST_NS: u64 = 7;
const EIO: i32 = 5;
const TRANSACTIONS: u64 = 300;

fn engine(depth: usize, seed: u64) -> Simulated {
    Simulated::new(Code::Posix, COST_NS)
        .with_directory(AT)
        .with_depth(depth, seed)
}

fn depths() -> impl Strategy<Value = usize> {
    prop_oneof![Just(1_usize), Just(8), Just(64)]
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![Just(Shape::Flat), Just(Shape::Subdirectories(3))]
}

/// Returns mixes with few files and random weights of actions, so that operations conflict in many
/// ways.
fn mixes() -> impl Strategy<Value = Mix> {
    let weights = prop::collection::vec(0_u32..4, Action::asked_for().count());
    (
        weights,
        shapes(),
        1_u64..40,
        any::<u64>(),
        prop_oneof![Just(0_u64), Just(50)],
    )
        .prop_map(|(weights, shape, files, seed, think_ns)| Mix {
            files,
            transactions: TRANSACTIONS,
            seed,
            weights: Action::asked_for()
                .zip(weights)
                .fold(Weights::default(), |weights, (action, weight)| {
                    weights.with(action, weight)
                })
                .with(Action::Create, 2)
                .with(Action::Read, 2),
            sizes: uniform(0, 5_000),
            append_sizes: uniform(1, 3_000),
            range_sizes: Sizes::Fixed(700),
            size_max_bytes: 12_000,
            layout: layout(shape, true),
            think: if think_ns > 0 {
                Think::Exponential(think_ns)
            } else {
                Think::None
            },
            ..Mix::default()
        })
}

fn of_mix(mix: Mix, workers: Workers) -> Workload {
    verifiable(workers, mix)
}

fn private() -> impl Strategy<Value = Workload> {
    let workers = (1_u32..4).prop_map(|workers| Workers::Private { workers });
    let classic =
        (1_u64..40, any::<u32>(), 1_u32..3).prop_map(|(files, seed, subdirectories)| Classic {
            files,
            seed,
            subdirectories,
            transactions: TRANSACTIONS,
            size_low_bytes: 1,
            size_high_bytes: 2_000,
            ..Classic::default()
        });
    prop_oneof![
        (mixes(), workers.clone()).prop_map(|(mix, workers)| of_mix(mix, workers)),
        (classic, workers).prop_map(|(classic, workers)| by(workers, classic)),
    ]
}

fn shared() -> impl Strategy<Value = Workload> {
    (mixes(), 1_u32..4, 0_u32..3).prop_map(|(mut mix, writers, readers)| {
        // Operations on trees need private pools.
        let trees = Action::operations().filter(|action| action.is_on_tree());
        mix.weights = trees.fold(mix.weights, |weights, tree| weights.with(tree, 0));
        of_mix(mix, runs::shared(writers, readers))
    })
}

fn request(workload: &Workload) -> RunSpec {
    RunSpec {
        room_check: false,
        overhead: false,
        check: true,
        verify: workload.contents.is_some(),
        steps: true,
        series: true,
        ..RunSpec::classic(workload.clone(), vec![AT.into()], Place::OwnDirectory)
    }
}

fn run(request: &RunSpec, engine: &Simulated) -> Record {
    simulate(request, engine)
}

fn meters(record: &Record, phase: Phase) -> BTreeMap<Action, &Meter> {
    let phase = record.actual.phase(phase).unwrap();
    let operations = phase.all_operations();
    operations
        .map(|operation| (operation.action, &operation.meter))
        .collect()
}

/// Returns the contents of all files in the run's directory, by path relative to that directory.
fn kept(engine: &Simulated) -> BTreeMap<String, Vec<u8>> {
    let files = engine.files().into_keys();
    let inside = files.filter_map(|path| {
        let (_, inside) = path.strip_prefix(AT)?.strip_prefix('/')?.split_once('/')?;
        let is_own = inside.contains("postmark");
        (!is_own).then(|| (inside.to_owned(), engine.content_of(&path).unwrap()))
    });
    inside.collect()
}

fn assert_nothing_remains(engine: &Simulated) {
    assert_eq!(engine.files(), BTreeMap::new());
    assert_eq!(engine.open_files(), 0);
    let mut entries = 0;
    let at = Namespace::open(engine, Path::new(AT)).unwrap();
    at.list(&mut |_| {
        entries += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(entries, 0, "directories");
    assert_eq!(engine.meetings(), Vec::<String>::new());
}

fn assert_complete(record: &Record, engine: &Simulated) {
    assert_eq!(record.actual.outcome, Outcome::Complete);
    record.actual.errors.assert(record.actual.errors.is_empty());
    assert!(
        matches!(record.actual.check, Fact::Known(check) if check.wrong == 0 && check.left_out == 0)
    );
    let of_workers = record
        .actual
        .phases
        .iter()
        .flat_map(|phase| &phase.segments);
    for operation in of_workers.flat_map(|segment| &segment.operations) {
        let meter = &operation.meter;
        assert_eq!(
            meter.latency.count(),
            meter.operations,
            "each has a latency, and one"
        );
        for step in &operation.steps {
            assert!(
                step.latency.max_ns() <= meter.latency.max_ns(),
                "{step:?} of {meter:?}"
            );
        }
    }
    let of_slices: u64 = transactions(record)
        .slices
        .totals()
        .values()
        .map(|of| of.operations)
        .sum();
    let of_phase: u64 = meters(record, Phase::Transactions)
        .values()
        .map(|of| of.operations)
        .sum();
    assert_eq!(of_slices, of_phase);
    assert_eq!(engine.meetings(), Vec::<String>::new());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn operations_in_private_pools_equal_plan_at_any_depth(workload in private(), depth in depths(),
        seed in any::<u64>()) {
        let engine = engine(depth, seed);
        let record = run(&request(&workload), &engine);
        assert_complete(&record, &engine);
        assert_nothing_remains(&engine);
        let plan = Planner::new(&workload).plan().unwrap();
        assert_eq!(record.actual.stream_hash.known(), Some(&plan.stream_hash));
        for phase in Phase::ALL {
            let meters = meters(&record, phase);
            for action in Action::operations() {
                let tally = plan.tally(phase, action);
                let counted = meters.get(&action).map_or((0, 0), |meter| (meter.operations,
                    meter.bytes));
                assert_eq!(counted, (tally.operations, tally.bytes), "{phase:?} {action:?}");
            }
        }
        assert!(engine.in_flight_max() <= depth);
        assert!(depth == 1 || engine.in_flight_max() > 1 || workload.files() == 1);
        let waits: u64 = transactions(&record).claim_waits.iter().map(|waits|
            waits.wait.count()).sum();
        assert!(depth > 1 || waits == 0);
    }

    #[test]
    fn shared_pools_account_for_all_intents_at_any_depth(workload in shared(), depth in depths(),
        seed in any::<u64>()) {
        let engine = engine(depth, seed);
        let record = run(&request(&workload), &engine);
        assert_complete(&record, &engine);
        assert_nothing_remains(&engine);
        let phase = transactions(&record);
        assert_eq!(phase.issued(), u64::from(workload.workers.count()) * TRANSACTIONS);
        assert_eq!(phase.transactions() + phase.skipped().total(), phase.issued());
    }

    #[test]
    fn final_pool_is_the_same_at_any_depth(workload in private(), depth in depths(),
        seed in any::<u64>()) {
        let request = RunSpec {
            keeping: keeping(true, false),
            ..request(&workload)
        };
        let (one, several) = (engine(1, 0), engine(depth, seed));
        assert_complete(&run(&request, &one), &one);
        assert_complete(&run(&request, &several), &several);
        assert_eq!(kept(&several), kept(&one));
        // The pool that was kept at this depth can be reused by a run at depth 1.
        let again = RunSpec {
            keeping: keeping(true, true),
            ..request
        };
        assert_complete(&run(&again, &one), &one);
        assert_complete(&run(&again, &several), &several);
        assert_eq!(kept(&several), kept(&one));
    }

    #[test]
    fn each_injected_fault_is_counted_as_one_error(
        workload in prop_oneof![private(), shared()],
        depth in depths(),
        seed in any::<u64>(),
        at in prop::collection::btree_set(1_u64..100, 1..12),
    ) {
        let request = RunSpec {
            on_error: OnError::Count(1_000),
            place: Place::Nowhere,
            ..request(&workload)
        };
        let whole = engine(1, 0);
        let of_whole = run(&request, &whole);
        // The faults are so far apart that no operation encounters two of them.
        let first = whole.calls() / 10;
        let faulty = at.iter().fold(engine(depth, seed), |engine, at| {
            engine.fault_at(first + 40 * at, Fault::Error(EIO))
        });
        let record = run(&request, &faulty);
        let segments = record.actual.phases.iter().flat_map(|phase| &phase.segments);
        let failed: u64 = segments.flat_map(|segment| &segment.operations).map(|of|
            of.meter.failed).sum();
        let errors = &record.actual.errors;
        let of_directories = errors.iter().filter(|error| error.operation.ends_with(" directory"));
        let of_directories: u64 = of_directories.map(|error| error.count).sum();
        let wrong = record.actual.check.known().map_or(0, |check| check.wrong);
        // The check that follows an operation on a tree.
        let of_trees = errors.iter().filter(|error| error.operation == "check tree");
        let of_trees: u64 = of_trees.map(|error| error.count).sum();
        let counted: u64 = errors.iter().map(|error| error.count).sum();
        assert_eq!(counted, faulty.struck().len() as u64, "each is one error: {errors:?}");
        assert_eq!(counted, failed + of_directories + wrong + of_trees,
            "and nothing else is wrong: {errors:?}");
        if of_directories == 0 {
            assert_eq!(record.actual.outcome, Outcome::Complete);
            assert_eq!(transactions(&record).issued(), transactions(&of_whole).issued());
            let hashes = [&record, &of_whole].map(|record| record.actual.stream_hash.known());
            assert_eq!(hashes[0], hashes[1]);
        }
        assert_eq!(faulty.open_files(), 0);
        assert_eq!(faulty.meetings(), Vec::<String>::new());
    }

    #[test]
    fn stop_at_any_moment_leaves_no_files(
        workload in prop_oneof![private(), shared()],
        depth in depths(),
        seed in any::<u64>(),
        part in 0.0..1.0,
    ) {
        let whole = engine(depth, seed);
        run(&request(&workload), &whole);
        let engine = engine(depth, seed);
        let clock = StopsAt {
            engine: engine.clone(),
            at_ns: (whole.now_ns() as f64 * part) as u64,
            signal: Arc::default(),
        };
        let mut control = || Control::stopped_by(Arc::clone(&clock.signal));
        let record = runner::run(&request(&workload), &engine, &clock, &mut control,
            &mut NoEvents);
        if let Ok(record) = record {
            let outcome = &record.actual.outcome;
            outcome.assert(matches!(outcome, Outcome::Interrupted { .. } | Outcome::Complete));
            assert!(record.actual.errors.is_empty(), "{:?}", record.actual.errors);
        }
        assert_nothing_remains(&engine);
    }

    #[test]
    fn power_cut_loses_no_acknowledged_operation(
        workload in prop_oneof![private(), shared()],
        depth in depths(),
        seed in any::<u64>(),
        part in 0.0..1.0,
    ) {
        let logs = tempfile::tempdir().unwrap();
        let request = RunSpec {
            ack_log: Some(logs.path().join("log")),
            ..request(&workload.with_transactions(40))
        };
        let whole = engine(depth, seed);
        run(&RunSpec { ack_log: None, ..request.clone() }, &whole);
        let engine = engine(depth, seed).cut_at((whole.calls() as f64 * part) as u64);
        let record = runner::run(&request, &engine, &engine, &mut Control::default,
            &mut NoEvents);
        engine.restart();
        if record.is_ok() {
            let log = logs.path().join("log");
            if let Ok(verified) = rundir::verify_log(&engine, Path::new(AT), &log) {
                assert_eq!(verified.lost, []);
            }
        }
        let namespace: Arc<dyn Namespace> = Arc::new(engine.clone());
        // The error is ignored: a run that did not start has no manifest, so there is nothing to
        // clean.
        let _ = rundir::clean(&namespace, Path::new(AT));
        assert_eq!(kept(&engine), BTreeMap::new());
        assert_eq!(engine.meetings(), Vec::<String>::new());
    }
}

/// The clock of the simulated engine, which also sends a signal at a given time.
#[derive(Clone)]
struct StopsAt {
    engine: Simulated,
    at_ns: u64,
    signal: Arc<AtomicUsize>,
}

impl Clock for StopsAt {
    fn now_ns(&self) -> u64 {
        let now_ns = self.engine.now_ns();
        if now_ns >= self.at_ns {
            self.signal.store(2, Ordering::Relaxed);
        }
        now_ns
    }

    fn wall_s(&self) -> i64 {
        0
    }

    fn sleep(&self, ns: u64) {
        self.engine.pass(ns);
    }
}

fn open_loop(period_ns: u64) -> RunSpec {
    let mix = weighted(200, 2_000, "stat=1");
    RunSpec {
        drive: paced(at_rate(1e9 / period_ns as f64, ArrivalProcess::Constant)),
        ..request(&of_mix(mix, Workers::ONE))
    }
}

#[test]
fn offered_rate_is_achieved_with_operations_in_flight() {
    for depth in [1, 8, 64] {
        let engine = engine(depth, 3);
        let record = run(&open_loop(1_000), &engine);
        let phase = transactions(&record);
        let segment = phase.measured().next().unwrap();
        let took_ns = segment.ended_ns - segment.began_ns;
        // The last of the 2,000 transactions is due after 1,999 periods of 1,000 ns. The measured
        // time also includes its completion.
        assert!(
            (1_999_000..2_020_000).contains(&took_ns),
            "depth {depth}: {took_ns}"
        );
        let meter = meters(&record, Phase::Transactions)[&Action::Stat];
        let service = meter.service.as_ref().unwrap();
        assert_eq!((meter.latency.count(), service.count()), (2_000, 2_000));
        let late_ns = meter.latency.mean_ns().unwrap() - service.mean_ns().unwrap();
        assert!(
            (0.0..200.0).contains(&late_ns),
            "depth {depth}: issued {late_ns} ns after they were due"
        );
    }
}

#[test]
fn latency_of_second_operation_of_a_pair_includes_wait_for_earlier_completions() {
    let classic = Classic {
        files: 200,
        transactions: 2_000,
        ..Classic::default()
    };
    let workload = by(Workers::ONE, classic);
    // Transactions become due faster than the engine can perform them, so that every operation
    // waits until an earlier one has completed.
    let request = RunSpec {
        drive: paced(at_rate(1e9, ArrivalProcess::Constant)),
        ..request(&workload)
    };
    let record = run(&request, &engine(8, 3));
    let meters = meters(&record, Phase::Transactions);
    for action in [Action::Create, Action::Delete] {
        let meter = meters[&action];
        let service_ns = meter.service.as_ref().unwrap().mean_ns().unwrap();
        let response_ns = meter.latency.mean_ns().unwrap();
        assert!(
            response_ns > 1.02 * service_ns,
            "{action:?}: {response_ns} and {service_ns}"
        );
    }
}

#[test]
fn overdue_transactions_that_did_not_start_are_counted() {
    for depth in [1, 8, 64] {
        let engine = engine(depth, 3);
        let clock = StopsAt {
            engine: engine.clone(),
            at_ns: 6_000,
            signal: Arc::default(),
        };
        let mut control = || Control::stopped_by(Arc::clone(&clock.signal));
        // Transactions become due faster than the engine can perform them.
        let record =
            runner::run(&open_loop(2), &engine, &clock, &mut control, &mut NoEvents).unwrap();
        assert_eq!(record.actual.outcome, Outcome::Interrupted { signal: 2 });
        let phase = transactions(&record);
        let segment = phase.segments.last().unwrap();
        let begun = meters(&record, Phase::Transactions)[&Action::Stat].operations;
        let arrived = (segment.ended_ns - segment.began_ns) / 2 + 1;
        assert_eq!(begun + phase.waiting.unwrap(), arrived, "depth {depth}");
        assert!(
            begun > 100 && arrived > 2 * begun,
            "depth {depth}: {begun} of {arrived}"
        );
        assert_nothing_remains(&engine);
    }
}

#[test]
fn operations_on_one_file_are_serialized_and_their_waits_are_counted() {
    let mix = weighted(1, 100, "read=1");
    let request = request(&of_mix(mix, Workers::ONE));
    for depth in [1, 8, 64] {
        let engine = engine(depth, 3);
        let record = run(&request, &engine);
        assert_complete(&record, &engine);
        assert_eq!(engine.in_flight_max(), usize::from(depth > 1));
        let waits = transactions(&record)
            .claim_waits
            .iter()
            .map(|waits| &waits.wait);
        let (count, longest_ns) = waits.fold((0, None), |(count, longest), wait| {
            (count + wait.count(), longest.max(wait.max_ns()))
        });
        // Each of the 100 operations except the first waits for an earlier one. At depth 1 no
        // operation waits, because the next one is drawn only after the previous one has completed.
        assert_eq!(count, if depth == 1 { 0 } else { 99 });
        assert_eq!(longest_ns > Some(0), depth > 1);
    }
}
