//! A worker's session of the simulated engine with several operations in flight. A random generator
//! decides when each operation is performed between its submission and its completion, and in which
//! order operations complete.

use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::state::Shared;
use engine::{
    Failure, Listing, Name, Operation, OperationOutcome, OwnedOperation, Session, Steps, Submitted,
    Ticket,
};

pub(super) struct SimulatedSession {
    calls: Box<dyn Session>,
    shared: Arc<Shared>,
    depth: usize,
    dice: Dice,
    in_flight: Vec<Flight>,
    last: Answer,
}

/// An operation that was submitted and not yet completed.
#[derive(Debug)]
struct Flight {
    ticket: Ticket,
    operation: OwnedOperation,
    /// The result; `Some` once the operation was performed.
    answer: Option<Answer>,
}

#[derive(Debug)]
struct Answer {
    outcome: OperationOutcome,
    content: Option<Vec<u8>>,
    listing: Option<Listing>,
}

/// Random generator SplitMix64.
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    /// Returns a random number below `bound`.
    fn throw(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// Returns the names that an operation uses, creates or removes; none for a listing.
fn names<'a>(operation: &Operation<'a>) -> [Option<Name<'a>>; 2] {
    if let Operation::List { .. } | Operation::ListWithStat { .. } = operation {
        return [None; 2];
    }
    let (first, second) = operation.names();
    [Some(first), second]
}

impl SimulatedSession {
    pub(super) fn new(
        calls: Box<dyn Session>,
        shared: Arc<Shared>,
        depth: usize,
        seed: u64,
    ) -> Self {
        Self {
            calls,
            shared,
            depth,
            dice: Dice(seed),
            in_flight: Vec::with_capacity(depth),
            last: Answer {
                outcome: Ok(()),
                content: None,
                listing: None,
            },
        }
    }

    /// Notes names that two operations in flight use. An operation on a tree uses more names than
    /// its own, so it must be in flight alone.
    fn note_meetings(&self, operation: &Operation<'_>) {
        let mine = names(operation);
        for flight in &self.in_flight {
            if operation.kind().is_on_tree() || flight.operation.get().kind().is_on_tree() {
                let met = operation.name().path.to_string_lossy().into_owned();
                self.shared.state().meetings.push(met);
            }
            let theirs = names(&flight.operation.get());
            for name in mine.iter().flatten() {
                if theirs.iter().flatten().any(|their| their.path == name.path) {
                    let met = name.path.to_string_lossy().into_owned();
                    self.shared.state().meetings.push(met);
                }
            }
        }
    }

    fn perform(&mut self, index: usize, steps: &mut dyn Steps) {
        let Flight {
            ticket,
            operation,
            answer,
        } = &mut self.in_flight[index];
        if answer.is_some() {
            return;
        }
        steps.of(*ticket);
        let operation = operation.get();
        let Submitted::Done(outcome) = self.calls.submit(*ticket, &operation, steps) else {
            unreachable!("system calls are done when they return");
        };
        *answer = Some(Answer {
            outcome,
            content: self.calls.content(*ticket).map(<[u8]>::to_vec),
            listing: self.calls.listing(*ticket),
        });
    }

    /// Performs up to three randomly chosen operations in flight.
    fn perform_some(&mut self, steps: &mut dyn Steps) {
        for _ in 0..self.dice.throw(4) {
            let index = self.dice.throw(self.in_flight.len() as u64) as usize;
            self.perform(index, steps);
        }
    }
}

impl Session for SimulatedSession {
    fn is_synchronous(&self) -> bool {
        false
    }

    fn submit(
        &mut self,
        ticket: Ticket,
        operation: &Operation<'_>,
        steps: &mut dyn Steps,
    ) -> Submitted {
        assert!(
            self.in_flight.len() < self.depth,
            "more in flight than the engine takes"
        );
        self.note_meetings(operation);
        self.in_flight.push(Flight {
            ticket,
            operation: operation.to_owned(),
            answer: None,
        });
        let mut state = self.shared.state();
        state.in_flight_max = state.in_flight_max.max(self.in_flight.len());
        drop(state);
        self.perform_some(steps);
        Submitted::InFlight
    }

    fn complete(
        &mut self,
        limit: Option<Duration>,
        steps: &mut dyn Steps,
    ) -> Option<(Ticket, OperationOutcome)> {
        if self.in_flight.is_empty() {
            return None;
        }
        if let Some(limit) = limit {
            // Either an operation completes before the limit, or the whole limit passes without a
            // completion.
            let limit_ns = limit.as_nanos() as u64;
            let is_late = self.dice.throw(2) == 0;
            let passed_ns = if is_late {
                limit_ns
            } else {
                self.dice.throw(limit_ns + 1)
            };
            self.shared.clock_ns.fetch_add(passed_ns, Ordering::Relaxed);
            if is_late {
                return None;
            }
        }
        self.perform_some(steps);
        let index = self.dice.throw(self.in_flight.len() as u64) as usize;
        self.perform(index, steps);
        let Flight { ticket, answer, .. } = self.in_flight.swap_remove(index);
        self.last = answer?;
        Some((ticket, self.last.outcome))
    }

    fn content(&self, _: Ticket) -> Option<&[u8]> {
        self.last.content.as_deref()
    }

    fn listing(&self, _: Ticket) -> Option<Listing> {
        self.last.listing
    }

    fn names(&mut self, directory: Name<'_>) -> Result<Vec<Vec<u8>>, Failure> {
        self.calls.names(directory)
    }

    fn sync_file_system(&mut self, location: usize) -> OperationOutcome {
        self.calls.sync_file_system(location)
    }
}
