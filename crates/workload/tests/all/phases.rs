//! Phases of a mix: walks visit each file or directory once, and a phase draws the same operations
//! whatever the phases before it did.

use workload::phases::weights_of_all;
use workload::{
    Action, Intent, Mix, MixStream, Phase, PhaseOperations, PhaseWork, Stream, Workload,
};

const FILES: u64 = 60;

fn phase(name: &str, operations: PhaseOperations, transactions: u64) -> PhaseWork {
    PhaseWork {
        name: name.to_owned(),
        operations,
        transactions,
    }
}

fn walk(action: Action) -> PhaseWork {
    let operations = PhaseOperations::Walk(action);
    phase(action.name(), operations, Workload::ENDLESS)
}

fn mix(weights: &str, transactions: u64) -> PhaseWork {
    let operations = PhaseOperations::Mix(weights.parse().unwrap());
    phase("mix", operations, transactions)
}

fn workload(phases: Vec<PhaseWork>) -> Workload {
    let mut mix = Mix {
        files: FILES,
        transactions: Workload::ENDLESS,
        weights: weights_of_all(&phases),
        phases,
        ..Mix::default()
    };
    mix.layout.shape = "subdirs:7".parse().unwrap();
    Workload::from(mix)
}

fn stream(workload: &Workload) -> MixStream {
    let mix = workload.mix().unwrap();
    let mut stream = MixStream::new(mix, vec![workload.mixer(mix, 0)]);
    while stream.next(Phase::Prepare).is_some() {}
    stream
}

fn drawn(stream: &mut dyn Stream, phase: Phase) -> Vec<Intent> {
    std::iter::from_fn(|| stream.next(phase)).collect()
}

fn files(stream: &MixStream) -> usize {
    let mut count = 0;
    stream.pool(&mut |_| count += 1);
    count
}

#[test]
fn walk_visits_each_file_once_in_directory_order() {
    let workload = workload(vec![
        mix("rename=1,create=2,delete=1", 100),
        walk(Action::Read),
        walk(Action::Copy),
        walk(Action::Delete),
        walk(Action::Create),
        walk(Action::ListWithStat),
    ]);
    assert_eq!(workload.validate(), Ok(()));
    let mut stream = stream(&workload).in_phases();
    assert_eq!(
        drawn(&mut stream, Phase::Transactions),
        [],
        "no phase has begun"
    );
    assert!(stream.next_phase());
    assert_eq!(drawn(&mut stream, Phase::Transactions).len(), 100);
    let all = files(&stream);
    for (action, count, after) in [
        (Action::Read, all, all),
        (Action::Copy, all, 2 * all),
        (Action::Delete, 2 * all, 0),
        (Action::Create, FILES as usize, FILES as usize),
        (Action::ListWithStat, 7, FILES as usize),
    ] {
        assert!(stream.next_phase());
        assert_eq!(stream.remaining(Phase::Transactions), count as u64);
        let intents = drawn(&mut stream, Phase::Transactions);
        assert_eq!(intents.len(), count, "{action:?}");
        assert!(intents.iter().all(|intent| intent.action == action));
        let places: Vec<u32> = intents.iter().map(|intent| intent.place).collect();
        assert!(places.is_sorted(), "{action:?}: {places:?}");
        let mut numbers: Vec<_> = intents
            .iter()
            .map(|intent| (intent.place, intent.number, intent.other))
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count, "{action:?}");
        assert_eq!(files(&stream), after, "{action:?}");
    }
    assert!(!stream.next_phase(), "the last phase has ended");
    assert_eq!(stream.remaining(Phase::Transactions), 0);
    assert_eq!(drawn(&mut stream, Phase::Delete).len(), FILES as usize);
}

#[test]
fn phase_draws_the_same_whatever_the_phase_before_it_did() {
    let of_length = |transactions| {
        let workload = workload(vec![mix("read=1,stat=2", transactions), {
            let other = mix("read=3,overwrite=1", 50);
            PhaseWork {
                name: "other".to_owned(),
                ..other
            }
        }]);
        let mut stream = stream(&workload).in_phases();
        stream.next_phase();
        drawn(&mut stream, Phase::Transactions);
        stream.next_phase();
        drawn(&mut stream, Phase::Transactions)
    };
    assert_eq!(of_length(1), of_length(500));
}

