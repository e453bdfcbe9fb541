//! Load levels of sweeps, tested one by one on the simulated engine with a virtual clock and
//! without system calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use engines::simulated::{Code, Fault, Simulated};
use record::{Climb, End, Fact, Load, Outcome, Phase, Record, Sweep};
use runner::{Drive, Event, Events, NoEvents, Place, RunSpec, Stage, Stop};
use testkit::{
    Assert, Virtual,
    records::phases,
    runs::{private, weighted},
};
use workload::arrivals::ArrivalProcess;
use workload::{Mix, Workload};

use crate::run;

pub(crate) const AT: &str = "/files";
const EIO: i32 = 5;

fn engine() -> Simulated {
    // Each call takes a millisecond, so a closed loop performs fewer than a thousand operations a
    // second.
    Simulated::new(Code::Posix, 1_000_000).with_directory(AT)
}

/// Records the announced loads, and calls a function for each event.
struct Watcher<F>(Vec<Load>, F);

impl<F: FnMut(&Event)> Events for Watcher<F> {
    fn event(&mut self, event: Event) {
        if let Event::Load(number, load, _) = &event {
            assert_eq!(*number as usize, self.0.len());
            self.0.push(*load);
        }
        self.1(&event);
    }

    fn takes_records(&self) -> bool {
        true
    }
}

/// Returns the run spec of a sweep. On one pool, load levels end by time. In separate runs, load
/// levels end by the number of transactions, so that the number of calls is known.
fn request(climb: Climb, fresh: bool) -> RunSpec {
    let mix = Mix {
        files: 20,
        transactions: if fresh { 50 } else { Workload::ENDLESS },
        weights: "stat=1".parse().unwrap(),
        ..Mix::default()
    };
    RunSpec {
        room_check: false,
        overhead: false,
        drive: Drive {
            stop: if fresh {
                Stop::Transactions
            } else {
                Stop::After(Duration::from_secs(10))
            },
            sweep: Some(Sweep {
                climb,
                arrivals: ArrivalProcess::Constant,
                fresh,
                slo_operation: None,
                slo_p99_ns: None,
            }),
            ..Drive::default()
        },
        ..RunSpec::classic(mix.into(), vec![AT.into()], Place::OwnDirectory)
    }
}

fn perform(
    request: &RunSpec,
    engine: &Simulated,
    signal: &Arc<AtomicUsize>,
    events: &mut dyn Events,
) -> Record {
    let clock = Virtual::with(engine);
    let record = run(request, engine, &clock, signal, events).unwrap();
    assert_eq!(record.spec, *request, "the record has what was asked for");
    record
}

fn loads(record: &Record) -> Vec<Load> {
    record
        .actual
        .sweep_steps
        .iter()
        .map(|sweep_step| sweep_step.load)
        .collect()
}

#[test]
fn loads_are_applied_in_order_on_one_pool_and_in_separate_runs() {
    let rates = [10.0, 20.0, 40.0].map(Load::Rate);
    let workers = [1, 2, 3].map(Load::Workers);
    for (climb, fresh, expected) in [
        (Climb::Rates(vec![10.0, 20.0, 40.0]), false, rates),
        (Climb::Rates(vec![10.0, 20.0, 40.0]), true, rates),
        (Climb::Workers(vec![1, 2, 3]), true, workers),
    ] {
        let engine = engine();
        let mut told = Watcher(Vec::new(), |_: &Event| ());
        let record = perform(&request(climb, fresh), &engine, &Arc::default(), &mut told);
        assert_eq!(record.actual.outcome, Outcome::Complete);
        assert_eq!(
            (&told.0[..], &loads(&record)[..]),
            (&expected[..], &expected[..])
        );
        assert!(engine.files().is_empty(), "{:?}", engine.files());
        // A sweep on one pool creates and deletes the pool once. A sweep of separate runs does so
        // at each load level.
        let of_pool = [Phase::Prepare, Phase::Delete];
        assert_eq!(phases(&record), if fresh { &[][..] } else { &of_pool[..] });
        for (number, sweep_step) in record.actual.sweep_steps.iter().enumerate() {
            let of_step: Vec<Phase> = sweep_step.phases.iter().map(|phase| phase.phase).collect();
            assert_eq!(
                of_step,
                if fresh {
                    &Phase::ALL[..]
                } else {
                    &[Phase::Transactions]
                }
            );
            assert_eq!(sweep_step.of_run.is_some(), fresh && number > 0);
            let workers = sweep_step.load.workers().unwrap_or(1);
            assert_eq!(sweep_step.workers, workers);
        }
    }
}

