//! Some of the ranks do something without the others, which wait for them and are in step afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use cluster::{CommunicationError, Ranks};

use crate::threads;

const LIMIT: Duration = Duration::from_secs(20);

fn sum(ranks: &Ranks) -> Result<u32, CommunicationError> {
    ranks.meet(ranks.rank(), |a, b| a + b)
}

fn sum_of(count: u32) -> Result<u32, CommunicationError> {
    Ok((0..count).sum())
}

#[test]
fn runs_of_the_first_ranks_leave_all_in_step() {
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
                    assert_eq!(some.broadcast((ranks.rank() == 0).then_some(count)), Ok(count));
                    assert!(some.clock_offset(|| 7).is_ok());
                } else {
                    assert_eq!(ranks.rest(), Ok(()));
                }
                ranks.close();
                if some.is_one() {
                    assert_eq!(sum(&some), sum_of(count));
                }
                let told = (ranks.rank() == 0).then_some(count);
                assert_eq!(ranks.broadcast(told), Ok(count), "rank {} of {count}", ranks.rank());
                assert_eq!(sum(ranks), sum_of(LAUNCHED));
            }
        }
        assert_eq!(ranks.lost(), None);
    });
}

#[test]
fn ranks_that_rest_and_ranks_that_work_stop_one_another() {
    for stops in [0, 1, 2, 5] {
        threads::each(6, LIMIT, |ranks| {
            let wants = Arc::new(AtomicBool::new(false));
            let told = Arc::new(AtomicBool::new(false));
            let (asked, heard) = (Arc::clone(&wants), Arc::clone(&told));
            ranks.tie(
                move || asked.load(Ordering::SeqCst),
                move || heard.store(true, Ordering::SeqCst),
            );
            let some = ranks.among(2);
            ranks.open();
            if some.is_one() {
                assert_eq!(sum(&some), sum_of(2));
            }
            if ranks.rank() == stops {
                wants.store(true, Ordering::SeqCst);
            }
            let stopped = CommunicationError::Stopped { rank: stops };
            if some.is_one() {
                // All others work on until they hear of it.
                while ranks.stopped_by().is_none() {
                    thread::sleep(Duration::from_millis(2));
                }
                assert_eq!(sum(&some), Err(stopped));
            } else {
                assert_eq!(ranks.rest(), Err(stopped));
            }
            ranks.close();
            if some.is_one() {
                assert_eq!(sum(&some), sum_of(2));
            }
            assert_eq!(sum(ranks), sum_of(6));
            assert_eq!(told.load(Ordering::SeqCst), ranks.rank() != stops);
        });
    }
}

#[test]
fn a_rank_that_rests_where_others_work_is_out_of_step() {
    let outcomes = threads::each(3, LIMIT, |ranks| {
        ranks.open();
        match ranks.rank() {
            2 => ranks.rest(),
            _ => sum(ranks).map(drop),
        }
    });
    for outcome in outcomes {
        let why = outcome.unwrap_err().to_string();
        assert!(why.contains("out of step") && why.contains("rank 2"), "{why}");
    }
}
