//! A rank is lost, or does something else: all others name it, and nobody waits for what cannot
//! come.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ranks::{CommunicationError, Communicator, Message, Ranks, in_process};

use crate::threads;

const LIMIT: Duration = Duration::from_millis(800);

/// A rank that neither says nor hears anything once it is frozen, as one that was stopped or whose
/// link is down.
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
fn all_others_name_a_rank_that_is_silent() {
    // The root, and ranks with many, with one and with none below them.
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
        // Whoever works for longer than the limit is not lost.
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
        // And nothing that follows waits for it.
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
fn a_rank_that_went_without_leaving_is_missed() {
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
fn ranks_that_do_different_things_are_an_error_that_names_both() {
    let outcomes = threads::each(4, Duration::from_secs(4), |ranks| {
        if ranks.rank() == 2 {
            return ranks.clock_offset(|| 0).map(|_| 0);
        }
        sum(ranks)
    });
    // Several may find it at once, and of the two that differ either may.
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
fn a_value_of_another_type_is_an_error_everywhere() {
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
fn a_rank_that_left_or_began_another_run_is_an_error_of_those_that_wait_for_it() {
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
fn a_merge_that_panics_fails_everywhere() {
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
fn after_they_have_left_ranks_are_told_so() {
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
fn who_cannot_join_is_told_why() {
    let refused = CommunicationError::Refused {
        doing: "join".into(),
        why: "the launcher has gone".to_owned(),
    };
    let why = refused.clone();
    let error = Ranks::join::<in_process::InProcess>(LIMIT, move || Err(why)).unwrap_err();
    assert_eq!(error, refused);
}

#[test]
fn ranks_that_rest_miss_others_and_are_missed() {
    // Of eight ranks three work: a rank of each sort, with ranks below it and without.
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