#[test]
fn plan_continues_with_the_next_phase() {
    let phases = vec![
        mix("read=1", 30),
        walk(Action::Stat),
        walk(Action::Delete),
        walk(Action::Read),
        walk(Action::Create),
    ];
    let workload = workload(phases);
    let mut whole = workload.stream(0, |_| ()).unwrap();
    let prepared = drawn(&mut *whole, Phase::Prepare).len() as u64;
    assert_eq!(prepared, FILES);
    let transactions = drawn(&mut *whole, Phase::Transactions).len() as u64;
    assert_eq!(transactions, 30 + 3 * FILES, "no file is left to read");
    assert_eq!(whole.transactions_begun(), transactions);
}

#[test]
fn time_limited_phases_share_the_transactions_of_a_plan() {
    let other = PhaseWork {
        name: "other".to_owned(),
        ..mix("stat=1", Workload::ENDLESS)
    };
    let phases = vec![mix("read=1", Workload::ENDLESS), other];
    let workload = workload(phases).with_transactions(100);
    let mut stream = stream(&workload);
    let intents = drawn(&mut stream, Phase::Transactions);
    let reads = intents
        .iter()
        .filter(|intent| intent.action == Action::Read);
    assert_eq!((reads.count(), intents.len()), (50, 100));
}

