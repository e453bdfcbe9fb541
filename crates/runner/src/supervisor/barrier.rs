//! Barriers between the processes of a run. While a process waits, it continues to supervise its
//! workers.

use super::state::Supervisor;
use crate::processes::AtBarrier;
use crate::timed_call::TELL_EVERY;

impl Supervisor<'_> {
    /// Waits for all processes and publishes the operations that they acknowledged, so that workers
    /// can check other workers' pools. Returns whether the run continues.
    pub(super) fn meet_and_tell(&mut self) -> bool {
        let own = AtBarrier {
            acknowledged: self.watch.acknowledged.take(),
            ..AtBarrier::default()
        };
        let met = self.meet(own);
        met.map(|all| self.watch.acknowledged.publish(all.acknowledged))
            .is_some()
    }

    /// Exchanges data at a barrier; returns at once with a single process. Returns `None` if the
    /// run must end because a process stops or is lost.
    pub(super) fn meet(&mut self, own: AtBarrier) -> Option<AtBarrier> {
        let processes = self.waiter.control.processes();
        if !processes.is_alone() && self.is_stopping() {
            // The other processes may be at another barrier. The stop request reaches them
            // separately.
            return None;
        }
        let mut meeting = processes.meet(own);
        loop {
            let limit = TELL_EVERY.min(self.machine.until_due(self.now_ns()));
            match meeting.wait(limit) {
                Some(Ok(all)) => return Some(all),
                Some(Err(why)) => {
                    self.watched.failed = self.watched.failed.take().or(why);
                    self.waiter.control.stop();
                    return None;
                }
                None => {
                    self.tick();
                    self.machine.second(self.now_ns());
                    self.look_at_place();
                }
            }
        }
    }
}
