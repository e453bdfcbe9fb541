//! Handles a worker's operations in flight: waits for a free flight, performs operations on one
//! file in order, and counts completions. A synchronous session has no operations in flight.

use std::time::Duration;

use record::Histogram;
use workload::{Action, Intent};

use super::flights::Flight;
use super::phase_stats::Done;
use super::state::{Left, Worker};
use crate::clock::Clock as _;

impl Worker {
    /// Repeats a draw that returned no intent because the drawn file is claimed. One of the
    /// worker's operations in flight must complete before each attempt. Returns `false` if the draw
    /// returned no intent for another reason.
    #[cold]
    pub(super) fn draw_after_completion(
        &mut self,
        intent: &mut Intent,
        flight: usize,
        done: &mut Done,
    ) -> Result<bool, Left> {
        loop {
            self.unless_stopping()?;
            if !self.tools.source.wants_one_landed() {
                return Ok(false);
            }
            self.complete_next(None, done)?;
            let (source, may_wait) = (&mut self.tools.source, self.flights.is_empty());
            if source.draw(done.phase, intent, flight, may_wait) {
                return Ok(true);
            }
        }
    }

    /// Returns a free flight (a slot for an operation in flight). If all are in use, waits until an
    /// operation completes.
    #[inline]
    pub(super) fn free_flight(&mut self, done: &mut Done) -> Result<usize, Left> {
        if self.is_synchronous {
            return Ok(0);
        }
        loop {
            match self.flights.room() {
                Some(flight) => return Ok(flight),
                None => self.complete_next(None, done)?,
            }
        }
    }

    /// Waits until no operation in flight affects the file or the names of the intent. No later
    /// intent is drawn while this intent waits.
    #[inline]
    pub(super) fn wait_for_conflicts(
        &mut self,
        intent: &Intent,
        done: &mut Done,
    ) -> Result<(), Left> {
        if self.is_synchronous || intent.action == Action::Nothing || !self.flights.meet(intent) {
            return Ok(());
        }
        let since_ns = self.tools.clock.now_ns();
        while self.flights.meet(intent) {
            self.complete_next(None, done)?;
        }
        let waited_ns = self.tools.clock.now_ns().saturating_sub(since_ns);
        self.flights.waited(waited_ns);
        Ok(())
    }

    /// Waits for one completion, at most `limit_ns` nanoseconds, and counts it.
    pub(super) fn complete_next(
        &mut self,
        limit_ns: Option<u64>,
        done: &mut Done,
    ) -> Result<(), Left> {
        let steps = self.tools.stopwatch.steps_in_flight();
        let completed = self
            .tools
            .session
            .complete(limit_ns.map(Duration::from_nanos), steps);
        let Some((ticket, outcome)) = completed else {
            assert!(
                limit_ns.is_some(),
                "one of the operations in flight completes"
            );
            return Ok(());
        };
        let completed_ns = self.tools.stopwatch.moment();
        let Flight { intent, issued } = self.flights.ends(ticket);
        // An operation belongs to the segment in which it completes.
        self.turn_where_due(done);
        self.complete(&intent, &issued, &outcome, completed_ns, done)
    }

    /// Waits for all operations in flight and counts them. Returns the first error that ends the
    /// run.
    pub(super) fn complete_all(&mut self, done: &mut Done) -> Result<(), Left> {
        let mut left = Ok(());
        while !self.is_synchronous && !self.flights.is_empty() {
            left = left.and(self.complete_next(None, done));
        }
        left
    }

    /// Removes and returns the waiting times of intents for a file. The file was claimed by another
    /// worker, or was in use by an operation in flight.
    pub(super) fn take_waits(&mut self) -> Option<Histogram> {
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
}
