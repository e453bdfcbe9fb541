//! Rules about the length of a run, its steadiness and its rate.

use measure::steady;
use record::machine::{Counts, DeviceOverTime, ProcessOverTime, States, SystemOverTime};
use record::{
    Action, ArrivalProcess, DeviceRole, Fact, FirstDone, Load, MachineOverTime, Phase, Record,
    Role, SegmentKind, SliceMeter, Slices, SteadyAsked, SteadyFound, SteadyRule, Stop, SweepStep,
};

use testkit::{Assert, Shows, runs::private};
use verdict::rules::Steadiness;
use verdict::rules::{NotSteady, RateNotReached, SteadyStateNotReached, TimeSpent, TooShort};
use verdict::{Level, Reason, Summary, SweepStepSummary};

use crate::verdict::made::{
    BEGAN, SECOND, arrivals, close, histogram, is_valid, measure_for, of, phase, ramp, reason,
    segment, tell_rates, transactions, well,
};

#[test]
fn short_runs_are_doubtful_and_very_short_ones_invalid() {
    let short = |ns, operations| {
        reason(move |record| {
            measure_for(record, ns, operations);
            tell_rates(record, &[]);
        })
    };
    is_valid(|record| {
        measure_for(record, 9_900_000_000, 100);
        tell_rates(record, &[]);
    });
    for (ns, operations, expected) in [
        (9_900_000_000 - 1, 10_000, Level::Doubtful),
        (8_541_850, 1_000, Level::Doubtful),
        (1_000_000, 100, Level::Doubtful),
        (999_999, 10_000, Level::Invalid),
        (60 * SECOND, 99, Level::Invalid),
    ] {
        let found = Reason::TooShort(TooShort {
            phase: Phase::Transactions,
            measured_ns: ns,
            operations,
            is_counted: true,
            is_replay: false,
        });
        assert_eq!(short(ns, operations), (expected, found));
    }
}

#[test]
fn warm_up_does_not_count_as_measured_time() {
    let (level, found) = reason(|record| {
        transactions(record).segments[0].kind = SegmentKind::WarmUp;
        tell_rates(record, &[]);
    });
    assert_eq!(level, Level::Invalid);
    found.assert(found.sentence().contains("ended during the warm-up"));
    assert!(found.advice().contains("shorter --warm-up"), "{found:?}");
}

#[test]
fn preparation_is_the_measured_phase_without_transactions() {
    let prepared = |ns| {
        move |record: &mut Record| {
            let workload = record.spec.workload.with_transactions(0);
            record.spec.workload = workload;
            measure_for(record, 0, 0);
            tell_rates(record, &[]);
            let prepare = phase(record, Phase::Prepare);
            prepare.segments = vec![segment(SegmentKind::Measured, 0, ns, 500)];
        }
    };
    let seen = is_valid(prepared(10 * SECOND));
    assert_eq!(seen.measured.unwrap().phase, Phase::Prepare);
    assert_eq!(
        seen.steadiness,
        Fact::NotApplicable,
        "an empty file system fills up"
    );
    let (level, found) = reason(prepared(9 * SECOND));
    let expected = Reason::TooShort(TooShort {
        phase: Phase::Prepare,
        measured_ns: 9 * SECOND,
        operations: 500,
        is_counted: true,
        is_replay: false,
    });
    assert_eq!((level, &found), (Level::Doubtful, &expected));
    assert!(!found.sentence().contains("transactions"), "{found:?}");
    // A run that only deletes the pool of an earlier run has no measured phase.
    is_valid(|record| {
        prepared(SECOND)(record);
        record
            .actual
            .phases
            .retain(|phase| phase.phase == Phase::Delete);
    });
}

