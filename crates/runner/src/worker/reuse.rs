//! A pool of an earlier run: its stream is followed as far as that one performed it.

use rundir::manifest::Position;
use workload::{Intent, Phase};

use super::name_check::NamesFound;
use super::state::{Left, Worker};
use crate::clock::Clock as _;
use crate::events::Stage;

/// Of a pool of an earlier run so many files of each worker are looked at, at least where there are
/// as many.
const SAMPLE: u64 = 1_000;

impl Worker {
    /// Takes a pool that an earlier run has left: follows its stream as far as it was performed,
    /// without doing anything, and then checks the pool by count and by sample.
    pub(super) fn take_pool(&mut self, position: Position) -> Result<(), Left> {
        let began_ns = self.tools.clock.now_ns();
        self.follow(Phase::Prepare, u64::MAX, |_| ());
        self.follow(Phase::Transactions, position.intents, |_| ());
        self.report.position.intents = position.intents;
        // Only when all have done so a shared pool is whole.
        self.begins(Stage::Take, 0)?;
        let files = self.tools.source.remaining(Phase::Delete);
        self.look_at_taken((files / SAMPLE).max(1), began_ns)
    }

    /// Follows the stream of a phase for so many intents, without doing anything.
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

    /// Checks a pool that somebody else has made, by every so-and-so-many-th of its names.
    fn look_at_taken(&mut self, every: u64, began_ns: u64) -> Result<(), Left> {
        let mut looked = NamesFound::default();
        self.look_at_names(every, &mut looked)?;
        self.look_at_directories(&mut looked)?;
        self.taken(looked, began_ns)
    }

    /// A pool that somebody else has made was looked at.
    pub(super) fn taken(&mut self, looked: NamesFound, began_ns: u64) -> Result<(), Left> {
        // Any difference is too much: it is not the pool that it says it is.
        if let Some(failed) = looked.first {
            return Err(Left::Failed(failed));
        }
        self.unless_stopping()?;
        self.report.taken = Some(self.end_look(Stage::Take, &looked, began_ns));
        Ok(())
    }
}
