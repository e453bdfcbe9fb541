//! `--neighbour`: transactions on the pool that another worker has prepared.

use std::collections::VecDeque;

use workload::Phase;

use super::config::OtherPool;
use super::name_check::NamesFound;
use super::state::{Left, Worker};
use crate::clock::Clock as _;
use crate::events::Stage;

impl Worker {
    /// Leaves the pool that it has prepared for that of another worker, and looks at all of its
    /// names there: how long it takes until what is acknowledged there is seen here.
    pub(super) fn turn_to(&mut self, other: OtherPool) -> Result<(), Left> {
        let began_ns = self.tools.clock.now_ns();
        let theirs = self.hear_of(&other, Stage::Take, None)?;
        drop(self.enter(other, theirs.spoiled)?);
        self.follow(Phase::Prepare, u64::MAX, |_| ());
        if !self.tools.source.is_pure() {
            // Only when all have done so a shared pool is whole.
            self.begins(Stage::Take, 0)?;
        }
        let mut looked = NamesFound::default();
        self.look_patiently(None, &VecDeque::new(), &mut looked)?;
        self.taken(looked, began_ns)
    }
}
