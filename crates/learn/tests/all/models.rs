//! Options and fidelity of profiles that no tree has: operations, pauses and extreme numbers.

use std::collections::BTreeMap;

use engine::Action;
use learn::{
    ContentSample, Distribution, Fidelity, LeftOut, OwnTimes, Popularity, Profile, Sequence,
    Source, Syncs, document as report, resolve, workload_options,
};
use proptest::prelude::*;

fn distribution(values: impl IntoIterator<Item = u64>) -> Option<Distribution> {
    Some(values.into_iter().collect())
}

/// The profile of a trace with all of its parts.
fn traced() -> Profile {
    let mix = [
        (Action::Read, 4_000_000),
        (Action::Append, 1_000_000),
        (Action::ReadRange, 500_000),
        (Action::SymbolicLink, 10),
        (Action::RemoveSymbolicLink, 5),
        (Action::Stat, 3),
    ];
    Profile {
        source: Source::Trace,
        files: Some(1_000),
        sizes: distribution((0..1_000).map(|file| 100 * file)),
        append_sizes: distribution((0..1_000).map(|append| 10 + append % 90)),
        range_sizes: distribution([4096; 10]),
        pauses: distribution((0..10_000).map(|pause| pause * 100)),
        workers: Some(3),
        mix: Some(BTreeMap::from(mix)),
        popularity: Some(Popularity {
            files: 1_000,
            operations: 5_500_018,
            curve: vec![(0.1, 0.9), (0.5, 0.95), (1.0, 1.0)],
        }),
        sequences: vec![Sequence {
            operations: vec![Action::Stat, Action::Read],
            count: 3,
        }],
        left_out: vec![
            LeftOut::new("writes through mappings", 7, 70).with_example(Some("a\u{1b}b".into())),
        ],
        ..Profile::default()
    }
}

