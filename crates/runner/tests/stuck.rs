//! A worker that does not come back from the storage: it is named, and the record is written all the same.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use record::{Outcome, Stuck};
use runner::{Control, Event, Events, Place, Request, RequestedLocation, SystemClock};
use storage::{Need, OpenError, Operation, Session, Settings, Steps, Storage, Submitted, Ticket, Unsupported};
use workload::{Classic, Crew, Workload};

/// Does nothing, and at one operation of all for a long time.
#[derive(Clone)]
struct Hanging {
    operations: Arc<AtomicU64>,
    at: u64,
    lasts: Duration,
}

struct HangingSession(Hanging);

impl Storage for Hanging {
    type Session = HangingSession;

    fn name(&self) -> &'static str {
        "hanging"
    }

    fn supports(&self, _: &Need) -> Result<(), Unsupported> {
        Ok(())
    }

    fn open(&self, _: &Settings) -> Result<HangingSession, OpenError> {
        Ok(HangingSession(self.clone()))
    }
}

impl Session for HangingSession {
    fn submit<S: Steps>(&mut self, _: Ticket, _: &Operation<'_>, _: &mut S) -> Submitted {
        if self.0.operations.fetch_add(1, Ordering::SeqCst) == self.0.at {
            std::thread::sleep(self.0.lasts);
        }
        Submitted::Done(Ok(()))
    }
}

#[derive(Default)]
struct Told(Vec<Stuck>);

impl Events for Told {
    fn event(&mut self, event: Event) {
        if let Event::Stuck(stuck) = event {
            self.0.push(stuck);
        }
    }
}

fn run(at: u64, lasts: Duration) -> (record::Record, Told, Duration) {
    let workload = Workload {
        crew: Crew::Private { workers: 3 },
        ..Classic::default().into()
    };
    let location = RequestedLocation {
        path: "/hanging".into(),
    };
    let request = Request {
        stuck_after: Duration::from_millis(400),
        ..Request::classic(workload, vec![location], Place::Nowhere)
    };
    let storage = Hanging {
        operations: Arc::default(),
        at,
        lasts,
    };
    let mut told = Told::default();
    let began = Instant::now();
    let record = runner::run(&request, &storage, &SystemClock, &mut Control::default, &mut told).unwrap();
    (record, told, began.elapsed())
}

#[test]
fn one_that_comes_back_is_named_and_the_run_goes_on() {
    let (record, told, _) = run(2_500, Duration::from_millis(1_200));
    assert_eq!(record.actual.outcome, Outcome::Complete);
    let [stuck] = &record.actual.stuck[..] else {
        panic!("{:?}", record.actual.stuck);
    };
    assert!(stuck.came_back && stuck.ns > 1_000_000_000, "{stuck:?}");
    assert_eq!(told.0.len(), 1);
    assert!(told.0[0].worker.is_some_and(|worker| worker < 3));
    let worker = told.0[0].worker.unwrap();
    assert!(
        told.0[0].path.starts_with(&format!("/hanging/w{worker}/")),
        "{:?}",
        told.0[0]
    );
    assert!(["create", "read", "append", "delete"].contains(&told.0[0].operation.as_str()));
}

#[test]
fn one_that_does_not_come_back_ends_the_run_and_the_record_is_there() {
    let (record, told, took) = run(2_500, Duration::from_secs(3_600));
    assert!(took < Duration::from_secs(30), "{took:?}");
    let Outcome::Failed { why } = &record.actual.outcome else {
        panic!("{:?}", record.actual.outcome);
    };
    let stuck = &record.actual.stuck[0];
    assert!(!stuck.came_back);
    let worker = stuck.worker.unwrap();
    assert!(why.contains(&format!("worker {worker} has been stuck for")), "{why}");
    assert!(why.contains(&stuck.path), "{why}");
    assert_eq!(told.0.len(), 1);
    // What the others did is in it.
    assert_eq!(record.actual.phases[0].workers.len(), 3);
    assert_eq!(record.actual.phases[1].workers.len(), 2);
    assert!(record.actual.clean_up.is_some_and(|clean_up| !clean_up.left.is_empty()));
}
