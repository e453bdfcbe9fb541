//! The record of a run. All times of events are nanoseconds since the run's origin, by a monotonic
//! clock.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::{Note, RunSpec};
use system::{Clocks, DurabilityFacts, Fact, Host, Target};
use workload::{Action, End, Fingerprint, Phase, StreamHash};

use crate::classic::ClassicFigures;
use crate::id::RunId;
use crate::overhead::Overhead;
use crate::ranks::ClusterRecord;
use crate::server::{ServerRecord, ServerTotals};
use crate::sizing::Sizing;
use crate::stale::Stale;
use crate::study::StudyPart;

pub use crate::during::SystemDuring;
pub use crate::outcome::Outcome;
pub use crate::phase::{
    ClaimWaits, ComputeRecord, FirstDone, OperationRecord, PhaseRecord, PhaseSync, Segment,
    SegmentKind, SlowOperation, SlowStep, SlowestRecord, StepRecord, WorkerPhase,
};
pub use crate::room::{Room, RoomVolume};
pub use crate::tool::Tool;

/// Version of the schema that this program writes.
pub const SCHEMA_VERSION: u32 = 1;

/// A location that contains a part of the pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LocationRecord {
    /// Weight of the location: its relative share of the files.
    pub weight: u32,
    /// Directory that contains the files of this location.
    pub directory: String,
    /// Facts about the target at the start; not applicable if the I/O engine uses no file system.
    pub target: Fact<Target>,
    /// Settings that decide whether data written to this location is durable; null if the I/O
    /// engine uses no file system.
    pub durability: Option<DurabilityFacts>,
    /// The server that the I/O engine contacted itself; absent for other I/O engines. The kernel of
    /// this machine has no facts about a location on such a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerRecord>,
}

/// The check of names after the transactions: whether exactly the expected files exist, with the
/// expected sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Number of files, links and directories that were checked.
    pub names: u64,
    /// Number of directories whose entries were compared with the expected names.
    pub directories: u64,
    /// Number of names and directories that were wrong. Each also counts as an error.
    pub wrong: u64,
    /// Number of names that were not checked: an operation on them had failed, so they may or may
    /// not exist.
    pub left_out: u64,
    /// Time that the check took, in nanoseconds; the longest time of a worker if several workers
    /// checked at the same time.
    pub duration_ns: u64,
}

/// A worker whose operation did not return for longer than `stall_timeout_ns` of the run spec, or,
/// while the run was stopping, for more than a few seconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stalled {
    /// Number of the worker; null for the run itself, between phases.
    pub worker: Option<u32>,
    /// The operation, or an action of the run itself.
    pub operation: String,
    /// Path of the file or directory that the operation used.
    pub path: String,
    /// Duration of the operation, in nanoseconds. If the operation did not return, this is its age
    /// when the run last checked it.
    pub ns: u64,
    /// False if the operation had not returned when the record was written.
    pub came_back: bool,
}

/// Errors with the same operation, call and error number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorRecord {
    /// The failed operation, or an action of the run itself.
    pub operation: String,
    /// The failed call within the operation, such as `write`.
    pub step: String,
    /// Error number of the system. Not applicable if the system returned none.
    pub errno: Fact<i32>,
    /// Description of the error, such as `No space left on device`.
    pub message: String,
    /// Number of errors with this operation, call and error number. All other fields describe the
    /// first of these errors.
    pub count: u64,
    /// Path that the first failed operation used.
    pub first_path: String,
    /// Bytes that the first failed operation had read or written before it failed.
    pub moved_bytes: Fact<u64>,
}

/// A file or directory that was not removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Left {
    /// Path of the file or directory; `and N more` stands for paths that are not listed.
    pub path: String,
    /// Reason why it was not removed, for example that another file had replaced it.
    pub why: String,
}

/// The removal of files after an unfinished run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CleanUp {
    /// Number of removed files and links.
    pub files: u64,
    /// Number of removed directories: those in the pool, and those that the run created for itself.
    pub directories: u64,
    /// Files and directories that were not removed, although their names have the form of the run's
    /// names.
    pub left: Vec<Left>,
    /// Whether the run created, or may have created, some of the remaining files. If so, the run's
    /// manifest remains as well.
    #[serde(default)]
    pub incomplete: bool,
}

/// The load of one level of a sweep, such as `"closed"` or `{"rate": 5000.0}`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// A closed loop: a worker starts its next operation when an earlier one has completed.
    Closed,
    /// An open loop; the value is the offered rate, in transactions per second.
    Rate(f64),
    /// A closed loop; the value is the number of workers of each rank.
    Workers(u32),
    /// A closed loop; the value is the number of ranks, each with its workers.
    Ranks(u32),
    /// A phase of the workload with its own load; the value is its position, from 0.
    Phase(u32),
}

