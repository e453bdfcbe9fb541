//! The barrier between phases, where workers wait for each other and for the supervisor.

use measure::Slice;
use workload::{Action, End, Role};

use super::report::PhaseReport;
use crate::events::Stage;

/// The barrier between phases, and the reports to the supervisor.
pub(crate) trait Rendezvous {
    /// Waits until a stage may start, in which this worker has `total` items.
    fn begins(&mut self, stage: Stage, total: u64) -> Answer;

    /// Answers a request for a sample with the number of files, and some of them by directory and
    /// number. Then waits.
    fn samples(&mut self, sample: (u64, Vec<(u32, u64)>)) -> Answer;

    /// Reports the regular end of a stage with its numbers of done and completed items.
    fn ended(&mut self, stage: Stage, done: (u64, u64), end: End);

    /// Reports the operations of one second.
    fn slice(&mut self, role: Role, slice: Slice<Action>);

    /// Reports the results of a phase, whatever its end. They are sent at once, so that they are
    /// kept even if the worker later hangs.
    fn reports(&mut self, phase: PhaseReport);
}

/// The supervisor's answer to a waiting worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The stage starts.
    Go,
    /// No further load follows, so the stage is skipped.
    Past,
    /// Requests a sample of files before the stage: at most this many, and about a hundredth.
    Sample(u64),
    /// The run ends.
    Stop,
}

impl Answer {
    pub(crate) fn go_if(goes_on: bool) -> Self {
        if goes_on { Self::Go } else { Self::Stop }
    }
}
