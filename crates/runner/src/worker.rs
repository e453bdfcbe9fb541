//! The worker loop: the only one. Takes intents from a source, performs them on a session, stamps
//! and counts.
//!
//! Source, session and clock are values given to it. Between two stamps lies the operation and
//! nothing else.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use engine::{
    Cause, Failure, NoSteps, OpenError, Operation, OperationOutcome, Session, Steps, Submitted,
    Ticket,
};
use measure::{SLICE_NS, Slice};
use record::{Check, ErrorRecord, Histogram, SlowestRecord, Stale};
use spec::Cache;
use workload::contents::Contents;
use workload::names::NameKind;
use workload::{Action, End, Intent, Phase, Role, StreamHash, StreamHasher};

use crate::acknowledged::AcknowledgedByAll;
use crate::clock::{Clock as _, RunClock};
use crate::control::Control;
use crate::events::Stage;
use crate::failures::{Failed, Failures, Spoiled};
use crate::pace::Pacer;
use crate::path_builder::Namer;
use crate::source::{Expected, Source};
use crate::stopwatch::{Meters, Moments, Stopwatch};
use rundir::Log;
use rundir::manifest::Position;
use rundir::worker_status::{Aside, Slot, WrittenName};

mod cross_rank_check;
mod flights;
mod phase_stats;
mod segments;
mod skips;
mod verify;
mod visibility_retry;

use flights::{Flight, Flights, Issued};
pub(crate) use phase_stats::SegmentReport;
use phase_stats::{Counted, Done, Skips};

/// Meeting the other workers, and those who decide, at the borders of phases.
pub(crate) trait Rendezvous {
    /// A stage is about to begin, in which this worker has so much to do: waits until it may.
    fn begins(&mut self, stage: Stage, total: u64) -> Answer;

    /// Files were asked for: how many there are, and some of them by their places and numbers.
    /// Waits on.
    fn samples(&mut self, sample: (u64, Vec<(u32, u64)>)) -> Answer;

    /// A stage has ended well, after so many files, transactions or directories, and so many of
    /// them completed.
    fn ended(&mut self, stage: Stage, done: (u64, u64), end: End);

    /// What was done in a second.
    fn slice(&mut self, role: Role, slice: Slice<Action>);

    /// What was done in a phase, however it ended: told at once, so that it is there even if the
    /// worker is not.
    fn reports(&mut self, phase: PhaseReport);
}

/// Whether a stage may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It does.
    Go,
    /// There is no more of it: no load follows.
    Past,
    /// Before it is known, some files of the pool are asked for: at most so many, and about a
    /// hundredth.
    Sample(u64),
    /// The run is over.
    Stop,
}

/// What the worker does its work with.
pub(crate) struct Tools {
    /// Its number.
    pub worker: u32,
    pub source: Box<dyn Source>,
    pub session: Box<dyn Session>,
    pub clock: RunClock,
    pub stopwatch: Stopwatch,
    pub control: Control,
    /// What it says of itself: what it is about, or the operation on its first flight.
    pub slot: Arc<Slot>,
    /// Of the operations on each of its flights, the first included.
    pub slots: Vec<Arc<Slot>>,
    /// The origin of the record's moments.
    pub origin_ns: u64,
    /// Acknowledged operations are logged there.
    pub log: Option<Log>,
    pub pacer: Pacer,
    /// The pool that it works on after the preparation, where that is not the one that it has
    /// prepared.
    pub neighbour: Option<OtherPool>,
    /// The pool that it checks for another rank.
    pub checked: Option<OtherPool>,
    /// What workers of other ranks have acknowledged.
    pub acknowledged: AcknowledgedByAll,
}

/// What a worker needs to turn to a pool that another one has worked on.
pub(crate) struct OtherPool {
    /// The number of that one.
    pub worker: u32,
    pub source: Box<dyn Source>,
    pub namer: Namer,
    pub payload: Payload,
    pub hasher: StreamHasher,
    /// What is not known of it: of this worker's own doing, and where the pool is shared, of all.
    pub spoiled: Arc<Spoiled>,
    /// Opens a session in that pool's directories.
    pub open: Box<dyn FnOnce() -> Result<Box<dyn Session>, OpenError> + Send>,
}

