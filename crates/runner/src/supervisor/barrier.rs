//! Ranks meet at borders: each waits there until all others are, and goes on looking on meanwhile.

use ranks::CommunicationError;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Supervisor, TELL_EVERY};

impl Supervisor<'_> {
    /// Meets all ranks, and tells each worker what those have acknowledged whose pools it checks.
    /// Whether the run goes on.
    pub(super) fn meet_and_tell(&mut self) -> bool {
        let told = self.meet(self.watch.acknowledged.take(), |mut all, more| {
            all.extend(more);
            all
        });
        told.map(|told| self.watch.acknowledged.publish(told))
            .is_some()
    }

    /// What all ranks bring to a border, merged in their order: at once where this process is
    /// alone. Nothing where the run is not to go on, because a rank stops or is lost.
    pub(super) fn meet<T: Serialize + DeserializeOwned + Send + 'static>(
        &mut self,
        own: T,
        merge: impl FnMut(T, T) -> T + Send + 'static,
    ) -> Option<T> {
        let Some(ranks) = self.waiter.control.ranks() else {
            return Some(own);
        };
        if self.waiter.control.is_stopping() {
            // The others may be at another border. They hear of it.
            return None;
        }
        let mut meeting = ranks.begin(own, merge);
        loop {
            let limit = TELL_EVERY.min(self.machine.until_due(self.now_ns()));
            match meeting.wait(limit) {
                Some(Ok(all)) => return Some(all),
                Some(Err(why)) => {
                    if !matches!(why, CommunicationError::Stopped { .. }) {
                        self.watched.failed.get_or_insert(why.to_string());
                    }
                    self.waiter.control.stop();
                    return None;
                }
                None => {
                    self.watch.owned.life().tick((self.watch.now_ns)());
                    self.machine.second(self.now_ns());
                    self.look_at_place();
                }
            }
        }
    }
}
