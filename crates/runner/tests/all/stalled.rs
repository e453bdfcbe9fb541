//! A worker that does not return from a call of the engine. The run must report the worker and
//! still write the record.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use engine::{
    Engine, OpenError, Operation, OperationKind, OperationOutcome as Done, Session, Settings,
    Steps, Submitted, Ticket,
};
use record::{Outcome, Stalled};
use runner::{Cache, Event, Events, Place, RunSpec, SystemClock};
use testkit::runs::{by, private};
use testkit::{Assert, Shows};
use workload::Classic;

/// The call in which the engine hangs.
#[derive(Clone, Copy)]
enum At {
    /// The operation with this number, counted over all workers.
    Nth(u64),
    First(OperationKind),
    /// Opening a session.
    Open,
}

/// An engine that performs no operations and hangs in one call.
#[derive(Clone)]
struct Hanging {
    operations: Arc<AtomicU64>,
    has_hung: Arc<AtomicBool>,
    at: At,
    lasts: Duration,
    /// Maximum number of operations in flight. With more than 1, other operations complete while
    /// one hangs.
    depth: usize,
}

impl Hanging {
    fn hang_once(&self) {
        if !self.has_hung.swap(true, Ordering::SeqCst) {
            std::thread::sleep(self.lasts);
        }
    }
}

struct HangingSession {
    engine: Hanging,
    in_flight: VecDeque<Ticket>,
    hanging: Option<(Ticket, Instant)>,
}

impl Engine for Hanging {
    fn facts(&self) -> &'static engine::EngineFacts {
        &engines::null::FACTS
    }

    fn open(&self, _: &Settings) -> Result<Box<dyn Session>, OpenError> {
        if let At::Open = self.at {
            self.hang_once();
        }
        Ok(Box::new(HangingSession {
            engine: self.clone(),
            in_flight: VecDeque::new(),
            hanging: None,
        }))
    }

    fn depth(&self) -> usize {
        self.depth
    }
}

impl Session for HangingSession {
    fn is_synchronous(&self) -> bool {
        false
    }

    fn submit(
        &mut self,
        ticket: Ticket,
        operation: &Operation<'_>,
        _: &mut dyn Steps,
    ) -> Submitted {
        let number = self.engine.operations.fetch_add(1, Ordering::SeqCst);
        let hangs = match self.engine.at {
            At::Nth(nth) => number == nth,
            At::First(kind) => operation.kind() == kind,
            At::Open => false,
        };
        if self.engine.depth > 1 {
            if hangs && !self.engine.has_hung.swap(true, Ordering::SeqCst) {
                self.hanging = Some((ticket, Instant::now() + self.engine.lasts));
            } else {
                self.in_flight.push_back(ticket);
            }
            return Submitted::InFlight;
        }
        if hangs {
            self.engine.hang_once();
        }
        Submitted::Done(Ok(()))
    }

    fn complete(&mut self, _: Option<Duration>, _: &mut dyn Steps) -> Option<(Ticket, Done)> {
        if let Some(ticket) = self.in_flight.pop_front() {
            return Some((ticket, Ok(())));
        }
        let (ticket, until) = self.hanging.take()?;
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
        Some((ticket, Ok(())))
    }
}

#[derive(Default)]
struct Told(Vec<Stalled>);

impl Events for Told {
    fn event(&mut self, event: Event) {
        if let Event::Stalled(stalled) = event {
            self.0.push(stalled);
        }
    }
}

fn run(at: At, lasts: Duration) -> (record::Record, Told, Duration) {
    run_at_depth(1, at, lasts)
}

fn run_at_depth(depth: usize, at: At, lasts: Duration) -> (record::Record, Told, Duration) {
    let classic = Classic {
        subdirectories: 4,
        ..Classic::default()
    };
    let workload = by(private(3), classic);
    let location = "/hanging".into();
    let request = RunSpec {
        stall_timeout: Duration::from_millis(400),
        check: true,
        engine: spec::EngineName::POSIX,
        cache: if let At::First(OperationKind::Evict) = at {
            Cache::ColdData
        } else {
            Cache::AsIs
        },
        ..RunSpec::classic(workload, vec![location], Place::Nowhere)
    };
    let engine = Hanging {
        operations: Arc::default(),
        has_hung: Arc::default(),
        at,
        lasts,
        depth,
    };
    let mut told = Told::default();
    let began = Instant::now();
    let record = testkit::run(&request, &engine, &SystemClock, &mut told);
    (record, told, began.elapsed())
}

