//! Verdicts of runs on a virtual clock. Each test passes a function from the number of an operation
//! to the duration of the operation.

use std::path::PathBuf;
use std::time::Duration;

use record::{Fact, Outcome, Phase, Record, SteadyAsked, SteadyRule};
use runner::{Clock, Drive, NoEvents, Pace, Place, RunSpec, Stop, SystemClock};
use testkit::{Assert, Timed, Virtual};
use verdict::rules::Steadiness;
use verdict::rules::{
    LatencyOverflow, NotSteady, Partial, RateNotReached, Stalled, SteadyStateNotReached, TooShort,
};
use verdict::{Level, Reason, Verdict};
use workload::arrivals::ArrivalProcess;
use workload::{Mix, Workload};

use super::has;

const MS: u64 = 1_000_000;
/// Number of files, which is also the number of operations before the transactions phase.
const FILES: u64 = 10;

fn request(transactions: u64) -> RunSpec {
    let mix = Mix {
        files: FILES,
        transactions,
        weights: "stat=1".parse().unwrap(),
        ..Mix::default()
    };
    let location = PathBuf::from("/timed");
    RunSpec {
        series: true,
        ..RunSpec::classic(mix.into(), vec![location], Place::Nowhere)
    }
}

fn perform<C: Clock + Clone + 'static>(
    request: &RunSpec,
    clock: C,
    takes_ns: fn(u64) -> u64,
) -> Record {
    let engine = Timed {
        clock: clock.clone(),
        takes_ns,
    };
    testkit::run(request, &engine, &clock, &mut NoEvents)
}

/// Performs a closed loop, and returns its verdict.
fn closed(transactions: u64, takes_ns: fn(u64) -> u64) -> Verdict {
    verdict(&perform(
        &request(transactions),
        Virtual::default(),
        takes_ns,
    ))
}

/// Performs an open loop, and returns its verdict.
fn open(
    transactions: u64,
    rate: f64,
    arrivals: ArrivalProcess,
    takes_ns: fn(u64) -> u64,
) -> Verdict {
    let asked = RunSpec {
        drive: Drive {
            pace: Pace::Open {
                per_second: rate,
                arrivals,
            },
            ..Drive::default()
        },
        ..request(transactions)
    };
    verdict(&perform(&asked, Virtual::default(), takes_ns))
}

/// The verdict of a complete run. Rules about other load are left out, because the real duration is
/// too short for them.
fn verdict(record: &Record) -> Verdict {
    assert_eq!(record.actual.outcome, Outcome::Complete);
    let mut record = record.clone();
    // The kernel counters of the phases count real time, which does not match the virtual clock. So
    // they are removed from the record before the rules use them.
    record
        .actual
        .phases
        .iter_mut()
        .for_each(|phase| phase.machine = None);
    Verdict::of(&record)
}

fn a_millisecond(_: u64) -> u64 {
    MS
}

#[test]
fn run_of_thirty_steady_seconds_is_valid() {
    let verdict = closed(30_000, a_millisecond);
    assert_eq!(
        (verdict.level, &verdict.reasons[..]),
        (Level::Valid, &[][..])
    );
    let Fact::Known(Steadiness::Change(change)) = verdict.seen.steadiness else {
        panic!("{verdict:?}");
    };
    // An operation that completes exactly when a second ends is counted in the next second, so the
    // average may differ from 1,000.
    assert_eq!(change.window, 30);
    assert!((change.average - 1_000.0).abs() < 0.1, "{change:?}");
}

#[test]
fn run_that_slows_down_is_not_steady() {
    /// Latency rises from 1 ms to 1.5 ms within 30,000 operations.
    fn slower(number: u64) -> u64 {
        MS + MS / 2 * number / 30_000
    }
    for transactions in [30_000, 12_000] {
        let verdict = closed(transactions, slower);
        assert_eq!(verdict.level, Level::Doubtful, "{verdict:?}");
        let [Reason::NotSteady(NotSteady { found, .. })] = &verdict.reasons[..] else {
            panic!("{verdict:?}");
        };
        assert!(matches!(found, Steadiness::Change(_)), "{found:?}");
    }
}

/// Runs until the SNIA rule finds a steady state, for at most eight rounds of one second on the
/// system clock. Returns the verdict.
fn until_steady(takes_ns: fn(u64) -> u64) -> Verdict {
    let asked = RunSpec {
        drive: Drive {
            stop: Stop::Steady(SteadyAsked {
                rule: SteadyRule::Snia,
                round_ns: 1_000 * MS,
                rounds_max: 8,
            }),
            ..Drive::default()
        },
        ..request(Workload::ENDLESS)
    };
    verdict(&perform(&asked, SystemClock, takes_ns))
}