fn steadiness(rates: &[u64]) -> (Level, Fact<Steadiness>) {
    let verdict = of(|record| {
        measure_for(record, rates.len() as u64 * SECOND + SECOND / 2, 100_000);
        tell_rates(record, rates);
    });
    let is_given = verdict
        .reasons
        .iter()
        .any(|reason| matches!(reason, Reason::NotSteady(_)));
    let found = verdict.seen.steadiness;
    assert_eq!(
        is_given,
        found.known().is_some_and(|found| !found.is_steady())
    );
    (
        if is_given {
            Level::Doubtful
        } else {
            Level::Valid
        },
        found,
    )
}

#[test]
fn a_rate_that_changes_beyond_the_limits_is_doubtful() {
    for seconds in [6, 10, 19, 20, 60, 200] {
        for (change, expected) in [
            (0.08, Level::Valid),
            (-0.08, Level::Valid),
            (0.12, Level::Doubtful),
            (-0.5, Level::Doubtful),
        ] {
            let (level, found) = steadiness(&ramp(seconds, change));
            assert_eq!(level, expected, "{seconds} s, {change}: {found:?}");
            found.assert(matches!(found, Fact::Known(Steadiness::Change(_))));
        }
    }
    let words = |rates: &[u64]| {
        let found = steadiness(rates).1.into_known().unwrap();
        let drifting = None;
        Reason::NotSteady(NotSteady { found, drifting }).sentence()
    };
    let falls = words(&ramp(60, -0.5));
    falls.shows("falls from 1,25").shows("by 50.");
    // The first fifth of the run is faster than the rest. The trend line does not show this change,
    // but the mean rates of the fifths do.
    let burst: Vec<u64> = (0..10)
        .map(|second| if second < 2 { 1_500 } else { 1_000 })
        .collect();
    assert_eq!(steadiness(&burst).0, Level::Doubtful);
    let lie = words(&burst);
    lie.shows("lie between 1,000 and 1,500 operations/s");
}

/// Sets a time series in which creates slow down from 30 µs to 300 µs and reads stay at 10 µs.
fn creates_slow_down(record: &mut Record) {
    measure_for(record, 60 * SECOND, 60_000);
    let transactions = transactions(record);
    transactions.slices = Slices::default();
    for (second, rate) in (0..).zip(ramp(60, -0.8)) {
        for (action, ns) in [
            (Action::Create, 30_000 + second * 270_000 / 59),
            (Action::Read, 10_000),
        ] {
            let operations = rate / 10_000;
            let meter = SliceMeter {
                operations,
                latency: histogram(vec![ns; operations as usize]).take_sparse(),
                ..SliceMeter::default()
            };
            transactions
                .slices
                .add(second, (Role::Worker, action), meter);
        }
    }
}

#[test]
fn not_steady_names_the_operation_that_slows_down() {
    let (level, found) = reason(creates_slow_down);
    assert_eq!(level, Level::Doubtful);
    let Reason::NotSteady(NotSteady {
        drifting: Some(drifting),
        ..
    }) = &found
    else {
        panic!("{found:?}");
    };
    assert_eq!((drifting.action, drifting.spent), (Action::Create, None));
    // The rate falls, so each fifth (12 s) has more operations in its first half than in its second
    // half. The latency rises, so the mean of a fifth is below the latency in its middle.
    let (first, last) = (drifting.first_ns, drifting.last_ns);
    drifting.assert((50_000.0..55_000.0).contains(&first));
    drifting.assert((270_000.0..275_000.0).contains(&last));
    let line = found.line();
    line.shows("not-steady: creates slow down from 5")
        .shows(": the file system is not in a steady state: use a new file system");
    assert!(!line.contains("--warm-up"), "{line}");
}

/// The counters of a device of which only the busy time is known.
fn device(busy_ms: Counts) -> DeviceOverTime {
    let none = || Counts::from(vec![None; 60]);
    DeviceOverTime {
        name: "vda".to_owned(),
        role: DeviceRole::Target,
        reads: none(),
        reads_merged: none(),
        read_bytes: none(),
        reading_ms: none(),
        writes: none(),
        writes_merged: none(),
        written_bytes: none(),
        writing_ms: none(),
        discards: none(),
        discarded_bytes: none(),
        flushes: none(),
        flushing_ms: none(),
        busy_ms,
        queued_ms: none(),
        in_flight: States {
            max: vec![None; 60],
            last: vec![None; 60],
        },
    }
}

