//! What a worker is, and what all of its parts need.

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

/// Why a stage was left before its end.
pub(super) enum Left {
    Stopped,
    Failed(Failed),
}

impl From<Failed> for Left {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

/// A worker, from its first stage to its last.
pub(super) struct Worker {
    pub(super) tools: Tools,
    pub(super) config: WorkerConfig,
    pub(super) rendezvous: Box<dyn Rendezvous>,
    /// Whether operations are done when they have been submitted.
    pub(super) is_synchronous: bool,
    pub(super) flights: Flights,
    pub(super) tickets: u64,
    /// The transaction that is being issued, by its place in the stream.
    pub(super) transaction: u64,
    pub(super) counted: Counted,
    pub(super) skips: Skips,
    /// When the operation that comes next was due, where arrivals say so.
    pub(super) due_ns: Option<u64>,
    /// When it was up to its arrivals last: nothing was due.
    pub(super) caught_up_ns: Option<u64>,
    /// Until then what is not seen yet of a pool that others have worked on is waited for.
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
            caught_up_ns: None,
            waits_until_ns: None,
            report: Report::default(),
        }
    }

    /// What it says of itself besides its operations.
    pub(super) fn slot(&self) -> &Slot {
        &self.tools.slots[0]
    }

    /// Ends the stage where the run is to stop.
    #[inline]
    pub(super) fn unless_stopping(&self) -> Result<(), Left> {
        match self.tools.control.is_stopping() {
            true => Err(Left::Stopped),
            false => Ok(()),
        }
    }

    /// Waits until a stage may begin. Gives `false` where there is no more of such a stage.
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

/// Performs one operation besides those of the stream to its end, while no other is in flight: what
/// it is for, and the place, kind and number of what it is done to. Its ticket is told as well.
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
