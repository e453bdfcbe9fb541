//! The state of a worker, and functions that all modules of the worker use.

use engine::{NoSteps, Operation, OperationOutcome, Session, Submitted, Ticket};
use rundir::worker_status::{Aside, Slot};
use workload::names::NameKind;

use super::config::{Tools, WorkerConfig};
use super::flights::Flights;
use super::phase_stats::{Counted, Skips};
use super::rendezvous::{Answer, Rendezvous};
use super::report::Report;
use crate::events::Stage;
use crate::failures::Failed;

/// The reason why a stage ended early.
pub(super) enum Left {
    Stopped,
    Failed(Failed),
}

impl From<Failed> for Left {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

pub(super) struct Worker {
    pub(super) tools: Tools,
    pub(super) config: WorkerConfig,
    pub(super) rendezvous: Box<dyn Rendezvous>,
    /// Whether the session completes each operation before `submit` returns.
    pub(super) is_synchronous: bool,
    pub(super) flights: Flights,
    pub(super) tickets: u64,
    /// Position of the current transaction in the stream.
    pub(super) transaction: u64,
    pub(super) counted: Counted,
    pub(super) skips: Skips,
    /// Due time of the next operation. `None` in a closed loop, and for all but the first operation
    /// of a transaction.
    pub(super) due_ns: Option<u64>,
    /// Due time of the next operation if it is not the first operation of its transaction. `None`
    /// in a closed loop, and before the first operation of a transaction.
    pub(super) later_due_ns: Option<u64>,
    /// Time at which the worker last had no overdue transaction.
    pub(super) caught_up_ns: Option<u64>,
    /// Time limit until which operations of other workers must become visible; `None` if they must
    /// be visible at once.
    pub(super) waits_until_ns: Option<u64>,
    pub(super) report: Report,
}

impl Worker {
    pub(super) fn new(tools: Tools, config: WorkerConfig, rendezvous: Box<dyn Rendezvous>) -> Self {
        let depth = tools.slots.len();
        Self {
            is_synchronous: tools.session.is_synchronous(),
            flights: Flights::new(depth),
            counted: Counted::new(depth),
            skips: Skips::default(),
            transaction: 0,
            tools,
            config,
            rendezvous,
            tickets: 0,
            due_ns: None,
            later_due_ns: None,
            caught_up_ns: None,
            waits_until_ns: None,
            report: Report::default(),
        }
    }

    /// The status slot for actions that are not operations of the workload.
    pub(super) fn slot(&self) -> &Slot {
        &self.tools.slots[0]
    }

    /// Returns [`Left::Stopped`] if the run stops, so that `?` leaves the loop.
    #[inline]
    pub(super) fn unless_stopping(&self) -> Result<(), Left> {
        match self.tools.control.is_stopping() {
            true => Err(Left::Stopped),
            false => Ok(()),
        }
    }

    /// Waits until a stage may start. Returns `false` if the worker must skip the stage.
    pub(super) fn begins(&mut self, stage: Stage, total: u64) -> Result<bool, Left> {
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
}

/// Performs an operation that is not part of the stream, while no operation is in flight. `aside`
/// is the purpose of the operation. `which` contains the directory, kind and number of its name.
pub(super) fn submit_aside(
    session: &mut dyn Session,
    slot: &Slot,
    tickets: &mut u64,
    (aside, which): (Aside, (u32, NameKind, u64)),
    operation: &Operation<'_>,
) -> (Ticket, OperationOutcome) {
    let ticket = Ticket::new(*tickets, 0);
    *tickets += 1;
    let outcome = slot.aside(aside, which, || {
        match session.submit(ticket, operation, &mut NoSteps) {
            Submitted::Done(outcome) => outcome,
            Submitted::InFlight => {
                let (completed, outcome) = session
                    .complete(None, &mut NoSteps)
                    .expect("an operation is in flight");
                assert_eq!(completed, ticket, "one operation is in flight at a time");
                outcome
            }
        }
    });
    (ticket, outcome)
}
