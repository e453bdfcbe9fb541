//! Tests of measured clock offsets: the clocks of the ranks differ by known offsets.

use std::thread;
use std::time::{Duration, Instant};

use ranks::{CommunicationError, Communicator, Message, in_process};

use crate::threads;

const LIMIT: Duration = Duration::from_secs(20);

/// Returns how far a rank's clock is ahead of the clock of rank 0, in nanoseconds.
fn ahead_ns(rank: u32) -> i64 {
    i64::from(rank).pow(2) * 1_000_003 * if rank.is_multiple_of(2) { 1 } else { -1 }
}

/// A communicator that delays the messages that its rank sends.
struct Slow(in_process::InProcess, Duration);

impl Communicator for Slow {
    fn rank(&self) -> u32 {
        self.0.rank()
    }

    fn ranks(&self) -> u32 {
        self.0.ranks()
    }

    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), CommunicationError> {
        thread::sleep(self.1);
        self.0.send(to, bytes)
    }

    fn receive(&mut self, limit: Duration) -> Result<Option<Message>, CommunicationError> {
        self.0.receive(limit)
    }

    fn flush(&mut self, limit: Duration) -> Result<(), CommunicationError> {
        self.0.flush(limit)
    }
}

#[test]
fn measured_offsets_are_correct_within_their_errors() {
    for (count, delay) in [(1, 0), (2, 0), (3, 1), (8, 0), (21, 0), (8, 1)] {
        // Messages to rank 0 take twice as long as messages from rank 0.
        let carriers = in_process::ranks(count).into_iter();
        let carriers = carriers
            .map(|carrier| {
                let delay = Duration::from_millis(if carrier.rank() == 0 {
                    delay
                } else {
                    2 * delay
                });
                Slow(carrier, delay)
            })
            .collect();
        let began = Instant::now();
        let found = threads::each_over(carriers, LIMIT, |ranks| {
            let ahead_ns = ahead_ns(ranks.rank());
            let now_ns = move || began.elapsed().as_nanos() as i64 + ahead_ns;
            (ranks.clock_offset(now_ns).unwrap(), now_ns())
        });
        assert_eq!(found.len(), count as usize);
        for (rank, (offset, now_ns)) in (0..).zip(found) {
            let off_by_ns = (offset.offset_ns + ahead_ns(rank)).unsigned_abs();
            assert!(
                off_by_ns <= offset.error_ns,
                "rank {rank} of {count}: {offset:?}, off by {off_by_ns} ns"
            );
            assert!(offset.error_ns < 1_000_000_000, "{offset:?}");
            assert_eq!(offset.error_ns == 0, rank == 0, "{offset:?}");
            assert!(
                rank == 0 || offset.error_ns >= delay * 1_500_000,
                "{offset:?}"
            );
            assert!(offset.at_ns <= now_ns, "{offset:?}");
        }
    }
}
