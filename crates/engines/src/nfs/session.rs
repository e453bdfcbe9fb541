//! A worker's session on one or several connections. A flight is a slot for one operation in
//! flight; an operation is a sequence of calls.
//!
//! The XID of a call contains the number of its flight, so replies may arrive in any order. Calls
//! are written to a buffer. The session sends the buffer before it waits, and when the worker has
//! received the outcomes of all completed operations. If several replies arrive together, the calls
//! that follow are therefore sent together. A call is repeated only if its connection was lost,
//! with the same XID, and the repetition is counted.

mod advance;
mod directories;
mod flight;
mod line;
mod listed;
mod open;
mod place;
mod request;
mod tree;
mod tree_state;
mod wait;
mod writing;

use core::time::Duration;
use std::collections::VecDeque;
use std::sync::Arc;

use engine::{
    Cause, Errno, Failure, Listing, Name, NoSteps, Operation, OperationOutcome, Session, Step,
    Steps, Stopping, Submitted, Ticket,
};
use nfs_client::{
    Broken, Counters, DELAY_MIN, Garbled, MARK_BYTES, Timer, any_number, arguments, rpc,
    xdr::padding_of,
};

use super::durable::Durable;
use super::shared::NfsShared;
use advance::{Context, Next};
use directories::Directories;
use flight::{NfsFlight, Stage};
use line::Line;

#[derive(Debug)]
pub struct NfsSession {
    shared: Arc<NfsShared>,
    counters: Arc<Counters>,
    /// How the protocol implements the policy of each kind of operation.
    durable: Vec<Durable>,
    keep_bytes: usize,
    stopping: Stopping,
    depth: usize,
    directories: Directories,
    /// For each location, the index in `lines` of the first connection to the location's server,
    /// and the number of connections to this server.
    lines_of: Vec<(usize, usize)>,
    lines: Vec<Line>,
    /// Slots for operations in flight: one more than the depth, because the last slot is reserved
    /// for [`names`](Session::names).
    flights: Vec<NfsFlight>,
    free: Vec<usize>,
    /// Slots whose operations ended, but whose outcomes were not yet returned to the worker.
    ended: VecDeque<usize>,
    /// The slot whose outcome the session returned last.
    last: Option<usize>,
    /// The serial number of the last call. It starts at a random number, so that sessions use
    /// different XIDs.
    serial: u32,
    flight_bits: u32,
    timer: Timer,
    /// The time when timeouts were last checked.
    now: Duration,
    /// Number of receive calls since timeouts were last checked.
    receives: u32,
    /// Number of operations that wait because the server answered NFS3ERR_JUKEBOX.
    delayed: usize,
    polled: Vec<libc::pollfd>,
}

impl NfsSession {
    /// Makes the next call of the operation in the slot `number`.
    #[inline]
    fn call(&mut self, number: usize) {
        let flight = &mut self.flights[number];
        self.serial = self.serial.wrapping_add(1);
        let call = &mut flight.call;
        call.xid = self.serial << self.flight_bits | number as u32;
        (call.is_pending, call.is_counted, call.was_sent) = (true, false, false);
        (call.end, call.since) = (None, None);
        self.transmit(number);
    }

    /// Writes a call to its connection's buffer if the connection exists; otherwise the call waits
    /// for the connection.
    #[inline]
    fn transmit(&mut self, number: usize) {
        let flight = &mut self.flights[number];
        let line = &mut self.lines[flight.call.line];
        let (sizes, stable) = (
            &line.target.mounted.sizes,
            self.durable[flight.kind as usize].stable,
        );
        if flight.call.was_sent
            && flight.stage == Stage::Create
            && flight.call.creation_verifier.is_none()
        {
            // This call repeats a creation. If this call is lost as well, the verifier lets the
            // server recognize the next repetition.
            flight.call.creation_verifier = Some(any_number().to_ne_bytes());
        }
        let line::LineState::Up(channel) = &mut line.state else {
            return;
        };
        let (procedure, xid, head) = (
            flight.procedure(),
            flight.call.xid,
            &line.target.mounted.endpoint.head,
        );
        let bytes = match flight.long_part(sizes) {
            None => head.write(channel.out(), xid, procedure, |out| {
                flight.arguments(out, sizes, stable)
            }),
            Some(part) => {
                let padding = padding_of(part.len());
                let behind = part.len() + padding.len();
                let bytes = head.write_with_tail(channel.out(), xid, procedure, behind, |out| {
                    arguments::write_head(
                        out,
                        &flight.file,
                        flight.offset + flight.done,
                        stable,
                        part.len(),
                    );
                });
                channel.send_with(part, padding);
                bytes
            }
        };
        flight.call.end = Some(channel.written());
        if !flight.call.is_counted || flight.call.was_sent {
            self.counters.sends(procedure, bytes, flight.call.was_sent);
            flight.call.is_counted = true;
        }
    }

