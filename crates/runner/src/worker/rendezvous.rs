//! The barrier between phases, where workers wait for each other and for the supervisor.

use measure::Slice;
use workload::{Action, End, Role};

use super::report::PhaseReport;
use crate::events::Stage;

/// The barrier between phases, and the reports to the supervisor.
pub(crate) trait Rendezvous {
    /// Waits until a stage may start. `total` is the number of items that this worker will process
    /// in the stage.
    fn begins(&mut self, stage: Stage, total: u64) -> Answer;

    /// Answers a request for a sample, then waits. `sample` contains the number of the worker's
    /// files, and the directory index and number of each sampled file.
    fn samples(&mut self, sample: (u64, Vec<(u32, u64)>)) -> Answer;

    /// Reports the regular end of a stage. `done` contains the number of items done, including
    /// failed ones, and the number of completed items.
    fn ended(&mut self, stage: Stage, done: (u64, u64), end: End);

    /// Reports the operations of one second of the current phase.
    fn slice(&mut self, role: Role, slice: Slice<Action>);

    /// Reports the results of a phase, even if it ended early. The results are sent at once, so
    /// that they are not lost if the worker later hangs.
    fn reports(&mut self, phase: PhaseReport);
}

/// The supervisor's answer to a waiting worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The worker starts the stage.
    Go,
    /// The worker skips the stage, because no further load follows.
    Past,
    /// The worker sends a sample of its files before the stage: about a hundredth of them, but at
    /// most this number.
    Sample(u64),
    /// The worker stops, because the run ends.
    Stop,
}

impl Answer {
    pub(crate) fn go_if(goes_on: bool) -> Self {
        if goes_on { Self::Go } else { Self::Stop }
    }
}
