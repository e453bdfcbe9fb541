//! Delays operations: transactions wait until they are due, and think times pass before operations.
//! Operations in flight that complete during a delay are counted at once.

use workload::Phase;

use super::phase_stats::Done;
use super::state::{Left, Worker};
use crate::clock::Clock as _;

/// Interval at which a waiting worker checks whether the run stops.
const LOOK_EVERY_NS: u64 = 50_000_000;

impl Worker {
    /// Waits until the next transaction is due. Returns `false` if the transactions have ended.
    #[inline]
    pub(super) fn wait_until_due(&mut self, done: &mut Done) -> Result<bool, Left> {
        if self.tools.control.is_over() {
            return Ok(false);
        }
        // After the last transaction no due time needs to be awaited.
        if !self.tools.pacer.is_open() || self.tools.source.remaining(Phase::Transactions) == 0 {
            return Ok(true);
        }
        let Some(due_ns) = self.tools.pacer.next_due_ns() else {
            return Ok(true);
        };
        self.due_ns = Some(due_ns);
        loop {
            let now_ns = self.tools.clock.now_ns();
            let Some(left_ns) = due_ns.checked_sub(now_ns).filter(|left| *left > 0) else {
                return Ok(true);
            };
            self.caught_up_ns = Some(now_ns);
            if !self.pass(left_ns, done)? {
                return Ok(false);
            }
        }
    }

    /// Waits for the think time before an operation. A new segment may start during the wait.
    /// Returns `false` if the transactions end first.
    #[cold]
    pub(super) fn think(
        &mut self,
        ns: u64,
        begins_transaction: bool,
        done: &mut Done,
    ) -> Result<bool, Left> {
        let until_ns = self.tools.clock.now_ns().saturating_add(ns);
        loop {
            let left_ns = until_ns.saturating_sub(self.tools.clock.now_ns());
            if left_ns == 0 {
                return Ok(true);
            }
            if !self.pass(left_ns, done)? {
                return Ok(false);
            }
            if begins_transaction {
                self.turn_where_due(done);
            }
        }
    }

    /// Waits up to `ns` nanoseconds, but not beyond the next check for a stop or the next
    /// completion of an operation in flight. Returns `false` if the transactions have ended.
    fn pass(&mut self, ns: u64, done: &mut Done) -> Result<bool, Left> {
        let ns = ns.min(LOOK_EVERY_NS);
        if self.is_synchronous || self.flights.is_empty() {
            self.tools.clock.sleep(ns);
        } else {
            self.complete_next(Some(ns), done)?;
        }
        self.unless_stopping()?;
        Ok(!self.tools.control.is_over())
    }
}