impl Load {
    /// Returns the offered rate of an open loop, in transactions per second.
    pub fn rate(self) -> Option<f64> {
        match self {
            Self::Rate(rate) => Some(rate),
            Self::Closed | Self::Workers(_) | Self::Ranks(_) | Self::Phase(_) => None,
        }
    }

    /// Returns the number of workers of each rank; `None` unless the sweep varies this number.
    pub fn workers(self) -> Option<u32> {
        match self {
            Self::Workers(workers) => Some(workers),
            Self::Closed | Self::Rate(_) | Self::Ranks(_) | Self::Phase(_) => None,
        }
    }

    /// Returns the value of `Workers` or `Ranks`; `None` for all other loads.
    pub fn count(self) -> Option<u32> {
        match self {
            Self::Workers(count) | Self::Ranks(count) => Some(count),
            Self::Closed | Self::Rate(_) | Self::Phase(_) => None,
        }
    }

    /// Returns the offered rate, or the number of workers or ranks; `None` for a closed loop
    /// without such a number, and for a phase.
    pub fn value(self) -> Option<f64> {
        self.rate().or(self.count().map(f64::from))
    }
}

/// One load level of a sweep, performed by the run of the record or by a separate run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepStep {
    /// Requested load: a closed loop, a rate, a number of workers or ranks, or a phase.
    pub load: Load,
    /// Name of the phase of the workload, such as `unpack`; absent for a load level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Number of workers that performed operations.
    pub workers: u32,
    /// Phases of the load level. A level with its own pool has all phases; any other level has only
    /// the transactions. Times count from the origin of the run that performed the level.
    pub phases: Vec<PhaseRecord>,
    /// The separate run that performed the level. Null if one run performed all levels, and for the
    /// first level, whose run the record itself describes.
    pub of_run: Option<Box<SweepStepRun>>,
}

/// Facts about the separate run that performed a load level. The run's phases are in the load level
/// itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepStepRun {
    /// Hash of this run's workload and its first operations. It depends on the number of workers.
    pub fingerprint: Fingerprint,
    /// The start of this run, from which the times in the run's phases count.
    pub origin: Origin,
    /// Changes of the machine's counters from the start to the end of this run.
    pub during: SystemDuring,
    /// The check for enough space; null if the I/O engine uses no space.
    pub room: Option<Room>,
}

impl SweepStep {
    /// Returns the phase of transactions; `None` if the load level did not reach this phase.
    pub fn transactions(&self) -> Option<&PhaseRecord> {
        self.phases
            .iter()
            .find(|phase| phase.phase == Phase::Transactions)
    }
}

/// Results of a run, as opposed to its run spec.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Actual {
    /// How the run ended. `unfinished` in a record that was written before the end.
    pub outcome: Outcome,
    /// Why the transactions ended. Unavailable if the run did not reach the end of its
    /// transactions.
    pub end: Fact<End>,
    /// Hash of the whole stream of operations; unavailable if not all operations were performed.
    pub stream_hash: Fact<StreamHash>,
    /// Phases that were started, in order; the transactions of a sweep are in its load levels.
    pub phases: Vec<PhaseRecord>,
    /// Load levels of a sweep, in the order in which they were performed.
    pub sweep_steps: Vec<SweepStep>,
    /// Errors, by operation, call and error number.
    pub errors: Vec<ErrorRecord>,
    /// The check of names after the transactions.
    pub check: Fact<Check>,
    /// The cross-rank check of the names that the transactions of other ranks left; absent if it
    /// was not performed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check_across: Option<Check>,
    /// The check of a pool that an earlier run or another rank created. A pool of an earlier run is
    /// checked only by count and by sample. Null if this rank created the pool.
    pub taken: Option<Check>,
    /// Operations that another rank did not see at once. Absent if all operations were seen at
    /// once, or if no operation was checked by another rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<Stale>,
    /// Workers whose operation did not return for a long time.
    pub stalled: Vec<Stalled>,
    /// Numbers of the original PostMark's report; null for workloads other than the classic one, or
    /// if the first worker did not start.
    pub classic: Option<ClassicFigures>,
    /// Removal of files after an unfinished run; null if the run completed, or kept its pool.
    pub clean_up: Option<CleanUp>,
    /// Overhead of the program, measured by repeating the stream on the I/O engine `null`.
    pub overhead: Fact<Overhead>,
    /// All communication with servers; absent if the I/O engine contacts no server itself. For a
    /// sweep of several runs, only the communication of the first run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<ServerTotals>,
}

/// Returns the fact for a value that is unknown before the end of the run; not applicable if the
/// value was not requested.
fn not_yet<T>(is_asked: bool) -> Fact<T> {
    if is_asked {
        Fact::Unavailable("the program was killed before the run ended".to_owned())
    } else {
        Fact::NotApplicable
    }
}

