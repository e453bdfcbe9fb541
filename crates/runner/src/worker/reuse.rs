//! Reuses the pool of an earlier run. To reconstruct the pool's state, the stream of that run is
//! drawn up to the position that the run reached.

use rundir::manifest::Position;
use workload::{Intent, Phase};

use super::name_check::NamesFound;
use super::state::{Left, Worker};
use crate::clock::Clock as _;
use crate::events::Stage;

/// Minimum number of names that each worker checks in a reused pool. All names are checked in a
/// pool that contains fewer.
const SAMPLE: u64 = 1_000;

impl Worker {
    /// Takes over the pool of an earlier run. Draws the stream of that run up to the recorded
    /// position, without performing operations. Then checks the listings of directories and a
    /// sample of names.
    pub(super) fn take_pool(&mut self, position: Position) -> Result<(), Left> {
        let began_ns = self.tools.clock.now_ns();
        self.follow(Phase::Prepare, u64::MAX, |_| ());
        self.follow(Phase::Transactions, position.intents, |_| ());
        self.report.position.intents = position.intents;
        // A shared pool is complete only after all workers have drawn their streams.
        self.begins(Stage::Take, 0)?;
        let files = self.tools.source.remaining(Phase::Delete);
        self.look_at_taken((files / SAMPLE).max(1), began_ns)
    }

    /// Draws at most `left` intents of a phase without performing them.
    pub(super) fn follow(&mut self, phase: Phase, mut left: u64, mut each: impl FnMut(&Intent)) {
        let mut intent = Intent::NOTHING;
        while left > 0 && !self.tools.control.is_stopping() {
            if !self.tools.source.draw(phase, &mut intent, 0, true) {
                break;
            }
            if self.tools.source.is_pure() {
                self.config.hasher.take(&intent);
            }
            self.tools.source.completed(0, &intent, true);
            each(&intent);
            left -= 1;
        }
    }

    /// Checks every `every`-th name of a pool that another run or worker prepared, and all of the
    /// pool's directories.
    fn look_at_taken(&mut self, every: u64, began_ns: u64) -> Result<(), Left> {
        let mut looked = NamesFound::default();
        self.look_at_names(every, &mut looked)?;
        self.look_at_directories(&mut looked)?;
        self.taken(looked, began_ns)
    }

    /// Ends the check of a pool that another run or worker prepared.
    pub(super) fn taken(&mut self, looked: NamesFound, began_ns: u64) -> Result<(), Left> {
        // A single difference fails the run, because it shows that the pool is not the recorded
        // one.
        if let Some(failed) = looked.first {
            return Err(Left::Failed(failed));
        }
        self.unless_stopping()?;
        self.report.taken = Some(self.end_look(Stage::Take, &looked, began_ns));
        Ok(())
    }
}
