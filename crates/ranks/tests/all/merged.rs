//! Values of all ranks are merged, and values of rank 0 are broadcast.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::threads;

const LIMIT: Duration = Duration::from_secs(20);

fn in_order(mut a: Vec<u32>, b: Vec<u32>) -> Vec<u32> {
    a.extend(b);
    a
}

#[test]
fn values_are_merged_in_order_of_ranks() {
    for count in [1, 2, 3, 4, 7, 8, 9, 33, 64] {
        let all = threads::each(count, LIMIT, |ranks| {
            assert_eq!(ranks.count(), count);
            ranks.meet(vec![ranks.rank()], in_order).unwrap()
        });
        let whole: Vec<u32> = (0..count).collect();
        assert_eq!(all, vec![whole; count as usize]);
    }
}

#[test]
fn every_rank_receives_value_of_rank_0() {
    for count in [1, 2, 5, 21] {
        let all = threads::each(count, LIMIT, |ranks| {
            (0..50_u32)
                .map(|round| {
                    let own = format!("round {round} of rank {}", ranks.rank());
                    ranks.broadcast(Some(own)).unwrap()
                })
                .collect::<Vec<String>>()
        });
        let expected: Vec<String> = (0..50)
            .map(|round| format!("round {round} of rank 0"))
            .collect();
        assert!(all.iter().all(|said| *said == expected), "{all:?}");
    }
}

#[test]
fn no_rank_passes_a_barrier_before_all_arrive() {
    let here = AtomicU32::new(0);
    let seen = threads::each(17, LIMIT, |ranks| {
        (1..=20)
            .map(|_| {
                here.fetch_add(1, Ordering::SeqCst);
                ranks.meet((), |(), ()| ()).unwrap();
                let seen = here.load(Ordering::SeqCst);
                ranks.meet((), |(), ()| ()).unwrap();
                seen
            })
            .collect::<Vec<u32>>()
    });
    for of_rank in seen {
        assert_eq!(
            of_rank,
            (1..=20).map(|round| round * 17).collect::<Vec<_>>()
        );
    }
}
