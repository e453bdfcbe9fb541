//! The record of a run, as it is written and read. Moments are nanoseconds of a monotonic clock
//! since the run's origin.

use measure::{Histogram, Meter, Slices};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::{Note, RunSpec};
use system::{Clocks, DurabilityFacts, Fact, Host, Target};
use workload::{Action, End, Fingerprint, Phase, Role, Skipped, StreamHash};

use crate::classic::ClassicFigures;
use crate::evidence::PhaseEvidence;
use crate::host_phase::HostPhase;
use crate::id::RunId;
use crate::machine::MachineOverTime;
use crate::overhead::Overhead;
use crate::pauses::Pauses;
use crate::ranks::ClusterRecord;
use crate::server::{ServerRecord, ServerTotals};
use crate::share::share;
use crate::sizing::{Sizing, SteadyFound};
use crate::stale::Stale;
use crate::study::StudyPart;

pub use crate::during::SystemDuring;
pub use crate::outcome::Outcome;
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

/// Operations of one kind, done by workers of one role, in a segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationRecord {
    /// Who did them.
    pub role: Role,
    /// Which kind.
    pub action: Action,
    /// What they did.
    pub meter: Meter,
    /// The steps that they were made of, where these were timed.
    pub steps: Vec<StepRecord>,
}

/// One step of operations of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepRecord {
    /// Which step.
    pub step: String,
    /// How long it took.
    pub latency: Histogram,
}

/// How long workers of one role waited for files that others had claimed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimWaits {
    /// Who waited.
    pub role: Role,
    /// Claims that had to wait.
    pub wait: Histogram,
}

/// What one worker did in a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerPhase {
    /// The worker's number, from 0.
    pub worker: u32,
    /// What it does.
    pub role: Role,
    /// When it began, in nanoseconds since the origin.
    pub began_ns: u64,
    /// When it was done, in nanoseconds since the origin.
    pub ended_ns: u64,
    /// Transactions that were issued and are over, however they ended.
    pub issued: u64,
    /// Transactions of which it completed at least one operation.
    pub transactions: u64,
    /// Operations that it completed.
    pub operations: u64,
    /// Bytes that those read or wrote.
    pub bytes: u64,
}

/// The moment at which the first worker was done with a phase: from then on not all were at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FirstDone {
    /// Which one.
    pub worker: u32,
    /// When, in nanoseconds since the origin.
    pub at_ns: u64,
    /// Files (in `prepare` and `delete`) or transactions that all workers together had done by
    /// then; with several ranks, those of its rank.
    pub done: u64,
}

/// The writing back of what a phase has left in memory: syncfs(2) of every file system of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseSync {
    /// When it began, in nanoseconds since the origin.
    pub began_ns: u64,
    /// When it ended, in nanoseconds since the origin.
    pub ended_ns: u64,
    /// After deletion: nanoseconds from the last deletion until the file system showed the space
    /// as free again.
    pub space_back_ns: Fact<u64>,
}

/// The look at the names after the transactions: whether exactly the files that should exist do,
/// with their sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// What a stretch of a phase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SegmentKind {
    /// It is in no number but its own.
    WarmUp,
    /// A round before the window that was found steady, or before the last window, where none was:
    /// likewise.
    Approach,
    /// What the phase's numbers are of.
    Measured,
}

/// The slowest operations of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlowestRecord {
    /// Which kind.
    pub action: Action,
    /// The slowest first.
    pub operations: Vec<SlowOperation>,
}

/// One of the slowest operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlowOperation {
    /// Its latency, in nanoseconds.
    pub ns: u64,
    /// Who did it.
    pub worker: u32,
    /// When it was issued, in nanoseconds since the origin.
    pub issued_ns: u64,
    /// To what.
    pub path: String,
    /// The longest of its steps; nothing where these were not timed.
    pub step: Option<SlowStep>,
}

