//! A worker's session. A flight is a slot for one operation in flight, with a connection of its own
//! to each server; an operation is a sequence of requests on that connection.
//!
//! A lost connection fails its operation, because no request is repeated. The next operation of the
//! slot opens another connection.

mod advance;
mod answer;
mod flight;
mod open;
mod tree;
mod tree_files;
mod wait;

use core::time::Duration;
use std::collections::VecDeque;
use std::sync::Arc;

use engine::{
    Cause, Errno, Failure, Listing, Name, NoSteps, Operation, OperationKind, OperationOutcome,
    Session, Step, Steps, Stopping, Submitted, Ticket,
};
use s3_client::{Broken, Connection, Counters, Progress, Requests, Stopwatch};

use super::shared::{S3Shared, Target};
use advance::{Context, Next};
use flight::{Flight, Stage};

/// A directory in which operations create files.
#[derive(Debug)]
struct Place {
    /// The beginning of all keys: empty, or ends with a slash.
    prefix: Vec<u8>,
    /// The index of the target's server in [`S3Session::servers`].
    server: usize,
}

/// A server of a session, with the buffers for requests to it.
#[derive(Debug)]
struct Served {
    target: Arc<Target>,
    requests: Requests,
}

#[derive(Debug)]
pub struct S3Session {
    shared: Arc<S3Shared>,
    counters: Arc<Counters>,
    keep_bytes: usize,
    stopping: Stopping,
    depth: usize,
    places: Vec<Place>,
    servers: Vec<Served>,
    /// Slots for operations in flight: one more than the depth, because the last slot is reserved
    /// for [`names`](Session::names).
    flights: Vec<Flight>,
    free: Vec<usize>,
    /// Slots whose operations ended, but whose outcomes were not yet returned to the worker.
    ended: VecDeque<usize>,
    /// The slot whose outcome the session returned last.
    last: Option<usize>,
    polled: Vec<libc::pollfd>,
    /// For each entry of `polled`, the index of its slot in `flights`.
    polled_slots: Vec<usize>,
    /// Number of waits since time limits were last checked.
    waits: u32,
}

