//! Ladders and rules of steady state, on the machine's clock and a storage that takes a known time.

use std::sync::Arc;
use std::time::Duration;

use contract::{Need, OpenError, Operation, Session, Settings, Steps, Storage, Submitted, Ticket, Unsupported};
use record::{
    Climb, Ladder, LadderSummary, Load, Outcome, Phase, Record, RungSummary, SegmentKind, SteadyAsked, SteadyRule,
    Summary,
};
use runner::{Control, Drive, Event, Events, NoEvents, Place, RunSpec, Stop, SystemClock};
use workload::arrivals::ArrivalProcess;
use workload::{Crew, Mix, Workload};

/// Does nothing, and sleeps for as long as a function of the operation's number says.
#[derive(Clone)]
struct Sleepy(fn(u64) -> Duration);

struct SleepySession {
    takes: fn(u64) -> Duration,
    operations: u64,
}

impl Storage for Sleepy {
    type Session = SleepySession;

    fn name(&self) -> &'static str {
        "sleepy"
    }

    fn supports(&self, _: &Need) -> Result<(), Unsupported> {
        Ok(())
    }

    fn home(&self) -> Option<Arc<dyn contract::home::Home>> {
        None
    }

    fn open(&self, _: &Settings) -> Result<SleepySession, OpenError> {
        Ok(SleepySession {
            takes: self.0,
            operations: 0,
        })
    }
}

impl Session for SleepySession {
    fn submit<S: Steps>(&mut self, _: Ticket, operation: &Operation<'_>, _: &mut S) -> Submitted {
        // The pool is there at once.
        if !matches!(operation, Operation::Create { .. } | Operation::Delete { .. }) {
            std::thread::sleep((self.takes)(self.operations));
            self.operations += 1;
        }
        Submitted::Done(Ok(()))
    }
}

fn request(drive: Drive, crew: Crew) -> RunSpec {
    let mix = Mix {
        files: 10,
        transactions: Workload::ENDLESS,
        weights: "stat=1".parse().unwrap(),
        ..Mix::default()
    };
    let workload = Workload {
        crew,
        ..Workload::from(mix)
    };
    RunSpec {
        drive,
        slices: true,
        ..RunSpec::classic(workload, vec!["/sleepy".into()], Place::Nowhere)
    }
}

fn perform(request: &RunSpec, takes: fn(u64) -> Duration, events: &mut dyn Events) -> Record {
    let record = runner::run(request, &Sleepy(takes), &SystemClock, &mut Control::default, events).unwrap();
    assert_eq!(record.actual.outcome, Outcome::Complete);
    record
}

fn ladder(climb: Climb, goal_p99_ns: Option<u64>) -> Drive {
    Drive {
        warm_up: Duration::from_millis(100),
        stop: Stop::After(Duration::from_millis(500)),
        ladder: Some(Ladder {
            climb,
            arrivals: ArrivalProcess::Constant,
            fresh: false,
            goal_p99_ns,
        }),
        ..Drive::default()
    }
}

/// Rungs as they are told of.
#[derive(Default)]
struct Told(Vec<Load>);

impl Events for Told {
    fn event(&mut self, event: Event) {
        if let Event::Rung(number, load) = event {
            assert_eq!(number as usize, self.0.len());
            self.0.push(load);
        }
    }
}

fn of(record: &Record) -> LadderSummary {
    Summary::of(record).ladder.unwrap()
}

/// Two milliseconds: no more than 500 a second of a worker, and somewhat fewer, since it is woken late.
fn two_milliseconds(_: u64) -> Duration {
    Duration::from_millis(2)
}

