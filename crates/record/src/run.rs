//! The record of a run, as it is written and read. Moments are nanoseconds of a monotonic clock
//! since the run's origin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::{Note, RunSpec};
use system::{Clocks, DurabilityFacts, Fact, Host, Target};
use workload::{End, Fingerprint, Phase, StreamHash};

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
    ClaimWaits, FirstDone, OperationRecord, PhaseRecord, PhaseSync, Segment, SegmentKind,
    SlowOperation, SlowStep, SlowestRecord, StepRecord, WorkerPhase,
};
pub use crate::room::{Room, RoomVolume};
pub use crate::tool::Tool;

/// The version of the schema that this program writes.
pub const SCHEMA_VERSION: u32 = 1;

/// Where a part of the pool lies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LocationRecord {
    /// Its share of the files.
    pub weight: u32,
    /// The directory that the files were in.
    pub directory: String,
    /// The place's facts at the start; nothing where the storage touches none.
    pub target: Fact<Target>,
    /// What decides whether data that was written there is durable; nothing where the storage
    /// touches no file system.
    pub durability: Option<DurabilityFacts>,
    /// The server that the storage spoke to by itself; nothing where there is none. With one, the
    /// kernel of this machine does not know the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerRecord>,
}

/// The look at the names after the transactions: whether exactly the files that should exist do,
/// with their sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Files, links and directories that were looked at.
    pub names: u64,
    /// Directories that were listed.
    pub directories: u64,
    /// Names and directories that were not as they should be: each is an error, too.
    pub wrong: u64,
    /// Names that may be there or not, since an operation on them failed: nothing is asked of
    /// them.
    pub left_out: u64,
    /// How long it took.
    pub duration_ns: u64,
}

/// A worker that did not come back from an operation for a long time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stalled {
    /// Which one; nothing: the run itself, between phases.
    pub worker: Option<u32>,
    /// What it was doing.
    pub operation: String,
    /// To what.
    pub path: String,
    /// How long it had been at it when it was last looked at.
    pub ns: u64,
    /// Whether it came back.
    pub came_back: bool,
}

/// Errors of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorRecord {
    /// What was being done: an operation or an act of the run itself.
    pub operation: String,
    /// At which step of it.
    pub step: String,
    /// The system's error number, where it gave one.
    pub errno: Fact<i32>,
    /// What happened, in words.
    pub message: String,
    /// How often.
    pub count: u64,
    /// Where it happened first.
    pub first_path: String,
    /// Bytes that the first one had moved before it failed.
    pub moved_bytes: Fact<u64>,
}

/// Something that was not removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Left {
    /// What.
    pub path: String,
    /// Why not.
    pub why: String,
}

/// The removal of what an unfinished run had made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CleanUp {
    /// Files removed.
    pub files: u64,
    /// Directories removed.
    pub directories: u64,
    /// What bears a name of the run's and was not removed.
    pub left: Vec<Left>,
    /// Whether some of that was made by the run, or may have been: then its manifest stays, too.
    #[serde(default)]
    pub incomplete: bool,
}

/// The load of one step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// A closed loop.
    Closed,
    /// Transactions a second.
    Rate(f64),
    /// A closed loop of so many workers of each rank.
    Workers(u32),
    /// A closed loop of so many ranks, each with its workers.
    Ranks(u32),
}

impl Load {
    /// Transactions a second, where it is a rate.
    pub fn rate(self) -> Option<f64> {
        match self {
            Self::Rate(rate) => Some(rate),
            Self::Closed | Self::Workers(_) | Self::Ranks(_) => None,
        }
    }

    /// Workers, where it is a number of them.
    pub fn workers(self) -> Option<u32> {
        match self {
            Self::Workers(workers) => Some(workers),
            Self::Closed | Self::Rate(_) | Self::Ranks(_) => None,
        }
    }

    /// Workers or ranks, where it is a number of them.
    pub fn count(self) -> Option<u32> {
        match self {
            Self::Workers(count) | Self::Ranks(count) => Some(count),
            Self::Closed | Self::Rate(_) => None,
        }
    }
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepStep {
    /// What it was to bear.
    pub load: Load,
    /// Workers that were at work.
    pub workers: u32,
    /// Its phases: the transactions, and with a pool of its own those before and after them. Their
    /// moments are since the origin of the run that it was climbed in.
    pub phases: Vec<PhaseRecord>,
    /// The run that it was climbed in, where each step has one; nothing for the first, whose run's
    /// facts are the record's own.
    pub of_run: Option<Box<SweepStepRun>>,
}

/// What a run of a step's own says besides its phases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepStepRun {
    /// The fingerprint of its workload: with other workers it is another.
    pub fingerprint: Fingerprint,
    /// Where the moments of its phases count from.
    pub origin: Origin,
    /// The machine while it went on.
    pub during: SystemDuring,
    /// The check for room; nothing where the storage takes none.
    pub room: Option<Room>,
}

impl SweepStep {
    /// Its transactions, where it came to them.
    pub fn transactions(&self) -> Option<&PhaseRecord> {
        self.phases
            .iter()
            .find(|phase| phase.phase == Phase::Transactions)
    }
}

