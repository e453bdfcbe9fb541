//! Rules about the course of a run: its end, errors, skipped and stalled operations.

use record::{Action, Check, End, ErrorRecord, Fact, Histogram, Meter, Outcome, Phase, Record};

use testkit::Shows;
use verdict::rules::{
    AckLog, Errors, LatencyOverflow, Measured, Partial, RanDry, Skipped, Stalled, Steadiness,
    WrongNames,
};
use verdict::{Level, Reason};

use crate::verdict::made::{
    SECOND, histogram, is_valid, measure_for, meter, of, operation, overhead, ramp, reason, steal,
    sweep, tell_rates, transactions,
};

#[test]
fn a_run_without_problems_is_valid() {
    let seen = is_valid(|_| ());
    let measured = Measured {
        phase: Phase::Transactions,
        ns: 60 * SECOND,
        operations: 60_000,
    };
    assert_eq!(seen.measured, Some(measured));
    assert!(matches!(seen.steadiness,
            Fact::Known(Steadiness::Change(change)) if change.is_steady && change.window == 60));
    assert_eq!(
        (seen.others_fraction, seen.steal_fraction),
        (Fact::Known(0.0), Fact::Known(0.0))
    );
    assert_eq!(
        seen.overhead_fraction,
        Fact::NotApplicable,
        "nobody has measured it"
    );
}

#[test]
fn partial_run_is_invalid_and_its_length_is_ignored() {
    for outcome in [
        Outcome::Interrupted { signal: 2 },
        Outcome::PlaceGone {
            why: "it went".to_owned(),
        },
        Outcome::Failed {
            why: "it failed".to_owned(),
        },
    ] {
        let (level, found) = reason(|record| {
            record.actual.outcome = outcome.clone();
            measure_for(record, 5, 5);
        });
        assert_eq!(
            (level, found),
            (Level::Invalid, Reason::Partial(Partial { outcome }))
        );
    }
}

fn errors(record: &mut Record, counts: &[u64], allowed: &str) {
    record.spec.on_error = allowed.parse().unwrap();
    record.actual.errors = counts
        .iter()
        .map(|count| ErrorRecord {
            operation: "append".to_owned(),
            step: "write".to_owned(),
            errno: Fact::Known(28),
            message: "no space".to_owned(),
            count: *count,
            first_path: "/mnt/disk/7".to_owned(),
            moved_bytes: Fact::Known(0),
        })
        .collect();
    // The only operations are 1,000 appends, which failed or completed.
    for phase in &mut record.actual.phases {
        phase.segments[0].operations.clear();
    }
    let failed = Meter {
        failed: counts.iter().sum(),
        ..meter(1_000 - counts.iter().sum::<u64>())
    };
    transactions(record).segments[0].operations = vec![operation(Action::Append, failed)];
}

#[test]
fn any_error_is_doubtful_and_more_than_allowed_invalid() {
    for (allowed, counts, expected) in [
        ("10", &[7, 3][..], Level::Doubtful),
        ("10", &[7, 4], Level::Invalid),
        ("1%", &[10], Level::Doubtful),
        ("1%", &[11], Level::Invalid),
        ("0.5%", &[6], Level::Invalid),
        ("stop", &[1], Level::Invalid),
    ] {
        let (level, found) = reason(|record| errors(record, counts, allowed));
        let is_exceeded = expected == Level::Invalid;
        let expected_reason = Reason::Errors(Errors {
            errors: counts.iter().sum(),
            operations: 1_000,
            allowed: allowed.to_owned(),
            is_exceeded,
        });
        assert_eq!((level, found), (expected, expected_reason));
    }
}

#[test]
fn skipped_operations_above_the_thresholds_are_reported() {
    let skip = |record: &mut Record, skipped: workload::Skipped| {
        transactions(record).segments[0].skipped = skipped
    };
    let after_failure = |count| workload::Skipped {
        after_failure: count,
        ..workload::Skipped::default()
    };
    let at_maximum_size = |count| workload::Skipped {
        at_maximum_size: count,
        ..workload::Skipped::default()
    };
    // The skipped operations are in addition to 60,000 completed operations, so 600 are less than
    // 1 % of all.
    is_valid(|record| skip(record, after_failure(600)));
    for (skipped, expected) in [
        (after_failure(700), Level::Doubtful),
        (at_maximum_size(6_600), Level::Doubtful),
        (after_failure(7_000), Level::Invalid),
        (at_maximum_size(20_000), Level::Invalid),
    ] {
        let found = reason(|record| skip(record, skipped));
        let count = skipped.total() as f64;
        let skips = Reason::Skipped(Skipped {
            skipped,
            operations: 60_000,
            fraction: count / (count + 60_000.0),
        });
        assert_eq!(found, (expected, skips));
    }
    // A load level that skips more than 10 % of its operations is not sustained. The sweep is
    // nevertheless valid.
    is_valid(|record| {
        skip(record, after_failure(7_000));
        let phase = transactions(record).clone();
        sweep(record, phase);
    });
}

