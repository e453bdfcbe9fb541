//! After the transactions, each worker checks that the acknowledged operations of a worker of
//! another rank are visible. Operations that become visible late are reported with their delay.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use engine::namespace::Namespace;
use engine::{
    Engine, EngineFacts, Errno, Failure, Listing, Name, OpenError, Operation, Session, Settings,
    Step, Steps, Submitted, Ticket,
};
use engines::posix::Posix;
use record::{Outcome, Record};
use runner::{Clock, Event, RunSpec, Stage, SystemClock};
use spec::OnError;
use testkit::Assert;
use verdict::{Reason, Verdict};
use workload::{Phase, Work, Workers};

use crate::directory;
use crate::ranks::{Handles, is_empty, perform_on, perform_told, request};

/// Returns a spec with the given mix of actions. There are enough files for names that end with
/// every digit. The engines of these tests return wrong results for names with certain last digits.
fn asked(at: &Path, ranks: u32, weights: &str) -> RunSpec {
    let mut asked = request(at, 2 * ranks, ranks, 400);
    asked.verify = true;
    if let Work::Mix(mix) = &mut asked.workload.work {
        mix.weights = weights.parse().unwrap();
        mix.names = "decimal".parse().unwrap();
    }
    asked
}

const CHURN: &str = "create=2,delete=2,append=2,replace=1,rename=1,symlink=1";

/// An engine in which operations of other workers become visible late, as on a network client. For
/// names that end with 7, the engine returns wrong results during the time `lasts` after the first
/// access to the name. With `contents`, the contents of a file are wrong. Otherwise an existing
/// name seems missing, and a removed name seems present.
#[derive(Clone)]
struct Late {
    lasts: Duration,
    contents: bool,
    looks: Arc<Mutex<BTreeMap<PathBuf, Instant>>>,
    /// Threads that have opened a session. The first session of a thread is for the worker's own
    /// pool and returns correct results.
    threads: Arc<Mutex<BTreeSet<String>>>,
}

impl Late {
    fn new(lasts: Duration, contents: bool) -> Self {
        Self {
            lasts,
            contents,
            looks: Arc::default(),
            threads: Arc::default(),
        }
    }

    fn is_late(&self, name: Name<'_>) -> bool {
        let path = PathBuf::from(name.path.to_string_lossy().into_owned());
        let is_chosen = path.to_string_lossy().ends_with('7');
        let first = *self
            .looks
            .lock()
            .unwrap()
            .entry(path)
            .or_insert_with(Instant::now);
        is_chosen && first.elapsed() < self.lasts
    }
}

struct LateSession {
    inner: Box<dyn Session>,
    late: Option<Late>,
    /// Wrong contents for the last read; `None` for correct contents.
    old: Option<Vec<u8>>,
}

impl Engine for Late {
    fn facts(&self) -> &'static EngineFacts {
        Posix.facts()
    }

    fn namespace(&self) -> Option<Arc<dyn Namespace>> {
        Posix.namespace()
    }

    fn open(&self, settings: &Settings) -> Result<Box<dyn Session>, OpenError> {
        let thread: ThreadId = std::thread::current().id();
        let is_own = self.threads.lock().unwrap().insert(format!("{thread:?}"));
        Ok(Box::new(LateSession {
            inner: Posix.open(settings)?,
            late: (!is_own).then(|| self.clone()),
            old: None,
        }))
    }
}

impl Session for LateSession {
    fn submit(
        &mut self,
        ticket: Ticket,
        operation: &Operation<'_>,
        steps: &mut dyn Steps,
    ) -> Submitted {
        let submitted = self.inner.submit(ticket, operation, steps);
        self.old = None;
        let Some(late) = &self.late else {
            return submitted;
        };
        match (operation, submitted) {
            (Operation::Stat { name, .. }, Submitted::Done(outcome))
                if !late.contents && late.is_late(*name) =>
            {
                Submitted::Done(match outcome {
                    Ok(()) => Err(Failure::system(Step::Stat, Errno::NOENT)),
                    Err(_) => Ok(()),
                })
            }
            (Operation::Read { name, .. }, submitted) if late.contents && late.is_late(*name) => {
                self.old = self
                    .inner
                    .content(ticket)
                    .map(|content| vec![0; content.len()]);
                submitted
            }
            (_, submitted) => submitted,
        }
    }