    /// Processes the next received record of a connection; returns whether there was a record.
    #[inline]
    fn take_record(&mut self, line: usize, steps: &mut dyn Steps) -> bool {
        let Some(channel) = self.lines[line].channel() else {
            return false;
        };
        let record = match channel.records().next_record() {
            Ok(Some(record)) => record,
            Ok(None) => return false,
            Err(Garbled) => {
                self.break_line(line, Broken::Garbled);
                return false;
            }
        };
        let Line { target, state, .. } = &self.lines[line];
        let line::LineState::Up(channel) = state else {
            return false;
        };
        let bytes = channel.bytes(record);
        let Ok((xid, body)) = rpc::reply(bytes) else {
            self.break_line(line, Broken::Garbled);
            return false;
        };
        let number = (xid & ((1 << self.flight_bits) - 1)) as usize;
        let waiting = self.flights.get_mut(number);
        let advanced = match waiting.filter(|flight| flight.call.waits_for(xid, line)) {
            None => {
                self.counters.stray_replies.add(1);
                None
            }
            Some(flight) => {
                flight.call.is_pending = false;
                self.counters
                    .receives(flight.procedure(), bytes.len() + MARK_BYTES);
                let mut context = Context {
                    directories: &mut self.directories,
                    counters: &self.counters,
                    verifiers: &target.verifiers,
                    sizes: &target.mounted.sizes,
                    durable: self.durable[flight.kind as usize],
                    keep_bytes: self.keep_bytes,
                    stopping: &self.stopping,
                };
                let step = flight.step();
                Some((step, flight.advance(body, &mut context)))
            }
        };
        if let Some(channel) = self.lines[line].channel() {
            channel.records().done_with(record);
        }
        if let Some((step, advanced)) = advanced {
            self.lines[line].is_answered();
            self.go_on(number, step, advanced, steps);
        }
        true
    }

    #[inline]
    fn go_on(
        &mut self,
        number: usize,
        step: Step,
        advanced: Result<Next, Cause>,
        steps: &mut dyn Steps,
    ) {
        let flight = &mut self.flights[number];
        if let Ok(Next::Call(_) | Next::Done) = advanced {
            (flight.call.asked_since, flight.call.wait) = (None, DELAY_MIN);
            steps.of(flight.ticket);
            steps.ended(step);
        }
        match advanced {
            Ok(Next::Call(stage)) => {
                flight.stage = stage;
                self.call(number);
            }
            Ok(Next::Done) => self.end(number, Ok(())),
            Ok(Next::Later) => self.delay(number),
            Err(cause) => self.fail(number, step, cause),
        }
    }

    fn fail(&mut self, number: usize, step: Step, cause: Cause) {
        if cause == Cause::NotKnown {
            self.counters.not_known.add(1);
        }
        let failure = Failure::wrong(step, cause).having_moved(self.flights[number].moved());
        self.end(number, Err(failure));
    }

    #[inline]
    fn end(&mut self, number: usize, outcome: OperationOutcome) {
        let flight = &mut self.flights[number];
        flight.outcome = outcome;
        flight.call.is_pending = false;
        flight.call.asked_since = None;
        self.ended.push_back(number);
    }

    #[inline]
    fn begin(&mut self, number: usize, ticket: Ticket, operation: &Operation<'_>) {
        let flight = &mut self.flights[number];
        flight.begin(ticket, operation);
        (flight.call.asked_since, flight.call.wait) = (None, DELAY_MIN);
        let (first, count) = self.lines_of[flight.places[0].location];
        flight.call.line = first + number % count;
        flight.stage = flight.first_stage(&self.directories);
        if flight.uses[1] && self.lines_of[flight.places[1].location] != (first, count) {
            // An operation on names of two servers fails, because a handle is valid only on the
            // server that issued the handle.
            let step = flight.step();
            self.fail(number, step, Cause::System(Errno::XDEV));
            return;
        }
        self.call(number);
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

    fn last_of(&self, ticket: Ticket) -> Option<&NfsFlight> {
        let flight = &self.flights[self.last?];
        (flight.ticket == ticket).then_some(flight)
    }
}

impl Session for NfsSession {
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
            // Calls stay in the buffer while completed operations wait for the worker. They are
            // sent together when the worker has received all outcomes.
            if self.ended.is_empty() {
                self.send_all();
            }
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
        let until = limit.map(|limit| self.timer.elapsed() + limit);
        let mut has_waited = false;
        loop {
            if let Some(ended) = self.take_ended() {
                if self.ended.is_empty() {
                    self.send_all();
                }
                return Some(ended);
            }
            if self.free.len() == self.depth {
                return None;
            }
            let left = until.map(|until| until.saturating_sub(self.timer.elapsed()));
            if has_waited && left == Some(Duration::ZERO) {
                return None;
            }
            self.wait(left, steps);
            has_waited = true;
        }
    }

    fn content(&self, ticket: Ticket) -> Option<&[u8]> {
        let flight = self.last_of(ticket)?;
        (self.keep_bytes > 0).then_some(flight.kept.as_slice())
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
        self.send_all();
        let flight = &mut self.flights[number];
        flight
            .outcome
            .map(|()| flight.names.take().unwrap_or_default())
    }

    /// The protocol has no call that syncs a file system; a policy that needs one is rejected
    /// before the run.
    fn sync_file_system(&mut self, _: usize) -> OperationOutcome {
        Err(Failure::system(Step::SyncFileSystem, Errno::OPNOTSUPP))
    }
}

impl Drop for NfsSession {
    fn drop(&mut self) {
        self.shared.counters.end(&self.counters);
    }
}
