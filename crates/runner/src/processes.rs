//! What the processes of one run tell one another.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use ::ranks::CommunicationError;
use record::{Origin, PhaseRecord};
use rundir::manifest::{FirstRank, Position};
use rundir::worker_status::PartlyWritten;
use serde::{Deserialize, Serialize};

use crate::acknowledged::Acknowledged;

/// What a process brings to a barrier; behind it, what all have brought, merged in their order.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct AtBarrier {
    /// By worker.
    pub acknowledged: BTreeMap<u32, Acknowledged>,
    /// A phase that has come to its end; `None` behind the barrier where it has not everywhere.
    #[serde(with = "record::sent")]
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

/// A meeting at a barrier that was begun.
#[derive(Debug)]
pub(crate) enum Meeting {
    /// Of one process, with what it has brought.
    Alone(Option<Box<AtBarrier>>),
    Ranks(::ranks::Meeting<AtBarrier>),
}

impl Meeting {
    /// What came of it, once; `None` where that is not known within the limit. An error says why
    /// the run cannot go on, and nothing where one of the processes stops it.
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

/// What must be known of the work of all processes before the place is left.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct EndState {
    /// All of them have come to their end.
    pub complete: bool,
    /// Somebody did not come back, or is lost: nothing is to be touched.
    pub abandoned: bool,
    pub any_spoiled: bool,
    pub partly_written: PartlyWritten,
    pub set_back_ns: i64,
    /// All of them have come to their end, or were interrupted.
    pub is_whole: bool,
    /// By worker; nothing where that is not known of all.
    pub positions: Option<Vec<Position>>,
    pub names: u64,
    pub in_use: bool,
    pub latest_ns: i64,
}

impl EndState {
    /// Of two processes.
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

/// Where the files of a run with several processes lie, as the first of them has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PlaceOfAll {
    /// By location: its path as messages give it, its directory, and the number of that.
    pub locations: Vec<(PathBuf, PathBuf, usize)>,
    /// By directory, whose it is; none of a storage that touches no file system.
    pub owners: Vec<FirstRank>,
    /// By worker of all, how far a pool of an earlier run is; empty where there is none.
    pub positions: Vec<Position>,
}

/// Where the moments of a run count from, on this process's clock.
#[derive(Clone, Debug)]
pub(crate) struct OneClock {
    pub origin: Origin,
    /// How its clock is against that of the first process, where there are several.
    pub own: Option<record::ranks::RankClock>,
}
