//! A rank is lost or performs another operation: all other ranks report that rank, and no rank
//! waits forever.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ranks::{CommunicationError, Communicator, Message, Ranks, in_process};

use crate::threads;

const LIMIT: Duration = Duration::from_millis(800);

/// A rank that neither sends nor receives messages once it is frozen, as if its process were
/// stopped or its host disconnected.
struct Freezes(in_process::InProcess, Arc<AtomicBool>);

impl Communicator for Freezes {
    fn rank(&self) -> u32 {
        self.0.rank()
    }

    fn ranks(&self) -> u32 {
        self.0.ranks()
    }

    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), CommunicationError> {
        if self.1.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.0.send(to, bytes)
    }

    fn receive(&mut self, limit: Duration) -> Result<Option<Message>, CommunicationError> {
        if self.1.load(Ordering::SeqCst) {
            thread::sleep(limit);
            return Ok(None);
        }
        self.0.receive(limit)
    }

    fn flush(&mut self, limit: Duration) -> Result<(), CommunicationError> {
        self.0.flush(limit)
    }
}

fn sum(ranks: &Ranks) -> Result<u32, CommunicationError> {
    ranks.meet(ranks.rank(), |a, b| a + b)
}

#[test]
fn all_other_ranks_report_silent_rank() {
    // The lost rank is rank 0, or a rank with several, one or no descendants.
    thread::scope(|scope| {
        for missing in [0, 4, 6, 11] {
            scope.spawn(move || all_others_name(missing));
        }
    });
}

fn all_others_name(missing: u32) {
    let frozen = Arc::new(AtomicBool::new(false));
    let carriers = in_process::ranks(12).into_iter();
    let carriers = carriers
        .map(|carrier| {
            let is_it = carrier.rank() == missing;
            Freezes(
                carrier,
                if is_it {
                    Arc::clone(&frozen)
                } else {
                    Arc::default()
                },
            )
        })
        .collect();
    let told = threads::each_over(carriers, LIMIT, |ranks| {
        let was_told = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&was_told);
        ranks.tie(|| None, move || told.store(true, Ordering::SeqCst));
        ranks.open();
        // A rank that works longer than the limit is not lost.
        thread::sleep(LIMIT * 2 * (ranks.rank() % 2));
        assert_eq!(sum(ranks), Ok(66));
        if ranks.rank() == missing {
            frozen.store(true, Ordering::SeqCst);
            thread::sleep(LIMIT * 2);
            return Duration::ZERO;
        }
        let began = Instant::now();
        if ranks.rank() % 2 == 0 {
            while !was_told.load(Ordering::SeqCst) && began.elapsed() < LIMIT * 10 {
                thread::sleep(Duration::from_millis(2));
            }
        }
        let silent = CommunicationError::Silent {
            rank: missing,
            limit: LIMIT,
        };
        assert_eq!(sum(ranks), Err(silent.clone()), "rank {}", ranks.rank());
        let took = began.elapsed();
        assert!(was_told.load(Ordering::SeqCst), "rank {}", ranks.rank());
        assert_eq!(ranks.lost(), Some(silent.clone()));
        // Later operations do not wait for the lost rank.
        let after = Instant::now();
        ranks.close();
        assert_eq!(sum(ranks), Err(silent.clone()));
        assert_eq!(ranks.broadcast(Some(0)), Err(silent.clone()));
        assert_eq!(ranks.clock_offset(|| 0), Err(silent));
        assert!(after.elapsed() < LIMIT / 2, "{:?}", after.elapsed());
        took
    });
    for took in told {
        assert!(
            took < LIMIT + Duration::from_secs(2),
            "{took:?} until rank {missing} was missed"
        );
    }
}

#[test]
fn rank_that_ends_without_leaving_is_lost() {
    let ranks = in_process::ranks(3);
    thread::scope(|scope| {
        for carrier in ranks {
            scope.spawn(move || {
                let ranks = Ranks::join(LIMIT, move || Ok(carrier)).unwrap();
                if ranks.rank() == 1 {
                    return;
                }
                let missed = sum(&ranks);
                assert!(
                    matches!(missed, Err(CommunicationError::Silent { rank: 1, .. })),
                    "{missed:?}"
                );
                ranks.leave();
            });
        }
    });
}

