//! Steady-state rules, tested on the machine's clock with an engine of known latencies.

use std::time::Duration;

use record::{Outcome, Phase, Record, SegmentKind, SteadyAsked, SteadyRule};
use runner::{Control, Drive, Events, NoEvents, RunSpec, Stop, SystemClock};
use testkit::{Assert, transactions};
use verdict::Summary;
use workload::Workers;

use crate::sleepy::{Sleepy, request, two_milliseconds};

fn perform(request: &RunSpec, takes: fn(u64) -> Duration, events: &mut dyn Events) -> Record {
    let record = runner::run(
        request,
        &Sleepy(takes),
        &SystemClock,
        &mut Control::default,
        events,
    )
    .unwrap();
    assert_eq!(record.actual.outcome, Outcome::Complete);
    record
}

fn steady(rule: SteadyRule, rounds_max: u32, round: Duration) -> Drive {
    Drive {
        warm_up: Duration::from_millis(100),
        stop: Stop::Steady(SteadyAsked {
            rule,
            round_ns: round.as_nanos() as u64,
            rounds_max,
        }),
        ..Drive::default()
    }
}

/// Latency that rises from 0.2 ms to 5 ms over the first 600 operations and is then constant.
fn slows_down_at_first(number: u64) -> Duration {
    Duration::from_micros(200 + 8 * number.min(600))
}

#[test]
fn rounds_continue_until_five_are_steady() {
    let round = Duration::from_millis(400);
    let record = perform(
        &request(steady(SteadyRule::Snia, 40, round), Workers::ONE),
        slows_down_at_first,
        &mut NoEvents,
    );
    let phase = transactions(&record);
    let found = phase.steady.as_ref().unwrap();
    assert!(found.is_steady, "{found:?}");
    assert!(
        found.rounds.len() > 5,
        "it was not steady from the beginning: {found:?}"
    );
    found.assert(found.rounds[0] > 1.5 * found.rounds[found.rounds.len() - 1]);
    let kinds: Vec<SegmentKind> = phase.segments.iter().map(|segment| segment.kind).collect();
    // Only one or two segments are between the warm-up and the five rounds of the window, because
    // most earlier rounds are merged into one segment.
    let approach = kinds.len() - 6;
    assert!((1..=2).contains(&approach), "{kinds:?}");
    let of = |segments: std::ops::Range<usize>, kind| kinds[segments].iter().all(|of| *of == kind);
    kinds.assert(of(0..1, SegmentKind::WarmUp) && of(1..1 + approach, SegmentKind::Approach));
    kinds.assert(of(1 + approach..kinds.len(), SegmentKind::Measured));
    let in_slices: u64 = phase
        .slices
        .totals()
        .values()
        .map(|meter| meter.operations)
        .sum();
    let in_segments: u64 = phase
        .segments
        .iter()
        .map(|segment| segment.transactions)
        .sum();
    assert_eq!(in_slices, in_segments, "nothing is lost");
    let measured: u64 = phase.measured().map(|segment| segment.transactions).sum();
    let rate = measured as f64 * 1e9 / phase.measured_ns() as f64;
    let average = found.snia.unwrap().average;
    assert!((rate / average - 1.0).abs() < 0.1, "{rate} {average}");
    let summary = Summary::of(&record);
    let of_phase = summary.phase(Phase::Transactions).unwrap();
    assert_eq!(of_phase.last_done.done.count, measured);
    assert!(of_phase.approach.is_some() && of_phase.warm_up.is_some());
}

fn slows_down_without_limit(number: u64) -> Duration {
    Duration::from_micros(200 + 20 * number)
}

#[test]
fn run_that_never_becomes_steady_ends_with_its_last_round() {
    let round = Duration::from_millis(300);
    let record = perform(
        &request(steady(SteadyRule::Snia, 7, round), Workers::ONE),
        slows_down_without_limit,
        &mut NoEvents,
    );
    let phase = transactions(&record);
    let found = phase.steady.as_ref().unwrap();
    assert!(!found.is_steady && found.rounds.len() == 7, "{found:?}");
    assert!(found.snia.unwrap().slope_excursion > 0.1, "{found:?}");
    assert_eq!(
        phase.measured().count(),
        5,
        "the last window is what was measured"
    );
}

#[test]
fn slope_rule_uses_the_seconds_of_the_window() {
    let round = Duration::from_secs(4);
    let drive = steady(SteadyRule::Slope, 6, round);
    let record = perform(
        &request(drive, Workers::ONE),
        two_milliseconds,
        &mut NoEvents,
    );
    let found = transactions(&record).steady.clone().unwrap();
    assert!((20..=21).contains(&found.seconds.len()), "{found:?}");
    let slope = found.slope.unwrap();
    // On a busy machine the rates of the seconds may be too correlated for a confidence interval.
    // In this case the result must be "not steady".
    let is_within = slope.interval.is_some_and(|(low, high)| {
        assert!(low < slope.drift && slope.drift < high, "{slope:?}");
        -0.1 <= low && high <= 0.1
    });
    assert_eq!(found.is_steady, is_within, "{slope:?}");
}

#[test]
fn run_shorter_than_a_steady_state_window_is_not_steady() {
    let mut request = request(
        steady(SteadyRule::Snia, 10, Duration::from_millis(200)),
        Workers::ONE,
    );
    request.workload = request.workload.with_transactions(150);
    let record = perform(&request, two_milliseconds, &mut NoEvents);
    let phase = transactions(&record);
    let found = phase.steady.as_ref().unwrap();
    found.assert(!found.is_steady && found.snia.is_none() && found.rounds.len() < 5);
    let measured: u64 = phase.measured().map(|segment| segment.transactions).sum();
    assert!(measured > 50, "all after the warm-up: {measured}");
}
