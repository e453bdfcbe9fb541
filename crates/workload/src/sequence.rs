//! The phases of a mix as parts of its stream, and the position of a walk.

use crate::intent::Action;
use crate::mix::Mix;
use crate::mixer::Mixer;
use crate::phases::{PhaseOperations, PhaseWork};
use crate::popularity::Popularity;

/// The phases of a stream that have not begun; empty for a workload with a single mix.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sequence {
    pub(crate) phases: Vec<Part>,
    /// The number of phases that have begun.
    pub(crate) begun: usize,
    /// Whether the stream continues with the next phase by itself, as for a plan. In a run, the
    /// worker begins each phase.
    pub(crate) runs_on: bool,
    pub(crate) is_shuffled: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) mixers: Vec<Mixer>,
    /// The action of a walk; `None` for a phase that draws its operations.
    pub(crate) walks: Option<Action>,
    /// The number of operations; [`crate::Workload::ENDLESS`] if a walk or a time ends the phase.
    pub(crate) transactions: u64,
}

/// A walk of the pool in directory order. Its position is the number of its operations.
#[derive(Clone, Debug)]
pub(crate) enum Walk {
    /// The positions of the files in the pool, in the order of their directories and names.
    Files(Vec<u64>),
    /// The pool lies in reverse order, so that the last file is the next one.
    LastFile,
    /// New files fill the directories one after the other; the value is their number.
    NewFiles(u64),
    /// The directories in the order of their numbers.
    Directories,
    /// The directories that trees are copies of, in the order of their numbers.
    CopiedDirectories,
    /// The trees, with the oldest first.
    OldestTree,
}

impl Sequence {
    pub(crate) fn new(mix: &Mix, mixers: &[Mixer]) -> Self {
        let part = |phase: &PhaseWork| {
            let weights = phase.operations.weights();
            let of_phase = |mixer: &Mixer| mixer.with_weights(mix, &weights);
            Part {
                mixers: mixers.iter().map(of_phase).collect(),
                walks: match phase.operations {
                    PhaseOperations::Walk(action) => Some(action),
                    PhaseOperations::Mix(_) => None,
                },
                transactions: phase.transactions,
            }
        };
        Self {
            phases: mix.phases.iter().map(part).collect(),
            begun: 0,
            runs_on: true,
            is_shuffled: mix.popularity == Popularity::Shuffled,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.phases.is_empty()
    }
}