impl S3Session {
    fn begin(&mut self, number: usize, ticket: Ticket, operation: &Operation<'_>) {
        let (first, second) = operation.names();
        let server = self.places[first.location].server;
        let flight = &mut self.flights[number];
        flight.begin(ticket, operation, |name: Name<'_>, key| {
            key.clear();
            key.extend_from_slice(&self.places[name.location].prefix);
            key.extend_from_slice(name.relative.to_bytes());
        });
        flight.server = server;
        let stage = flight.first_stage(self.servers[server].target.exclusive());
        flight.stage = stage;
        if stage == Stage::Check {
            self.counters.unconditional_creations.add(1);
        }
        if second.is_some_and(|second| self.places[second.location].server != server) {
            // An operation on names of two servers fails. A rename, for example, is a copy within
            // one server.
            return self.fail(number, Cause::System(Errno::XDEV));
        }
        self.request(number, stage);
    }

    /// Sends the request of a stage. Connects first if the slot's connection is missing or
    /// unusable.
    fn request(&mut self, number: usize, stage: Stage) {
        let flight = &mut self.flights[number];
        flight.stage = stage;
        let served = &mut self.servers[flight.server];
        let wire = &mut flight.connections[flight.server];
        if !wire.as_mut().is_some_and(Connection::is_usable) {
            let is_lost = match wire.take() {
                Some(earlier) => !earlier.is_closing(),
                None => flight.was_lost,
            };
            match Connection::connect(&served.target.server) {
                Ok(connection) => *wire = Some(connection),
                Err(error) => return self.lose(number, error.errno(), false),
            }
            flight.was_lost = false;
            self.counters.connections.add(1);
            self.counters.reconnections.add(u64::from(is_lost));
        }
        flight.prepare(served.target.exclusive());
        let Some(connection) = &mut flight.connections[flight.server] else {
            return;
        };
        let expected = flight.answer.expected_bytes;
        flight.parameters.with(flight.stage, |request| {
            served.requests.begin(connection, request);
            if expected > 0 {
                connection.extend_limit(&served.target.server, expected);
            }
            connection.send(request.body);
        });
        flight.is_pending = true;
    }

    /// Receives the bytes that arrived on an operation's connection. Continues the operation when
    /// the answer is complete.
    #[inline]
    fn receive(&mut self, number: usize, steps: &mut dyn Steps) {
        let flight = &mut self.flights[number];
        let Some(connection) = &mut flight.connections[flight.server] else {
            return;
        };
        if connection.wants().to_send {
            let stage = flight.stage;
            flight.parameters.with(stage, |request| {
                connection.send(request.body);
            });
        }
        loop {
            let had_head = flight.answer.head.is_some();
            let received = connection.receive(&mut flight.answer);
            if !had_head && flight.answer.is_object() {
                steps.of(flight.ticket);
                steps.ended(Step::Call(Stage::FIRST_BYTE));
            }
            match received {
                Ok(Progress::More) => {}
                Ok(Progress::Waits(_)) => return,
                Ok(Progress::Done) => return self.answered(number, steps),
                Err(broken) => return self.broken(number, broken),
            }
        }
    }

    fn count(&mut self, number: usize) {
        let flight = &mut self.flights[number];
        flight.is_pending = false;
        if let Some(connection) = &flight.connections[flight.server] {
            let (sent, received) = connection.bytes();
            self.counters.ends(flight.stage.kind(), sent, received);
        }
    }

    fn answered(&mut self, number: usize, steps: &mut dyn Steps) {
        self.count(number);
        let flight = &mut self.flights[number];
        let step = flight.step();
        let advanced = flight.advance(&Context {
            target: &self.servers[flight.server].target,
            counters: &self.counters,
            stopping: &self.stopping,
        });
        if let Next::Request(_) | Next::Done = advanced {
            steps.of(flight.ticket);
            steps.ended(step);
        }
        match advanced {
            Next::Request(stage) | Next::Undo(stage) => self.request(number, stage),
            Next::Done => self.end(number, Ok(())),
            Next::Failed(cause) => self.fail(number, cause),
        }
    }

    #[cold]
    fn broken(&mut self, number: usize, broken: Broken) {
        let flight = &self.flights[number];
        let connection = flight.connections[flight.server].as_ref();
        let was_sent = connection.is_some_and(Connection::was_sent);
        self.count(number);
        let flight = &mut self.flights[number];
        flight.connections[flight.server] = None;
        // If the object in the answer is wrong, this client closes the connection before the answer
        // ends. Such a connection does not count as lost.
        flight.was_lost = flight.answer.wrong.is_none();
        match (broken, flight.answer.wrong) {
            (Broken::Garbled, Some(_)) if flight.kind == OperationKind::OpenMissing => {
                self.fail(number, Cause::System(Errno::EXIST));
            }
            (Broken::Garbled, Some(wrong)) => self.fail(number, wrong),
            (Broken::Garbled, None) => self.undo_or_fail(number, Cause::Garbled),
            (Broken::Lost(error), _) => self.lose(number, error, was_sent),
        }
    }

    /// Fails an operation whose connection was lost. If the request for a change was sent
    /// completely, the outcome is not known, because the server may have made the change.
    #[cold]
    fn lose(&mut self, number: usize, error: Errno, was_sent: bool) {
        let cause = match was_sent && self.flights[number].stage.is_final_change() {
            true => Cause::NotKnown,
            false => Cause::System(error),
        };
        self.undo_or_fail(number, cause);
    }

    fn undo_or_fail(&mut self, number: usize, cause: Cause) {
        match self.flights[number].undo(cause) {
            Some(stage) => self.request(number, stage),
            None => self.fail(number, cause),
        }
    }

    fn fail(&mut self, number: usize, cause: Cause) {
        let flight = &self.flights[number];
        let (step, cause) = flight.undone.unwrap_or((flight.step(), cause));
        if cause == Cause::NotKnown {
            self.counters.not_known.add(1);
        }
        let failure = Failure::wrong(step, cause).having_moved(flight.moved_bytes());
        self.end(number, Err(failure));
    }

    #[inline]
    fn end(&mut self, number: usize, outcome: OperationOutcome) {
        let flight = &mut self.flights[number];
        flight.outcome = outcome;
        flight.is_pending = false;
        if outcome.is_ok() {
            flight.count_bytes(&self.counters);
        }
        self.ended.push_back(number);
    }

    /// Returns the outcome of the operation that ended first, and frees its slot.
    #[inline]
    fn take_ended(&mut self) -> Option<(Ticket, OperationOutcome)> {
        let number = self.ended.pop_front()?;
        self.free.push(number);
        self.last = Some(number);
        let flight = &self.flights[number];
        Some((flight.ticket, flight.outcome))
    }

    fn last_of(&self, ticket: Ticket) -> Option<&Flight> {
        let flight = &self.flights[self.last?];
        (flight.ticket == ticket).then_some(flight)
    }
}