/// A pool that a worker is at, and what belongs to it.
struct PoolAt {
    source: Box<dyn Source>,
    session: Box<dyn Session>,
    namer: Namer,
    payload: Payload,
    hasher: StreamHasher,
    spoiled: Arc<Spoiled>,
}

/// What files hold.
pub(crate) enum Payload {
    /// The classic edition's text: every operation writes its first bytes.
    Text(Arc<Vec<u8>>),
    /// A function of file, version and offset, made in a buffer before the operation.
    Made { contents: Contents, buffer: Vec<u8> },
}

impl Payload {
    /// What an intent writes.
    #[inline]
    fn of(&mut self, intent: &Intent) -> &[u8] {
        if !intent.action.moves_bytes_out() {
            return &[];
        }
        let bytes = intent.bytes as usize;
        match self {
            Self::Text(text) => &text[..bytes],
            Self::Made { contents, buffer } => {
                let made = &mut buffer[..bytes];
                contents.fill(intent.file, intent.version, intent.offset_bytes, made);
                made
            }
        }
    }
}

/// A directory of the pool itself.
pub(crate) struct PoolDirectory {
    pub location: usize,
    /// Among those of its location.
    pub number: u64,
    pub name: Vec<u8>,
}

/// What a worker is to do.
pub(crate) struct WorkerConfig {
    pub namer: Namer,
    pub payload: Payload,
    pub failures: Failures,
    pub role: Role,
    /// Which directories this worker makes and removes, by location.
    pub directories: Vec<PoolDirectory>,
    /// Whether anybody makes directories.
    pub has_directories: bool,
    pub cache: Cache,
    pub verify: bool,
    pub check: bool,
    /// Whether a transaction is a pair of operations.
    pub has_pairs: bool,
    /// How many workers all ranks have.
    pub all_workers: u32,
    /// The pool is there already, and so far.
    pub reuse: Option<Position>,
    /// Whether the pool stays.
    pub keep: bool,
    /// The number of the first segment of the transactions after a warm-up.
    pub first_round: u32,
    /// What can occur, by phase.
    pub actions: [Vec<Action>; Phase::ALL.len()],
    /// Whether slices of a second are handed over.
    pub slices: bool,
    /// Hashes the intents, where they are a function of the workload.
    pub hasher: StreamHasher,
}

/// What a worker did in a phase.
#[derive(Clone, Debug)]
pub(crate) struct PhaseReport {
    pub phase: Phase,
    pub role: Role,
    pub complete: bool,
    pub ended_ns: u64,
    /// In their order; those in which it did nothing are left out.
    pub segments: Vec<SegmentReport>,
    /// Transactions that were due and not begun at the end; nothing in a closed loop.
    pub waiting: Option<u64>,
    /// When it was up to its arrivals last; nothing in a closed loop, and where it never was.
    pub caught_up_ns: Option<u64>,
    pub slowest: Vec<SlowestRecord>,
    pub waits: Option<Histogram>,
    /// What all workers together had done when this one was done.
    pub done_by_all: u64,
}

/// What the worker did.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub failed: Option<Failed>,
    pub errors: Vec<ErrorRecord>,
    /// Whether there are files whose state is not known.
    pub any_spoiled: bool,
    /// Files that were written, and not to the end.
    pub partly_written: BTreeSet<WrittenName>,
    /// Creations that a stop left in the middle: they are in no count, and their files are there.
    pub creations_left: u64,
    /// Somebody's wish ended the work before its end.
    pub is_stopped: bool,
    /// The hash of the stream, where all of it was performed.
    pub stream_hash: Option<StreamHash>,
    pub end: Option<End>,
    /// How far the stream's transactions were performed.
    pub position: Position,
    /// Whether the whole pool is there: it was prepared, or taken.
    pub has_pool: bool,
    /// Files, links and directories of the pool when the transactions had ended.
    pub names: u64,
    /// The look at a pool of an earlier run.
    pub taken: Option<Check>,
    /// What was seen late of what other workers had acknowledged.
    pub stale: Option<Stale>,
    /// Wall clock in whole seconds, as the original reads it: creations begin, transactions begin
    /// and end, all is deleted.
    pub borders_s: Vec<i64>,
    pub classic_bytes_read: f32,
    pub classic_bytes_written: f32,
    pub check: Option<Check>,
    /// The look at what a worker of another rank has acknowledged.
    pub check_across: Option<Check>,
}

