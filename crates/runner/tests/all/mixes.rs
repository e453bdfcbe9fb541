//! Mixes of all operations on the simulated engine, in private pools and in a shared pool. No
//! operation fails, every read and listing returns the expected result, and no files remain.

use std::path::PathBuf;

use engines::posix::Posix;
use engines::simulated::{Code, Simulated};
use record::{Fact, Outcome, Record};
use runner::{NoEvents, Place, RunSpec, SystemClock};
use testkit::{
    Assert,
    runs::{layout, shared, uniform, verifiable},
    simulate,
};
use workload::layout::Shape;
use workload::sizes::Sizes;
use workload::{Action, Mix, Phase, Planner, Weights, Workers, Workload};

/// Returns the weights of all operations that a mix can contain: 2 for creations, 3 for reads, and
/// 1 for every other operation. Operations on trees (`trees`) need private pools.
fn all_operations(trees: bool) -> Weights {
    Action::operations()
        .filter(|action| action.is_asked_for() && (trees || !action.is_on_tree()))
        .fold(Weights::default(), |weights, action| {
            weights.with(action, 1)
        })
        .with(Action::Create, 2)
        .with(Action::Read, 3)
}

fn mix(shape: Shape) -> Mix {
    Mix {
        files: 40,
        transactions: 2_000,
        weights: all_operations(false),
        sizes: uniform(0, 9_000),
        append_sizes: uniform(1, 3_000),
        range_sizes: Sizes::Fixed(700),
        size_max_bytes: 12_000,
        layout: layout(shape, true),
        read_block_bytes: 4_096,
        write_block_bytes: 1_000,
        ..Mix::default()
    }
}

fn workload(mix: Mix, workers: Workers) -> Workload {
    verifiable(workers, mix)
}

fn request(workload: Workload) -> RunSpec {
    let locations = workload.location_weights().iter().enumerate();
    let locations = locations.map(|(number, _)| PathBuf::from(format!("/simulated/{number}")));
    RunSpec {
        room_check: false,
        check: true,
        verify: true,
        steps: true,
        ..RunSpec::classic(workload.clone(), locations.collect(), Place::Nowhere)
    }
}

fn run(request: &RunSpec, engine: &Simulated) -> Record {
    simulate(request, engine)
}

fn operations(record: &Record, phase: Phase) -> u64 {
    let phase = record.actual.phase(phase).unwrap();
    let operations = phase.all_operations();
    operations.map(|operation| operation.meter.operations).sum()
}

fn assert_complete(record: &Record, engine: &Simulated, what: &str) {
    assert_eq!(record.actual.outcome, Outcome::Complete, "{what}");
    assert!(
        record.actual.errors.is_empty(),
        "{what}: {:?}",
        record.actual.errors
    );
    assert!(engine.files().is_empty(), "{what}: {:?}", engine.files());
    assert_eq!(engine.open_files(), 0, "{what}");
    what.assert(matches!(record.actual.check, Fact::Known(check) if check.names > 0));
    let truth = engine.truth();
    assert_eq!(truth.directories_made, truth.directories_removed, "{what}");
}

#[test]
fn operations_in_private_pools_equal_the_plan() {
    for code in [Code::Raw, Code::Posix] {
        for (shape, workers) in [
            (Shape::Flat, 1),
            (Shape::Subdirectories(5), 3),
            (Shape::Tree { width: 2, depth: 2 }, 2),
        ] {
            let weights = all_operations(true);
            let mix = Mix {
                weights,
                ..mix(shape)
            };
            let workload = workload(mix, Workers::Private { workers });
            let engine = Simulated::new(code, 7);
            let record = run(&request(workload.clone()), &engine);
            let what = format!("{code:?}, {shape:?}, {workers} workers");
            assert_complete(&record, &engine, &what);
            let plan = Planner::new(&workload).plan().unwrap();
            assert_eq!(
                record.actual.stream_hash.known(),
                Some(&plan.stream_hash),
                "{what}"
            );
            assert_eq!(record.fingerprint, plan.fingerprint, "{what}");
            for phase in &record.actual.phases {
                for operation in &phase.segments[0].operations {
                    let tally = plan.tally(phase.phase, operation.action);
                    assert_eq!(
                        (operation.meter.operations, operation.meter.bytes),
                        (tally.operations, tally.bytes),
                        "{what}: {:?} {:?}",
                        phase.phase,
                        operation.action
                    );
                }
            }
            let done = operations(&record, Phase::Transactions);
            assert!(done > u64::from(workers) * 1_800, "{what}: {done}");
        }
    }
}

#[test]
fn workers_of_a_shared_pool_do_not_conflict() {
    for (writers, readers) in [(4, 4), (1, 4), (4, 1), (2, 0)] {
        for shape in [Shape::Flat, Shape::Subdirectories(3)] {
            let mix = Mix {
                files: 20,
                ..mix(shape)
            };
            let workload = workload(mix, shared(writers, readers));
            let engine = Simulated::new(Code::Posix, 7);
            let record = run(&request(workload), &engine);
            let what = format!("{writers} writers, {readers} readers, {shape:?}");
            assert_complete(&record, &engine, &what);
            let phase = &record.actual.phases[1];
            assert_eq!(
                phase.issued(),
                u64::from(writers + readers) * 2_000,
                "{what}"
            );
            assert_eq!(
                phase.transactions() + phase.skipped().total(),
                phase.issued(),
                "{what}"
            );
            assert_eq!(
                record.actual.phases[1].workers.len() as u32,
                writers + readers
            );
        }
    }
}

#[test]
fn shared_pool_works_on_a_real_file_system() {
    // The directory is not on tmpfs. While files are renamed over existing ones, listings on tmpfs
    // repeat some names and omit others (seen with Linux 6.18).
    let at = tempfile::tempdir().unwrap();
    let mix = Mix {
        files: 100,
        transactions: 6_250,
        // Not every file system supports clones (files that share blocks), so the mix has no
        // clones.
        weights: all_operations(false)
            .with(Action::Clone, 0)
            .with(Action::InstallClone, 0)
            .with(Action::CloneTree, 0),
        ..mix(Shape::Subdirectories(3))
    };
    let workload = workload(mix, shared(8, 8));
    let request = RunSpec {
        targets: vec![at.path().to_owned()],
        place: Place::OwnDirectory,
        sync_phases: true,
        ..request(workload)
    };
    let record = testkit::run(&request, &Posix, &SystemClock, &mut NoEvents);
    assert_eq!(record.actual.outcome, Outcome::Complete);
    record.actual.errors.assert(record.actual.errors.is_empty());
    let phase = &record.actual.phases[1];
    assert_eq!(phase.issued(), 100_000);
    assert_eq!(phase.transactions() + phase.skipped().total(), 100_000);
    assert!(
        record
            .actual
            .phases
            .iter()
            .all(|phase| phase.sync.is_some())
    );
    assert!(!record.actual.phases[1].claim_waits.is_empty());
    assert_eq!(std::fs::read_dir(at.path()).unwrap().count(), 0);
}