/// What was performed, as against what was meant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Actual {
    /// How the run ended.
    pub outcome: Outcome,
    /// Why the transactions ended. Unavailable where the run did not come to their end.
    pub end: Fact<End>,
    /// The hash of the whole stream, where all of it was performed.
    pub stream_hash: Fact<StreamHash>,
    /// Phases that were begun, in order; the transactions of a sweep are in its steps.
    pub phases: Vec<PhaseRecord>,
    /// The steps of a sweep, in the order in which they were climbed.
    pub sweep_steps: Vec<SweepStep>,
    /// Errors, by operation, step and error number.
    pub errors: Vec<ErrorRecord>,
    /// The look at the names after the transactions.
    pub check: Fact<Check>,
    /// The look of ranks at what others had acknowledged in the transactions; nothing where there
    /// was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check_across: Option<Check>,
    /// The look at the pool that was taken from an earlier run: by count and by sample; nothing
    /// where none was taken.
    pub taken: Option<Check>,
    /// What one rank saw late of another's work; nothing where all was seen at once, and where
    /// nobody looked at others' work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<Stale>,
    /// Operations that took very long.
    pub stalled: Vec<Stalled>,
    /// What the original's report is made of; nothing for other workloads, and where nobody began.
    pub classic: Option<ClassicFigures>,
    /// What was removed after an unfinished run; nothing where one came to its end, or kept its
    /// pool.
    pub clean_up: Option<CleanUp>,
    /// What the program itself costs: the same stream on the null storage.
    pub overhead: Fact<Overhead>,
    /// All that went to servers; nothing where the storage speaks to none by itself. Of a sweep of
    /// several runs it is the first one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<ServerTotals>,
}

/// What nobody knows before the run's end; not applicable where nobody has asked.
fn not_yet<T>(is_asked: bool) -> Fact<T> {
    if is_asked {
        Fact::Unavailable("the program was killed before the run ended".to_owned())
    } else {
        Fact::NotApplicable
    }
}

impl Actual {
    /// Before anything is performed: what is asked for is not known yet.
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

    /// Whether the run was interrupted or failed.
    pub fn is_partial(&self) -> bool {
        self.outcome != Outcome::Complete
    }

    /// A phase of the run, where it was begun.
    pub fn phase(&self, phase: Phase) -> Option<&PhaseRecord> {
        self.phases.iter().find(|record| record.phase == phase)
    }

    /// The phases of the run and of a sweep's steps.
    pub fn all_phases(&self) -> impl Iterator<Item = &PhaseRecord> {
        let of_steps = self.sweep_steps.iter().flat_map(|step| &step.phases);
        self.phases.iter().chain(of_steps)
    }

    /// The transactions, wherever they are: of the run, or of a sweep's steps.
    pub fn transactions(&self) -> impl Iterator<Item = &PhaseRecord> {
        self.all_phases()
            .filter(|phase| phase.phase == Phase::Transactions)
    }
}

/// The common start of all workers: the moment that the record's moments count from. The boot that
/// its monotonic clock is of is `host.boot_id`, the source of time
/// `during.clocks.clock_source_before`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// The monotonic clock (`CLOCK_MONOTONIC`), in nanoseconds.
    pub monotonic_ns: i64,
    /// The wall clock (`CLOCK_REALTIME`) at the same moment, in nanoseconds of the epoch.
    pub unix_ns: i64,
    /// So far may the two be off against each other, in nanoseconds: they cannot be read at once.
    pub uncertainty_ns: u64,
}

impl Origin {
    /// The wall clock as lists have it: one that stood before 1970 stood at its beginning.
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

/// Everything about one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// The version of this schema.
    #[schemars(extend("const" = SCHEMA_VERSION))]
    pub schema: u32,
    /// What tells this run from all others.
    pub id: RunId,
    /// What wrote it.
    pub tool: Tool,
    /// Everything that was asked of the run.
    pub spec: RunSpec,
    /// How files and transactions were chosen, where an intent was said in their place; nothing
    /// where none was.
    pub sizing: Option<Sizing>,
    /// What is known of the targets, in order.
    pub locations: Vec<LocationRecord>,
    /// The workload's fingerprint.
    pub fingerprint: Fingerprint,
    /// Where its moments count from.
    pub origin: Origin,
    /// The machine at the start.
    pub host: Host,
    /// The machine while the run went on.
    pub during: SystemDuring,
    /// The check for room; nothing where the storage takes none.
    pub room: Option<Room>,
    /// The ranks that performed it, and their hosts; nothing where one process did. With several,
    /// `host` and `during` are those of the first rank's host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterRecord>,
    /// What was performed.
    pub actual: Actual,
    /// What was made of the words that may surprise.
    pub hints: Vec<Note>,
    /// Its place in a study; nothing where it was made by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<StudyPart>,
}

impl Record {
    /// What is known of the targets.
    pub fn targets(&self) -> impl Iterator<Item = &Target> + Clone {
        let targets = self.locations.iter();
        targets.filter_map(|location| location.target.known())
    }
}