/// Why a stage was left before its end.
enum Left {
    Stopped,
    Failed(Failed),
}

impl From<Failed> for Left {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

struct Worker {
    tools: Tools,
    config: WorkerConfig,
    rendezvous: Box<dyn Rendezvous>,
    /// Whether operations are done when they have been submitted.
    is_synchronous: bool,
    flights: Flights,
    tickets: u64,
    /// The transaction that is being issued, by its place in the stream.
    transaction: u64,
    counted: Counted,
    skips: Skips,
    /// When the operation that comes next was due, where arrivals say so.
    due_ns: Option<u64>,
    /// When it was up to its arrivals last: nothing was due.
    caught_up_ns: Option<u64>,
    /// Until then what is not seen yet of a pool that others have worked on is waited for.
    waits_until_ns: Option<u64>,
    report: Report,
}

/// Does all of a worker's work: directories, phases, directories.
pub(crate) fn work(tools: Tools, config: WorkerConfig, rendezvous: Box<dyn Rendezvous>) -> Report {
    let mut worker = Worker {
        flights: Flights::new(tools.slots.len()),
        counted: Counted::new(tools.slots.len()),
        skips: Skips::default(),
        transaction: 0,
        is_synchronous: tools.session.is_synchronous(),
        tools,
        config,
        rendezvous,
        tickets: 0,
        due_ns: None,
        caught_up_ns: None,
        waits_until_ns: None,
        report: Report::default(),
    };
    match worker.stages() {
        Ok(()) => {}
        Err(Left::Stopped) => worker.report.is_stopped = true,
        Err(Left::Failed(failed)) => worker.report.failed = Some(failed),
    }
    worker.report.position.transactions = worker.tools.source.transactions_begun();
    worker.report.any_spoiled = worker.config.failures.any_spoiled();
    worker.report.partly_written = worker.config.failures.partly_written();
    worker.report.errors = worker.config.failures.records;
    worker.report
}

impl Worker {
    fn stages(&mut self) -> Result<(), Left> {
        if self.config.has_directories && self.config.reuse.is_none() {
            self.directories(Stage::MakeDirectories)?;
        }
        for phase in Phase::ALL {
            match (phase, self.config.reuse) {
                (Phase::Prepare, Some(position)) => {
                    self.take_pool(position)?;
                    continue;
                }
                (Phase::Prepare, None) => {}
                (Phase::Transactions, _) => {
                    if let Some(neighbour) = self.tools.neighbour.take() {
                        self.turn_to(neighbour)?;
                    }
                    self.report.has_pool = true;
                    self.prepare_cache()?;
                }
                (Phase::Delete, _) => {
                    self.report.names = self.tools.source.remaining(Phase::Delete);
                    if self.config.check {
                        self.check_names()?;
                    }
                    if let Some(other) = self.tools.checked.take() {
                        self.check_across(other)?;
                    }
                    if self.config.keep {
                        return Ok(());
                    }
                }
            }
            let mut goes_on =
                self.begins(Stage::Phase(phase), self.tools.source.remaining(phase))?;
            if phase != Phase::Delete {
                self.report.borders_s.push(self.tools.clock.wall_s());
            }
            while goes_on {
                self.phase(phase)?;
                // A load may follow upon the other.
                goes_on = phase == Phase::Transactions
                    && self.begins(Stage::Phase(phase), self.tools.source.remaining(phase))?;
            }
        }
        if self.config.has_directories {
            self.directories(Stage::RemoveDirectories)?;
        }
        Ok(())
    }

