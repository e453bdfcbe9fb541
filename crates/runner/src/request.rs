//! A run as asked for.

use std::path::{Path, PathBuf};
use std::time::Duration;

use contract::{Durability, Unsupported};
use record::{ArrivalsAsked, Driven, How, LadderAsked, SteadyAsked};
use workload::Workload;
use workload::arrivals::ArrivalProcess;
use workload::stream::StreamError;

use crate::site::PrepareError;
use crate::waiting::NoAnswer;

/// Where a run's files go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Into a directory of the run's own in each location.
    OwnDirectory,
    /// Into the locations themselves, as the original has it.
    Location,
    /// Nowhere: the storage touches no file system.
    Nowhere,
}

/// A location as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedLocation {
    /// The directory, as said. Empty: the working directory, with names that have no directory before them.
    pub path: PathBuf,
}

impl RequestedLocation {
    /// The directory that is meant.
    pub fn directory(&self) -> &Path {
        if self.path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &self.path
        }
    }
}

/// What is done to the page cache before the transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cache {
    /// Nothing.
    #[default]
    AsIs,
    /// Every file is read once.
    Warm,
    /// Everything is written back, and the system's caches of contents, names and attributes are dropped: root only.
    Cold,
    /// Everything is written back, and the kernel is advised, file by file, that contents are not needed.
    ColdData,
}

impl Cache {
    /// The name that options take.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AsIs => "as-is",
            Self::Warm => "warm",
            Self::Cold => "cold",
            Self::ColdData => "cold-data",
        }
    }
}

/// What errors do to a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum OnError {
    /// The first one ends it.
    #[default]
    Stop,
    /// The one after so many ends it.
    Count(u64),
    /// More than this share of the operations, in percent, end it: judged from the hundredth operation on, and at the end.
    Percent(f64),
}

impl OnError {
    /// Whether so many errors among so many operations are more than what is allowed.
    pub(crate) fn is_exceeded(self, errors: u64, operations: u64) -> bool {
        match self {
            Self::Stop => errors > 0,
            Self::Count(allowed) => errors > allowed,
            Self::Percent(percent) => errors as f64 * 100.0 > percent * operations as f64,
        }
    }
}

impl std::fmt::Display for OnError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stop => f.write_str("stop"),
            Self::Count(count) => write!(f, "{count}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

/// Whether a pool outlives its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keeping {
    /// The pool is left for a later run.
    pub keep: bool,
    /// The pool of an earlier run is taken.
    pub reuse: bool,
}

/// What ends the transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Stop {
    /// Their number, which is the workload's.
    #[default]
    Transactions,
    /// Time, from the end of the warm-up on; or the workload's number, where that is reached before.
    After(Duration),
    /// A steady state, or the last round that is allowed; or the workload's number, where that is reached before.
    Steady(SteadyAsked),
}

/// When transactions are due.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Pace {
    /// A worker's next one when its last one is done.
    #[default]
    Closed,
    /// So many a second of all workers together, whatever becomes of them.
    Open {
        /// Transactions a second.
        rate: f64,
        /// How they arrive.
        arrivals: ArrivalProcess,
    },
}

/// A ladder of loads.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    /// What is climbed. A run climbs rates on its one pool; what needs a pool for each rung is for several runs.
    pub asked: LadderAsked,
    /// How transactions arrive on a rung with a rate.
    pub arrivals: ArrivalProcess,
}

/// How the transactions are driven.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drive {
    /// So long they are performed before they are measured; on a ladder: on each rung.
    pub warm_up: Duration,
    /// What ends them; on a ladder: each rung.
    pub stop: Stop,
    /// When they are due; on a ladder that says so itself.
    pub pace: Pace,
    /// The loads to be climbed one after another.
    pub ladder: Option<Ladder>,
}

impl Drive {
    /// Which segment of the transactions comes after the warm-up.
    pub(crate) fn first_round(&self) -> u32 {
        u32::from(!self.warm_up.is_zero())
    }
}

