//! The operations of a replay as one stream, in the order of the trace, for planning.

use std::sync::Arc;

use super::step::{Step, Steps};
use crate::intent::{Action, End, Intent, Kept, Phase, PoolState, Stream};
use crate::names::NameKind;

/// The operations of all workers of a replay, as if one worker performed them in the order of the
/// trace.
#[derive(Clone, Debug)]
pub struct ReplayStream {
    steps: Arc<Steps>,
    /// The number of intents that were drawn in each phase.
    drawn: [usize; 3],
    transactions: usize,
}

impl ReplayStream {
    /// Creates the stream of at most `transactions` operations.
    pub fn new(steps: Arc<Steps>, transactions: u64) -> Self {
        let all = steps.all.len();
        Self {
            steps,
            drawn: [0; 3],
            transactions: usize::try_from(transactions).unwrap_or(all).min(all),
        }
    }

    fn len(&self, phase: Phase) -> usize {
        match phase {
            Phase::Prepare => self.steps.prepared.len(),
            Phase::Transactions => self.transactions,
            // A part of the operations leaves another pool, which is not known.
            Phase::Delete if self.transactions < self.steps.all.len() => 0,
            Phase::Delete => self.steps.remaining.len(),
        }
    }
}

impl Stream for ReplayStream {
    fn draw(&mut self, phase: Phase, intent: &mut Intent) -> bool {
        let index = self.drawn[phase as usize];
        if index >= self.len(phase) {
            return false;
        }
        self.drawn[phase as usize] += 1;
        *intent = match phase {
            Phase::Prepare => self.steps.prepared[index].intent(false),
            Phase::Transactions => self.steps.all[index].intent(true),
            Phase::Delete => removal(&self.steps.remaining[index]),
        };
        true
    }

    fn remaining(&self, phase: Phase) -> u64 {
        (self.len(phase) - self.drawn[phase as usize]) as u64
    }

    fn end(&self) -> End {
        End::Complete
    }

    fn transactions_begun(&self) -> u64 {
        self.drawn[Phase::Transactions as usize] as u64
    }

    /// Always returns true, because the operations are already determined.
    fn can_perform_any(&self, _: &PoolState) -> bool {
        true
    }

    fn pool(&self, each: &mut dyn FnMut(Kept)) {
        let removed = self.drawn[Phase::Delete as usize];
        self.steps.remaining[removed..]
            .iter()
            .copied()
            .for_each(each);
    }
}

/// Returns the operation that removes an object at the end of a run.
pub fn removal(kept: &Kept) -> Intent {
    let step = Step {
        action: match kept.kind {
            NameKind::Link => Action::RemoveLink,
            NameKind::SymbolicLink => Action::RemoveSymbolicLink,
            NameKind::Directory | NameKind::Tree => Action::RemoveDirectory,
            NameKind::File | NameKind::Temporary => Action::Delete,
        },
        place: kept.place,
        size_bytes: kept.size_bytes,
        version: kept.version,
        ..Step::NOTHING
    };
    let is_file = kept.kind == NameKind::File;
    Intent {
        number: kept.number,
        file: if is_file { kept.file } else { 0 },
        other: if is_file { 0 } else { kept.file },
        ..step.intent(false)
    }
}