#[test]
fn stalled_worker_that_returns_is_reported_and_the_run_completes() {
    let (record, told, _) = run(At::Nth(2_500), Duration::from_millis(1_200));
    assert_eq!(record.actual.outcome, Outcome::Complete);
    let [stalled] = &record.actual.stalled[..] else {
        panic!("{:?}", record.actual.stalled);
    };
    stalled.assert(stalled.came_back && stalled.ns > 1_000_000_000);
    assert_eq!(told.0.len(), 1);
    assert!(told.0[0].worker.is_some_and(|worker| worker < 3));
    let worker = told.0[0].worker.unwrap();
    told.0[0].assert(told.0[0].path.starts_with(&format!("/hanging/w{worker}/")));
    assert!(["create", "read", "append", "delete"].contains(&told.0[0].operation.as_str()));
}

#[test]
fn stalled_operation_is_identified_among_several_in_flight() {
    let (record, told, _) = run_at_depth(
        8,
        At::First(OperationKind::Append),
        Duration::from_millis(1_200),
    );
    assert_eq!(record.actual.outcome, Outcome::Complete);
    let [stalled] = &record.actual.stalled[..] else {
        panic!("{:?}", record.actual.stalled);
    };
    stalled.assert(stalled.came_back && stalled.ns > 1_000_000_000);
    assert_eq!(told.0[0].operation, "append");
    let worker = told.0[0].worker.unwrap();
    assert!(told.0[0].path.starts_with(&format!("/hanging/w{worker}/")));
    let (record, _, took) = run_at_depth(
        8,
        At::First(OperationKind::Append),
        Duration::from_secs(3_600),
    );
    assert!(took < Duration::from_secs(30), "{took:?}");
    assert!(matches!(record.actual.outcome, Outcome::Failed { .. }));
    assert_eq!(
        record.actual.stalled.len(),
        1,
        "{:?}",
        record.actual.stalled
    );
}

#[test]
fn run_with_a_worker_that_never_returns_fails_but_has_a_record() {
    let (record, told, took) = run(At::Nth(2_500), Duration::from_secs(3_600));
    assert!(took < Duration::from_secs(30), "{took:?}");
    let Outcome::Failed { why } = &record.actual.outcome else {
        panic!("{:?}", record.actual.outcome);
    };
    let stalled = &record.actual.stalled[0];
    assert!(!stalled.came_back);
    let worker = stalled.worker.unwrap();
    assert!(
        why.contains(&format!("worker {worker} has been stalled for")),
        "{why}"
    );
    why.shows(&stalled.path);
    assert_eq!(told.0.len(), 1);
    // The record still contains the results of the other workers.
    assert_eq!(record.actual.phases[0].workers.len(), 3);
    assert_eq!(record.actual.phases[1].workers.len(), 2);
    assert!(
        record
            .actual
            .clean_up
            .is_some_and(|clean_up| !clean_up.left.is_empty())
    );
}

#[test]
fn worker_that_hangs_outside_of_operations_is_reported() {
    for (at, operation, path) in [
        (At::Open, "open a session", "/hanging/w"),
        (
            At::First(OperationKind::MakeDirectory),
            "make directory",
            "/s0",
        ),
        (At::First(OperationKind::Evict), "drop from the cache", "/s"),
        (At::First(OperationKind::Stat), "check names", "/s"),
        (At::First(OperationKind::List), "check names (list)", "/s0"),
        (
            At::First(OperationKind::RemoveDirectory),
            "remove directory",
            "/s0",
        ),
    ] {
        let (record, told, took) = run(at, Duration::from_secs(3_600));
        assert!(took < Duration::from_secs(30), "{operation}: {took:?}");
        operation.assert(matches!(record.actual.outcome, Outcome::Failed { .. }));
        let [stalled] = &told.0[..] else {
            panic!("{operation}: {:?}", told.0);
        };
        assert_eq!(stalled.operation, operation);
        assert!(stalled.path.contains(path), "{operation}: {stalled:?}");
        assert!(stalled.worker.is_some() && !stalled.came_back);
    }
}
