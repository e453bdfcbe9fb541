//! Messages that the processes of one run exchange.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use ::ranks::CommunicationError;
use record::{Origin, PhaseRecord};
use rundir::manifest::{FirstRank, Position};
use rundir::worker_status::PartlyWritten;
use serde::{Deserialize, Serialize};

use crate::acknowledged::Acknowledged;

/// Data that a process sends when it enters a barrier. Every process receives the data of all
/// processes, merged in the order of ranks.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct AtBarrier {
    pub acknowledged: BTreeMap<u32, Acknowledged>,
    /// A phase that this process completed. After the barrier, the phase merged from all processes;
    /// `None` if any process did not complete the phase.
    #[serde(with = "record::sent")]
    pub phase: Option<PhaseRecord>,
    /// Whether the pool ran empty while the load was applied.
    pub ran_dry: bool,
    /// A completed round for the steady-state rule.
    pub round: Option<Round>,
}

impl AtBarrier {
    /// Merges the data of two processes.
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

/// Transactions a second in a completed round: the average, and the rate in each second.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Round {
    pub rate: f64,
    pub seconds: Vec<f64>,
}

impl Round {
    /// Sums the rates of two processes.
    fn and(self, other: Self) -> Self {
        let seconds = self.seconds.into_iter().zip(other.seconds);
        Self {
            rate: self.rate + other.rate,
            seconds: seconds.map(|(one, other)| one + other).collect(),
        }
    }
}

/// A barrier that this process has entered and that may not be complete.
#[derive(Debug)]
pub(crate) enum Meeting {
    /// The run has only one process, and this is its data.
    Alone(Option<Box<AtBarrier>>),
    Ranks(::ranks::Meeting<AtBarrier>),
}

impl Meeting {
    /// Returns the merged data once all processes have entered the barrier, or `None` if that takes
    /// longer than `limit`. The error is the reason why the run cannot continue, or `None` if one
    /// of the processes stops the run.
    pub(crate) fn wait(&mut self, limit: Duration) -> Option<Result<AtBarrier, Option<String>>> {
        match self {
            Self::Alone(own) => own.take().map(|own| Ok(*own)),
            Self::Ranks(meeting) => Some(meeting.wait(limit)?.map_err(|why| match why {
                CommunicationError::Stopped { .. } => None,
                why => Some(why.to_string()),
            })),
        }
    }
}

/// State of all processes at the end of a run. This state determines how the run's files are
/// removed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct EndState {
    /// Whether all processes completed the run.
    pub complete: bool,
    /// Whether a worker hangs in a call, or a rank is lost. In this case the run's files must not
    /// be touched, because an operation may still be in progress.
    pub abandoned: bool,
    pub any_spoiled: bool,
    pub partly_written: PartlyWritten,
    pub set_back_ns: i64,
    /// Whether every process completed the run or was interrupted.
    pub is_whole: bool,
    /// Positions in the streams of all workers; `None` if any position is unknown.
    pub positions: Option<Vec<Position>>,
    pub names: u64,
    pub in_use: bool,
    pub latest_ns: i64,
}

impl EndState {
    /// Merges the states of two processes.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.complete &= other.complete;
        self.abandoned |= other.abandoned;
        self.any_spoiled |= other.any_spoiled;
        self.partly_written.extend(other.partly_written);
        self.set_back_ns = self.set_back_ns.max(other.set_back_ns);
        self.is_whole &= other.is_whole;
        self.positions = self
            .positions
            .zip(other.positions)
            .map(|(one, other)| [one, other].concat());
        self.names += other.names;
        self.in_use |= other.in_use;
        self.latest_ns = self.latest_ns.max(other.latest_ns);
        self
    }
}

/// The directories of a run with several processes, as determined by the first one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PlaceOfAll {
    /// The locations of the run, each with its path for messages, its directory, and the index of
    /// that directory.
    pub locations: Vec<(PathBuf, PathBuf, usize)>,
    /// For each directory, the first rank as its manifest records it; empty for a run without
    /// files.
    pub owners: Vec<FirstRank>,
    /// Positions in the streams of all workers for the reused pool of an earlier run; empty if no
    /// pool is reused.
    pub positions: Vec<Position>,
}

/// The origin of a run's timestamps, on this process's clock.
#[derive(Clone, Debug)]
pub(crate) struct OneClock {
    pub origin: Origin,
    /// Offset of this process's clock from that of the first process; `None` for a single process.
    pub own: Option<record::ranks::RankClock>,
}