#[test]
fn not_steady_names_the_processor_or_the_device_that_took_the_time() {
    let spent = |kernel_ns: fn(u64) -> u64, busy_ms: fn(u64) -> u64| {
        let (_, found) = reason(|record| {
            creates_slow_down(record);
            let seconds = || 0..60_u64;
            let counts = |of: fn(u64) -> u64| {
                Counts::from(seconds().map(|second| Some(of(second))).collect::<Vec<_>>())
            };
            let device = device(counts(busy_ms));
            transactions(record).machine = Some(MachineOverTime {
                width_ns: SECOND,
                began_ns: BEGAN,
                index: seconds().collect(),
                ended_ns: seconds()
                    .map(|second| BEGAN + (second + 1) * SECOND)
                    .collect(),
                process: ProcessOverTime {
                    system_ns: counts(kernel_ns),
                    ..ProcessOverTime::default()
                },
                threads: Fact::NotApplicable,
                system: SystemOverTime::default(),
                devices: Fact::Known(vec![device]),
                unknown: Vec::new(),
            });
        });
        let Reason::NotSteady(NotSteady { drifting, .. }) = found else {
            panic!("{found:?}");
        };
        drifting.and_then(|drifting| drifting.spent)
    };
    // The kernel's time and the device's busy time are the same in each second. The rate falls, so
    // the time per operation rises.
    let (kernel, device) = (|_| 25_000_000, |_| 20);
    assert_eq!(spent(kernel, |_| 0), Some(TimeSpent::KernelCpu));
    assert_eq!(spent(|_| 0, device), Some(TimeSpent::Device));
    assert_eq!(spent(|_| 0, |_| 0), None);
}

#[test]
fn dispersion_is_the_relative_standard_deviation_of_the_seconds() {
    let dispersion = |rates: &[u64]| {
        let mut record = well();
        measure_for(&mut record, rates.len() as u64 * SECOND, 6_000);
        tell_rates(&mut record, rates);
        Summary::of(&record).transactions.unwrap().rate_dispersion
    };
    // The deviations from the mean of 1,000 are 100 each, so the variance is 6 · 100² / 5.
    let rates = [900, 1_100, 900, 1_100, 900, 1_100];
    close(
        dispersion(&rates).unwrap(),
        (60_000.0_f64 / 5.0).sqrt() / 1_000.0,
    );
    assert_eq!(dispersion(&rates[..5]), None);
}

#[test]
fn variation_that_service_times_explain_is_steady() {
    // A constant rate of 20 operations a second with exponential durations may produce these counts
    // in 10 s by chance. Their trend line nevertheless rises by almost a half.
    let rates = [16, 17, 18, 18, 20, 20, 22, 21, 24, 24];
    let (level, found) = steadiness(&rates);
    assert_eq!(level, Level::Doubtful, "the counts alone: {found:?}");
    let seen = is_valid(|record| {
        measure_for(record, 10 * SECOND + SECOND / 2, 200);
        tell_rates(record, &rates);
        let latency = &mut transactions(record).segments[0].operations[0].meter.latency;
        // The latencies are 200 quantiles of an exponential distribution with a mean of 50 ms.
        for rank in 0..200 {
            latency.record((-5e7 * (1.0 - (f64::from(rank) + 0.5) / 200.0).ln()) as u64);
        }
    });
    let Fact::Known(Steadiness::Change(change)) = seen.steadiness else {
        panic!("{:?}", seen.steadiness);
    };
    change.assert(change.drift > 0.4 && change.drift_by_chance > change.drift);
    // If one operation takes longer than a fifth of the time, the steadiness is not known.
    let seen = is_valid(|record| {
        measure_for(record, 10 * SECOND + SECOND / 2, 200);
        tell_rates(record, &rates);
        transactions(record).segments[0].operations[0]
            .meter
            .latency
            .record(3 * SECOND);
    });
    assert!(
        seen.steadiness
            .why()
            .unwrap()
            .contains("longer than a fifth")
    );
}

