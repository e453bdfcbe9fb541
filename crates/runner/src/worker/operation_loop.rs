//! The only loop that performs operations. It takes intents from a source, performs them on a
//! session, takes timestamps and counts results.
//!
//! Between the two timestamps of an operation, the loop only submits the operation to the session.

use engine::{Bytes, Cause, Failure, OperationKind, OperationOutcome, Submitted, Ticket};
use rundir::NotLogged;
use rundir::worker_status::Aside;
use workload::{Action, Intent, Phase};

use super::config::Tools;
use super::flights::{Flight, Issued};
use super::phase_stats::Done;
use super::state::{Left, Worker};
use crate::failures::Failed;
use crate::stopwatch::Moments;

impl Worker {
    /// Performs the intents of a phase in the order of the stream.
    pub(super) fn perform_intents(&mut self, done: &mut Done) -> Result<(), Left> {
        let is_driven = done.phase == Phase::Transactions;
        let mut begins_transaction = is_driven;
        let mut intent = Intent::NOTHING;
        loop {
            self.unless_stopping()?;
            let flight = self.free_flight(done)?;
            if begins_transaction {
                if !self.wait_until_due(done)? {
                    return Ok(());
                }
                self.turn_where_due(done);
            }
            if !self.next_intent(&mut intent, flight, begins_transaction, done)? {
                return Ok(());
            }
            if begins_transaction {
                // A new segment may have started while the worker waited for the intent.
                self.turn_where_due(done);
            }
            self.report.position.intents += u64::from(is_driven);
            self.wait_for_conflicts(&intent, done)?;
            if intent.action == Action::Nothing || self.config.failures.skips(&intent) {
                if !self.skip(flight, &intent, done)? {
                    return Ok(());
                }
            } else {
                self.perform(flight, &intent, done)?;
            }
            begins_transaction = is_driven && intent.ends_transaction;
            self.transaction += u64::from(begins_transaction);
        }
    }

    /// Performs one operation: builds names and contents, and submits the operation between two
    /// timestamps. If the operation has completed, counts it.
    #[inline]
    fn perform(&mut self, flight: usize, intent: &Intent, done: &mut Done) -> Result<(), Left> {
        let Tools {
            source,
            session,
            stopwatch,
            slots,
            log,
            pacer,
            ..
        } = &mut self.tools;
        let content = self.config.payload.content(intent);
        let operation = self.config.namer.operation(intent, content);
        if intent.action.lists() {
            source.listing_begins(flight, intent.place);
        }
        let mut logged = None;
        if let Some(log) = log {
            let which = (intent.place, intent.action.named(), intent.number);
            match slots[flight].aside(Aside::AckLog, which, || log.begins(intent, &operation)) {
                Ok(entered) => logged = Some(entered),
                Err(why) => return self.fail_log(why),
            }
        }
        let ticket = Ticket::new(self.tickets, flight);
        self.tickets += 1;
        let due_ns = match pacer.is_open() {
            true => self.due_ns.take().or(self.later_due_ns.take()),
            false => None,
        };
        slots[flight].issue(intent);
        if let Some(syncs) = intent.syncs {
            session.sync_next(syncs);
        }
        let issued_ns = stopwatch.moment();
        let submitted = session.submit(ticket, &operation, stopwatch.steps(flight, issued_ns));
        let completed_ns = stopwatch.moment();
        if due_ns.is_some() {
            // In an open loop, the next operation of the same transaction is due when this
            // operation has completed. If this operation is still in flight, the next one is due
            // now. Its response time then includes the wait until it can be issued.
            self.later_due_ns = (!intent.ends_transaction).then_some(completed_ns);
        }
        let issued = Issued {
            ticket,
            transaction: self.transaction,
            due_ns,
            issued_ns,
            logged,
        };
        match submitted {
            Submitted::Done(outcome) => {
                self.complete(intent, &issued, &outcome, completed_ns, done)
            }
            Submitted::InFlight => {
                assert!(
                    !self.is_synchronous,
                    "a synchronous session is done when it returns"
                );
                self.flights.begins(Flight {
                    intent: *intent,
                    issued,
                });
                match intent.action.is_on_tree() {
                    // No other operation is drawn or issued while a tree is copied or removed.
                    true => self.complete_all(done),
                    false => Ok(()),
                }
            }
        }
    }

    /// Draws the next operation of the phase. Before or after the draw, waits for the think time
    /// and keeps the processor busy for the `--compute` time. Returns `false` at the end of the
    /// phase.
    #[inline]
    fn next_intent(
        &mut self,
        intent: &mut Intent,
        flight: usize,
        begins_transaction: bool,
        done: &mut Done,
    ) -> Result<bool, Left> {
        let pause = self.tools.source.pause(done.phase);
        if !pause.is_none() && !self.pause(pause, begins_transaction, done)? {
            return Ok(false);
        }
        let may_wait = self.is_synchronous || self.flights.is_empty();
        let source = &mut self.tools.source;
        if !source.draw(done.phase, intent, flight, may_wait)
            && !self.draw_after_completion(intent, flight, done)?
        {
            return Ok(false);
        }
        if self.tools.source.is_pure() {
            self.config.hasher.take(intent);
        }
        if !intent.pause.is_none() {
            // The result (`false` if the transactions have ended) is ignored. The drawn intent must
            // be performed, because the stream's pool already includes its effect.
            self.pause(intent.pause, begins_transaction, done)?;
        }
        Ok(true)
    }

