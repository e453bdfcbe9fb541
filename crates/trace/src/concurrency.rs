//! How many workers a trace has.

/// A thread counts as a worker if it performs at least this share of the operations of the busiest
/// one.
const WORKER_SHARE: u64 = 20;

/// The operations of a thread, and the positions of the first and the last one.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub first: u64,
    pub last: u64,
    pub operations: u64,
}

/// The largest number of threads whose operations overlap, without threads that perform few; at
/// least 1.
pub fn workers(threads: &[Span]) -> u64 {
    let most = threads.iter().map(|thread| thread.operations).max();
    let enough = most.unwrap_or(0).div_ceil(WORKER_SHARE).max(1);
    let busy = threads.iter().filter(|thread| thread.operations >= enough);
    let mut ends: Vec<(u64, i64)> = busy
        .flat_map(|thread| [(thread.first, 1), (thread.last + 1, -1)])
        .collect();
    ends.sort_unstable();
    let (mut now, mut largest) = (0_i64, 1_i64);
    for (_, change) in ends {
        now += change;
        largest = largest.max(now);
    }
    largest.unsigned_abs()
}