#[test]
fn wrong_phases_are_refused() {
    let twice = || vec![walk(Action::Read), walk(Action::Read)];
    for (phases, words) in [
        (twice(), "two phases have the name 'read'"),
        (
            vec![phase("No!", walk(Action::Read).operations, 1)],
            "invalid name 'No!'",
        ),
        (vec![walk(Action::MakeDirectory)], "cannot walk with mkdir"),
    ] {
        let refused = workload(phases).validate().unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}

#[test]
fn phases_change_the_fingerprint() {
    let fingerprint = |phases| workload::fingerprint::fingerprint(&workload(phases)).unwrap();
    let one = fingerprint(vec![walk(Action::Read)]);
    assert_eq!(one, fingerprint(vec![walk(Action::Read)]));
    assert_ne!(one, fingerprint(vec![walk(Action::Stat)]));
    assert_ne!(
        one,
        fingerprint(vec![phase("read", walk(Action::Read).operations, 5)])
    );
}

#[test]
fn walk_copies_the_pool_of_each_target_by_one_operation() {
    let mut workload = workload(vec![walk(Action::CopyTree)]);
    if let workload::Work::Mix(mix) = &mut workload.work {
        (mix.tree_levels, mix.location_weights) = (1, vec![1, 2]);
    }
    // A tree contains three directories for each maildir.
    if let workload::Work::Mix(mix) = &mut workload.work {
        mix.layout.maildir = true;
    }
    let plan = workload::Planner::new(&workload).plan().unwrap();
    assert_eq!(plan.files_peak, FILES + FILES + 2 * (1 + 3 * 7));
    assert!(plan.files_peak <= workload.files_max());
    let copies = drawn(&mut stream(&workload), Phase::Transactions);
    let places: Vec<u32> = copies.iter().map(|copy| copy.place).collect();
    assert_eq!(places, [0, 7]);
    assert_eq!(copies.iter().map(|copy| copy.other).sum::<u64>(), FILES);
}

#[test]
fn walks_copy_each_directory_and_remove_each_copy() {
    for (action, bytes) in [
        (Action::CopyTree, true),
        (Action::CloneTree, true),
        // Hard links have no contents of their own.
        (Action::LinkTree, false),
    ] {
        walk_copies_each_directory(action, bytes);
    }
}

fn walk_copies_each_directory(action: Action, has_contents: bool) {
    let workload = workload(vec![walk(action), walk(Action::RemoveTree)]);
    let mut stream = stream(&workload);
    let before = files(&stream);
    let copies: Vec<Intent> = (0..7)
        .map(|_| stream.next(Phase::Transactions).unwrap())
        .collect();
    for (place, copy) in copies.iter().enumerate() {
        assert_eq!((copy.action, copy.place), (action, place as u32));
    }
    let bytes = copies.iter().map(|copy| copy.bytes).sum::<u64>();
    assert_eq!(bytes > 0, has_contents, "{action:?}");
    assert_eq!(copies.iter().map(|copy| copy.other).sum::<u64>(), FILES);
    assert_eq!(files(&stream), before + 7);
    let removals = drawn(&mut stream, Phase::Transactions);
    assert_eq!(removals.len(), 7);
    for (copy, removal) in copies.iter().zip(&removals) {
        assert_eq!(removal.action, Action::RemoveTree);
        assert_eq!(
            (removal.place, removal.number, removal.other),
            (copy.place, copy.number, copy.other)
        );
        assert_eq!(
            (removal.size_bytes, removal.names_digest),
            (copy.bytes, copy.names_digest)
        );
    }
    assert_eq!(files(&stream), before);
}

#[test]
fn copies_have_the_names_and_sizes_of_the_directory() {
    for (shape, levels) in [
        ("subdirs:7", 0),
        ("subdirs:7", 1),
        ("tree:3x3", 1),
        ("tree:2x3", 3),
    ] {
        copies_have_the_files_below(shape, levels);
    }
}

/// Follows a mix with all changes of files. Each copy must have the names and sizes of the files
/// that the directory and its subdirectories contain at this moment.
fn copies_have_the_files_below(shape: &str, levels: u32) {
    let weights = "create=3,delete=3,append=2,rename=2,replace=1,truncate=1,copy=1,copy-tree=3,\
                   remove-tree=1,mkdir=1,symlink=1,link=2,install-link=1";
    let mut workload = workload(vec![mix(weights, 3_000)]);
    if let workload::Work::Mix(mix) = &mut workload.work {
        mix.size_max_bytes = 1 << 20;
        mix.layout.shape = shape.parse().unwrap();
        mix.tree_levels = levels;
    }
    let plan = workload::Planner::new(&workload).plan().unwrap();
    assert!(plan.files_peak <= workload.files_max(), "{shape} {levels}");
    let mut stream = stream(&workload);
    let names = workload.mix().unwrap().names;
    let places = workload.mix().unwrap().layout.places_of_tree(levels);
    let (mut copied, mut in_trees) = (0, std::collections::BTreeMap::new());
    let (mut most, mut largest) = (0, 0);
    while let Some(intent) = stream.next(Phase::Transactions) {
        if intent.action == Action::RemoveTree {
            assert_eq!(in_trees.remove(&intent.number), Some(intent.other));
        }
        if intent.action != Action::CopyTree {
            continue;
        }
        copied += 1;
        let (mut listing, mut bytes) = (engine::Listing::default(), 0);
        stream.pool(&mut |kept| {
            let is_below = kept.place / places == intent.place / places;
            if kept.kind == workload::names::NameKind::File && is_below {
                let mut name = Vec::new();
                let mut to = engine::NameWriter::new(&mut name);
                names.write(kept.kind, kept.number, &mut to);
                listing.add(&name);
                bytes += kept.size_bytes;
            }
        });
        assert_eq!(intent.place % places, 0);
        assert_eq!(
            (intent.other, intent.names_digest, intent.bytes),
            (listing.entries, listing.digest, bytes)
        );
        in_trees.insert(intent.number, intent.other);
        most = most.max(in_trees.values().sum());
        largest = largest.max(intent.other);
    }
    assert!(copied > 150, "{copied} of {shape}");
    // The copies of all trees have at most as many files as the initial pool, or there is one.
    assert!(most <= FILES.max(largest), "{most} of {shape}");
    let deleted = drawn(&mut stream, Phase::Delete);
    let trees = deleted
        .iter()
        .filter(|intent| intent.action == Action::RemoveTree);
    assert_eq!(trees.count(), in_trees.len());
}

#[test]
fn trees_need_private_pools() {
    let mut shared = Workload::from(Mix {
        weights: "create=1,delete=1,copy-tree=1,read=1".parse().unwrap(),
        ..Mix::default()
    });
    shared.workers = workload::whole::Workers::Shared {
        writers: 1,
        readers: 1,
        pools: 1,
    };
    let said = shared.validate().unwrap_err().to_string();
    assert!(
        said.contains("operations on trees need private pools"),
        "{said}"
    );
}
