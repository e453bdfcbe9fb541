//! Delays operations. A transaction waits until it is due, an operation waits for its think time,
//! and `--compute` keeps the processor busy before an operation. Operations in flight that complete
//! during a wait are counted at once. With `--compute`, no operation is in flight.

use record::ComputeRecord;
use workload::{Pause, Phase};

use super::phase_stats::Done;
use super::state::{Left, Worker};
use crate::clock::{Clock as _, RunClock};

/// Interval at which a waiting worker checks whether the run stops.
const LOOK_EVERY_NS: u64 = 50_000_000;

/// Maximum time between two clock readings that counts as busy time of the thread, in nanoseconds.
/// During a longer gap, another thread had the processor: a reading takes less than 0.1 us, and an
/// interrupt a few microseconds.
const READINGS_APART_NS: u64 = 10_000;

impl Worker {
    /// Waits until the next transaction is due. Returns `false` if the transactions have ended.
    #[inline]
    pub(super) fn wait_until_due(&mut self, done: &mut Done) -> Result<bool, Left> {
        if self.tools.control.is_over() {
            return Ok(false);
        }
        // No transaction remains, so there is no due time to wait for.
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

    /// Waits for the think time, and then keeps the processor busy for the `--compute` time.
    /// Returns `false` if the transactions end first.
    #[cold]
    pub(super) fn pause(
        &mut self,
        pause: Pause,
        begins_transaction: bool,
        done: &mut Done,
    ) -> Result<bool, Left> {
        Ok(
            (pause.think_ns == 0 || self.think(pause.think_ns, begins_transaction, done)?)
                && (pause.compute_ns == 0 || self.compute(pause.compute_ns, done)?),
        )
    }

    /// Keeps the processor busy until this thread has used `ns` nanoseconds of processor time.
    /// Returns `false` if the transactions end first.
    fn compute(&mut self, ns: u64, done: &mut Done) -> Result<bool, Left> {
        let mut left_ns = ns;
        let mut goes_on = true;
        while left_ns > 0 && goes_on {
            let part_ns = left_ns.min(LOOK_EVERY_NS);
            spin(&self.tools.clock, part_ns);
            left_ns -= part_ns;
            goes_on = !self.tools.control.is_over();
            if self.tools.control.is_stopping() {
                break;
            }
        }
        done.current.compute.add(ComputeRecord {
            count: 1,
            ns: ns - left_ns,
        });
        self.unless_stopping()?;
        Ok(goes_on)
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

/// Reads the clock repeatedly until this thread has used the processor for `ns` nanoseconds. A long
/// gap between two readings counts only as [`READINGS_APART_NS`], because another thread had the
/// processor in the gap.
fn spin(clock: &RunClock, ns: u64) {
    if !clock.is_of_machine() {
        return clock.sleep(ns);
    }
    let (mut busy_ns, mut before_ns) = (0, clock.now_ns());
    while busy_ns < ns {
        let now_ns = clock.now_ns();
        busy_ns += now_ns.saturating_sub(before_ns).min(READINGS_APART_NS);
        before_ns = now_ns;
    }
}