/// A run as asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The arguments as said.
    pub said: Vec<String>,
    /// The preset that the workload began with.
    pub preset: Option<String>,
    /// The complete workload as meant.
    pub workload: Workload,
    /// One for each of the workload's weights.
    pub locations: Vec<RequestedLocation>,
    /// Where the files go.
    pub place: Place,
    /// Whether every operation's latency is recorded.
    pub latencies: bool,
    /// Whether the steps of operations are timed, too; needs latencies.
    pub steps: bool,
    /// Whether what is done in each second is recorded; needs latencies.
    pub slices: bool,
    /// Whether a target without room is refused.
    pub room_check: bool,
    /// Whether root may work where other users may exchange the target.
    pub trusts_others: bool,
    /// How the transactions are driven.
    pub drive: Drive,
    /// What is synced, and when.
    pub durability: Durability,
    /// Whether contents go past the page cache.
    pub direct: bool,
    /// What is done to the page cache before the transactions.
    pub cache: Cache,
    /// Whether file systems are synced, and that is timed, after each phase.
    pub settle: bool,
    /// Whether the names are checked after the transactions.
    pub check: bool,
    /// Whether the contents of reads are verified.
    pub verify: bool,
    /// What errors do.
    pub on_error: OnError,
    /// Whether each worker is bound to a processor.
    pub pin: bool,
    /// A worker that is in one operation for longer is named; one that is for five times as long ends the run.
    pub stuck_after: Duration,
    /// Whether the pool outlives the run.
    pub keeping: Keeping,
    /// Where acknowledged operations are logged.
    pub journal: Option<PathBuf>,
    /// Whether the streams of private pools are drawn before the run begins, all of them, so that drawing costs nothing
    /// in it. For measuring the tool itself: it takes about 80 bytes an operation.
    pub prepared: bool,
    /// Whether what the program itself costs is measured after the run: the same stream on the null storage.
    pub own_cost: bool,
}

impl Drive {
    /// The same as a record has it.
    fn driven(&self) -> Driven {
        Driven {
            warm_up_ns: ns(self.warm_up),
            for_ns: match self.stop {
                Stop::Transactions | Stop::Steady(_) => None,
                Stop::After(time) => Some(ns(time)),
            },
            arrivals: match self.pace {
                Pace::Closed => None,
                Pace::Open { rate, arrivals } => Some(ArrivalsAsked {
                    per_second: rate,
                    form: arrivals.to_string(),
                }),
            },
            steady: match self.stop {
                Stop::Steady(asked) => Some(asked),
                Stop::Transactions | Stop::After(_) => None,
            },
            ladder: self.ladder.as_ref().map(|ladder| ladder.asked.clone()),
        }
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Request {
    /// The classic run of a workload: no more than the original does.
    pub fn classic(workload: Workload, locations: Vec<RequestedLocation>, place: Place) -> Self {
        Self {
            said: Vec::new(),
            preset: None,
            workload,
            locations,
            place,
            latencies: true,
            steps: false,
            slices: false,
            room_check: true,
            trusts_others: false,
            drive: Drive::default(),
            durability: Durability::None,
            direct: false,
            cache: Cache::AsIs,
            settle: false,
            check: false,
            verify: false,
            on_error: OnError::Stop,
            pin: false,
            stuck_after: Duration::from_secs(60),
            keeping: Keeping::default(),
            journal: None,
            prepared: false,
            own_cost: false,
        }
    }

    /// How the work is to be done, as records and plans have it.
    pub fn how(&self) -> How {
        How {
            driven: self.drive.driven(),
            sizing: None,
            durability: self.durability.to_string(),
            direct: self.direct,
            cache: self.cache.name().to_owned(),
            verify: self.verify,
            on_error: self.on_error.to_string(),
            pinned: self.pin,
            reused: self.keeping.reuse,
            kept: self.keeping.keep,
            settle: self.settle,
            check: self.check,
            steps: self.steps,
            slices: self.slices,
            own_cost: self.own_cost,
            prepared: self.prepared,
            stuck_after_ns: ns(self.stuck_after),
            journal: self.journal.as_ref().map(|path| path.to_string_lossy().into_owned()),
        }
    }
}

/// A run was refused; nothing was touched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The workload cannot be performed.
    #[error(transparent)]
    Workload(#[from] StreamError),
    /// The storage lacks something.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The place cannot be taken.
    #[error(transparent)]
    Place(#[from] PrepareError),
    /// There is no room.
    #[error("{0}")]
    NoRoom(String),
    /// There is not enough memory.
    #[error("{0}")]
    NoMemory(String),
    /// The working directory cannot be found.
    #[error("cannot find the working directory: {0}: give a directory with --at")]
    WorkingDirectory(std::io::Error),
    /// Nothing was answered when the target was looked at.
    #[error("cannot {what} {paths}: {why}")]
    NoAnswer {
        /// What was being done.
        what: &'static str,
        /// To what.
        paths: String,
        /// Why nothing was answered.
        why: NoAnswer,
    },
    /// A path that no system call takes.
    #[error("the path {0:?} has a NUL in it: give another")]
    Nul(PathBuf),
    /// Wishes that contradict one another, or the machine.
    #[error("{0}")]
    Contradiction(String),
}