    /// Gives `false` where there is no more of such a stage.
    fn begins(&mut self, stage: Stage, total: u64) -> Result<bool, Left> {
        let mut answer = self.rendezvous.begins(stage, total);
        loop {
            match answer {
                Answer::Go => return Ok(true),
                Answer::Past => return Ok(false),
                Answer::Sample(most) => answer = self.rendezvous.samples(self.sample(most)),
                Answer::Stop => return Err(Left::Stopped),
            }
        }
    }

    fn directories(&mut self, stage: Stage) -> Result<(), Left> {
        let mut directories = std::mem::take(&mut self.config.directories);
        self.begins(stage, directories.len() as u64)?;
        let makes = stage == Stage::MakeDirectories;
        if !makes {
            if self.config.failures.any_spoiled() {
                // A file whose state is not known may keep its directory from going: the clean-up
                // sees to them.
                directories.clear();
            }
            // Children before their parents, and otherwise in the order in which they were made, as
            // the original.
            directories.sort_by_key(|directory| {
                Reverse(directory.name.iter().filter(|byte| **byte == b'/').count())
            });
        }
        let mut done = 0;
        for PoolDirectory {
            location,
            number,
            name,
        } in &directories
        {
            if self.tools.control.is_stopping() {
                return Err(Left::Stopped);
            }
            let name = self.config.namer.relative(*location, name);
            let (aside, operation) = if makes {
                (Aside::MakeDirectory, Operation::MakeDirectory { name })
            } else {
                (Aside::RemoveDirectory, Operation::RemoveDirectory { name })
            };
            let which = (*location as u32, NameKind::Directory, *number);
            let outcome = self.tools.slot.aside(aside, which, || {
                submit(
                    &mut *self.tools.session,
                    &mut self.tickets,
                    &operation,
                    &mut NoSteps,
                )
                .1
            });
            outcome.map_err(|failure| {
                let failed = Failed::operation(
                    aside.name(),
                    name.path.to_string_lossy().into_owned(),
                    failure,
                );
                // It ends the run, whatever errors are allowed: nothing can be done without its
                // directories.
                let _ = self.config.failures.count(failed.clone());
                Left::Failed(failed)
            })?;
            done += 1;
            self.tools.slot.publish(done, done);
        }
        self.config.directories = directories;
        self.rendezvous.ended(stage, (done, done), End::Complete);
        Ok(())
    }

