//! Sweeps on the system clock, and on an engine whose operations take a known time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use record::{Climb, CompletedPart, Load, Outcome, Phase, Record, SegmentKind, Sweep};
use runner::{Drive, Event, Events, NoEvents, RunSpec, Stop, SystemClock};
use testkit::{Assert, records::phases, runs::shared};
use verdict::{Summary, SweepStepSummary, SweepSummary};
use workload::Workers;
use workload::arrivals::ArrivalProcess;

use crate::run;
use crate::sleepy::{Sleepy, request, two_milliseconds};

fn perform(request: &RunSpec, events: &mut dyn Events) -> Record {
    let record = run(
        request,
        &Sleepy(two_milliseconds),
        &SystemClock,
        &Arc::default(),
        events,
    )
    .unwrap();
    assert_eq!(record.actual.outcome, Outcome::Complete);
    record
}

fn sweep(climb: Climb, slo_p99_ns: Option<u64>) -> Drive {
    Drive {
        warm_up: Duration::from_millis(100),
        stop: Stop::After(Duration::from_millis(500)),
        sweep: Some(Sweep {
            climb,
            arrivals: ArrivalProcess::Constant,
            fresh: false,
            slo_operation: None,
            slo_p99_ns,
        }),
        ..Drive::default()
    }
}

#[derive(Default)]
struct Told(Vec<Load>);

impl Events for Told {
    fn event(&mut self, event: Event) {
        if let Event::Load(number, load, _) = event {
            assert_eq!(number as usize, self.0.len());
            self.0.push(load);
        }
    }
}

fn of(record: &Record) -> SweepSummary {
    Summary::of(record).sweep.unwrap()
}

#[test]
fn rates_rise_until_unsustained_and_are_then_bisected() {
    for workers in [Workers::ONE, shared(0, 2)] {
        let drive = sweep(
            Climb::Rates(vec![50.0, 100.0, 2_000.0, 4_000.0, 8_000.0]),
            None,
        );
        let mut told = Told::default();
        let record = perform(&request(drive, workers), &mut told);
        let summary = of(&record);
        let loads: Vec<Load> = summary
            .sweep_steps
            .iter()
            .map(|sweep_step| sweep_step.load)
            .collect();
        assert_eq!(told.0, loads);
        assert_eq!(
            loads[..4],
            [50.0, 100.0, 2_000.0, 4_000.0].map(Load::Rate),
            "{workers:?}"
        );
        assert!(
            !loads.contains(&Load::Rate(8_000.0)),
            "two have failed before: {loads:?}"
        );
        let holds: Vec<bool> = summary.sweep_steps[..4]
            .iter()
            .map(|sweep_step| sweep_step.holds)
            .collect();
        assert_eq!(
            holds,
            [true, true, false, false],
            "{:?}",
            summary.sweep_steps
        );
        let limit = summary.limit.unwrap();
        let (highest, beyond) = (limit.highest.unwrap(), limit.lowest_beyond.unwrap());
        let capacity = 500.0 * f64::from(workers.count());
        assert!(
            highest >= 100.0 && highest <= capacity * 1.02 && beyond > highest && beyond < 2_000.0,
            "{workers:?}: {highest} to {beyond}"
        );
        // The sweep creates and deletes one pool. The load levels are between these phases.
        let phases = phases(&record);
        assert_eq!(phases, [Phase::Prepare, Phase::Delete]);
        for (sweep_step, summary) in record.actual.sweep_steps.iter().zip(&summary.sweep_steps) {
            let [phase] = &sweep_step.phases[..] else {
                panic!("a load level has transactions alone")
            };
            let kinds: Vec<SegmentKind> =
                phase.segments.iter().map(|segment| segment.kind).collect();
            assert_eq!(kinds, [SegmentKind::WarmUp, SegmentKind::Measured]);
            // A level of half a second begins and ends late on a busy machine.
            let ms = phase.measured_ns() / 1_000_000;
            assert!((200..5_000).contains(&ms), "{ms} ms");
            assert_eq!(sweep_step.workers, workers.count());
            assert!(
                phase
                    .slices
                    .totals()
                    .values()
                    .map(|meter| meter.operations)
                    .sum::<u64>()
                    >= summary.transactions
            );
        }
    }
}

#[test]
fn growing_queue_increases_response_time_but_not_service_time() {
    let drive = sweep(Climb::Rates(vec![100.0, 5_000.0]), None);
    let record = perform(&request(drive, Workers::ONE), &mut NoEvents);
    let summary = of(&record);
    let (low, high): (&SweepStepSummary, &SweepStepSummary) =
        (&summary.sweep_steps[0], &summary.sweep_steps[1]);
    low.assert(low.holds && low.achieved_fraction.unwrap() > 0.95);
    // About 2,700 transactions wait at the end. In 0.6 s, 3,000 arrive at 5,000 a second, and the
    // server completes at most 300 of them, because each takes 2 ms.
    high.assert(!high.holds && (2_000..=3_600).contains(&high.waiting.unwrap()));
    assert!(high.p50_ns.unwrap() > 100_000_000, "{high:?}");
    // At most 300 operations are too few for a 99th percentile in the summary.
    assert_eq!(high.service_p99_ns, None);
    let phase = record.actual.sweep_steps[1].transactions().unwrap();
    let mut services = phase.measured_operations();
    let service = services.find_map(|of| of.meter.service.as_ref()?.percentile(99.0));
    assert!(service.unwrap() < 100_000_000, "{high:?}");
}