    fn content(&self, ticket: Ticket) -> Option<&[u8]> {
        match &self.old {
            Some(old) => Some(old),
            None => self.inner.content(ticket),
        }
    }

    fn listing(&self, ticket: Ticket) -> Option<Listing> {
        self.inner.listing(ticket)
    }

    fn names(&mut self, directory: Name<'_>) -> Result<Vec<Vec<u8>>, Failure> {
        self.inner.names(directory)
    }
}

fn first(records: Vec<Result<Record, runner::Refused>>) -> Record {
    records.into_iter().next().unwrap().unwrap()
}

#[test]
fn acknowledged_operations_are_checked_by_another_rank() {
    for (neighbour, shared) in [(0, false), (1, false), (2, false), (0, true), (1, true)] {
        let at = directory();
        let asked = |_| {
            let mut asked = asked(at.path(), 3, CHURN);
            asked.neighbour = neighbour;
            if shared {
                asked.workload.workers = Workers::Shared {
                    writers: 2,
                    readers: 0,
                    pools: 3,
                };
            }
            asked
        };
        let record = first(perform_on(&Posix, &SystemClock, 3, asked, |_, _| ()));
        let case = format!("neighbour {neighbour}, shared {shared}");
        assert_eq!(record.actual.outcome, Outcome::Complete, "{case}");
        assert_eq!(record.actual.errors, [], "{case}");
        let own = *record.actual.check.known().unwrap();
        let across = record.actual.check_across.unwrap();
        assert_eq!((own.wrong, across.wrong), (0, 0), "{case}");
        match shared {
            // The check covers all existing names, and on average more than 50 removed names of
            // each of the 6 workers.
            false => assert!(
                across.names > own.names + 6 * 50,
                "{case}: {own:?} {across:?}"
            ),
            true => assert_eq!(
                across.names, own.names,
                "{case}: it is small enough to be the sample"
            ),
        }
        assert_eq!(record.actual.taken.is_some(), neighbour > 0, "{case}");
        assert_eq!(record.actual.stale, None, "{case}");
        assert!(is_empty(at.path()), "{case}");
    }
}

#[test]
fn late_visibility_in_neighbour_pool_is_reported_with_delay() {
    let at = directory();
    let late = Duration::from_millis(30);
    let asked = |_| {
        let mut asked = asked(at.path(), 2, "read=1");
        asked.neighbour = 1;
        (asked.check, asked.verify) = (false, false);
        if let Work::Mix(mix) = &mut asked.workload.work {
            mix.files = 60;
        }
        asked
    };
    let engine = Late::new(late, false);
    let record = first(perform_on(&engine, &SystemClock, 2, asked, |_, _| ()));
    assert_eq!(record.actual.outcome, Outcome::Complete);
    let stale = record.actual.stale.unwrap();
    // Each of the four pools has the six names 7, 17, 27, 37, 47 and 57.
    assert_eq!(stale.count, 24, "{stale:?}");
    assert!(stale.longest_ns as u128 >= late.as_nanos(), "{stale:?}");
    stale.assert(stale.path.ends_with('7') && stale.what.contains("No such file"));
    assert!(is_empty(at.path()));
}

#[test]
fn late_visibility_to_another_rank_is_reported_with_delay() {
    let late = Duration::from_millis(2);
    for (contents, weights, what) in [
        (
            false,
            "delete=1,create=1",
            ["its removal was acknowledged", "No such file"],
        ),
        (
            true,
            "append=1,replace=1",
            ["the read returned", "instead of"],
        ),
    ] {
        let at = directory();
        let record = first(perform_on(
            &Late::new(late, contents),
            &SystemClock,
            2,
            |_| asked(at.path(), 2, weights),
            |_, _| (),
        ));
        assert_eq!(record.actual.outcome, Outcome::Complete);
        assert_eq!(record.actual.check_across.unwrap().wrong, 0);
        let stale = record.actual.stale.unwrap();
        assert!(stale.count >= 40, "{stale:?}");
        assert!(stale.longest_ns as u128 >= late.as_nanos(), "{stale:?}");
        assert!(stale.path.ends_with('7'), "{stale:?}");
        stale.assert(what.iter().any(|what| stale.what.contains(what)));
        assert!(is_empty(at.path()));
    }
}