    /// Performs a phase and reports what it did, however it ends.
    fn phase(&mut self, phase: Phase) -> Result<(), Left> {
        let phase_began_ns = self.tools.control.phase_began_ns();
        if phase == Phase::Transactions {
            self.tools
                .pacer
                .begin(phase_began_ns, self.tools.control.rate());
        }
        let mut done = Done {
            phase,
            origin_ns: self.tools.origin_ns,
            phase_began_ns,
            role: self.config.role,
            slice: 0,
            slice_ends_ns: if self.config.slices {
                phase_began_ns + SLICE_NS
            } else {
                u64::MAX
            },
            ended: Vec::new(),
            published: 0,
            completed: 0,
            first_round: self.config.first_round,
            slowest: BTreeMap::new(),
            current: self.segment(phase, self.tools.clock.now_ns()),
        };
        let left = self.intents(&mut done);
        // Whatever ended them, what is in flight is done and counted.
        let left = left.and(self.land_all(&mut done));
        let ended_ns = self.tools.clock.now_ns();
        let done_by_all = self.tools.control.progress().completed;
        // One that was waited for until the end was not begun.
        let due_ns = self.due_ns.take();
        let caught_up_ns = self.caught_up_ns.take();
        let is_open = phase == Phase::Transactions && self.tools.pacer.is_open();
        let waiting = is_open.then(|| {
            let waited_for = due_ns.is_some_and(|due_ns| due_ns <= ended_ns);
            u64::from(waited_for) + self.tools.pacer.waiting(ended_ns)
        });
        self.end_slice(&mut done, ended_ns);
        let segments = done.finish(ended_ns);
        let slowest = self.name_slowest(done.slowest);
        let waits = self.take_waits();
        self.rendezvous.reports(PhaseReport {
            phase,
            role: self.config.role,
            complete: left.is_ok(),
            ended_ns: ended_ns.saturating_sub(self.tools.origin_ns),
            slowest,
            segments,
            waiting,
            caught_up_ns: caught_up_ns.map(|ns| ns.saturating_sub(self.tools.origin_ns)),
            waits,
            done_by_all,
        });
        if left.is_err() {
            self.report.borders_s.push(self.tools.clock.wall_s());
        }
        left?;
        let end = match phase {
            Phase::Transactions if self.skips.can_do_nothing => End::NothingPossible,
            Phase::Transactions => self.tools.source.end(),
            Phase::Prepare | Phase::Delete => End::Complete,
        };
        if phase == Phase::Transactions {
            self.report.borders_s.push(self.tools.clock.wall_s());
            self.report.end = Some(end);
        }
        if phase == Phase::Delete {
            self.report.borders_s.push(self.tools.clock.wall_s());
            // The hash is of a whole stream.
            if self.tools.source.is_pure()
                && self.config.reuse.is_none()
                && !self.tools.control.is_over()
            {
                let hasher = std::mem::replace(&mut self.config.hasher, StreamHasher::narrow());
                self.report.stream_hash = Some(hasher.finish());
            }
        }
        let counts = (done.published, done.completed);
        self.rendezvous.ended(Stage::Phase(phase), counts, end);
        Ok(())
    }

    /// The loop.
    fn intents(&mut self, done: &mut Done) -> Result<(), Left> {
        let phase = done.phase;
        let driven = phase == Phase::Transactions;
        let is_pure = self.tools.source.is_pure();
        let mut is_at_border = driven;
        loop {
            if self.tools.control.is_stopping() {
                return Err(Left::Stopped);
            }
            let flight = self.room(done)?;
            if is_at_border {
                if !self.wait_until_due(done)? {
                    return Ok(());
                }
                self.turn_where_due(done);
            }
            let think_ns = self.tools.source.think_ns(phase);
            if think_ns > 0 && !self.think(think_ns, is_at_border, done)? {
                return Ok(());
            }
            let may_wait = self.is_synchronous || self.flights.is_empty();
            let intent = match self.tools.source.next(phase, flight, may_wait) {
                Some(intent) => intent,
                None => match self.next_when_landed(flight, done)? {
                    Some(intent) => intent,
                    None => return Ok(()),
                },
            };
            if is_pure {
                self.config.hasher.take(&intent);
            }
            if intent.think_ns > 0 {
                // Nobody waits for its end: at the end of the transactions what is drawn is
                // performed at once, since the pool that comes after counts on it.
                self.think(intent.think_ns, is_at_border, done)?;
            }
            if is_at_border {
                // Time may have passed since the last look.
                self.turn_where_due(done);
            }
            self.report.position.intents += u64::from(driven);
            self.keep_off(&intent, done)?;
            if intent.action == Action::Nothing || self.config.failures.skips(&intent) {
                if !self.skip(flight, &intent, done)? {
                    return Ok(());
                }
            } else {
                self.operation(flight, &intent, done)?;
            }
            is_at_border = driven && intent.ends_transaction;
            self.transaction += u64::from(is_at_border);
        }
    }