/// A step of one of the slowest operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlowStep {
    /// Which one.
    pub step: String,
    /// How long it took, in nanoseconds.
    pub ns: u64,
}

/// A stretch of a phase with meters of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Segment {
    /// What it is.
    pub kind: SegmentKind,
    /// When it began, in nanoseconds since the origin.
    pub began_ns: u64,
    /// When it ended, in nanoseconds since the origin.
    pub ended_ns: u64,
    /// Transactions that were issued and are over, however they ended: those below, those that
    /// were skipped, and those that failed.
    pub issued: u64,
    /// Transactions of which at least one operation was completed.
    pub transactions: u64,
    /// Operations of the stream that were not performed, by reason.
    pub skipped: Skipped,
    /// By kind of operation, those that occurred.
    pub operations: Vec<OperationRecord>,
}

/// A phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseRecord {
    /// Which one.
    pub phase: Phase,
    /// Whether it was performed to its end.
    pub complete: bool,
    /// Its stretches, in order.
    pub segments: Vec<Segment>,
    /// What each worker did in the measured ones.
    pub workers: Vec<WorkerPhase>,
    /// When the first worker was done; nothing where none was.
    pub first_done: Option<FirstDone>,
    /// Transactions that were due and not begun when they ended; nothing in a closed loop.
    pub waiting: Option<u64>,
    /// Until then every worker had been up to its arrivals at least once more, in nanoseconds
    /// since the origin; nothing in a closed loop, and where one never was.
    pub caught_up_ns: Option<u64>,
    /// How long workers waited for one another's files, and for their own operations in flight on
    /// the same file; nothing in private pools with one operation at a time.
    pub claim_waits: Vec<ClaimWaits>,
    /// What was done over time, from the phase's start on, by role and kind of operation; warm-ups
    /// are in it, too.
    pub slices: Slices<(Role, Action)>,
    /// The slowest operations of each kind, those of warm-ups, too.
    pub slowest: Vec<SlowestRecord>,
    /// What the kernel counted over time; nothing where slices are not recorded.
    pub machine: Option<MachineOverTime>,
    /// Pauses of the program; nothing where they were not watched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<Pauses>,
    /// What the rule of steady state found; nothing where none was to end the transactions.
    pub steady: Option<SteadyFound>,
    /// The writing back that followed; nothing where it was not asked for, or the phase was left
    /// before its end.
    pub sync: Option<PhaseSync>,
    /// What shows who served it; nothing where the storage touches no file system. Of several
    /// ranks: what the storage and each process counted, added over ranks; messages and
    /// interfaces, which a host counts, over hosts; devices over kernels.
    pub evidence: Option<PhaseEvidence>,
    /// The same by host, in order of their first ranks; empty where the run has one rank.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostPhase>,
}

impl PhaseRecord {
    /// The stretches that its numbers are of.
    pub fn measured(&self) -> impl Iterator<Item = &Segment> {
        self.segments
            .iter()
            .filter(|segment| segment.kind == SegmentKind::Measured)
    }

    /// Operations of the measured stretches.
    pub fn measured_operations(&self) -> impl Iterator<Item = &OperationRecord> {
        self.measured().flat_map(|segment| &segment.operations)
    }

    /// Operations of all stretches.
    pub fn all_operations(&self) -> impl Iterator<Item = &OperationRecord> {
        self.segments.iter().flat_map(|segment| &segment.operations)
    }

    /// What was warmed up, where anything was.
    pub fn warm_up(&self) -> Option<&Segment> {
        self.segments
            .iter()
            .find(|segment| segment.kind == SegmentKind::WarmUp)
    }

    /// From the start of the first measured stretch to the end of the last, in nanoseconds.
    pub fn measured_ns(&self) -> u64 {
        match (self.measured().next(), self.measured().last()) {
            (Some(first), Some(last)) => last.ended_ns.saturating_sub(first.began_ns),
            _ => 0,
        }
    }

