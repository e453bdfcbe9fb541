//! Operations of the stream that are not performed, and what a worker does that can perform none.

use workload::{Action, Intent, PoolState, SkipReason};

use super::phase_stats::Done;
use super::state::{Left, Worker};

/// After so many in a row it is asked whether anything can be performed, then after twice as many.
const ASKED_AFTER: u64 = 1_000;
/// What a worker waits after each further one, if others may change what it works on.
const PAUSE_NS: u64 = 1_000_000;

impl Worker {
    /// Leaves out an intent. Gives `false` where the transactions are over, since every further one
    /// would be left out as well.
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
        // A pair of operations is not left between its halves.
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

    /// Whether nothing that is drawn from the pool as it is could be performed.
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