#[test]
fn failed_load_level_ends_the_sweep_and_removes_the_pool() {
    for fresh in [false, true] {
        let engine = engine();
        let fails = engine.clone();
        let mut begun = 0;
        let mut told = Watcher(Vec::new(), move |event: &Event| {
            if matches!(
                event,
                Event::PhaseStarted(Stage::Phase(Phase::Transactions), _)
            ) {
                begun += 1;
                if begun == 2 {
                    let call = fails.calls() + 5;
                    fails.clone().fault_at(call, Fault::Error(EIO));
                }
            }
        });
        let request = request(Climb::Rates(vec![10.0, 20.0, 40.0]), fresh);
        let record = perform(&request, &engine, &Arc::default(), &mut told);
        record
            .actual
            .outcome
            .assert(matches!(&record.actual.outcome, Outcome::Failed { .. }));
        assert_eq!((told.0.len(), record.actual.sweep_steps.len()), (2, 2));
        let complete = |sweep_step: &record::SweepStep| {
            sweep_step
                .transactions()
                .is_some_and(|phase| phase.complete)
        };
        assert!(
            complete(&record.actual.sweep_steps[0]) && !complete(&record.actual.sweep_steps[1])
        );
        assert!(engine.files().is_empty(), "{:?}", engine.files());
    }
}

#[test]
fn pool_that_runs_out_of_files_ends_the_sweep() {
    for fresh in [false, true] {
        let engine = engine();
        let mut request = request(Climb::Rates(vec![10.0, 20.0, 40.0]), fresh);
        let mix = weighted(20, 1_000, "delete=1");
        request.workload = mix.into();
        let mut told = Watcher(Vec::new(), |_: &Event| ());
        let record = perform(&request, &engine, &Arc::default(), &mut told);
        assert_eq!(record.actual.outcome, Outcome::Complete);
        assert!(matches!(&record.actual.end, Fact::Known(end) if *end != End::Complete));
        assert_eq!(
            (&told.0[..], loads(&record).len()),
            (&[Load::Rate(10.0)][..], 1)
        );
        assert!(engine.files().is_empty());
    }
}

#[test]
fn record_keeps_completed_load_levels_after_a_signal_between_levels() {
    for fresh in [false, true] {
        let engine = engine();
        let signal: Arc<AtomicUsize> = Arc::default();
        let raised = Arc::clone(&signal);
        let mut told = Watcher(Vec::new(), move |event: &Event| {
            if matches!(event, Event::PhaseRecorded(done) if matches!(done.part,
                record::CompletedPart::SweepStep(_)))
            {
                raised.store(15, Ordering::Relaxed);
            }
        });
        let request = request(Climb::Rates(vec![10.0, 20.0, 40.0]), fresh);
        let record = perform(&request, &engine, &signal, &mut told);
        assert_eq!(record.actual.outcome, Outcome::Interrupted { signal: 15 });
        assert_eq!((told.0.len(), loads(&record)), (1, vec![Load::Rate(10.0)]));
        assert!(engine.files().is_empty());
    }
}

#[test]
fn only_refusal_of_the_first_load_level_is_an_error() {
    let request = request(Climb::Workers(vec![1, 2, 3]), true);
    let engine = engine();
    let clock = Virtual::with(&engine);
    for accepted in [0, 1] {
        let mut left = accepted;
        let performed = campaign::run(
            &request,
            &mut |spec, events| {
                if left == 0 {
                    return Err(runner::Refused::Unable("no".to_owned()));
                }
                left -= 1;
                runner::prepare(spec, &engine, &clock, &mut runner::Control::default, events)
            },
            &mut NoEvents,
        );
        match (accepted, performed) {
            (0, Err(refused)) => assert_eq!(refused.to_string(), "no"),
            (1, Ok(record)) => {
                assert_eq!(loads(&record), [Load::Workers(1)]);
                let why = "level 2 was refused: no".to_owned();
                assert_eq!(record.actual.outcome, Outcome::Failed { why });
            }
            (_, other) => panic!("{other:?}"),
        }
        assert!(engine.files().is_empty());
    }
}

#[test]
fn spec_without_a_sweep_is_performed_as_one_run() {
    let engine = engine();
    let mut request = request(Climb::Workers(vec![1]), true);
    request.drive.sweep = None;
    request.workload.workers = private(2);
    let record = perform(&request, &engine, &Arc::default(), &mut NoEvents);
    assert_eq!(
        (phases(&record), loads(&record)),
        (Phase::ALL.to_vec(), Vec::new())
    );
}
