//! Load control of transactions. Tests on a virtual clock check that recorded latencies equal the
//! latencies of the engine. They also check that only response times, and not service times,
//! include queueing. The counts of intervals must add up to the total. One test on the machine's
//! clock checks a time limit after a warm-up.

use std::time::Duration;

use engines::null::Null;
use measure::Histogram;
use record::{ComputeRecord, Fact, OperationRecord, Outcome, Record, SegmentKind};
use runner::{Drive, Event, Events, NoEvents, Pace, Place, RunSpec, Second, Stop, SystemClock};
use testkit::{
    Timed, Virtual,
    runs::{by, private, shared},
    transactions,
};
use workload::arrivals::ArrivalProcess;
use workload::{Action, Classic, Mix, Phase, Work, Workload};

const FILES: u64 = 10;

fn request(transactions: u64, drive: Drive) -> RunSpec {
    let mix = Mix {
        files: FILES,
        transactions,
        weights: "stat=1".parse().unwrap(),
        ..Mix::default()
    };
    request_of(mix.into(), drive)
}

fn request_of(workload: Workload, drive: Drive) -> RunSpec {
    let location = "/timed".into();
    RunSpec {
        drive,
        series: true,
        ..RunSpec::classic(workload, vec![location], Place::Nowhere)
    }
}

fn run(transactions: u64, pace: Pace, takes_ns: fn(u64) -> u64) -> Record {
    run_with(transactions, pace, takes_ns, |_| ())
}

fn run_with(
    transactions: u64,
    pace: Pace,
    takes_ns: fn(u64) -> u64,
    change: impl FnOnce(&mut Workload),
) -> Record {
    let drive = Drive {
        pace,
        ..Drive::default()
    };
    let mut request = request(transactions, drive);
    change(&mut request.workload);
    perform(&request, takes_ns)
}

fn perform(request: &RunSpec, takes_ns: fn(u64) -> u64) -> Record {
    let clock = Virtual::default();
    let engine = Timed {
        clock: clock.clone(),
        takes_ns,
    };
    let record = testkit::run(request, &engine, &clock, &mut NoEvents);
    assert_eq!(record.actual.outcome, Outcome::Complete);
    record
}

fn stats(record: &Record) -> &OperationRecord {
    performed(record, Action::Stat)
}

fn performed(record: &Record, action: Action) -> &OperationRecord {
    let operations = &transactions(record).segments.last().unwrap().operations;
    operations.iter().find(|of| of.action == action).unwrap()
}

/// With `--compute`, workers of private and shared pools keep their processor busy before each
/// operation of a kind. The record counts this busy time, and only the response times of an open
/// loop include it.
#[test]
fn busy_time_is_recorded_and_is_only_in_response_times() {
    const COUNT: u64 = 100;
    const COMPUTE_NS: u64 = 70_000_000;
    let closed = || Pace::Closed;
    let open = || Pace::Open {
        per_second: 1e6,
        arrivals: ArrivalProcess::Constant,
    };
    for (workers, pace) in [
        (private(1), closed()),
        (shared(1, 0), closed()),
        (private(1), open()),
    ] {
        let is_open = pace != Pace::Closed;
        let record = run_with(
            COUNT,
            pace,
            |_| 5_000,
            |workload| {
                *workload = by(workers, workload.clone());
                if let Work::Mix(mix) = &mut workload.work {
                    mix.weights = "set-attributes=1,create=1".parse().unwrap();
                    mix.compute = "set-attributes=70ms".parse().unwrap();
                }
            },
        );
        let meter = &performed(&record, Action::SetAttributes).meter;
        let count = meter.operations;
        assert!(count > 0 && count < COUNT, "{count}");
        let ns = count * COMPUTE_NS;
        let phase = transactions(&record);
        assert_eq!(phase.compute(), ComputeRecord { count, ns });
        assert_eq!(phase.measured_ns(), ns + COUNT * 5_000, "{workers:?}");
        let service = meter.service.as_ref().unwrap_or(&meter.latency);
        assert_eq!(service.sum_ns(), u128::from(count) * 5_000, "{workers:?}");
        let responds_ns = meter.latency.max_ns().unwrap();
        assert_eq!(responds_ns > COMPUTE_NS, is_open, "{responds_ns}");
        let other = record.actual.phase(Phase::Prepare).unwrap();
        assert!(other.compute().is_none());
    }
}