    /// The next intent where there was none; one that waits for the worker's own operations in
    /// flight comes when they land.
    #[cold]
    fn next_when_landed(&mut self, flight: usize, done: &mut Done) -> Result<Option<Intent>, Left> {
        loop {
            if self.tools.control.is_stopping() {
                return Err(Left::Stopped);
            }
            if !self.tools.source.wants_one_landed() {
                return Ok(None);
            }
            self.land(None, done)?;
            let next = self
                .tools
                .source
                .next(done.phase, flight, self.flights.is_empty());
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    /// The number of a flight that is free.
    #[inline]
    fn room(&mut self, done: &mut Done) -> Result<usize, Left> {
        if self.is_synchronous {
            return Ok(0);
        }
        loop {
            match self.flights.room() {
                Some(flight) => return Ok(flight),
                None => self.land(None, done)?,
            }
        }
    }

    /// Waits until none of the operations in flight is on a file of the intent's. The stream's
    /// order stays: nothing overtakes it.
    #[inline]
    fn keep_off(&mut self, intent: &Intent, done: &mut Done) -> Result<(), Left> {
        if self.is_synchronous || intent.action == Action::Nothing || !self.flights.meet(intent) {
            return Ok(());
        }
        let since_ns = self.tools.clock.now_ns();
        while self.flights.meet(intent) {
            self.land(None, done)?;
        }
        let waited_ns = self.tools.clock.now_ns().saturating_sub(since_ns);
        self.flights.waited(waited_ns);
        Ok(())
    }

    /// Waits for one of the operations in flight, or so many nanoseconds at most, and counts it.
    fn land(&mut self, limit_ns: Option<u64>, done: &mut Done) -> Result<(), Left> {
        let steps = self.tools.stopwatch.steps_in_flight();
        let landed = self
            .tools
            .session
            .complete(limit_ns.map(Duration::from_nanos), steps);
        let Some((ticket, outcome)) = landed else {
            assert!(
                limit_ns.is_some(),
                "one of the operations in flight completes"
            );
            return Ok(());
        };
        let completed_ns = self.tools.stopwatch.moment();
        let Flight { intent, issued } = self.flights.ends(ticket);
        // It belongs to the segment in which it completes.
        self.turn_where_due(done);
        self.completes(&intent, issued, outcome, completed_ns, done)
    }

    /// Waits for all operations in flight and counts them. Gives the first reason to end the run
    /// that came of them.
    fn land_all(&mut self, done: &mut Done) -> Result<(), Left> {
        let mut left = Ok(());
        while !self.is_synchronous && !self.flights.is_empty() {
            left = left.and(self.land(None, done));
        }
        left
    }

    /// Waits of intents for files: for those of others, and for those of operations in flight.
    fn take_waits(&mut self) -> Option<Histogram> {
        let of_others = self.tools.source.take_waits();
        if self.is_synchronous || self.tools.slots.len() == 1 {
            return of_others;
        }
        let mut waits = self.flights.take_waits();
        if let Some(of_others) = of_others {
            waits.merge(&of_others);
        }
        Some(waits)
    }

    /// An operation of a transaction has completed. A transaction counts once: with the first of
    /// its halves that completes.
    #[inline]
    fn completes_transaction(&mut self, transaction: u64, done: &mut Done) {
        let is_first = !self.config.has_pairs
            || done.phase != Phase::Transactions
            || self
                .counted
                .take(transaction, self.transaction, &self.flights);
        done.completed += u64::from(is_first);
        done.current.transactions += u64::from(is_first && done.phase == Phase::Transactions);
    }

    /// An intent is done with, however it ended.
    #[inline]
    fn count(&mut self, intent: &Intent, done: &mut Done) {
        done.current.issued += u64::from(intent.ends_transaction);
        done.published += u64::from(intent.ends_transaction || done.phase != Phase::Transactions);
        self.tools.slot.publish(done.published, done.completed);
    }

    /// Goes on in another segment, where one has begun.
    #[inline]
    fn turn_where_due(&mut self, done: &mut Done) {
        if self.tools.control.segment() != done.current.number && done.phase == Phase::Transactions
        {
            let now_ns = self.tools.clock.now_ns();
            self.end_slice(done, now_ns);
            done.turn(self.segment(done.phase, now_ns), now_ns);
        }
    }

    /// Lets time pass. Operations in flight that complete meanwhile are counted when they do, and
    /// cut it short.
    fn pass(&mut self, ns: u64, done: &mut Done) -> Result<(), Left> {
        if self.is_synchronous || self.flights.is_empty() {
            self.tools.clock.sleep(ns);
            return Ok(());
        }
        self.land(Some(ns), done)
    }

    /// Lets the time pass that is thought before an operation; segments turn meanwhile. Gives
    /// `false` where the transactions are over before that.
    #[cold]
    fn think(&mut self, ns: u64, is_at_border: bool, done: &mut Done) -> Result<bool, Left> {
        let until_ns = self.tools.clock.now_ns().saturating_add(ns);
        loop {
            let left_ns = until_ns.saturating_sub(self.tools.clock.now_ns());
            if left_ns == 0 {
                return Ok(true);
            }
            self.pass(left_ns.min(LOOK_EVERY_NS), done)?;
            if self.tools.control.is_stopping() {
                return Err(Left::Stopped);
            }
            if self.tools.control.is_over() {
                return Ok(false);
            }
            if is_at_border {
                self.turn_where_due(done);
            }
        }
    }

    /// Waits until the next transaction is due. Gives `false` where the transactions are over.
    #[inline]
    fn wait_until_due(&mut self, done: &mut Done) -> Result<bool, Left> {
        if self.tools.control.is_over() {
            return Ok(false);
        }
        // After the last one nothing is waited for.
        if !self.tools.pacer.is_open() || self.tools.source.remaining(Phase::Transactions) == 0 {
            return Ok(true);
        }
        let Some(due_ns) = self.tools.pacer.next_due_ns() else {
            return Ok(true);
        };
        self.due_ns = Some(due_ns);
        loop {
            let now_ns = self.tools.clock.now_ns();
            let Some(left_ns) = due_ns.checked_sub(now_ns).filter(|left| *left > 0) else {
                return Ok(true);
            };
            self.caught_up_ns = Some(now_ns);
            self.pass(left_ns.min(LOOK_EVERY_NS), done)?;
            if self.tools.control.is_stopping() {
                return Err(Left::Stopped);
            }
            if self.tools.control.is_over() {
                return Ok(false);
            }
        }
    }

    #[inline]
    fn operation(&mut self, number: usize, intent: &Intent, done: &mut Done) -> Result<(), Left> {
        let Tools {
            source,
            session,
            stopwatch,
            slot,
            slots,
            log,
            ..
        } = &mut self.tools;
        let content = self.config.payload.of(intent);
        let operation = self.config.namer.operation(intent, content);
        let slot = if self.is_synchronous {
            &*slot
        } else {
            &slots[number]
        };
        if lists(intent.action) {
            source.listing_begins(number, intent.place);
        }
        let mut entered = None;
        if let Some(log) = log {
            let which = (intent.place, intent.action.named(), intent.number);
            match slot.aside(Aside::AckLog, which, || log.begins(intent, &operation)) {
                Ok(is) => entered = Some(is),
                Err(not_logged) => {
                    let failed = Failed::from(not_logged);
                    // It ends the run, whatever errors are allowed: what is not logged proves
                    // nothing.
                    let _ = self.config.failures.count(failed.clone());
                    return Err(Left::Failed(failed));
                }
            }
        }
        let ticket = Ticket::new(self.tickets, number);
        self.tickets += 1;
        // The first operation of a transaction is due with it; what follows is due when that is
        // done.
        let due_ns = self.due_ns.take();
        slot.issue(intent);
        let issued_ns = stopwatch.moment();
        let submitted = session.submit(ticket, &operation, stopwatch.steps(number, issued_ns));
        let completed_ns = stopwatch.moment();
        let issued = Issued {
            ticket,
            transaction: self.transaction,
            due_ns,
            issued_ns,
            entered,
        };
        match submitted {
            Submitted::Done(outcome) => self.completes(intent, issued, outcome, completed_ns, done),
            Submitted::InFlight => {
                assert!(
                    !self.is_synchronous,
                    "a synchronous session is done when it returns"
                );
                self.flights.begins(Flight {
                    intent: *intent,
                    issued,
                });
                Ok(())
            }
        }
    }

    /// An operation has completed.
    #[inline]
    fn completes(
        &mut self,
        intent: &Intent,
        issued: Issued,
        outcome: OperationOutcome,
        completed_ns: u64,
        done: &mut Done,
    ) -> Result<(), Left> {
        let number = if self.is_synchronous {
            0
        } else {
            issued.ticket.flight()
        };
        if let Err(failure) = outcome {
            let goes_on = self.fails(
                number,
                intent,
                failure,
                completed_ns,
                &mut done.current.meters,
            );
            // One that a stop has cut short has neither completed nor failed.
            if !matches!(goes_on, Err(Left::Stopped)) {
                self.count(intent, done);
            }
            return goes_on;
        }
        let Tools {
            source,
            slot,
            slots,
            log,
            ..
        } = &mut self.tools;
        let slot = if self.is_synchronous {
            &*slot
        } else {
            &slots[number]
        };
        slot.complete(completed_ns);
        if let (Some(log), Some(entered)) = (log, issued.entered) {
            log.acknowledges(entered);
        }
        let expected = if lists(intent.action) {
            source.listing(number, intent.place)
        } else {
            Expected::Unknown
        };
        source.completed(number, intent, true);
        if completed_ns >= done.slice_ends_ns {
            self.end_slice(done, completed_ns);
        }
        let moments = Moments {
            due_ns: issued.due_ns,
            issued_ns: issued.issued_ns,
            completed_ns,
        };
        let meters = &mut done.current.meters;
        self.tools.stopwatch.record(number, intent, meters, moments);
        meters.of(intent.action).count(intent.bytes);
        self.completes_transaction(issued.transaction, done);
        self.count(intent, done);
        if intent.action.moves_bytes_in() {
            self.report.classic_bytes_read += intent.bytes as f32;
            if self.config.verify {
                self.verify(issued.ticket, intent)?;
            }
        } else if intent.action.moves_bytes_out() {
            self.report.classic_bytes_written += intent.bytes as f32;
        } else if lists(intent.action) {
            self.verify_listing(issued.ticket, intent, expected)?;
        }
        Ok(())
    }

    #[cold]
    fn fails(
        &mut self,
        number: usize,
        intent: &Intent,
        failure: Failure,
        completed_ns: u64,
        meters: &mut Meters,
    ) -> Result<(), Left> {
        let slot = &self.tools.slots[number];
        // Until its names are kept it counts as being under way.
        let written = self.config.failures.spoil(intent, failure.step);
        slot.failed(&written);
        slot.complete(completed_ns);
        self.tools.source.completed(number, intent, false);
        if failure.cause == Cause::Stopped {
            self.report.creations_left += u64::from(intent.action == Action::Create);
            return Err(Left::Stopped);
        }
        meters.of(intent.action).failed += 1;
        let path = self.config.namer.operation(intent, &[]).name().path;
        let failed = Failed::operation(
            intent.action.name(),
            path.to_string_lossy().into_owned(),
            failure,
        );
        Ok(self.config.failures.count(failed)?)
    }
}

/// Who thinks, or waits for an arrival, looks this often whether the run stops.
const LOOK_EVERY_NS: u64 = 50_000_000;

/// Whether it shows what a directory holds.
#[inline]
fn lists(action: Action) -> bool {
    matches!(action, Action::List | Action::ListWithStat)
}

/// Performs one operation to its end, while no other is in flight. Its ticket is told as well.
#[inline]
fn submit(
    session: &mut dyn Session,
    tickets: &mut u64,
    operation: &Operation<'_>,
    steps: &mut dyn Steps,
) -> (Ticket, OperationOutcome) {
    let ticket = Ticket::new(*tickets, 0);
    *tickets += 1;
    let outcome = match session.submit(ticket, operation, steps) {
        Submitted::Done(outcome) => outcome,
        Submitted::InFlight => {
            let (completed, outcome) = session
                .complete(None, steps)
                .expect("an operation is in flight");
            assert_eq!(completed, ticket, "one operation is in flight at a time");
            outcome
        }
    };
    (ticket, outcome)
}