#[test]
fn steadiness_of_less_than_six_seconds_is_unknown() {
    let (level, found) = steadiness(&ramp(5, -0.9));
    assert_eq!(level, Level::Valid);
    assert!(found.why().unwrap().contains("fewer than 6"), "{found:?}");
}

#[test]
fn steadiness_uses_only_seconds_with_all_workers_active() {
    // The run has ten seconds of warm-up at another rate. After 40 more seconds, one of two workers
    // finishes.
    let mut rates = vec![5_000; 10];
    rates.extend([1_000; 40]);
    rates.extend([400; 20]);
    let seen = is_valid(|record| {
        measure_for(record, 70 * SECOND, 60_000);
        tell_rates(record, &rates);
        let transactions = transactions(record);
        let end = BEGAN + 70 * SECOND;
        transactions.segments = vec![
            segment(
                SegmentKind::WarmUp,
                BEGAN,
                BEGAN + 10 * SECOND + 1_000,
                50_000,
            ),
            segment(
                SegmentKind::Measured,
                BEGAN + 10 * SECOND + 1_000,
                end,
                48_000,
            ),
        ];
        transactions.first_done.as_mut().unwrap().at_ns = BEGAN + 50 * SECOND;
    });
    let Fact::Known(Steadiness::Change(change)) = seen.steadiness else {
        panic!("{:?}", seen.steadiness);
    };
    assert_eq!((change.window, change.average), (40, 1_000.0));
}

#[test]
fn unknown_steadiness_has_a_reason() {
    let seen = is_valid(|record| tell_rates(record, &[]));
    assert!(seen.steadiness.why().unwrap().contains("not recorded"));
    // In an open loop the arrivals determine the rate, so the steadiness is not applicable.
    let seen = is_valid(|record| {
        arrivals(record, 1_000.0, ArrivalProcess::Poisson);
        tell_rates(record, &ramp(60, 0.9));
    });
    assert_eq!(seen.steadiness, Fact::NotApplicable);
}

fn asked_for(rule: SteadyRule, rounds: &[f64]) -> impl FnOnce(&mut Record) {
    let found = SteadyFound {
        is_steady: false,
        rounds: rounds.to_vec(),
        seconds: rounds.to_vec(),
        snia: steady::rounds(rounds, steady::WINDOW_ROUNDS),
        slope: steady::drift(rounds, steady::DRIFT_MAX),
    };
    // The requested rule decides, whatever the result of the other rule.
    let is_steady = match rule {
        SteadyRule::Snia => found.snia.is_some_and(|found| found.is_steady),
        SteadyRule::Slope => found.slope.is_some_and(|found| found.is_steady),
    };
    move |record| {
        record.spec.drive.stop = Stop::Steady(SteadyAsked {
            rule,
            round_ns: 10 * SECOND,
            rounds_max: 30,
        });
        transactions(record).steady = Some(SteadyFound { is_steady, ..found });
    }
}