#[test]
fn a_run_without_measured_operations_is_invalid() {
    for (ns, words) in [
        (SECOND, "no operation completed in 1.00 s"),
        (0, "the transactions ended during the warm-up"),
    ] {
        let (level, found) = reason(|record| {
            measure_for(record, ns, 0);
            tell_rates(record, &[]);
        });
        assert_eq!(level, Level::Invalid);
        found.sentence().shows(words);
    }
}

#[test]
fn wrong_names_in_a_check_make_the_run_invalid() {
    let check = |wrong| {
        Fact::Known(Check {
            names: 500,
            directories: 1,
            wrong,
            left_out: 4,
            duration_ns: 1,
        })
    };
    is_valid(|record| record.actual.check = check(0));
    let found = reason(|record| record.actual.check = check(1));
    assert_eq!(
        found,
        (
            Level::Invalid,
            Reason::WrongNames(WrongNames {
                wrong: 1,
                names: 500
            })
        )
    );
}

#[test]
fn a_pool_that_ran_dry_is_invalid() {
    for end in [End::OutOfFiles, End::OutOfReach] {
        let found = reason(|record| record.actual.end = Fact::Known(end));
        let expected = Reason::RanDry(RanDry {
            end,
            transactions: 60_000,
        });
        assert_eq!(found, (Level::Invalid, expected));
    }
}

#[test]
fn a_stalled_operation_is_doubtful_and_a_hung_one_invalid() {
    let stalled = |came_back, ns| record::Stalled {
        worker: Some(1),
        operation: "read".to_owned(),
        path: "/mnt/disk/7".to_owned(),
        ns,
        came_back,
    };
    for (all, lost, expected) in [
        (
            vec![stalled(true, 61), stalled(true, 70)],
            0,
            Level::Doubtful,
        ),
        (
            vec![stalled(true, 70), stalled(false, 61)],
            1,
            Level::Invalid,
        ),
    ] {
        let found = reason(|record| record.actual.stalled = all);
        let reason = Reason::Stalled(Stalled {
            times: 2,
            longest_ns: 70,
            lost,
        });
        assert_eq!(found, (expected, reason));
    }
}

#[test]
fn latencies_past_the_range_are_doubtful() {
    let longest = Histogram::RANGE_NS - 1;
    is_valid(|record| {
        transactions(record).segments[0].operations[0].meter.latency = histogram([longest])
    });
    let expected = Reason::LatencyOverflow(LatencyOverflow {
        operations: 1,
        range_ns: Histogram::RANGE_NS,
    });
    let overflown = histogram([longest, longest + 1]);
    let found = reason(|record| {
        transactions(record).segments[0].operations[0].meter.latency = overflown.clone()
    });
    assert_eq!(found, (Level::Doubtful, expected.clone()));
    // Latencies at a load level of a sweep are examined as well.
    let found = reason(|record| {
        let mut phase = transactions(record).clone();
        phase.segments[0].operations[0].meter.latency = overflown.clone();
        phase.segments[0].operations[0].meter.service = Some(overflown.clone());
        sweep(record, phase);
    });
    assert_eq!(found, (Level::Doubtful, expected));
}

#[test]
fn a_run_with_an_ack_log_is_doubtful() {
    let found = reason(|record| record.spec.ack_log = Some("/var/ack_log".into()));
    let expected = Reason::AckLog(AckLog {
        path: "/var/ack_log".to_owned(),
    });
    assert_eq!(found, (Level::Doubtful, expected));
}

#[test]
fn verdict_of_a_sweep_covers_machine_and_errors_but_not_length() {
    let climb = |record: &mut Record| {
        measure_for(record, 5 * SECOND, 50);
        tell_rates(record, &ramp(5, 0.9));
        overhead(record, 1e6);
        let phase = transactions(record).clone();
        sweep(record, phase);
    };
    let seen = is_valid(climb);
    assert_eq!(
        (seen.measured, seen.steadiness),
        (None, Fact::NotApplicable)
    );
    let verdict = of(|record| {
        climb(record);
        record.during.clocks.suspended_ns = SECOND;
        steal(record, 0.05);
        record.actual.errors = vec![ErrorRecord {
            operation: "read".to_owned(),
            step: "open".to_owned(),
            errno: Fact::Known(5),
            message: "input/output error".to_owned(),
            count: 1,
            first_path: "/mnt/disk/7".to_owned(),
            moved_bytes: Fact::Known(0),
        }];
        record.spec.on_error = record::OnError::Count(5);
    });
    let levels: Vec<Level> = verdict.reasons.iter().map(Reason::level).collect();
    assert_eq!(
        levels,
        [Level::Invalid, Level::Doubtful, Level::Doubtful],
        "{verdict:?}"
    );
}

#[test]
fn worst_reasons_are_listed_first() {
    let verdict = of(|record| {
        measure_for(record, SECOND, 1_000);
        record.actual.end = Fact::Known(End::OutOfFiles);
        steal(record, 0.5);
    });
    let kinds: Vec<Level> = verdict.reasons.iter().map(Reason::level).collect();
    assert_eq!(
        kinds,
        [Level::Invalid, Level::Invalid, Level::Doubtful],
        "{verdict:?}"
    );
    assert!(matches!(verdict.reasons[0], Reason::RanDry(_)));
}