    /// Of the transactions that have arrived by the end of an open loop (those that were measured,
    /// and those that are waiting yet): which share was done. Nothing in a closed loop, and
    /// where nothing has arrived.
    ///
    /// Not of the rate times the time: at random arrivals that differs by chance, by 3 % where a
    /// thousand are expected.
    pub fn done_fraction(&self) -> Option<f64> {
        let arrived = self.issued().saturating_add(self.waiting?);
        (arrived > 0).then(|| self.transactions() as f64 / arrived as f64)
    }

    /// Whether the queue of an open loop was bounded: every worker was up to its arrivals in the
    /// last fifth of the measured time. What is waiting at the very end may be a moment's.
    pub fn queue_is_bounded(&self) -> bool {
        let ended_ns = self.measured().last().map_or(0, |segment| segment.ended_ns);
        let since_ns = ended_ns.saturating_sub(self.measured_ns() / 5);
        self.caught_up_ns
            .is_some_and(|caught_up_ns| caught_up_ns >= since_ns)
    }

    /// Transactions of the measured stretches that were issued and are over, however they ended.
    pub fn issued(&self) -> u64 {
        self.measured().map(|segment| segment.issued).sum()
    }

    /// Transactions of the measured stretches of which at least one operation was completed.
    pub fn transactions(&self) -> u64 {
        self.measured().map(|segment| segment.transactions).sum()
    }

    /// Operations of the measured stretches that were not performed.
    pub fn skipped(&self) -> Skipped {
        let mut all = Skipped::default();
        for segment in self.measured() {
            all.merge(&segment.skipped);
        }
        all
    }

    /// Operations of the measured stretches that were completed, and those that failed.
    pub fn tried(&self) -> (u64, u64) {
        self.measured_operations()
            .fold((0, 0), |(completed, failed), operation| {
                let meter = &operation.meter;
                let unsuccessful = meter.failed.saturating_add(meter.missed);
                (completed + meter.operations, failed + unsuccessful)
            })
    }

    /// The share of the operations in the measured stretches that was not performed, from 0 to 1.
    pub fn skipped_fraction(&self) -> f64 {
        let (completed, failed) = self.tried();
        let skipped = self.skipped().total();
        share(
            skipped,
            skipped.saturating_add(completed).saturating_add(failed),
        )
    }
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

/// What a file system must have room for, and has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoomVolume {
    /// The locations on it.
    pub locations: Vec<String>,
    /// Its type, like `ext4`.
    pub file_system: Fact<String>,
    /// The most files at once.
    pub files_peak: u64,
    /// The most bytes of contents at once.
    pub bytes_peak: u64,
    /// Bytes that contents, directories and inodes take at the peak.
    pub needed_bytes: u64,
    /// Bytes that an unprivileged user may take.
    pub available_bytes: Fact<u64>,
    /// Inodes that files and directories take at the peak.
    pub needed_inodes: u64,
    /// Inodes that an unprivileged user may take; not applicable where the file system has no such
    /// count.
    pub available_inodes: Fact<u64>,
}

impl RoomVolume {
    /// Whether the bytes fit, as far as that is known.
    pub fn bytes_fit(&self) -> Fact<bool> {
        self.available_bytes
            .clone()
            .map(|bytes| self.needed_bytes <= bytes)
    }

    /// Whether the inodes fit, as far as that is known.
    pub fn inodes_fit(&self) -> Fact<bool> {
        self.available_inodes
            .clone()
            .map(|inodes| self.needed_inodes <= inodes)
    }

    /// Whether something is known not to fit.
    pub fn is_full(&self) -> bool {
        [self.bytes_fit(), self.inodes_fit()].contains(&Fact::Known(false))
    }
}

/// The check for room before a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Room {
    /// Whether the peaks are upper bounds that fit anyway, or what the stream really reaches.
    pub exact: bool,
    /// By file system.
    pub volumes: Vec<RoomVolume>,
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
