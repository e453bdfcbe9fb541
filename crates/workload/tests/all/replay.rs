//! Replays of random traces: each order of operations that keeps the dependencies is possible on a
//! file system, and leaves what the replay expects.

use std::collections::BTreeMap;

use engine::{NameKind, OperationSyncs};
use proptest::prelude::*;
use workload::replay::{
    Built, Dependency, Loaded, Replay, Step, Timing, Trace, TracedKind, TracedName,
    TracedOperation, TracedOwnTime, removal,
};
use workload::{Action, Intent, Phase, Planner, Weights, Workload, replayed};

type Model = BTreeMap<(NameKind, u32, u64), u64>;

const DIRECTORIES: u32 = 3;
const NAMES: u32 = 12;

fn operation(action: Action, thread: u32, name: u32, begin: u64) -> TracedOperation {
    TracedOperation {
        action,
        thread,
        name,
        second: None,
        kind: TracedKind::File,
        bytes: 0,
        offset_bytes: 0,
        size_bytes: None,
        times: 1,
        is_over: false,
        syncs: OperationSyncs::default(),
        begin,
        end: begin,
        begin_ns: Some(begin * 1_000),
        end_ns: Some(begin * 1_000),
        own: TracedOwnTime::default(),
    }
}

fn trace(operations: Vec<TracedOperation>) -> Trace {
    let names = (0..NAMES).map(|name| TracedName {
        directory: match name {
            0 => None,
            1..DIRECTORIES => Some(name - 1),
            _ => Some(name % DIRECTORIES),
        },
        is_mail_part: name == 1,
        is_deep: false,
    });
    Trace {
        operations,
        names: names.collect(),
    }
}

fn any_operation() -> impl Strategy<Value = TracedOperation> {
    let sizes = || prop_oneof![Just(0), 0..5_000_u64, Just(u64::MAX)];
    let what = (
        0..Action::COUNT,
        0..4_u32,
        0..NAMES,
        proptest::option::of(0..NAMES),
    );
    let how = (sizes(), sizes(), proptest::option::of(sizes()), 1..3_u32);
    let awaited = proptest::option::of((0..80_u64, proptest::option::of(0..4_u32)));
    let rest = (0..3_u8, any::<bool>(), 0..6_u64, awaited);
    (what, how, rest).prop_map(
        |((action, thread, name, second), (bytes, offset, size, times), rest)| {
            let (kind, is_over, took, awaited) = rest;
            TracedOperation {
                own: TracedOwnTime {
                    awaited,
                    ..TracedOwnTime::default()
                },
                second,
                bytes,
                offset_bytes: offset,
                size_bytes: size,
                times,
                is_over,
                kind: match kind {
                    0 => TracedKind::Directory,
                    1 => TracedKind::SymbolicLink,
                    _ => TracedKind::File,
                },
                end: took,
                ..operation(Action::ALL[action], thread, name, 0)
            }
        },
    )
}

/// Performs an operation on the model, and checks that a file system could perform it.
fn perform(model: &mut Model, intent: &Intent) {
    let at = |kind, number| (kind, intent.place, number);
    let name = at(intent.action.named(), intent.number);
    let other = |kind| (kind, intent.second_place(), intent.other);
    let size = |model: &Model| {
        *model
            .get(&name)
            .unwrap_or_else(|| panic!("no file: {intent:?}"))
    };
    let add = |model: &mut Model, name, size| {
        assert_eq!(model.insert(name, size), None, "{intent:?}");
    };
    match intent.action {
        Action::Create | Action::Deliver | Action::Install => add(model, name, intent.bytes),
        Action::Copy | Action::Clone | Action::InstallCopy | Action::InstallClone => {
            assert_eq!(model.get(&other(NameKind::File)), Some(&intent.bytes));
            add(model, name, intent.bytes);
        }
        Action::Read | Action::ReadMapped => assert_eq!(size(model), intent.bytes),
        Action::ReadRange => assert!(intent.offset_bytes + intent.bytes <= size(model)),
        Action::Append => {
            assert_eq!(
                (size(model), intent.offset_bytes),
                (intent.size_bytes, size(model))
            );
            model.insert(name, size(model) + intent.bytes);
        }
        Action::Overwrite => {
            assert_eq!(size(model), intent.size_bytes);
            model.insert(name, intent.size_bytes.max(intent.bytes));
        }
        Action::Rewrite | Action::Replace | Action::Truncate => {
            assert_eq!(size(model), intent.size_bytes);
            model.insert(name, intent.bytes);
        }
        Action::Stat => assert_eq!(size(model), intent.size_bytes),
        Action::Delete
        | Action::RemoveLink
        | Action::RemoveSymbolicLink
        | Action::RemoveDirectory => {
            size(model);
            model.remove(&name);
        }
        Action::Rename => {
            let moved = size(model);
            model.remove(&name);
            add(model, other(NameKind::File), moved);
        }
        Action::Link | Action::InstallLink => {
            size(model);
            add(model, other(NameKind::Link), 0);
        }
        Action::SymbolicLink => add(model, at(NameKind::SymbolicLink, intent.other), 0),
        Action::MakeDirectory => add(model, name, 0),
        Action::List | Action::ListWithStat | Action::LockFile => {}
        Action::StatMissing | Action::OpenMissing => assert!(!model.contains_key(&name)),
        _ => {
            size(model);
        }
    }
}

