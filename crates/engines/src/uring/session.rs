//! A worker's session: a ring, and a flight for each operation that may be in flight.

use core::time::Duration;
use std::collections::VecDeque;

use engine::{
    Errno, Failure, Listing, Name, NoSteps, OpenError, Operation, OperationKind, OperationOutcome,
    Session, Settings, Step, Steps, Stopping, Submitted, Ticket, Unsupported,
};
use io_uring::squeue::Entry;

use super::chain::of_request;
use super::completion::Next;
use super::flight::{Context, Flight};
use super::ring::{CHAIN_MAX, Ring, is_final};
use super::stage::Stage;
use crate::calls::Calls;
use crate::posix::PosixStyle;
use crate::system::kernel::KernelCalls;

/// The operation whose outcome the session returned last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    /// The operation was performed by system calls.
    Plain,
    Flight(usize),
}

pub(super) struct UringSession {
    /// Performs the operations for which the kernel has no requests.
    calls: Calls<KernelCalls, PosixStyle>,
    ring: Ring,
    context: Context,
    depth: usize,
    /// For each kind of operation, whether the ring performs it.
    by_ring: [bool; OperationKind::ALL.len()],
    flights: Vec<Flight>,
    free: Vec<usize>,
    /// Flights whose operations ended, but whose outcomes were not yet returned to the worker.
    ended: VecDeque<usize>,
    /// Number of flights with requests that are not complete.
    busy: usize,
    last: Last,
    entries: Vec<Entry>,
    /// Set if the file system does not support `RENAME_NOREPLACE`; then the absence of the new name
    /// is checked before a rename.
    renames_by_looking: bool,
    /// The error with which the kernel refused requests.
    broken: Option<Errno>,
    stopping: Stopping,
}

impl UringSession {
    pub(super) fn open(
        ring: impl FnOnce() -> Result<Ring, Unsupported>,
        depth: usize,
        settings: &Settings,
    ) -> Result<Self, OpenError> {
        // `KernelCalls::new` sets the thread's own table of open files and the rights with which
        // the thread acts. The ring is opened afterwards, because its requests use this table and
        // these rights.
        let mut calls = Calls::<_, PosixStyle>::new(KernelCalls::new(settings)?, settings)?;
        let ring = ring()?;
        let mut flights = Vec::with_capacity(depth);
        for number in 0..depth {
            flights.push(Flight::new(number as u32, settings)?);
        }
        let context = Context {
            directories: calls.system().held().collect(),
            syncs: OperationKind::ALL.map(|kind| calls.syncs(kind)),
            content_flags: calls.content_flags(),
            read_block: settings.read_block_bytes as u64,
            write_block: settings.write_block_bytes as u64,
            keeps: settings.keep_contents_bytes > 0,
            chains: ring.kernel.chains,
            copies: depth > 1,
        };
        Ok(Self {
            by_ring: OperationKind::ALL.map(|kind| ring.kernel.performs(kind)),
            calls,
            ring,
            context,
            depth,
            flights,
            free: (0..depth).rev().collect(),
            ended: VecDeque::with_capacity(depth),
            busy: 0,
            last: Last::Plain,
            entries: Vec::with_capacity(CHAIN_MAX),
            renames_by_looking: false,
            broken: None,
            stopping: settings.stopping.clone(),
        })
    }

    /// Performs an operation by system calls, while other operations are in flight.
    fn perform_plainly(
        &mut self,
        ticket: Ticket,
        operation: &Operation<'_>,
        steps: &mut dyn Steps,
    ) -> Submitted {
        if self.busy > 0 {
            // Passes the requests of earlier operations to the kernel, so that they do not wait for
            // this operation. An error is ignored, because it occurs again at the next wait.
            let _ = self.ring.enter(0);
        }
        self.last = Last::Plain;
        steps.of(ticket);
        self.calls.submit(ticket, operation, steps)
    }

    #[inline]
    fn begin(&mut self, number: usize, ticket: Ticket, operation: &Operation<'_>) {
        let flight = &mut self.flights[number];
        flight.begin(ticket, operation.kind());
        if let Some(errno) = self.broken {
            return self.fail_broken(number, errno);
        }
        if let Err(errno) = flight.plan(operation, &self.context) {
            flight.outcome = Err(Failure::system(Step::Write, errno));
            self.ended.push_back(number);
            return;
        }
        if self.renames_by_looking {
            let no_replace = Stage::Rename { replaces: false };
            if let Some(at) = flight.stages.iter().position(|stage| *stage == no_replace) {
                flight.rename_by_looking(at);
            }
        }
        self.busy += 1;
        self.send(number);
    }

    /// Appends the next chain of an operation to the ring's queue.
    #[inline]
    fn send(&mut self, number: usize) {
        self.flights[number].chain(&self.context, &mut self.entries);
        // SAFETY: the requests point to memory of the flight, which is neither moved nor freed
        // before its requests are complete. Contents remain valid as long, because they are copied,
        // or because the worker waits in `submit`.
        if let Err(errno) = unsafe { self.ring.push(&self.entries) } {
            self.break_off(errno);
        }
    }

