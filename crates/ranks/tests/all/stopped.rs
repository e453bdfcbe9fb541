//! A rank stops the run: all ranks are informed, whether they wait or work, and end the run
//! together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ranks::{CommunicationError, Ranks};

use crate::threads;

const LIMIT: Duration = Duration::from_secs(20);
/// A rank that is not informed of the stop within this time fails the test.
const LONG: Duration = Duration::from_secs(10);

/// The program that runs on a rank: it can request a stop, and records whether another rank stopped
/// the run.
#[derive(Clone, Default)]
struct Program {
    wants_to_stop: Arc<AtomicBool>,
    was_told: Arc<AtomicBool>,
}

impl Program {
    fn tied_to(ranks: &Ranks) -> Self {
        let program = Self::default();
        let (asked, told) = (
            Arc::clone(&program.wants_to_stop),
            Arc::clone(&program.was_told),
        );
        ranks.tie(
            move || asked.load(Ordering::SeqCst).then_some(15),
            move || told.store(true, Ordering::SeqCst),
        );
        program
    }

    fn works_until_told(&self) {
        let began = Instant::now();
        while !self.was_told.load(Ordering::SeqCst) {
            assert!(began.elapsed() < LONG, "nobody told this rank to stop");
            thread::sleep(Duration::from_millis(2));
        }
    }
}

fn sum(ranks: &Ranks) -> Result<u32, CommunicationError> {
    ranks.meet(ranks.rank(), |a, b| a + b)
}

#[test]
fn stop_reaches_waiting_and_working_ranks() {
    for (count, stops) in [(2, 0), (2, 1), (9, 0), (9, 4), (9, 7), (9, 8)] {
        let began = Instant::now();
        threads::each(count, LIMIT, |ranks| {
            let program = Program::tied_to(ranks);
            ranks.open();
            assert_eq!(ranks.stopped_by(), None);
            assert_eq!(sum(ranks), Ok((0..count).sum()));
            if ranks.rank() == stops {
                thread::sleep(Duration::from_millis(100));
                program.wants_to_stop.store(true, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(150));
            } else if ranks.rank() % 2 == 1 {
                program.works_until_told();
            }
            let stopped = CommunicationError::Stopped { rank: stops };
            assert_eq!(
                sum(ranks),
                Err(stopped.clone()),
                "rank {} of {count}",
                ranks.rank()
            );
            assert_eq!(ranks.broadcast(Some(1)), Err(stopped));
            ranks.close();
            // All ranks complete operations after the end of the run, and the stop that is still
            // requested is ignored.
            assert_eq!(sum(ranks), Ok((0..count).sum()));
            assert_eq!(
                (ranks.stopped_by(), ranks.stop_reason()),
                (Some(stops), Some(15))
            );
            assert_eq!(
                program.was_told.load(Ordering::SeqCst),
                ranks.rank() != stops,
                "rank {}",
                ranks.rank()
            );
            assert_eq!(ranks.lost(), None);

            let _next = Program::tied_to(ranks);
            ranks.open();
            assert_eq!(ranks.stopped_by(), None);
            assert_eq!(sum(ranks), Ok((0..count).sum()));
            ranks.close();
            assert_eq!(ranks.stopped_by(), None);
        });
        let took = began.elapsed();
        assert!(took < LONG, "{count} ranks, {stops} stops: {took:?}");
    }
}

#[test]
fn stop_requested_just_before_close_reaches_all_ranks() {
    threads::each(5, LIMIT, |ranks| {
        let program = Program::tied_to(ranks);
        ranks.open();
        sum(ranks).unwrap();
        if ranks.rank() == 3 {
            // This rank closes the run before its next check for a stop.
            program.wants_to_stop.store(true, Ordering::SeqCst);
        } else {
            program.works_until_told();
        }
        ranks.close();
        assert_eq!(sum(ranks), Ok(10));
        assert_eq!(ranks.stopped_by(), Some(3));
    });
}

#[test]
fn stop_is_forwarded_by_rank_that_closed_the_run() {
    threads::each(4, LIMIT, |ranks| {
        let program = Program::tied_to(ranks);
        ranks.open();
        sum(ranks).unwrap();
        match ranks.rank() {
            // Rank 0 closes the run while all other ranks are still performing it.
            0 => ranks.close(),
            1 => {
                thread::sleep(Duration::from_millis(100));
                program.wants_to_stop.store(true, Ordering::SeqCst);
            }
            _ => program.works_until_told(),
        }
        ranks.close();
        assert_eq!(sum(ranks), Ok(6));
        assert_eq!(ranks.stopped_by(), (ranks.rank() != 0).then_some(1));
    });
}

#[test]
fn closing_before_a_barrier_ends_run_of_waiting_ranks() {
    for closes in [0, 4, 5, 7] {
        threads::each(8, LIMIT, |ranks| {
            let _program = Program::tied_to(ranks);
            ranks.open();
            sum(ranks).unwrap();
            if ranks.rank() == closes {
                let mut given_up = ranks.begin(0, |a: u32, b| a + b);
                assert!(given_up.wait(Duration::ZERO).is_none());
            } else {
                for _ in 0..2 {
                    let outcome = sum(ranks);
                    let rank = ranks.rank();
                    match outcome {
                        // The first of the two operations may succeed, because the rank that closes
                        // the run has started it.
                        Ok(_) => (),
                        Err(CommunicationError::Stopped { rank: by }) => {
                            assert_eq!(by, closes, "rank {rank}")
                        }
                        Err(other) => panic!("rank {rank}: {other}"),
                    }
                }
                assert!(ranks.stopped_by() == Some(closes), "rank {}", ranks.rank());
            }
            ranks.close();
            assert_eq!(sum(ranks), Ok(28));
        });
    }
}

#[test]
fn pending_operation_fails_when_run_is_closed() {
    threads::each(2, LIMIT, |ranks| {
        ranks.open();
        if ranks.rank() == 0 {
            let mut waits = ranks.begin((), |(), ()| ());
            assert!(waits.wait(Duration::from_millis(20)).is_none());
            ranks.close();
            let outcome = waits.wait(LIMIT).unwrap();
            assert_eq!(outcome, Err(CommunicationError::Stopped { rank: 0 }));
        } else {
            thread::sleep(Duration::from_millis(100));
            ranks.close();
        }
        assert_eq!(sum(ranks), Ok(1));
    });
}

#[test]
fn stopped_and_complete_runs_can_follow_each_other() {
    threads::each(6, LIMIT, |ranks| {
        for run in 0..50_u32 {
            let program = Program::tied_to(ranks);
            ranks.open();
            let stops = run % 3 == 1 && ranks.rank() == run % 6;
            program.wants_to_stop.store(stops, Ordering::SeqCst);
            let mut several: Vec<_> = (0..run % 4)
                .map(|more| ranks.begin(more, |a, b| a + b))
                .collect();
            for (more, meeting) in (0..).zip(&mut several) {
                match meeting.wait(LIMIT).expect("it is known") {
                    Ok(total) => assert_eq!(total, 6 * more),
                    Err(CommunicationError::Stopped { rank }) => {
                        assert_eq!((run % 3, rank), (1, run % 6))
                    }
                    Err(other) => panic!("run {run}: {other}"),
                }
            }
            ranks.close();
            assert_eq!(ranks.meet(run, u32::max), Ok(run));
        }
    });
}