/// A clock that advances a thousand times as fast as the machine's clock.
#[derive(Clone)]
struct Hasty(Instant, u64);

impl Clock for Hasty {
    fn now_ns(&self) -> u64 {
        self.1 + 1_000 * self.0.elapsed().as_nanos() as u64
    }

    fn wall_s(&self) -> i64 {
        SystemClock.wall_s()
    }

    fn sleep(&self, ns: u64) {
        std::thread::sleep(Duration::from_nanos(ns / 1_000));
    }
}

#[test]
fn changes_that_never_become_visible_to_another_rank_are_errors() {
    let at = directory();
    let never = Late::new(Duration::from_secs(3_600), false);
    let hasty = Hasty(Instant::now(), SystemClock.now_ns());
    let asked = |_| RunSpec {
        on_error: OnError::Count(u64::MAX),
        ..asked(at.path(), 2, "delete=1,create=1")
    };
    let record = first(perform_on(&never, &hasty, 2, asked, |_, _| ()));
    let across = record.actual.check_across.unwrap();
    assert!(across.wrong >= 80, "{across:?}");
    assert_eq!(record.actual.check.known().unwrap().wrong, 0);
    let messages: Vec<&str> = record
        .actual
        .errors
        .iter()
        .map(|error| error.message.as_str())
        .collect();
    assert!(
        messages
            .iter()
            .any(|message| message.contains("its removal was acknowledged")),
        "{messages:?}"
    );
    messages.assert(
        messages
            .iter()
            .any(|message| message.contains("No such file")),
    );
    assert!(record.actual.stale.is_none());
    let verdict = Verdict::of(&record);
    assert!(
        verdict
            .reasons
            .iter()
            .any(|reason| matches!(reason, Reason::WrongNames(_))),
        "{verdict:?}"
    );
    assert!(is_empty(at.path()));
}

/// An engine in which some deletions and renames fail and change nothing.
#[derive(Clone)]
struct Refuses;

struct RefusesSession(Box<dyn Session>);

impl Engine for Refuses {
    fn facts(&self) -> &'static EngineFacts {
        Posix.facts()
    }

    fn namespace(&self) -> Option<Arc<dyn Namespace>> {
        Posix.namespace()
    }

    fn open(&self, settings: &Settings) -> Result<Box<dyn Session>, OpenError> {
        Ok(Box::new(RefusesSession(Posix.open(settings)?)))
    }
}

impl Session for RefusesSession {
    fn submit(
        &mut self,
        ticket: Ticket,
        operation: &Operation<'_>,
        steps: &mut dyn Steps,
    ) -> Submitted {
        let step = match operation {
            Operation::Delete { .. } => Step::Unlink,
            Operation::Rename { .. } => Step::Rename,
            _ => return self.0.submit(ticket, operation, steps),
        };
        match operation.name().path.to_string_lossy().ends_with('3') {
            true => Submitted::Done(Err(Failure::system(step, Errno::IO))),
            false => self.0.submit(ticket, operation, steps),
        }
    }

    fn content(&self, ticket: Ticket) -> Option<&[u8]> {
        self.0.content(ticket)
    }

    fn listing(&self, ticket: Ticket) -> Option<Listing> {
        self.0.listing(ticket)
    }

    fn names(&mut self, directory: Name<'_>) -> Result<Vec<Vec<u8>>, Failure> {
        self.0.names(directory)
    }
}

