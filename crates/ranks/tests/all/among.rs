//! Some ranks perform operations without the others. The other ranks wait, and all ranks are in
//! step afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ranks::{CommunicationError, Ranks};

use crate::threads;

const LIMIT: Duration = Duration::from_secs(20);

fn sum(ranks: &Ranks) -> Result<u32, CommunicationError> {
    ranks.meet(ranks.rank(), |a, b| a + b)
}

fn sum_of(count: u32) -> Result<u32, CommunicationError> {
    Ok((0..count).sum())
}

#[test]
fn all_ranks_are_in_step_after_runs_of_some_ranks() {
    const LAUNCHED: u32 = 9;
    threads::each(LAUNCHED, LIMIT, |ranks| {
        for round in 0..3 {
            for count in [1, 2, 3, 6, 8, LAUNCHED] {
                let some = ranks.among(count);
                assert_eq!((some.count(), some.launched()), (count, LAUNCHED));
                assert_eq!(some.is_one(), ranks.rank() < count);
                assert_eq!(some.all().count(), LAUNCHED);
                ranks.open();
                if some.is_one() {
                    for _ in 0..round {
                        assert_eq!(sum(&some), sum_of(count));
                    }
                    assert_eq!(
                        some.broadcast((ranks.rank() == 0).then_some(count)),
                        Ok(count)
                    );
                    assert!(some.clock_offset(|| 7).is_ok());
                } else {
                    assert_eq!(ranks.rest(), Ok(()));
                }
                ranks.close();
                if some.is_one() {
                    assert_eq!(sum(&some), sum_of(count));
                }
                let told = (ranks.rank() == 0).then_some(count);
                assert_eq!(
                    ranks.broadcast(told),
                    Ok(count),
                    "rank {} of {count}",
                    ranks.rank()
                );
                assert_eq!(sum(ranks), sum_of(LAUNCHED));
            }
        }
        assert_eq!(ranks.lost(), None);
    });
}

#[test]
fn resting_or_working_rank_can_stop_the_run() {
    for stops in [0, 1, 2, 5] {
        threads::each(6, LIMIT, |ranks| {
            let wants = Arc::new(AtomicBool::new(false));
            let told = Arc::new(AtomicBool::new(false));
            let (asked, heard) = (Arc::clone(&wants), Arc::clone(&told));
            ranks.tie(
                move || asked.load(Ordering::SeqCst).then_some(15),
                move || heard.store(true, Ordering::SeqCst),
            );
            let some = ranks.among(2);
            ranks.open();
            if some.is_one() {
                assert_eq!(sum(&some), sum_of(2));
            }
            let later = (ranks.rank() == stops).then(|| {
                thread::spawn(move || {
                    thread::sleep(Duration::from_millis(100));
                    wants.store(true, Ordering::SeqCst);
                })
            });
            let stopped = CommunicationError::Stopped { rank: stops };
            if some.is_one() {
                // The working ranks continue until they are informed of the stop.
                while ranks.stopped_by().is_none() {
                    thread::sleep(Duration::from_millis(2));
                }
                assert_eq!(sum(&some), Err(stopped));
            } else {
                assert_eq!(ranks.rest(), Err(stopped));
            }
            ranks.close();
            later.into_iter().for_each(|later| later.join().unwrap());
            if some.is_one() {
                assert_eq!(sum(&some), sum_of(2));
            }
            assert_eq!(sum(ranks), sum_of(6));
            assert_eq!(told.load(Ordering::SeqCst), ranks.rank() != stops);
        });
    }
}

#[test]
fn rank_that_rests_during_operation_of_all_ranks_is_out_of_step() {
    let outcomes = threads::each(3, LIMIT, |ranks| {
        ranks.open();
        match ranks.rank() {
            2 => ranks.rest(),
            _ => sum(ranks).map(drop),
        }
    });
    for outcome in outcomes {
        let why = outcome.unwrap_err().to_string();
        assert!(
            why.contains("out of step") && why.contains("rank 2"),
            "{why}"
        );
    }
}

/// The first `performing` ranks perform `runs` runs, which the other ranks watch. Then all ranks
/// receive a value of rank 0.
fn watch_runs(launched: u32, performing: u32, runs: u32) {
    threads::each(launched, LIMIT, |ranks| {
        // Before and after the runs all ranks are in step.
        assert_eq!(sum(ranks), sum_of(launched));
        for round in 0..2 {
            if ranks.rank() < performing {
                let some = ranks.without_watching(performing);
                assert_eq!(
                    (some.count(), some.launched(), some.all().count()),
                    (performing, performing, performing)
                );
                for _ in 0..runs {
                    some.open();
                    assert_eq!(sum(&some), sum_of(performing));
                    some.close();
                    assert_eq!(sum(&some), sum_of(performing));
                    assert_eq!(some.broadcast((ranks.rank() == 0).then_some(3)), Ok(3));
                }
            } else {
                let mut watch = ranks.watch();
                let end = loop {
                    if let Some(end) = watch.wait(Duration::from_millis(1)) {
                        break end;
                    }
                };
                assert_eq!(end, Ok(()));
            }
            let told = (ranks.rank() == 0).then_some(round);
            assert_eq!(ranks.broadcast(told), Ok(round), "rank {}", ranks.rank());
            assert!(ranks.clock_offset(|| 7).is_ok());
            assert_eq!(sum(ranks), sum_of(launched));
        }
        assert_eq!(ranks.lost(), None);
    });
}

#[test]
fn watching_ranks_are_in_step_after_any_number_of_runs() {
    for (launched, performing) in [(2, 1), (5, 4), (9, 4), (9, 1), (12, 7)] {
        for runs in [0, 1, 3] {
            watch_runs(launched, performing, runs);
        }
    }
}

#[test]
fn stop_ends_run_but_not_watch() {
    for stops in [0, 1, 3] {
        threads::each(4, LIMIT, |ranks| {
            let wants = Arc::new(AtomicBool::new(false));
            let asked = Arc::clone(&wants);
            ranks.tie(move || asked.load(Ordering::SeqCst).then_some(15), || ());
            wants.store(ranks.rank() == stops, Ordering::SeqCst);
            if ranks.rank() < 2 {
                let some = ranks.without_watching(2);
                some.open();
                while ranks.stopped_by().is_none() {
                    thread::sleep(Duration::from_millis(2));
                }
                assert_eq!(sum(&some), Err(CommunicationError::Stopped { rank: stops }));
                some.close();
                assert_eq!(sum(&some), sum_of(2));
                assert_eq!(ranks.stop_reason(), Some(15));
            } else {
                assert_eq!(ranks.watch().wait(LIMIT), Some(Ok(())));
            }
            assert_eq!(ranks.broadcast((ranks.rank() == 0).then_some(7)), Ok(7));
            assert_eq!(sum(ranks), sum_of(4));
        });
    }
}

#[test]
fn watching_rank_is_informed_of_failure() {
    let limit = Duration::from_millis(300);
    let outcomes = threads::each(3, limit, |ranks| match ranks.rank() {
        0 => {
            // Ranks 0 and 1 perform different operations.
            let some = ranks.without_watching(2);
            some.open();
            sum(&some).map(drop)
        }
        1 => ranks.without_watching(2).broadcast(Some(1)).map(drop),
        _ => ranks.watch().wait(LIMIT).unwrap_or(Ok(())),
    });
    for outcome in outcomes.iter().skip(2) {
        assert!(outcome.is_err(), "{outcome:?}");
    }
}
