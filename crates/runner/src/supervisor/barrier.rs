//! Processes of a run meet at barriers: each waits there until all others are, and goes on looking
//! on meanwhile.

use super::state::Supervisor;
use crate::processes::AtBarrier;
use crate::timed_call::TELL_EVERY;

impl Supervisor<'_> {
    /// Meets all processes, and tells each worker what those have acknowledged whose pools it
    /// checks. Whether the run goes on.
    pub(super) fn meet_and_tell(&mut self) -> bool {
        let own = AtBarrier {
            acknowledged: self.watch.acknowledged.take(),
            ..AtBarrier::default()
        };
        let met = self.meet(own);
        met.map(|all| self.watch.acknowledged.publish(all.acknowledged))
            .is_some()
    }

    /// What all processes bring to a barrier: at once where this one is alone. `None` where the run
    /// is not to go on, because one of them stops or is lost.
    pub(super) fn meet(&mut self, own: AtBarrier) -> Option<AtBarrier> {
        let processes = self.waiter.control.processes();
        if !processes.is_alone() && self.is_stopping() {
            // The others may be at another border. They hear of it.
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
