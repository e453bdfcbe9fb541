//! Offsets of clocks that are known.

use std::time::{Duration, Instant};

use cluster::clocks;

use crate::ranks;

const LIMIT: Duration = Duration::from_secs(10);

/// How far the clock of a rank is ahead of that of rank 0, in nanoseconds.
fn ahead_ns(rank: u32) -> i64 {
    i64::from(rank).pow(2) * 1_000_003 * if rank % 2 == 0 { 1 } else { -1 }
}

#[test]
fn offsets_are_found_within_their_errors() {
    for count in [1, 2, 3, 8, 21] {
        let began = Instant::now();
        let found = ranks::each(count, LIMIT, |mut together| {
            let ahead_ns = ahead_ns(together.rank());
            let now_ns = move || began.elapsed().as_nanos() as i64 + ahead_ns;
            clocks::measure(&mut together, &now_ns, 8).unwrap()
        });
        assert_eq!(found.len(), count as usize);
        for (rank, offset) in (0..).zip(found) {
            let off_by_ns = (offset.offset_ns + ahead_ns(rank)).unsigned_abs();
            assert!(
                off_by_ns <= offset.error_ns,
                "rank {rank} of {count}: {offset:?}, off by {off_by_ns} ns"
            );
            assert!(offset.error_ns < 1_000_000_000, "{offset:?}");
            assert_eq!(offset.error_ns == 0, rank == 0, "{offset:?}");
        }
    }
}