impl Actual {
    /// Creates the results of a run before anything was performed. Requested values are
    /// unavailable, because the run has not ended.
    pub fn unfinished(check: bool, overhead: bool) -> Self {
        Self {
            outcome: Outcome::Unfinished,
            end: not_yet(true),
            stream_hash: not_yet(true),
            phases: Vec::new(),
            sweep_steps: Vec::new(),
            errors: Vec::new(),
            check: not_yet(check),
            check_across: None,
            taken: None,
            stale: None,
            stalled: Vec::new(),
            classic: None,
            clean_up: None,
            overhead: not_yet(overhead),
            traffic: None,
        }
    }

    /// Whether the run was interrupted, failed, was killed, or has not ended yet.
    pub fn is_partial(&self) -> bool {
        self.outcome != Outcome::Complete
    }

    /// Returns the phase; `None` if it was not started. A sweep's transactions are in
    /// `sweep_steps`.
    pub fn phase(&self, phase: Phase) -> Option<&PhaseRecord> {
        self.phases.iter().find(|record| record.phase == phase)
    }

    /// Iterates over the phases of the run and of a sweep's load levels.
    pub fn all_phases(&self) -> impl Iterator<Item = &PhaseRecord> {
        let of_steps = self.sweep_steps.iter().flat_map(|step| &step.phases);
        self.phases.iter().chain(of_steps)
    }

    /// Iterates over the phase `transactions` of the run, or over those of a sweep's load levels.
    pub fn transactions(&self) -> impl Iterator<Item = &PhaseRecord> {
        self.all_phases()
            .filter(|phase| phase.phase == Phase::Transactions)
    }
}

/// The common start of all workers, from which the times in the record count. The monotonic clock
/// counts from the boot that `host.boot_id` identifies. The source of this clock is
/// `during.clocks.clock_source_before`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// The monotonic clock (`CLOCK_MONOTONIC`), in nanoseconds.
    pub monotonic_ns: i64,
    /// The wall clock (`CLOCK_REALTIME`) at the same moment, in nanoseconds since 1970.
    pub unix_ns: i64,
    /// Maximum error of the difference between the two clocks, in nanoseconds. The clocks cannot be
    /// read at the same instant.
    pub uncertainty_ns: u64,
}

impl Origin {
    /// Returns the time of the wall clock in nanoseconds since 1970, for lists of runs; 0 for a
    /// time before 1970.
    pub fn begun_unix_ns(&self) -> u64 {
        u64::try_from(self.unix_ns).unwrap_or(0)
    }
}

impl From<&Clocks> for Origin {
    fn from(clocks: &Clocks) -> Self {
        Self {
            monotonic_ns: clocks.monotonic_ns,
            unix_ns: clocks
                .monotonic_ns
                .saturating_add(clocks.wall_minus_monotonic_ns),
            uncertainty_ns: clocks.uncertainty_ns,
        }
    }
}

/// The record of one run: its spec, its machine and its results. Reports are computed from the
/// record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// Version of this schema. Programs reject records with newer versions than their own.
    #[schemars(extend("const" = SCHEMA_VERSION))]
    pub schema: u32,
    /// Identity of the run: 128 bits, as 32 hexadecimal digits.
    pub id: RunId,
    /// Program that wrote the record.
    pub tool: Tool,
    /// The run spec, including options that the user did not set.
    pub spec: RunSpec,
    /// How the numbers of files and transactions were chosen; null if the options stated them.
    pub sizing: Option<Sizing>,
    /// Facts about the locations of the pool, in order.
    pub locations: Vec<LocationRecord>,
    /// Hash of the workload and its first operations. Runs with equal fingerprints have the same
    /// operations.
    pub fingerprint: Fingerprint,
    /// The start of the run's workers, from which the times in the record count.
    pub origin: Origin,
    /// Facts about the machine, read at the start.
    pub host: Host,
    /// Changes of the machine's counters from the start to the end of the run.
    pub during: SystemDuring,
    /// The check for enough space; null if the I/O engine uses no space.
    pub room: Option<Room>,
    /// The ranks that performed the run, and their hosts; absent for a run of one process. With
    /// several ranks, `host` and `during` are those of the first rank's host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterRecord>,
    /// Kinds of operations that the I/O engine performed by system calls, because its interface
    /// (such as io_uring of this kernel) has no request for them. Absent if there are no such
    /// operations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plain_operations: Vec<Action>,
    /// Results of the run, as opposed to its run spec in `spec`.
    pub actual: Actual,
    /// Notes on options whose resolved values may surprise the user.
    pub hints: Vec<Note>,
    /// The study to which the run belongs, and the run's position in the study; absent outside of
    /// studies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<StudyPart>,
}

impl Record {
    /// Iterates over the targets whose facts are known.
    pub fn targets(&self) -> impl Iterator<Item = &Target> + Clone {
        let targets = self.locations.iter();
        targets.filter_map(|location| location.target.known())
    }
}
