//! Skips operations, and ends the transactions if a worker can perform no operation.

use workload::{Action, Intent, PoolState, SkipReason};

use super::phase_stats::Done;
use super::state::{Left, Worker};

/// Number of consecutive skips after which the worker first checks whether any operation is
/// possible on the pool. The number doubles with each check.
const ASKED_AFTER: u64 = 1_000;
/// Pause in nanoseconds after a skip in a shared pool, from [`ASKED_AFTER`] consecutive skips on.
/// During the pause, other workers may change the pool, so that operations become possible.
const PAUSE_NS: u64 = 1_000_000;

impl Worker {
    /// Skips an intent. Returns `false` if the transactions end because no further operation is
    /// possible.
    pub(super) fn skip(
        &mut self,
        flight: usize,
        intent: &Intent,
        done: &mut Done,
    ) -> Result<bool, Left> {
        let is_drawn_so = intent.action == Action::Nothing;
        if !is_drawn_so {
            self.config.failures.skipped(intent);
            *done.current.skipped.get_mut(SkipReason::AfterFailure) += 1;
        } else if let Some(reason) = intent.skip {
            *done.current.skipped.get_mut(reason) += 1;
        }
        self.tools.source.completed(flight, intent, is_drawn_so);
        self.count(intent, done);
        if self.skips.issued_before != self.tickets {
            self.skips.issued_before = self.tickets;
            self.skips.in_a_row = 0;
            self.skips.asked_at = ASKED_AFTER;
        }
        self.skips.in_a_row += 1;
        match self.skips.in_a_row {
            0..ASKED_AFTER => Ok(true),
            _ => self.skips_many(intent, done),
        }
    }

    #[cold]
    fn skips_many(&mut self, intent: &Intent, done: &mut Done) -> Result<bool, Left> {
        // The check is made only between transactions, so that no transaction ends between its two
        // operations.
        if intent.ends_transaction && self.skips.in_a_row >= self.skips.asked_at {
            self.skips.asked_at = 2 * self.skips.in_a_row;
            if self.can_perform_none() {
                self.skips.can_do_nothing = true;
                self.tools.control.end_transactions();
                return Ok(false);
            }
        }
        if self.tools.source.is_pure() {
            return Ok(true);
        }
        self.think(PAUSE_NS, false, done)
    }

    /// Whether the current pool allows no operation of the workload.
    fn can_perform_none(&self) -> bool {
        let mut state = PoolState::default();
        self.tools.source.pool(true, &mut |kept| {
            if !self.config.failures.is_uncertain(&kept) {
                state.add(&kept);
            }
        });
        !self.tools.source.can_perform_any(&state)
    }
}