/// Performs all operations in an order that keeps those of each worker and the dependencies.
/// `picks` choose the next worker.
fn perform_all(built: &Built, picks: &[u8]) {
    let steps = &built.steps;
    let mut model = Model::new();
    for step in &steps.prepared {
        perform(&mut model, &step.intent(false));
    }
    let mut completed = vec![0_usize; steps.of_workers.len()];
    for turn in 0..steps.all.len() {
        let is_met = |one: &Dependency| completed[one.worker as usize] >= one.completed as usize;
        let next = |worker: u32| steps.of_worker(worker, completed[worker as usize]);
        let can = |step: &&Step| steps.dependencies(step).iter().all(is_met);
        let ready: Vec<u32> = (0..completed.len() as u32)
            .filter(|worker| next(*worker).filter(can).is_some())
            .collect();
        assert!(!ready.is_empty(), "workers wait for each other");
        let pick = picks.get(turn % picks.len().max(1)).copied().unwrap_or(0);
        let worker = ready[usize::from(pick) % ready.len()];
        perform(&mut model, &next(worker).unwrap().intent(true));
        completed[worker as usize] += 1;
    }
    for kept in &steps.remaining {
        let size = model.get(&(kept.kind, kept.place, kept.number));
        assert_eq!(size, Some(&kept.size_bytes), "{kept:?}");
        perform(&mut model, &removal(kept));
    }
    assert_eq!(model, Model::new(), "everything is removed");
}

fn workload_of(built: Built) -> Workload {
    let replay = Replay {
        trace: "trace.txt".to_owned(),
        digest: "sha256:0".to_owned(),
        below: None,
        timing: Timing::Asap,
        cpu_ns: None,
        operations_max: 1_000,
        operations: 0,
        threads: 0,
        dependencies: 0,
        traced_ns: None,
        deviations: Vec::new(),
        loaded: Loaded::default(),
    };
    replayed::workload(built, replay)
}

proptest! {
    #[test]
    fn every_order_that_keeps_the_dependencies_is_possible(
        mut operations in proptest::collection::vec(any_operation(), 1..80),
        picks in proptest::collection::vec(any::<u8>(), 1..50),
    ) {
        for (index, one) in operations.iter_mut().enumerate() {
            one.begin = index as u64;
            one.end += one.begin;
        }
        let built = Built::new(&mut trace(operations), Timing::Pauses).unwrap();
        prop_assert_eq!(built.steps.pauses.len(), built.steps.all.len());
        perform_all(&built, &picks);
        let (count, is_any) = (built.steps.all.len() as u64, !built.steps.all.is_empty());
        let workload = workload_of(built);
        if is_any {
            workload.validate().unwrap();
            // Records contain the weights as text.
            let weights = workload.mix().unwrap().weights.clone();
            let text = String::from(weights.clone());
            prop_assert_eq!(Weights::try_from(text).unwrap(), weights);
            let plan = Planner::new(&workload).plan().unwrap();
            prop_assert_eq!(plan.transactions, count);
            for phase in Phase::ALL {
                let allowed = workload.actions(phase);
                let planned = plan.tallies[phase as usize].keys();
                prop_assert!(planned.into_iter().all(|action| allowed.contains(action)));
            }
            prop_assert!(plan.files_peak <= workload.files_max() + 1);
        }
    }
}

fn built(operations: Vec<TracedOperation>) -> Built {
    Built::new(&mut trace(operations), Timing::Asap).unwrap()
}

#[test]
fn file_that_is_read_first_is_prepared_with_its_largest_size() {
    let read = |begin, bytes| TracedOperation {
        bytes,
        size_bytes: Some(bytes),
        ..operation(Action::Read, 1, 5, begin)
    };
    let append = TracedOperation {
        bytes: 10,
        ..operation(Action::Append, 1, 5, 2)
    };
    let built = built(vec![
        operation(Action::OpenClose, 1, 5, 0),
        append,
        read(3, 110),
    ]);
    let sizes = |steps: &[Step]| -> Vec<(u64, u64)> {
        steps
            .iter()
            .map(|step| (step.size_bytes, step.bytes))
            .collect()
    };
    assert_eq!(sizes(&built.steps.prepared), [(0, 100)]);
    assert_eq!(sizes(&built.steps.all), [(100, 0), (100, 10), (110, 110)]);
}

