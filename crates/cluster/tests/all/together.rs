//! Barriers, broadcasts and reductions: what they give, and who is named where a rank is not there.

use std::env;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cluster::{CommunicationError, Communicator, Together, in_process};
use measure::Histogram;

use crate::ranks;

const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn what_ranks_have_is_merged_in_their_order() {
    for count in [1, 2, 3, 4, 7, 8, 9, 33, 64] {
        let all = ranks::each(count, LIMIT, |mut together| {
            let own = vec![together.rank()];
            let merge = |mut a: Vec<u32>, b: Vec<u32>| {
                a.extend(b);
                a
            };
            let at_root = together.reduce(own.clone(), merge).unwrap();
            let everywhere = together.reduce_to_all(own, merge).unwrap();
            (at_root, everywhere)
        });
        let whole: Vec<u32> = (0..count).collect();
        for (rank, (at_root, everywhere)) in all.into_iter().enumerate() {
            assert_eq!(at_root, (rank == 0).then(|| whole.clone()));
            assert_eq!(everywhere, whole);
        }
    }
}

#[test]
fn every_rank_gets_what_rank_0_has() {
    for count in [1, 2, 5, 64] {
        let all = ranks::each(count, LIMIT, |mut together| {
            let mut said = Vec::new();
            for round in 0..50_u32 {
                let own = (together.rank() == 0).then(|| format!("round {round}"));
                said.push(together.broadcast(own).unwrap());
            }
            said
        });
        let expected: Vec<String> = (0..50).map(|round| format!("round {round}")).collect();
        assert!(all.iter().all(|said| *said == expected));
    }
}

#[test]
fn nobody_passes_a_barrier_before_all_are_there() {
    let here = AtomicU32::new(0);
    let seen = ranks::each(17, LIMIT, |mut together| {
        (1..=20)
            .map(|_| {
                here.fetch_add(1, Ordering::SeqCst);
                together.barrier().unwrap();
                let seen = here.load(Ordering::SeqCst);
                together.barrier().unwrap();
                seen
            })
            .collect::<Vec<u32>>()
    });
    for of_rank in seen {
        assert_eq!(of_rank, (1..=20).map(|round| round * 17).collect::<Vec<_>>());
    }
}

#[test]
fn whoever_fails_names_the_rank_that_is_silent() {
    for missing in [1, 4, 6, 7, 11] {
        let limit = Duration::from_millis(300);
        let began = Instant::now();
        let all = ranks::each(12, limit, |mut together| {
            if together.rank() == missing {
                return None;
            }
            Some(together.reduce_to_all(1, |a: u32, b| a + b))
        });
        let took = began.elapsed();
        assert!(took < Duration::from_secs(5), "{took:?}");
        for (rank, outcome) in all.into_iter().enumerate() {
            let Some(outcome) = outcome else { continue };
            match outcome {
                Err(CommunicationError::Silent { rank: named, .. }) => assert_eq!(named, missing, "by rank {rank}"),
                other => panic!("rank {rank}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_rank_that_is_elsewhere_is_an_error_and_not_a_wrong_value() {
    let all = ranks::each(2, Duration::from_secs(2), |mut together| {
        if together.rank() == 1 {
            // Its value is said as a number, and the other one waits for a text.
            return together.reduce(7_u32, |a, b| a + b).map(|_| String::new());
        }
        together
            .reduce("text".to_owned(), |a, b| a + &b)
            .map(Option::unwrap_or_default)
    });
    assert!(
        matches!(&all[0], Err(CommunicationError::Unreadable { rank: 1, .. })),
        "{all:?}"
    );

    // A message that is too late for what is done now.
    let mut both = in_process::ranks(2).into_iter();
    let (zero, mut one) = (both.next().unwrap(), both.next().unwrap());
    let mut zero = Together::new(zero, Duration::from_millis(50));
    assert!(matches!(
        zero.reduce((), |(), ()| ()),
        Err(CommunicationError::Silent { rank: 1, .. })
    ));
    one.send(0, [1_u64.to_le_bytes().as_slice(), &[0], b"null"].concat())
        .unwrap();
    let error = zero.reduce((), |(), ()| ()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "rank 1 is at step 1 where this rank is at step 2 (waiting for what other ranks have): do all ranks run the same \
         command?"
    );

    // And one that is none.
    one.send(0, vec![1, 2, 3]).unwrap();
    assert!(matches!(
        zero.reduce((), |(), ()| ()),
        Err(CommunicationError::Unreadable { rank: 1, .. })
    ));
}

/// What a rank of a simulation has done: latencies of its own, in a histogram as records have it.
fn done_by(rank: u32) -> Histogram {
    let mut histogram = Histogram::default();
    let mut state = u64::from(rank) + 1;
    for _ in 0..1_000 {
        // SplitMix64, spread over the decades from a microsecond on.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        histogram.record(1_000 << (mixed >> 60));
    }
    histogram
}

/// By default a thousand; `.ci/long` asks for ten.
#[test]
fn thousands_of_ranks_merge_their_histograms_by_trees() {
    let count: u32 = env::var("POSTMARK_TEST_RANKS").map_or(1_000, |count| count.parse().unwrap());
    let began = Instant::now();
    let all = ranks::each(count, Duration::from_secs(60), |mut together| {
        let own = done_by(together.rank());
        together.barrier().unwrap();
        let started = Instant::now();
        let merged = together.reduce(own, |mut a, b| {
            a.merge(&b);
            a
        });
        together.barrier().unwrap();
        merged.unwrap().map(|merged| (merged, started.elapsed()))
    });
    let (merged, took) = all.into_iter().flatten().next().expect("rank 0 has the sum");
    println!(
        "{count} ranks: merged in {took:?}, {:?} with the threads themselves",
        began.elapsed()
    );
    assert_eq!(merged.count(), u64::from(count) * 1_000);
    let mut expected = Histogram::default();
    (0..count).for_each(|rank| expected.merge(&done_by(rank)));
    assert_eq!(
        serde_json::to_string(&merged).unwrap(),
        serde_json::to_string(&expected).unwrap()
    );
    assert!(took < Duration::from_secs(30), "{took:?}");
}