#[test]
fn load_shares_refer_to_the_closed_loop_rate_and_slo_limit_is_reported() {
    let drive = sweep(Climb::OfClosedLoop(vec![0.2, 0.5]), Some(1_000_000_000));
    let record = perform(&request(drive, Workers::ONE), &mut NoEvents);
    let summary = of(&record);
    let closed = summary.sweep_steps[0].achieved_per_second.unwrap();
    assert_eq!(summary.sweep_steps[0].load, Load::Closed);
    assert_eq!(summary.sweep_steps[0].waiting, None);
    // Rates are rounded to three significant digits.
    let is_share = |rate: f64, share: f64| (rate / (share * closed) - 1.0).abs() < 0.006;
    let first = summary.sweep_steps[1].load.rate().unwrap();
    assert!(is_share(first, 0.2), "{first} of {closed}");
    // Half a second has too few operations for a 99th percentile.
    let slo = summary.slo.unwrap();
    assert_eq!((slo.limit.highest, slo.undecided), (None, Some(2)));
    let highest = summary.sweep_steps[2].load.rate().unwrap();
    assert!(is_share(highest, 0.5), "{highest} of {closed}");
    let unmet = sweep(Climb::Rates(vec![50.0, 100.0]), Some(1_000));
    let record = perform(&request(unmet, Workers::ONE), &mut NoEvents);
    let slo = of(&record).slo.unwrap();
    // The median of two milliseconds shows that the SLO is not met.
    assert_eq!((slo.limit.highest, slo.undecided), (None, None));
    assert!(slo.limit.lowest_beyond.is_some(), "{slo:?}");
}

#[test]
fn signal_during_a_load_level_ends_the_sweep() {
    struct Stops(Arc<AtomicUsize>);

    impl Events for Stops {
        fn event(&mut self, event: Event) {
            if let Event::Load(1, ..) = event {
                self.0.store(15, Ordering::Relaxed);
            }
        }
    }

    let signal: Arc<AtomicUsize> = Arc::default();
    let drive = sweep(Climb::Rates(vec![50.0, 100.0, 200.0]), None);
    let request = request(drive, Workers::ONE);
    let engine = Sleepy(two_milliseconds);
    let record = run(
        &request,
        &engine,
        &SystemClock,
        &signal,
        &mut Stops(Arc::clone(&signal)),
    )
    .unwrap();
    assert_eq!(record.actual.outcome, Outcome::Interrupted { signal: 15 });
    let summary = of(&record);
    summary
        .sweep_steps
        .assert(summary.sweep_steps[0].holds && summary.sweep_steps.len() <= 2);
}

/// Records the parts of the record that a sweep reports.
#[derive(Default)]
struct Parts {
    opened: Option<Record>,
    kinds: Vec<&'static str>,
}

impl Events for Parts {
    fn event(&mut self, event: Event) {
        match event {
            Event::RecordOpened(head) => self.opened = Some(*head),
            Event::PhaseRecorded(completed) => {
                self.kinds.push(match &completed.part {
                    CompletedPart::Phase(phase) => phase.phase.name(),
                    CompletedPart::SweepStep(_) => "sweep_step",
                });
                self.opened.as_mut().unwrap().add(*completed);
            }
            _ => {}
        }
    }

    fn takes_records(&self) -> bool {
        true
    }
}

#[test]
fn load_level_is_reported_when_it_is_completed() {
    for sync_phases in [true, false] {
        let drive = sweep(Climb::Rates(vec![200.0, 400.0]), None);
        let request = RunSpec {
            sync_phases,
            ..request(drive, Workers::ONE)
        };
        let mut told = Parts::default();
        let record = perform(&request, &mut told);
        let so_far = told.opened.unwrap().actual;
        assert_eq!(so_far.sweep_steps, record.actual.sweep_steps);
        let kinds = &told.kinds[..];
        if sync_phases {
            assert_eq!(so_far.phases, record.actual.phases);
            assert_eq!((kinds[0], *kinds.last().unwrap()), ("prepare", "delete"));
        }
        let steps = kinds.iter().filter(|kind| **kind == "sweep_step").count();
        assert_eq!(steps, record.actual.sweep_steps.len());
        kinds.assert(steps >= 2 && kinds.len() == steps + if sync_phases { 2 } else { 0 });
    }
}
