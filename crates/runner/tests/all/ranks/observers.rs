//! Ranks that only observe their machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use engines::posix::Posix;
use ranks::{Ranks, in_process};
use record::{Outcome, Phase, Record};
use runner::{Control, NoEvents, Observers, Refused, RunSpec, SystemClock};
use testkit::Assert as _;
use verdict::Summary;
use workload::Workload;

use super::{LIMIT, Rank, is_empty, phases, request};
use crate::directory;

/// Uses processor time, which observers must count.
fn spin(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Performs a run with as many observers as performing ranks. Returns the record of each rank.
/// `meanwhile` is called on each rank: before the run on performing ranks, and during the run on
/// observers.
fn observed(
    performing: u32,
    asked: &RunSpec,
    meanwhile: impl Fn(u32, &AtomicUsize) + Sync,
) -> Vec<Option<Record>> {
    std::thread::scope(|scope| {
        let all = in_process::ranks(2 * performing).into_iter();
        let all: Vec<_> = all
            .map(|communicator| {
                let meanwhile = &meanwhile;
                scope.spawn(move || {
                    let ranks = Ranks::join(LIMIT, move || Ok(communicator)).unwrap();
                    let observers = Observers::begin(&ranks, performing, None).unwrap();
                    let signal = Arc::<AtomicUsize>::default();
                    let record = if ranks.rank() < performing {
                        meanwhile(ranks.rank(), &signal);
                        let mut taking = Rank(
                            ranks.without_watching(performing),
                            Control::stopped_by(signal),
                        );
                        let performed =
                            runner::run(asked, &Posix, &SystemClock, &mut taking, &mut NoEvents);
                        let mut record = performed.unwrap();
                        observers.end(Some(&mut record)).unwrap();
                        Some(record)
                    } else {
                        std::thread::scope(|scope| {
                            scope.spawn(|| meanwhile(ranks.rank(), &signal));
                            observers.observe(Arc::clone(&signal)).unwrap();
                        });
                        None
                    };
                    ranks.leave();
                    record
                })
            })
            .collect();
        all.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

#[test]
fn signal_to_observer_ends_the_run() {
    let at = directory();
    let at = at.path();
    let asked = request(at, 2, 2, Workload::ENDLESS);
    let records = observed(2, &asked, |rank, signal| {
        if rank == 3 {
            while is_empty(at) {
                std::thread::sleep(Duration::from_millis(10));
            }
            std::thread::sleep(Duration::from_millis(300));
            signal.store(15, Ordering::Relaxed);
        }
    });
    let [Some(first), Some(second), None, None] = &records[..] else {
        panic!("{records:?}");
    };
    assert_eq!(first.actual, second.actual, "all have the same");
    assert_eq!(first.actual.outcome, Outcome::Interrupted { signal: 15 });
    assert!(!first.actual.transactions().next().unwrap().complete);
    assert_eq!(first.cluster.as_ref().unwrap().observers.len(), 1);
    assert!(is_empty(at));
}

#[test]
fn observers_count_machine_activity_during_the_run() {
    const PERFORMING: u32 = 2;
    let at = directory();
    let at = at.path();
    let asked = request(at, 2, PERFORMING, 2_000);
    let records = observed(PERFORMING, &asked, |rank, _| {
        if rank < PERFORMING {
            spin(Duration::from_millis(250));
        }
    });
    let [Some(first), Some(second), None, None] = &records[..] else {
        panic!("{records:?}");
    };
    assert_eq!(first.actual.outcome, Outcome::Complete);
    assert_eq!(first.cluster, second.cluster, "all have the same");
    let cluster = first.cluster.as_ref().unwrap();
    assert_eq!((cluster.launched, cluster.ranks.len()), (PERFORMING, 2));
    // Both observers run on the same machine, whose activity must be counted only once.
    let [observer] = &cluster.observers[..] else {
        panic!("{:?}", cluster.observers);
    };
    assert_eq!(observer.rank, PERFORMING);
    assert!(observer.readings >= 3, "{observer:?}");
    let observed: Vec<Phase> = observer.phases.iter().map(|phase| phase.phase).collect();
    let performed = phases(first);
    assert_eq!(observed, performed);
    for (phase, of_run) in observer.phases.iter().zip(&first.actual.phases) {
        let (began, ended) = (&of_run.segments[0], of_run.segments.last().unwrap());
        assert_eq!(phase.ns, ended.ended_ns - began.began_ns);
        assert!(phase.counted.is_known(), "{phase:?}");
    }
    let sum: u64 = observer.phases.iter().map(|phase| phase.ns).sum();
    assert!(observer.whole_ns >= sum + 250_000_000, "{observer:?}");
    let processors = observer.whole.processors.known().unwrap();
    processors.assert(*processors.busy_ns.known().unwrap() >= 200_000_000);
    let rows = &Summary::of(first).ranks.unwrap().observers[0].rows;
    assert_eq!(rows.len(), 1 + performed.len());
    let json = verdict::to_json(first);
    assert_eq!(&Record::from_json(&json).unwrap(), first);
}

#[test]
fn observers_end_if_the_run_is_refused() {
    let at = directory();
    let at = at.path();
    // The run requires three ranks. Only two ranks perform runs, because the third one observes.
    let asked = request(at, 6, 3, 100);
    std::thread::scope(|scope| {
        for communicator in in_process::ranks(3) {
            let asked = &asked;
            scope.spawn(move || {
                let ranks = Ranks::join(LIMIT, move || Ok(communicator)).unwrap();
                let observers = Observers::begin(&ranks, 2, None).unwrap();
                if ranks.rank() < 2 {
                    let mut taking = Rank(ranks.without_watching(2), Control::default());
                    let performed =
                        runner::run(asked, &Posix, &SystemClock, &mut taking, &mut NoEvents);
                    assert!(matches!(performed, Err(Refused::Ranks(_))), "{performed:?}");
                    observers.end(None).unwrap();
                } else {
                    observers.observe(Arc::default()).unwrap();
                }
                ranks.leave();
            });
        }
    });
    assert!(is_empty(at));
}