#[test]
fn files_with_unknown_state_are_not_checked_by_another_rank() {
    for (neighbour, shared) in [(0, false), (1, false), (0, true), (1, true)] {
        let at = directory();
        let asked = |_| {
            let mut asked = asked(at.path(), 2, "delete=2,rename=2,create=3,append=1");
            asked.neighbour = neighbour;
            asked.on_error = OnError::Count(u64::MAX);
            if shared {
                asked.workload.workers = Workers::Shared {
                    writers: 2,
                    readers: 0,
                    pools: 2,
                };
            }
            asked
        };
        let case = format!("neighbour {neighbour}, shared {shared}");
        let record = first(perform_on(&Refuses, &SystemClock, 2, asked, |_, _| ()));
        assert_eq!(record.actual.outcome, Outcome::Complete, "{case}");
        let messages: Vec<&str> = record
            .actual
            .errors
            .iter()
            .map(|error| error.operation.as_str())
            .collect();
        assert!(
            !messages.is_empty()
                && messages
                    .iter()
                    .all(|name| ["delete", "rename"].contains(name)),
            "{case}: {messages:?}"
        );
        let across = record.actual.check_across.unwrap();
        assert!(across.wrong == 0 && across.names > 0, "{case}: {across:?}");
        assert!(shared || across.left_out > 0, "{case}: {across:?}");
        assert_eq!(record.actual.stale, None, "{case}");
    }
}

#[test]
fn small_shared_pools_are_checked_by_another_rank() {
    for files in [1, 3, 20] {
        let at = directory();
        let asked = |_| {
            let mut asked = asked(at.path(), 2, "delete=3,create=2,read=1");
            if let Work::Mix(mix) = &mut asked.workload.work {
                mix.files = files;
                mix.transactions = 10;
            }
            asked.workload.workers = Workers::Shared {
                writers: 3,
                readers: 5,
                pools: 2,
            };
            asked
        };
        let record = first(perform_on(&Posix, &SystemClock, 2, asked, |_, _| ()));
        assert_eq!(record.actual.outcome, Outcome::Complete, "{files} files");
        assert_eq!(
            record.actual.check_across.unwrap().wrong,
            0,
            "{files} files"
        );
    }
}

#[test]
fn signal_at_any_barrier_ends_all_ranks_and_removes_files() {
    let is_then = [
        |event: &Event| matches!(event, Event::PhaseStarted(Stage::Take, _)),
        |event: &Event| matches!(event, Event::PhaseEnded(Stage::Take, ..)),
        |event: &Event| {
            matches!(
                event,
                Event::PhaseEnded(Stage::Phase(Phase::Transactions), ..)
            )
        },
        |event: &Event| matches!(event, Event::PhaseEnded(Stage::Check, ..)),
        |event: &Event| matches!(event, Event::PhaseStarted(Stage::CheckAcross, _)),
        |event: &Event| matches!(event, Event::PhaseEnded(Stage::CheckAcross, ..)),
        // At this event, the other ranks wait at the barrier before the stage that removes the
        // directories.
        |event: &Event| matches!(event, Event::PhaseEnded(Stage::Phase(Phase::Delete), ..)),
    ];
    for (place, is_then) in is_then.iter().enumerate() {
        for (stopped, shared) in [(1, false), (0, true)] {
            let at = directory();
            let asked = |_| {
                let mut asked = asked(at.path(), 3, CHURN);
                asked.neighbour = 1;
                if let Work::Mix(mix) = &mut asked.workload.work {
                    mix.layout.shape = "subdirs:4".parse().unwrap();
                }
                if shared {
                    asked.workload.workers = Workers::Shared {
                        writers: 2,
                        readers: 0,
                        pools: 3,
                    };
                }
                asked
            };
            let told = |rank: u32, event: &Event, handles: &Handles| {
                if rank == stopped && is_then(event) {
                    handles
                        .signal
                        .store(15, std::sync::atomic::Ordering::Relaxed);
                }
            };
            let records = perform_told(&Posix, &SystemClock, 3, asked, &|_, _| (), &told);
            for (rank, record) in records.into_iter().enumerate() {
                let outcome = record.unwrap().actual.outcome;
                assert_eq!(
                    outcome,
                    Outcome::Interrupted { signal: 15 },
                    "border {place}, rank {rank}"
                );
            }
            assert!(is_empty(at.path()), "border {place}");
        }
    }
}