    /// Processes all completions, and continues or ends their operations.
    #[inline]
    fn take_completions(&mut self, steps: &mut dyn Steps) {
        while let Some((number, result)) = self.next_completion() {
            let (number, index) = of_request(number);
            let flight = &mut self.flights[number];
            if !flight.answered(index, result, &self.context, steps) {
                continue;
            }
            let stopping = &self.stopping;
            match flight.after_chain(&self.context, || stopping.is_wanted()) {
                Next::Chain => self.send(number),
                Next::Ended => self.end(number, steps),
            }
        }
    }

    #[inline]
    fn next_completion(&mut self) -> Option<(u64, i32)> {
        match self.broken {
            None => self.ring.next(),
            Some(_) => None,
        }
    }

    #[inline]
    fn end(&mut self, number: usize, steps: &mut dyn Steps) {
        self.busy -= 1;
        self.ended.push_back(number);
        let flight = &mut self.flights[number];
        self.renames_by_looking |= flight.stages.contains(&Stage::Absent);
        if flight.outcome.is_ok() && flight.kind.changes() {
            let location = flight.names[0].location;
            steps.of(flight.ticket);
            flight.outcome = self.calls.sync_batch_of(location, flight.done, steps);
        }
    }

    /// Waits for completions, at most for `limit`, and processes them. May return without a
    /// completion.
    #[inline]
    fn wait(&mut self, limit: Option<Duration>, steps: &mut dyn Steps) {
        let waited = match limit {
            None => self.ring.enter(1),
            Some(limit) => self.ring.enter_for(limit),
        };
        self.take_completions(steps);
        if let Err(errno) = waited
            && is_final(errno)
        {
            self.break_off(errno);
        }
    }

    /// Fails all operations in flight, because the kernel takes no more requests. From then on the
    /// ring is not used.
    #[cold]
    fn break_off(&mut self, errno: Errno) {
        self.broken = Some(errno);
        for number in 0..self.flights.len() {
            if !self.free.contains(&number) && !self.ended.contains(&number) {
                self.fail_broken(number, errno);
            }
        }
        self.busy = 0;
    }

    fn fail_broken(&mut self, number: usize, errno: Errno) {
        let flight = &mut self.flights[number];
        let stage = flight.stages.get(flight.next).copied();
        let step = stage.map_or(Step::Open, Stage::step);
        flight.outcome = Err(Failure::system(step, errno).having_moved(flight.done));
        self.ended.push_back(number);
    }

    /// Returns the outcome of the operation that ended first, and frees its flight.
    #[inline]
    fn take_ended(&mut self) -> Option<(Ticket, OperationOutcome)> {
        let number = self.ended.pop_front()?;
        self.free.push(number);
        self.last = Last::Flight(number);
        let flight = &self.flights[number];
        Some((flight.ticket, flight.outcome))
    }
}

impl Session for UringSession {
    fn is_synchronous(&self) -> bool {
        self.depth == 1
    }

    #[inline]
    fn submit(
        &mut self,
        ticket: Ticket,
        operation: &Operation<'_>,
        steps: &mut dyn Steps,
    ) -> Submitted {
        if !self.by_ring[operation.kind() as usize] {
            return self.perform_plainly(ticket, operation, steps);
        }
        let number = self
            .free
            .pop()
            .expect("no more are in flight than the engine's depth");
        self.begin(number, ticket, operation);
        if self.depth > 1 {
            // `complete` passes the requests of all operations to the kernel together.
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
        while self.ended.is_empty() && self.busy > 0 {
            self.wait(limit, steps);
            if limit.is_some() {
                break;
            }
        }
        self.take_ended()
    }

    fn content(&self, ticket: Ticket) -> Option<&[u8]> {
        let Last::Flight(number) = self.last else {
            return self.calls.content(ticket);
        };
        let flight = &self.flights[number];
        let is_kept = self.context.keeps && flight.ticket == ticket;
        is_kept.then(|| flight.read_content(self.context.read_block))
    }

    fn listing(&self, ticket: Ticket) -> Option<Listing> {
        match self.last {
            Last::Plain => self.calls.listing(ticket),
            Last::Flight(_) => None,
        }
    }

    fn names(&mut self, directory: Name<'_>) -> Result<Vec<Vec<u8>>, Failure> {
        self.calls.names(directory)
    }

    fn sync_file_system(&mut self, location: usize) -> OperationOutcome {
        self.calls.sync_file_system(location)
    }
}

impl Drop for UringSession {
    /// Waits for the operations in flight, because the kernel uses memory of the flights. If the
    /// ring cannot be used any more, this memory is never freed.
    fn drop(&mut self) {
        while self.busy > 0 {
            self.wait(None, &mut NoSteps);
        }
        if self.broken.is_some() {
            std::mem::forget(std::mem::take(&mut self.flights));
        }
    }
}