/// Returns the latency of an operation: between 300 ns and 30 s, mostly short.
fn spread(number: u64) -> u64 {
    let unit = (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64 / (1_u64 << 24) as f64;
    (300.0 * 10_f64.powf(8.0 * unit.powi(6))) as u64
}

#[test]
fn known_latencies_are_recorded_within_error_bound() {
    const COUNT: u64 = 20_000;
    let record = run(COUNT, Pace::Closed, spread);
    let meter = &stats(&record).meter;
    assert_eq!(meter.service, None, "in a closed loop it is the latency");
    // The first `FILES` operations prepared the pool, so their latencies belong to another phase.
    let mut known: Vec<u64> = (FILES..FILES + COUNT).map(spread).collect();
    known.sort_unstable();
    assert_eq!(meter.latency.max_ns(), known.last().copied());
    for percent in [50.0, 90.0, 95.0, 99.0, 99.9, 99.99] {
        let rank = (percent / 100.0 * COUNT as f64).ceil() as usize;
        let (expected, found) = (
            known[rank - 1] as f64,
            meter.latency.percentile(percent).unwrap() as f64,
        );
        let error = (found - expected).abs() / expected;
        assert!(
            error <= Histogram::ERROR_BOUND,
            "p{percent}: {found} for {expected}"
        );
    }
    let phase = transactions(&record);
    let total = phase.slices.totals().into_values().next().unwrap();
    assert_eq!(total.operations, COUNT, "the slices are of the whole");
    // Percentiles of intervals are less exact, because their histograms have coarser buckets.
    let exact = meter.latency.percentile(99.0).unwrap();
    assert_eq!(
        (total.latency.count(), total.latency.max_ns()),
        (COUNT, meter.latency.max_ns())
    );
    let error = total.latency.percentile(99.0).unwrap().abs_diff(exact) as f64 / exact as f64;
    assert!(error <= 0.07, "{error}");
    let slowest: Vec<u64> = phase.slowest[0]
        .operations
        .iter()
        .map(|slow| slow.ns)
        .collect();
    let expected: Vec<u64> = known.iter().rev().take(20).copied().collect();
    assert_eq!(slowest, expected);
}

/// Every operation takes a microsecond, except one that takes half a second.
fn stalls_once(number: u64) -> u64 {
    if number == FILES + 2_000 {
        500_000_000
    } else {
        1_000
    }
}

#[test]
fn stall_increases_all_response_times_but_only_one_service_time() {
    for (arrivals, low, high) in [
        (ArrivalProcess::Constant, 500, 501),
        (ArrivalProcess::Poisson, 420, 580),
    ] {
        let pace = Pace::Open {
            per_second: 1_000.0,
            arrivals,
        };
        let record = run(5_000, pace, stalls_once);
        let meter = &stats(&record).meter;
        let service = meter.service.as_ref().unwrap();
        assert_eq!((service.count(), meter.latency.count()), (5_000, 5_000));
        assert_eq!(service.max_ns(), Some(500_000_000));
        assert!(
            service.percentile(99.9).unwrap() < 1_010,
            "one operation took long"
        );
        // The stall lasts half a second. All operations that were due in this time completed late.
        let late = (0..=5_000).rev().find(|rank| {
            let percent = 100.0 - f64::from(*rank) / 50.0;
            percent > 0.0 && meter.latency.percentile(percent).unwrap() > 1_100
        });
        let late = late.unwrap();
        assert!((low..=high).contains(&late), "{arrivals}: {late} were late");
        // The delays of late operations are evenly distributed between 0 and half a second, so
        // their median is about a quarter of a second.
        let middle = meter
            .latency
            .percentile(100.0 - f64::from(late) / 100.0)
            .unwrap();
        assert!(
            (200_000_000..300_000_000).contains(&middle),
            "{arrivals}: {middle}"
        );
        assert_eq!(record.spec.drive.rate().unwrap(), 1_000.0);
    }
}

/// Sum of the latencies of all operations with these two actions, in seconds.
fn latencies_s(record: &Record, actions: [Action; 2]) -> f64 {
    let operations = &transactions(record).segments.last().unwrap().operations;
    let latencies = operations
        .iter()
        .filter(|of| actions.contains(&of.action))
        .map(|of| of.meter.latency.mean_ns().unwrap() * of.meter.latency.count() as f64);
    latencies.sum::<f64>() / 1e9
}

#[test]
fn late_start_of_a_pair_is_only_in_the_latency_of_its_first_operation() {
    let classic = Classic {
        files: 1_000,
        transactions: 5_000,
        ..Classic::default()
    };
    let drive = Drive {
        pace: Pace::Open {
            per_second: 1_000.0,
            arrivals: ArrivalProcess::Constant,
        },
        ..Drive::default()
    };
    let record = perform(&request_of(classic.into(), drive), stalls_once);
    let first = latencies_s(&record, [Action::Read, Action::Append]);
    let second = latencies_s(&record, [Action::Create, Action::Delete]);
    // About 500 transactions start late, by a quarter of a second on average, which is 125 s in
    // total. The stalled operation itself takes half a second, and may be the first or second of
    // its pair.
    assert!((120.0..130.0).contains(&first), "{first} s");
    assert!(second < 1.0, "{second} s");
}

#[test]
fn offered_rate_is_achieved_by_fast_engine() {
    let pace = Pace::Open {
        per_second: 10_000.0,
        arrivals: ArrivalProcess::Constant,
    };
    let record = run(30_001, pace, |_| 1_000);
    let segment = transactions(&record).measured().next().unwrap();
    // The last transaction is due three seconds after the start, and takes 1,000 ns.
    assert_eq!(segment.ended_ns - segment.began_ns, 3_000_001_000);
    assert_eq!(
        stats(&record).meter.latency.max_ns(),
        Some(1_000),
        "nobody is late"
    );
    let seconds: Vec<u64> = transactions(&record)
        .slices
        .iter()
        .map(|slice| slice.values().map(|meter| meter.operations).sum())
        .collect();
    assert_eq!(seconds, [10_000, 10_000, 10_000, 1]);
}

#[derive(Default)]
struct Told(Vec<Second>);

impl Events for Told {
    fn event(&mut self, event: Event) {
        if let Event::Second(second) = event {
            self.0.push(second);
        }
    }
}

#[test]
fn warm_up_and_measurement_until_the_time_limit_are_two_segments() {
    let drive = Drive {
        warm_up: Duration::from_millis(700),
        stop: Stop::After(Duration::from_millis(1_500)),
        pace: Pace::Closed,
        sweep: None,
    };
    for workers in [private(2), shared(0, 2)] {
        let asked = request(Workload::ENDLESS, drive.clone());
        let asked = RunSpec {
            workload: by(workers, asked.workload),
            ..asked
        };
        let mut told = Told::default();
        let record = testkit::run(&asked, &Null, &SystemClock, &mut told);
        assert_eq!(record.actual.outcome, Outcome::Complete);
        assert!(
            !matches!(record.actual.stream_hash, Fact::Known(_)),
            "no stream came to its end"
        );
        let phase = transactions(&record);
        let [warm_up, measured] = &phase.segments[..] else {
            panic!("{workers:?}: {} segments", phase.segments.len());
        };
        assert_eq!(
            (warm_up.kind, measured.kind),
            (SegmentKind::WarmUp, SegmentKind::Measured)
        );
        for (segment, expected_ms) in [(warm_up, 700), (measured, 1_500)] {
            let took_ms = (segment.ended_ns - segment.began_ns) / 1_000_000;
            assert!(
                (expected_ms..expected_ms + 400).contains(&(took_ms + 20)),
                "{workers:?}: {took_ms} ms"
            );
            assert!(
                segment.transactions > 1_000,
                "{workers:?}: {}",
                segment.transactions
            );
        }
        let summary = verdict::Summary::of(&record);
        let of_phase = summary.phase(Phase::Transactions).unwrap();
        assert_eq!(
            of_phase.last_done.done.count, measured.transactions,
            "the warm-up is in no rate"
        );
        assert_eq!(
            of_phase.warm_up.unwrap().transactions.count,
            warm_up.transactions
        );
        let first = of_phase.first_done.unwrap().done.count;
        assert!(
            first <= measured.transactions,
            "{first} of {}",
            measured.transactions
        );
        // The events and the record also include the seconds of the warm-up.
        let all = warm_up.transactions + measured.transactions;
        let of_seconds = |seconds: &[Second]| -> u64 {
            let of_phase = seconds
                .iter()
                .filter(|second| second.phase == Phase::Transactions);
            of_phase
                .flat_map(|second| &second.meters)
                .map(|(_, meter)| meter.operations)
                .sum()
        };
        assert_eq!(of_seconds(&told.0), all);
        let recorded: u64 = phase
            .slices
            .totals()
            .values()
            .map(|meter| meter.operations)
            .sum();
        assert_eq!(recorded, all);
    }
}
