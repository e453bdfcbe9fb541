//! What processes bring to a barrier, and how they wait for one another there.

use std::collections::BTreeMap;
use std::time::Duration;

use record::PhaseRecord;
use serde::{Deserialize, Serialize};

use crate::acknowledged::Acknowledged;

/// What a process brings to a barrier; behind it, what all have brought, merged in their order.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct AtBarrier {
    /// By worker.
    pub acknowledged: BTreeMap<u32, Acknowledged>,
    /// A phase that has come to its end; `None` behind the barrier where it has not everywhere.
    pub phase: Option<PhaseRecord>,
    /// Whether the pool had nothing left for the load.
    pub ran_dry: bool,
    /// A round of a rule of steady state that has ended.
    pub round: Option<Round>,
}

impl AtBarrier {
    /// What two of them have brought.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.acknowledged.extend(other.acknowledged);
        let phases = self.phase.zip(other.phase);
        let rounds = self.round.zip(other.round);
        Self {
            acknowledged: self.acknowledged,
            phase: phases.map(|(one, other)| one.join(other)),
            ran_dry: self.ran_dry | other.ran_dry,
            round: rounds.map(|(one, other)| one.and(other)),
        }
    }
}

/// A round that has ended: transactions a second of the whole, and of each second.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Round {
    pub rate: f64,
    pub seconds: Vec<f64>,
}

impl Round {
    /// What two processes did in it together.
    fn and(self, other: Self) -> Self {
        let seconds = self.seconds.into_iter().zip(other.seconds);
        Self {
            rate: self.rate + other.rate,
            seconds: seconds.map(|(one, other)| one + other).collect(),
        }
    }
}

/// A meeting that was begun.
pub(crate) trait Meeting {
    /// What came of it, once; `None` where that is not known within the limit.
    fn wait(&mut self, limit: Duration) -> Option<Result<AtBarrier, MeetingError>>;
}

/// Why a meeting came to nothing.
#[derive(Debug)]
pub(crate) enum MeetingError {
    /// A process has stopped the run.
    Stopped,
    /// A process is lost, or they are out of step.
    Failed(String),
}

/// The meeting of one process.
pub(crate) struct Done(Option<AtBarrier>);

impl Done {
    pub(crate) fn new(own: AtBarrier) -> Self {
        Self(Some(own))
    }
}

impl Meeting for Done {
    fn wait(&mut self, _: Duration) -> Option<Result<AtBarrier, MeetingError>> {
        self.0.take().map(Ok)
    }
}