#[test]
fn run_that_never_reaches_the_required_steady_state_is_invalid() {
    /// Latency rises by 0.5 µs with each operation, from 1 ms to 3 ms after eight seconds. The rate
    /// then is a third of the initial rate.
    fn ever_slower(number: u64) -> u64 {
        MS + MS / 2_000 * number
    }
    let never = until_steady(ever_slower);
    assert_eq!(never.level, Level::Invalid, "{never:?}");
    assert!(
        has!(
            never,
            Reason::SteadyStateNotReached(SteadyStateNotReached {
                rule: SteadyRule::Snia,
                rounds: 8,
                last: Some(_)
            })
        ),
        "{never:?}"
    );
    let found = until_steady(a_millisecond);
    assert!(!has!(found, Reason::SteadyStateNotReached(_)), "{found:?}");
    found.assert(
        found
            .seen
            .steadiness
            .known()
            .is_some_and(Steadiness::is_steady),
    );
}

#[test]
fn short_runs_are_doubtful_or_invalid() {
    let verdict = closed(9_000, a_millisecond);
    let [
        Reason::TooShort(TooShort {
            phase,
            measured_ns,
            operations,
            ..
        }),
    ] = verdict.reasons[..]
    else {
        panic!("{verdict:?}");
    };
    assert_eq!(
        (phase, measured_ns, operations),
        (Phase::Transactions, 9_000 * MS, 9_000)
    );
    assert_eq!(verdict.level, Level::Doubtful);
    assert_eq!(closed(99, |_| 1_000 * MS).level, Level::Invalid);
    assert_eq!(closed(900, |_| 1_000).level, Level::Invalid);
}

#[test]
fn growing_queue_is_reported_as_rate_not_reached() {
    for arrivals in [ArrivalProcess::Constant, ArrivalProcess::Poisson] {
        // At 1 ms per operation, 1,000 operations per second are possible. With the seed of this
        // test, Poisson arrivals at 900 per second build up no long queue.
        let kept_up = open(20_000, 900.0, arrivals, a_millisecond);
        assert!(
            !has!(kept_up, Reason::RateNotReached(_)),
            "{arrivals}: {kept_up:?}"
        );
        assert_eq!(kept_up.seen.steadiness, Fact::NotApplicable);
        let late = open(20_000, 1_100.0, arrivals, a_millisecond);
        assert_eq!(late.level, Level::Invalid, "{arrivals}: {late:?}");
        let [
            Reason::RateNotReached(RateNotReached {
                requested,
                achieved,
            }),
        ] = late.reasons[..]
        else {
            panic!("{arrivals}: {late:?}");
        };
        achieved.assert((requested - 1_100.0).abs() < 1e-9 && (achieved - 1_000.0).abs() < 5.0);
    }
}

#[test]
fn latency_above_the_range_of_the_histogram_is_reported() {
    /// One operation takes twenty minutes. The histogram only covers durations below 18.3 minutes.
    fn once_for_long(number: u64) -> u64 {
        if number == FILES + 7_000 {
            1_200_000 * MS
        } else {
            MS
        }
    }
    let verdict = closed(14_000, once_for_long);
    verdict.assert(has!(
        verdict,
        Reason::LatencyOverflow(LatencyOverflow { operations: 1, .. })
    ));
    assert!(verdict.level >= Level::Doubtful);
}

#[test]
fn stalled_worker_is_reported() {
    let stalled = |takes_ns: fn(u64) -> u64| {
        let asked = RunSpec {
            stall_timeout: Duration::from_millis(200),
            ..request(500)
        };
        Verdict::of(&perform(&asked, SystemClock, takes_ns))
    };
    let back = stalled(|number| if number == 300 { 500 * MS } else { 0 });
    assert!(
        has!(back, Reason::Stalled(Stalled { times: 1, lost: 0, longest_ns })
            if *longest_ns >= 200 * MS),
        "{back:?}"
    );
    let lost = stalled(|number| if number == 300 { 3_600_000 * MS } else { 0 });
    assert_eq!(lost.level, Level::Invalid);
    lost.assert(has!(
        lost,
        Reason::Stalled(Stalled {
            times: 1,
            lost: 1,
            ..
        })
    ));
    lost.assert(has!(
        lost,
        Reason::Partial(Partial {
            outcome: Outcome::Failed { .. }
        })
    ));
}