    /// Counts an operation that has completed or failed.
    #[inline]
    pub(super) fn complete(
        &mut self,
        intent: &Intent,
        issued: &Issued,
        outcome: &OperationOutcome,
        completed_ns: u64,
        done: &mut Done,
    ) -> Result<(), Left> {
        let flight = issued.ticket.flight();
        if let Err(failure) = outcome {
            return self.fail(flight, intent, *failure, completed_ns, done);
        }
        self.tools.slots[flight].complete(completed_ns);
        if let (Some(log), Some(entered)) = (&mut self.tools.log, issued.logged) {
            log.acknowledges(entered);
        }
        let lists = intent.action.lists();
        let expected = lists.then(|| self.tools.source.listing(flight, intent.place));
        self.tools.source.completed(flight, intent, true);
        if completed_ns >= done.slice_ends_ns {
            self.end_slice(done, completed_ns);
        }
        let moments = Moments {
            due_ns: issued.due_ns,
            issued_ns: issued.issued_ns,
            completed_ns,
        };
        let meters = &mut done.current.meters;
        self.tools.stopwatch.record(flight, intent, meters, moments);
        self.count_transaction(issued.transaction, done);
        self.count(intent, done);
        match expected {
            Some(expected) => self.verify_listing(issued.ticket, intent, expected),
            None => self.check_bytes(issued.ticket, intent),
        }
    }

    /// Counts bytes in 32-bit floats as the original PostMark does, and verifies the data of a
    /// read and of a tree.
    #[inline]
    fn check_bytes(&mut self, ticket: Ticket, intent: &Intent) -> Result<(), Left> {
        match intent.action.performs().map(OperationKind::bytes) {
            Some(Bytes::Read) => {
                self.report.classic_bytes_read += intent.bytes as f32;
                if self.config.verify {
                    return self.verify(ticket, intent);
                }
            }
            Some(Bytes::Written) => self.report.classic_bytes_written += intent.bytes as f32,
            _ if intent.action.is_on_tree() => return self.verify_tree(intent),
            _ => {}
        }
        Ok(())
    }

    /// Counts a failed operation. An operation that was interrupted by a stop counts neither as
    /// completed nor as failed.
    #[cold]
    fn fail(
        &mut self,
        flight: usize,
        intent: &Intent,
        failure: Failure,
        completed_ns: u64,
        done: &mut Done,
    ) -> Result<(), Left> {
        let slot = &self.tools.slots[flight];
        // The names that the failed operation wrote are stored in the slot before the operation
        // counts as complete, so that the clean-up finds them if the run is killed.
        let written = self.config.failures.spoil(intent, failure.step);
        slot.failed(&written);
        slot.complete(completed_ns);
        self.tools.source.completed(flight, intent, false);
        if failure.cause == Cause::Stopped {
            self.report.creations_left += u64::from(intent.action == Action::Create);
            return Err(Left::Stopped);
        }
        done.current.meters.of(intent.action).failed += 1;
        let path = self.config.namer.operation(intent, &[]).name().path;
        let failed = Failed::operation(
            intent.action.name(),
            path.to_string_lossy().into_owned(),
            failure,
        );
        let goes_on = self.config.failures.count(failed);
        self.count(intent, done);
        Ok(goes_on?)
    }

    /// Counts a completed operation for its transaction. In a pair of operations, the transaction
    /// counts when the first operation completes.
    #[inline]
    fn count_transaction(&mut self, transaction: u64, done: &mut Done) {
        let is_first = !self.config.has_pairs
            || done.phase != Phase::Transactions
            || match self.is_synchronous {
                // In a synchronous session operations complete in order, so no list of transactions
                // is needed.
                true => self.counted.take_next(transaction),
                false => self
                    .counted
                    .take(transaction, self.transaction, &self.flights),
            };
        done.completed += u64::from(is_first);
        done.current.transactions += u64::from(is_first && done.phase == Phase::Transactions);
    }

    /// Counts an operation that has been performed or skipped, and publishes the progress of the
    /// phase.
    #[inline]
    pub(super) fn count(&mut self, intent: &Intent, done: &mut Done) {
        done.current.issued += u64::from(intent.ends_transaction);
        done.published += u64::from(intent.ends_transaction || done.phase != Phase::Transactions);
        self.slot().publish(done.published, done.completed);
    }

    /// Ends the run regardless of `--on-error`, because an incomplete log is useless.
    #[cold]
    fn fail_log(&mut self, why: NotLogged) -> Result<(), Left> {
        let failed = Failed::from(why);
        let _ = self.config.failures.count(failed.clone());
        Err(Left::Failed(failed))
    }
}
