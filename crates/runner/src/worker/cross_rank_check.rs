//! The check across ranks: what a worker of another rank has acknowledged must be seen here, too.

use std::collections::VecDeque;

use workload::{Action, End, Intent, Kept, Phase};

use super::config::OtherPool;
use super::name_check::NamesFound;
use super::state::{Left, Worker};
use crate::clock::Clock as _;
use crate::events::Stage;

/// Of the names that a worker has removed so many are asked for, the last ones.
const REMOVED_MAX: usize = 10_000;
/// Of shared pools so many names of all ranks are looked at by others.
const SAMPLE_OF_ALL: u64 = 65_536;

impl Worker {
    /// Looks at what another worker has acknowledged in its transactions: every name and every
    /// content that is there, and the names that it has removed last; of a shared pool at some.
    pub(super) fn check_across(&mut self, other: OtherPool) -> Result<(), Left> {
        let began_ns = self.tools.clock.now_ns();
        let sample = (!self.tools.source.is_pure()).then(|| self.sample_of_all());
        let theirs = self.hear_of(&other, Stage::CheckAcross, sample)?;
        let own = self.enter(other, theirs.spoiled)?;
        let mut removed = VecDeque::new();
        if self.tools.source.is_pure() {
            self.follow(Phase::Prepare, u64::MAX, |_| ());
            self.follow(Phase::Transactions, theirs.intents, |intent| {
                if removes(intent) {
                    if removed.len() == REMOVED_MAX {
                        removed.pop_front();
                    }
                    removed.push_back((intent.place, intent.action.named(), intent.number));
                }
            });
        }
        let mut looked = NamesFound::default();
        let left = self.look_patiently(theirs.sample.as_deref(), &removed, &mut looked);
        drop(self.swap(own));
        left?;
        self.unless_stopping()?;
        self.report.check_across = Some(looked.ended(&self.tools.clock, began_ns));
        self.rendezvous.ended(
            Stage::CheckAcross,
            (looked.check.names, looked.check.names),
            End::Complete,
        );
        Ok(())
    }

    /// Its part of the names of shared pools that other ranks look at, from all over its share.
    fn sample_of_all(&self) -> Vec<Kept> {
        let most = (SAMPLE_OF_ALL / u64::from(self.tools.others.workers)).max(1);
        let mut share = 0_u64;
        self.tools.source.pool(false, &mut |_| share += 1);
        let every = share.div_ceil(most).max(1);
        let mut sample = Vec::new();
        let mut seen = 0;
        self.tools.source.pool(false, &mut |kept| {
            if seen % every == 0 {
                sample.push(kept);
            }
            seen += 1;
        });
        sample
    }
}

/// Whether a name is gone when an intent is done.
fn removes(intent: &Intent) -> bool {
    matches!(
        intent.action,
        Action::Delete | Action::Rename | Action::RemoveLink | Action::RemoveSymbolicLink
    )
}