#[test]
fn threads_that_ran_one_after_the_other_share_a_worker() {
    let create = |thread, name, begin| operation(Action::Create, thread, name, begin);
    let built = built(vec![
        create(7, 4, 1),
        create(8, 5, 2),
        create(7, 6, 3),
        create(9, 7, 4),
        create(8, 8, 5),
    ]);
    assert_eq!((built.threads, built.steps.of_workers.len()), (3, 2));
    assert_eq!(built.steps.of_workers, [vec![0, 2, 3], vec![1, 4]]);
}

#[test]
fn consumer_waits_for_the_producer_of_each_file() {
    let mut operations = Vec::new();
    for round in 0..4 {
        let (name, begin) = (4 + round as u32, 10 * round);
        operations.push(operation(Action::Create, 1, name, begin));
        operations.push(operation(Action::Read, 2, name, begin + 5));
    }
    let built = built(operations);
    let steps = &built.steps;
    let waits: Vec<Vec<Dependency>> = steps.of_workers[1]
        .iter()
        .map(|index| steps.dependencies(&steps.all[*index as usize]).to_vec())
        .collect();
    let after = |completed| {
        vec![Dependency {
            worker: 0,
            completed,
        }]
    };
    assert_eq!(waits, [after(1), after(2), after(3), after(4)]);
}

#[test]
fn names_of_one_file_are_removed_one_by_one() {
    let linked = TracedOperation {
        second: Some(5),
        ..operation(Action::Link, 1, 4, 2)
    };
    let built = built(vec![
        operation(Action::Create, 1, 4, 1),
        linked,
        operation(Action::Delete, 1, 4, 3),
        operation(Action::Stat, 1, 5, 4),
        operation(Action::Delete, 1, 5, 5),
    ]);
    let actions: Vec<&str> = built
        .steps
        .all
        .iter()
        .map(|step| step.action.name())
        .collect();
    assert_eq!(actions, ["create", "link", "remove-link", "stat", "delete"]);
    assert!(built.steps.remaining.is_empty() && built.steps.prepared.is_empty());
}

#[test]
fn names_in_several_directories_and_renamed_directories_are_replayed_there() {
    let to = |one: TracedOperation, second| TracedOperation {
        second: Some(second),
        ..one
    };
    let built = built(vec![
        operation(Action::Create, 1, 4, 1),
        to(operation(Action::Link, 1, 4, 2), 5),
        to(operation(Action::Rename, 1, 4, 3), 6),
        operation(Action::Stat, 1, 6, 4),
        operation(Action::Delete, 1, 5, 5),
        to(
            TracedOperation {
                kind: TracedKind::Directory,
                ..operation(Action::Rename, 1, 1, 6)
            },
            9,
        ),
        operation(Action::Stat, 1, 7, 7),
    ]);
    // The name N is in the directory N modulo 3.
    let steps = built.steps.all.iter();
    let found: Vec<(&str, u32, Option<u32>)> = steps
        .map(|step| (step.action.name(), step.place, step.other_place))
        .collect();
    assert_eq!(
        found,
        [
            ("create", 1, None),
            ("link", 1, Some(2)),
            ("rename", 1, Some(0)),
            ("stat", 0, None),
            ("remove-link", 2, None),
            ("rename", 0, None),
            ("stat", 1, None),
        ]
    );
    let deviations: Vec<(&str, bool)> = built
        .deviations
        .iter()
        .map(|one| (one.what.as_str(), one.is_left_out))
        .collect();
    let what = "renamings of directories and symbolic links (performed on a file)";
    assert!(deviations.contains(&(what, false)), "{deviations:?}");
}

#[test]
fn directories_are_nested_as_in_the_trace() {
    let create = |action, name, begin| operation(action, 1, name, begin);
    let nested = built(vec![
        create(Action::Create, 5, 1),
        create(Action::Create, 4, 2),
        create(Action::List, 0, 3),
    ]);
    let paths = |built: &Built| -> Vec<String> {
        let paths = built.steps.paths().into_iter();
        paths.map(|path| String::from_utf8(path).unwrap()).collect()
    };
    assert_eq!(paths(&nested), ["s0/", "s0/s1/", "s0/s1/s2/"]);
    let places: Vec<u32> = nested.steps.all.iter().map(|step| step.place).collect();
    assert_eq!(places, [2, 1, 0]);
    // In a maildir, a directory `new` is a part of the directory above.
    let maildir = built(vec![
        create(Action::Deliver, 4, 1),
        create(Action::Create, 5, 2),
    ]);
    assert_eq!(paths(&maildir), ["s0/", "s0/s1/"]);
}