#[test]
fn rates_are_climbed_on_one_pool_until_they_are_too_much_and_then_narrowed_down() {
    for crew in [Crew::ONE, Crew::Shared { writers: 0, readers: 2 }] {
        let drive = ladder(Climb::Rates(vec![50.0, 100.0, 2_000.0, 4_000.0, 8_000.0]), None);
        let mut told = Told::default();
        let record = perform(&request(drive, crew), two_milliseconds, &mut told);
        let summary = of(&record);
        let loads: Vec<Load> = summary.rungs.iter().map(|rung| rung.load).collect();
        assert_eq!(told.0, loads);
        assert_eq!(loads[..4], [50.0, 100.0, 2_000.0, 4_000.0].map(Load::Rate), "{crew:?}");
        assert!(
            !loads.contains(&Load::Rate(8_000.0)),
            "two have failed before: {loads:?}"
        );
        let holds: Vec<bool> = summary.rungs[..4].iter().map(|rung| rung.holds).collect();
        assert_eq!(holds, [true, true, false, false], "{:?}", summary.rungs);
        let limit = summary.limit.unwrap();
        let (highest, beyond) = (limit.highest.unwrap(), limit.lowest_beyond.unwrap());
        let capacity = 500.0 * f64::from(crew.workers());
        assert!(
            highest >= 100.0 && highest <= capacity * 1.02 && beyond > highest && beyond < 2_000.0,
            "{crew:?}: {highest} to {beyond}"
        );
        // One pool: prepared and deleted once, with the rungs between.
        let phases: Vec<Phase> = record.actual.phases.iter().map(|phase| phase.phase).collect();
        assert_eq!(phases, [Phase::Prepare, Phase::Delete]);
        for (rung, summary) in record.actual.rungs.iter().zip(&summary.rungs) {
            let [phase] = &rung.phases[..] else {
                panic!("a rung has transactions alone")
            };
            let kinds: Vec<SegmentKind> = phase.segments.iter().map(|segment| segment.kind).collect();
            assert_eq!(kinds, [SegmentKind::WarmUp, SegmentKind::Measured]);
            let ms = phase.measured_ns() / 1_000_000;
            assert!((450..900).contains(&ms), "{ms} ms");
            assert_eq!(rung.workers, crew.workers());
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
fn a_queue_that_grows_shows_in_the_latency_of_a_rung_and_not_in_its_service_time() {
    let drive = ladder(Climb::Rates(vec![100.0, 5_000.0]), None);
    let record = perform(&request(drive, Crew::ONE), two_milliseconds, &mut NoEvents);
    let summary = of(&record);
    let (low, high): (&RungSummary, &RungSummary) = (&summary.rungs[0], &summary.rungs[1]);
    assert!(low.holds && low.achieved_fraction.unwrap() > 0.95, "{low:?}");
    // 0.6 s at 5,000 a second less what a server of at most 500 a second has done.
    assert!(
        !high.holds && (2_000..=3_600).contains(&high.waiting.unwrap()),
        "{high:?}"
    );
    assert!(high.p50_ns.unwrap() > 100_000_000, "{high:?}");
    assert!(high.service_p99_ns.unwrap() < 100_000_000, "{high:?}");
}

#[test]
fn shares_are_of_the_closed_loops_rate_and_a_goal_has_a_limit_of_its_own() {
    let drive = ladder(Climb::OfClosedLoop(vec![0.2, 0.5]), Some(1_000_000_000));
    let record = perform(&request(drive, Crew::ONE), two_milliseconds, &mut NoEvents);
    let summary = of(&record);
    let closed = summary.rungs[0].achieved_per_second.unwrap();
    assert_eq!(summary.rungs[0].load, Load::Closed);
    assert_eq!(summary.rungs[0].waiting, None);
    assert_eq!(summary.rungs[1].load, Load::Rate(0.2 * closed));
    let goal = summary.goal.unwrap();
    assert_eq!((goal.limit.highest, goal.nearest), (Some(0.5 * closed), None));
    let unmet = ladder(Climb::Rates(vec![50.0, 100.0]), Some(1_000));
    let record = perform(&request(unmet, Crew::ONE), two_milliseconds, &mut NoEvents);
    let goal = of(&record).goal.unwrap();
    assert_eq!(goal.limit.highest, None);
    assert!(
        goal.nearest.unwrap().1 > 2_000_000,
        "two milliseconds are more than a microsecond"
    );
}

#[test]
fn a_signal_ends_a_ladder_within_its_rung() {
    struct Stops(std::sync::Arc<std::sync::atomic::AtomicUsize>);

    impl Events for Stops {
        fn event(&mut self, event: Event) {
            if let Event::Rung(1, _) = event {
                self.0.store(15, std::sync::atomic::Ordering::Relaxed);
            }
        }
    }

    let signal = std::sync::Arc::default();
    let control = Control::stopped_by(std::sync::Arc::clone(&signal));
    let drive = ladder(Climb::Rates(vec![50.0, 100.0, 200.0]), None);
    let request = request(drive, Crew::ONE);
    let mut take_control = || control.clone();
    let record = runner::run(
        &request,
        &Sleepy(two_milliseconds),
        &SystemClock,
        &mut take_control,
        &mut Stops(signal),
    )
    .unwrap();
    assert_eq!(record.actual.outcome, Outcome::Interrupted { signal: 15 });
    let summary = of(&record);
    assert!(
        summary.rungs[0].holds && summary.rungs.len() <= 2,
        "{:?}",
        summary.rungs
    );
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

fn transactions(record: &Record) -> &record::PhaseRecord {
    let mut phases = record.actual.phases.iter();
    phases.find(|phase| phase.phase == Phase::Transactions).unwrap()
}

/// Slower and slower for 600 operations, from 0.2 to 5 ms; then always the same.
fn tires(number: u64) -> Duration {
    Duration::from_micros(200 + 8 * number.min(600))
}

#[test]
fn rounds_go_on_until_five_are_steady_and_the_numbers_are_of_these() {
    let round = Duration::from_millis(400);
    let record = perform(
        &request(steady(SteadyRule::Snia, 40, round), Crew::ONE),
        tires,
        &mut NoEvents,
    );
    let phase = transactions(&record);
    let found = phase.steady.as_ref().unwrap();
    assert!(found.is_steady, "{found:?}");
    assert!(
        found.rounds.len() > 5,
        "it was not steady from the beginning: {found:?}"
    );
    assert!(
        found.rounds[0] > 1.5 * found.rounds[found.rounds.len() - 1],
        "{found:?}"
    );
    let kinds: Vec<SegmentKind> = phase.segments.iter().map(|segment| segment.kind).collect();
    // Rounds that a window can no longer begin with are one.
    let approach = kinds.len() - 6;
    assert!((1..=2).contains(&approach), "{kinds:?}");
    let of = |segments: std::ops::Range<usize>, kind| kinds[segments].iter().all(|of| *of == kind);
    assert!(
        of(0..1, SegmentKind::WarmUp) && of(1..1 + approach, SegmentKind::Approach),
        "{kinds:?}"
    );
    assert!(of(1 + approach..kinds.len(), SegmentKind::Measured), "{kinds:?}");
    let in_slices: u64 = phase.slices.totals().values().map(|meter| meter.operations).sum();
    let in_segments: u64 = phase.segments.iter().map(|segment| segment.transactions).sum();
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

/// Slower and slower without end.
fn tires_for_ever(number: u64) -> Duration {
    Duration::from_micros(200 + 20 * number)
}

#[test]
fn what_never_becomes_steady_ends_with_the_last_round_and_says_so() {
    let round = Duration::from_millis(300);
    let record = perform(
        &request(steady(SteadyRule::Snia, 7, round), Crew::ONE),
        tires_for_ever,
        &mut NoEvents,
    );
    let phase = transactions(&record);
    let found = phase.steady.as_ref().unwrap();
    assert!(!found.is_steady && found.rounds.len() == 7, "{found:?}");
    assert!(found.snia.unwrap().slope_excursion > 0.1, "{found:?}");
    assert_eq!(phase.measured().count(), 5, "the last window is what was measured");
}

#[test]
fn the_slope_rule_judges_the_seconds_of_the_window() {
    let round = Duration::from_secs(4);
    let drive = steady(SteadyRule::Slope, 6, round);
    let record = perform(&request(drive, Crew::ONE), two_milliseconds, &mut NoEvents);
    let found = transactions(&record).steady.clone().unwrap();
    assert!((20..=21).contains(&found.seconds.len()), "{found:?}");
    let slope = found.slope.unwrap();
    let (low, high) = slope.interval.unwrap();
    assert!(low < slope.drift && slope.drift < high, "{slope:?}");
    assert_eq!(found.is_steady, -0.1 <= low && high <= 0.1, "{slope:?}");
}

#[test]
fn transactions_that_end_before_a_window_is_full_are_not_steady() {
    let mut request = request(steady(SteadyRule::Snia, 10, Duration::from_millis(200)), Crew::ONE);
    request.workload = request.workload.with_transactions(150);
    let record = perform(&request, two_milliseconds, &mut NoEvents);
    let phase = transactions(&record);
    let found = phase.steady.as_ref().unwrap();
    assert!(
        !found.is_steady && found.snia.is_none() && found.rounds.len() < 5,
        "{found:?}"
    );
    let measured: u64 = phase.measured().map(|segment| segment.transactions).sum();
    assert!(measured > 50, "all after the warm-up: {measured}");
}