#[test]
fn traced_operations_and_pauses_are_in_the_model() {
    let profile = traced();
    let options = workload_options(&profile);
    let spec = resolve(&options).unwrap();
    let mix = spec.workload.mix().unwrap();
    let expected = "read=10000,append=2500,read-range=1250,stat=1,symlink=1";
    let weights: BTreeMap<String, u32> = mix
        .weights
        .actions()
        .map(|action| (action.name().to_owned(), mix.weights.get(action)))
        .collect();
    let shown: BTreeMap<String, u32> = expected
        .split(',')
        .map(|part| part.split_once('=').unwrap())
        .map(|(name, weight)| (name.to_owned(), weight.parse().unwrap()))
        .collect();
    assert_eq!(weights, shown);
    assert_eq!(mix.files, 334, "each of three workers has a third");
    assert_eq!(spec.workload.workers.count(), 3);
    assert_eq!(mix.popularity.to_string(), "hot:10%/90%");
    assert_eq!(mix.think.to_string(), "exponential:499950ns");
    let fidelity = Fidelity::new(&profile, &spec.workload);
    assert!(fidelity.mix_distance.unwrap() < 0.001, "{fidelity:?}");
    assert!(fidelity.popularity_distance.unwrap() < 0.01, "{fidelity:?}");
    let distances: BTreeMap<&str, f64> = fidelity
        .comparisons
        .iter()
        .map(|of| (of.what, of.distance))
        .collect();
    assert_eq!(
        distances.keys().copied().collect::<Vec<_>>(),
        [
            "pauses",
            "sizes of appends",
            "sizes of files",
            "sizes of range reads"
        ]
    );
    assert!(distances["sizes of files"] < 0.02, "{distances:?}");
    assert!(distances["sizes of appends"] < 0.02, "{distances:?}");
    assert_eq!(distances["sizes of range reads"], 0.0);
    // The model's share is 1 - exp(-x) up to x times the mean, and the observed one x / 2. Their
    // difference has its maximum of 0.153 at x = ln(2).
    assert!((distances["pauses"] - 0.153).abs() < 0.001, "{distances:?}");
    let text = document::text(&report(&fidelity), 100);
    for words in [
        "Workers     3",
        "total variation distance 0.000",
        "the model is hot:10%/90%",
        "stat, read",
        "writes through mappings",
        "10.0 %",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn equal_pauses_are_constant() {
    let pauses = distribution([1_000_000; 100].into_iter().chain([900_000; 10]));
    let spec = resolve(&workload_options(&Profile { pauses, ..traced() })).unwrap();
    assert_eq!(spec.workload.mix().unwrap().think.to_string(), "990909ns");
}

#[test]
fn operations_that_no_mix_names_increase_the_distance() {
    let profile = Profile {
        mix: Some(BTreeMap::from([(Action::Read, 1), (Action::Nothing, 1)])),
        ..Profile::default()
    };
    let spec = resolve(&workload_options(&profile)).unwrap();
    let fidelity = Fidelity::new(&profile, &spec.workload);
    assert_eq!(fidelity.mix_distance, Some(0.5));
}

fn counts() -> impl Strategy<Value = BTreeMap<Action, u64>> {
    let counts = prop_oneof![0_u64..3, any::<u32>().prop_map(u64::from)];
    prop::collection::btree_map(prop::sample::select(Action::ALL), counts, 0..9)
}

#[test]
fn appends_to_files_that_were_created_empty_fit() {
    let profile = Profile {
        sizes: distribution([0; 3]),
        append_sizes: distribution([40]),
        ..traced()
    };
    let spec = resolve(&workload_options(&profile)).unwrap();
    assert_eq!(spec.workload.mix().unwrap().size_max_bytes, 40);
}

proptest! {
    /// Every profile of a trace has a workload, which a run accepts.
    #[test]
    fn profiles_of_traces_resolve(
        mut mix in counts(),
        appends in 0..2_u64,
        compute_ns in counts(),
        synced in counts(),
        kind in 0..3_u8,
        workers in any::<u64>(),
        sizes in prop::collection::vec(0_u64..1 << 40, 0..3),
        append_sizes in prop::collection::vec(0_u64..1 << 40, 1..3),
    ) {
        let some = |values: Vec<u64>| distribution(values).filter(|all| all.count() > 0);
        let syncs = synced.into_iter().map(|(action, operations)| {
            let of = |one| if kind == one { operations } else { 0 };
            let (data, file, directory) = (of(0), of(1), of(2));
            (action, Syncs { operations, data, file, directory })
        });
        mix.insert(Action::Append, appends);
        let profile = Profile {
            mix: Some(mix),
            syncs: Some(syncs.collect()),
            own: Some(OwnTimes { compute_ns, ..OwnTimes::default() }),
            workers: Some(workers),
            sizes: some(sizes),
            append_sizes: some(append_sizes),
            ..traced()
        };
        let options = workload_options(&profile);
        let spec = resolve(&options);
        prop_assert!(spec.is_ok(), "{:?}: {}", options, spec.unwrap_err());
    }

    /// Every profile of a tree has a workload, which a run accepts.
    #[test]
    fn profiles_of_trees_resolve(
        sizes in prop::collection::vec(prop_oneof![0_u64..9, 0_u64..1 << 20, any::<u64>()], 1..300),
        depths in prop::collection::vec(0_u64..600, 1..5),
        lengths in prop::collection::vec(1_u64..256, 1..5),
        directories in prop_oneof![1_u64..2000, any::<u64>()],
        files in prop_oneof![1_u64..2000, any::<u64>()],
        sampled in prop::array::uniform5(0_u64..1000),
    ) {
        let [bytes, compressed_bytes, blocks, distinct_blocks, distinct_bytes] = sampled;
        let profile = Profile {
            files: Some(files),
            directories: Some(directories.min(files).max(1)),
            sizes: distribution(sizes),
            depths: distribution(depths),
            name_lengths: distribution(lengths),
            contents: Some(ContentSample {
                files: 1,
                bytes,
                compressed_bytes,
                blocks,
                distinct_blocks,
                compared_bytes: bytes,
                distinct_bytes,
                ..ContentSample::default()
            }),
            ..Profile::default()
        };
        let options = workload_options(&profile);
        let spec = resolve(&options);
        prop_assert!(spec.is_ok(), "{:?}: {}", options, spec.unwrap_err());
        let fidelity = Fidelity::new(&profile, &spec.unwrap().workload);
        for of in &fidelity.comparisons {
            prop_assert!((0.0..=1.0).contains(&of.distance), "{of:?}");
        }
    }
}
