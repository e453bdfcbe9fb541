//! Barriers between the processes of a run. A process that waits at a barrier continues to
//! supervise its workers.

use super::state::Supervisor;
use crate::processes::AtBarrier;
use crate::timed_call::TELL_EVERY;

impl Supervisor<'_> {
    /// Waits for all processes and publishes the operations that their workers acknowledged, so
    /// that each worker can check the pool of another. Returns whether the run continues.
    pub(super) fn meet_and_tell(&mut self) -> bool {
        let own = AtBarrier {
            acknowledged: self.watch.acknowledged.take(),
            ..AtBarrier::default()
        };
        let met = self.meet(own);
        met.map(|all| self.watch.acknowledged.publish(all.acknowledged))
            .is_some()
    }

    /// Exchanges data at a barrier. With a single process, returns at once. Returns `None` if the
    /// run must end because a process stops or is lost.
    pub(super) fn meet(&mut self, own: AtBarrier) -> Option<AtBarrier> {
        let processes = self.waiter.control.processes();
        if !processes.is_alone() && self.is_stopping() {
            // The other processes may wait at a different barrier, so this process enters none. The
            // other processes receive the stop request outside of barriers.
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
