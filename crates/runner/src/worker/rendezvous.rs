//! Meeting the other workers, and those who decide, at the borders of phases.

use measure::Slice;
use workload::{Action, End, Role};

use super::report::PhaseReport;
use crate::events::Stage;

/// Meeting the other workers, and those who decide, at the borders of phases.
pub(crate) trait Rendezvous {
    /// A stage is about to begin, in which this worker has so much to do: waits until it may.
    fn begins(&mut self, stage: Stage, total: u64) -> Answer;

    /// Files were asked for: how many there are, and some of them by their places and numbers.
    /// Waits on.
    fn samples(&mut self, sample: (u64, Vec<(u32, u64)>)) -> Answer;

    /// A stage has ended well, after so many files, transactions or directories, and so many of
    /// them completed.
    fn ended(&mut self, stage: Stage, done: (u64, u64), end: End);

    /// What was done in a second.
    fn slice(&mut self, role: Role, slice: Slice<Action>);

    /// What was done in a phase, however it ended: told at once, so that it is there even if the
    /// worker is not.
    fn reports(&mut self, phase: PhaseReport);
}

/// Whether a stage may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It does.
    Go,
    /// There is no more of it: no load follows.
    Past,
    /// Before it is known, some files of the pool are asked for: at most so many, and about a
    /// hundredth.
    Sample(u64),
    /// The run is over.
    Stop,
}

impl Answer {
    pub(crate) fn go_if(goes_on: bool) -> Self {
        if goes_on { Self::Go } else { Self::Stop }
    }
}