#[test]
fn different_operations_fail_and_error_names_both() {
    let outcomes = threads::each(4, Duration::from_secs(4), |ranks| {
        if ranks.rank() == 2 {
            return ranks.clock_offset(|| 0).map(|_| 0);
        }
        sum(ranks)
    });
    // Several ranks may detect the difference at once, and may name either of the two ranks.
    for outcome in outcomes {
        let error = outcome.unwrap_err();
        assert!(
            matches!(error, CommunicationError::OutOfStep { .. }),
            "{error}"
        );
        let text = error.to_string();
        for part in [
            "rank 2 ",
            "compare clocks",
            "merge what all have",
            "the same command?",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
}

#[test]
fn value_of_another_type_fails_on_all_ranks() {
    let outcomes = threads::each(5, Duration::from_secs(20), |ranks| {
        if ranks.rank() == 3 {
            return ranks.meet("text".to_owned(), |a, b| a + &b).map(|_| 0);
        }
        sum(ranks)
    });
    for outcome in outcomes {
        let error = outcome.unwrap_err();
        assert!(
            matches!(error, CommunicationError::Unreadable { rank: 3, .. }),
            "{error}"
        );
    }
}

#[test]
fn operation_with_rank_that_left_or_opened_a_run_fails() {
    let outcomes = threads::each(3, Duration::from_secs(20), |ranks| match ranks.rank() {
        1 => Ok(0),
        _ => sum(ranks),
    });
    for outcome in [&outcomes[0], &outcomes[2]] {
        let text = outcome.clone().unwrap_err().to_string();
        assert!(text.contains("rank 1 is to leave where rank 0"), "{text}");
    }

    let outcomes = threads::each(3, Duration::from_secs(20), |ranks| {
        if ranks.rank() == 1 {
            ranks.open();
        }
        sum(ranks)
    });
    for outcome in outcomes {
        let text = outcome.unwrap_err().to_string();
        assert!(
            text.contains("rank 1 is to perform another run where rank 0"),
            "{text}"
        );
    }
}

#[test]
fn panicking_merge_fails_on_all_ranks() {
    let outcomes = threads::each(6, Duration::from_secs(20), |ranks| {
        ranks.meet(ranks.rank(), |a, b| {
            assert!(b != 5, "a test wants this panic");
            a + b
        })
    });
    for outcome in outcomes {
        let error = outcome.unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot merge what ranks have: it panicked"
        );
    }
}

#[test]
fn operations_fail_after_rank_left() {
    for count in [1, 2] {
        threads::each(count, Duration::from_secs(20), |ranks| {
            assert_eq!(ranks.broadcast(Some(3)), Ok(3));
            ranks.leave();
            ranks.leave();
            ranks.open();
            let error = ranks.broadcast(Some(3)).unwrap_err();
            assert_eq!(
                error.to_string(),
                "cannot talk to other ranks: this rank has left them"
            );
        });
    }
}

#[test]
fn ranks_join_returns_error_of_failed_communicator() {
    let refused = CommunicationError::Refused {
        doing: "join".into(),
        why: "the launcher has gone".to_owned(),
    };
    let why = refused.clone();
    let error = Ranks::join::<in_process::InProcess>(LIMIT, move || Err(why)).unwrap_err();
    assert_eq!(error, refused);
}

#[test]
fn resting_ranks_detect_lost_ranks_and_are_detected_if_lost() {
    // Three of eight ranks have workers. The lost rank has workers or none, and is an inner node or
    // a leaf of the tree of ranks.
    for missing in [0, 1, 4, 7] {
        let frozen = Arc::new(AtomicBool::new(false));
        let carriers = in_process::ranks(8).into_iter();
        let carriers = carriers
            .map(|carrier| {
                let is_it = carrier.rank() == missing;
                Freezes(
                    carrier,
                    if is_it {
                        Arc::clone(&frozen)
                    } else {
                        Arc::default()
                    },
                )
            })
            .collect();
        threads::each_over(carriers, LIMIT, |ranks| {
            let some = ranks.among(3);
            ranks.open();
            if some.is_one() {
                assert_eq!(sum(&some), Ok(3));
            }
            if ranks.rank() == missing {
                frozen.store(true, Ordering::SeqCst);
                thread::sleep(LIMIT * 2);
                return;
            }
            let silent = CommunicationError::Silent {
                rank: missing,
                limit: LIMIT,
            };
            let began = Instant::now();
            if some.is_one() {
                while ranks.lost().is_none() && began.elapsed() < LIMIT * 10 {
                    thread::sleep(Duration::from_millis(2));
                }
                assert_eq!(sum(&some), Err(silent), "rank {}", ranks.rank());
            } else {
                assert_eq!(ranks.rest(), Err(silent), "rank {}", ranks.rank());
            }
            assert!(
                began.elapsed() < LIMIT + Duration::from_secs(2),
                "{:?}",
                began.elapsed()
            );
        });
    }
}