impl Session for S3Session {
    fn is_synchronous(&self) -> bool {
        false
    }

    #[inline]
    fn submit(
        &mut self,
        ticket: Ticket,
        operation: &Operation<'_>,
        steps: &mut dyn Steps,
    ) -> Submitted {
        let number = self
            .free
            .pop()
            .expect("no more are in flight than the engine's depth");
        self.begin(number, ticket, operation);
        if self.depth > 1 {
            return Submitted::InFlight;
        }
        while self.ended.is_empty() {
            self.wait(None, steps);
        }
        let (_, outcome) = self.take_ended().expect("it has just ended");
        Submitted::Done(outcome)
    }

    fn complete(
        &mut self,
        limit: Option<Duration>,
        steps: &mut dyn Steps,
    ) -> Option<(Ticket, OperationOutcome)> {
        let since = limit.map(|limit| (limit, Stopwatch::new()));
        let mut has_waited = false;
        loop {
            if let Some(ended) = self.take_ended() {
                return Some(ended);
            }
            if self.free.len() == self.depth {
                return None;
            }
            let left = since.map(|(limit, since)| limit.saturating_sub(since.elapsed()));
            if has_waited && left == Some(Duration::ZERO) {
                return None;
            }
            self.wait(left, steps);
            has_waited = true;
        }
    }

    fn content(&self, ticket: Ticket) -> Option<&[u8]> {
        let flight = self.last_of(ticket)?;
        (self.keep_bytes > 0).then_some(flight.answer.kept.as_slice())
    }

    fn listing(&self, ticket: Ticket) -> Option<Listing> {
        self.last_of(ticket).map(|flight| flight.listing)
    }

    fn names(&mut self, directory: Name<'_>) -> Result<Vec<Vec<u8>>, Failure> {
        let number = self.depth;
        self.begin(number, Ticket(0), &Operation::List { name: directory });
        self.flights[number].names = Some(Vec::new());
        let at = loop {
            if let Some(at) = self.ended.iter().position(|ended| *ended == number) {
                break at;
            }
            // During this wait, other operations may end; `complete` returns their outcomes later.
            // Their `Step`s are not reported, because this call has no receiver for them.
            self.wait(None, &mut NoSteps);
        };
        self.ended.remove(at);
        let flight = &mut self.flights[number];
        let names = flight.names.take().unwrap_or_default();
        flight.outcome.map(|()| names)
    }

    /// The protocol has no request that syncs a file system; a policy that needs one is rejected
    /// before the run.
    fn sync_file_system(&mut self, _: usize) -> OperationOutcome {
        Err(Failure::system(Step::SyncFileSystem, Errno::OPNOTSUPP))
    }
}

impl Drop for S3Session {
    fn drop(&mut self) {
        self.shared.counters.end(&self.counters);
    }
}