#[test]
fn a_requested_steady_state_that_was_not_reached_is_invalid() {
    let even = [100.0; 20];
    let steep: Vec<f64> = (0..25).map(|round| 1.05_f64.powi(round)).collect();
    for rule in [SteadyRule::Snia, SteadyRule::Slope] {
        let seen = is_valid(asked_for(rule, &even));
        assert!(seen.steadiness.known().unwrap().is_steady());
        let (level, found) = reason(asked_for(rule, &steep));
        assert_eq!(level, Level::Invalid);
        let Reason::SteadyStateNotReached(SteadyStateNotReached {
            rule: of_rule,
            rounds,
            last: Some(last),
        }) = found
        else {
            panic!("{found:?}");
        };
        assert_eq!((of_rule, rounds, last.is_steady()), (rule, 25, false));
    }
    // Two rounds are too few for a window, so the steady state is not reached.
    let (level, found) = reason(asked_for(SteadyRule::Snia, &[1.0, 1.0]));
    assert_eq!(level, Level::Invalid);
    assert!(
        matches!(
            found,
            Reason::SteadyStateNotReached(SteadyStateNotReached { last: None, .. })
        ),
        "{found:?}"
    );
}

#[test]
fn a_rate_that_was_not_reached_is_invalid() {
    // 60,000 transactions are due. 601 of them may be missing: 1 %, and one in flight. With Poisson
    // arrivals, three more standard deviations may be missing.
    let chance = (3.0 * 60_000_f64.sqrt()) as u64;
    for (form, may_miss) in [
        (ArrivalProcess::Constant, 601),
        (ArrivalProcess::Poisson, 601 + chance),
    ] {
        let done = |count| {
            move |record: &mut Record| {
                measure_for(record, 60 * SECOND, count);
                arrivals(record, 1_000.0, form);
            }
        };
        is_valid(done(60_000 - may_miss));
        is_valid(done(61_000));
        let (level, found) = reason(done(60_000 - may_miss - 1));
        assert_eq!(level, Level::Invalid, "{form}");
        let Reason::RateNotReached(RateNotReached {
            requested,
            achieved,
        }) = found
        else {
            panic!("{found:?}");
        };
        close(requested, 1_000.0);
        close(achieved, (60_000 - may_miss - 1) as f64 / 60.0);
    }
    // Some arrivals have no worker after the first worker has finished. So the rate after this
    // moment does not count.
    is_valid(|record| {
        record.spec.workload.workers = private(2);
        measure_for(record, 60 * SECOND, 50_000);
        transactions(record).first_done = Some(FirstDone {
            worker: 1,
            at_ns: BEGAN + 40 * SECOND,
            done: 40_000,
        });
        arrivals(record, 1_000.0, ArrivalProcess::Constant);
    });
}

/// All workers keep up with their arrivals, because they skip most operations. The requested rate
/// is nevertheless not reached.
#[test]
fn skipped_operations_do_not_count_as_achieved_rate() {
    let skips = |skipped| {
        move |record: &mut Record| {
            measure_for(record, 60 * SECOND, 60_000 - skipped);
            arrivals(record, 1_000.0, ArrivalProcess::Constant);
            let phase = transactions(record);
            phase.waiting = Some(0);
            phase.caught_up_ns = Some(BEGAN + 60 * SECOND);
            let segment = &mut phase.segments[0];
            segment.issued = 60_000;
            segment.skipped.at_maximum_size = skipped;
            phase.workers[0].issued = 60_000;
        }
    };
    is_valid(skips(600));
    let mut record = well();
    skips(55_000)(&mut record);
    let reasons = Summary::of(&record).verdict.reasons;
    let reached = reasons.iter().find_map(|reason| match reason {
        Reason::RateNotReached(RateNotReached { achieved, .. }) => Some(*achieved),
        _ => None,
    });
    close(reached.expect("the rate was not reached"), 5_000.0 / 60.0);
    // A load level with as many skipped operations is not sustained. Its rate includes completed
    // operations only.
    let step = SweepStep {
        load: Load::Rate(1_000.0),
        name: None,
        workers: 1,
        phases: vec![transactions(&mut record).clone()],
        of_run: None,
    };
    let summary = SweepStepSummary::of(&step);
    assert!(!summary.holds);
    close(summary.achieved_per_second.unwrap(), 5_000.0 / 60.0);
    close(summary.achieved_fraction.unwrap(), 5_000.0 / 60_000.0);
}
