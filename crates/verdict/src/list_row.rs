//! A run as one row of a list. Lists are sorted and searched by the fields of their rows.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use system::Class;
use workload::{Phase, Work};

use crate::rules::{Level, Verdict};
use crate::sweep::{SweepStepSummary, SweepSummary};
use record::id::RunId;
use record::run::{Load, SweepStep};
use record::run::{Outcome, Record};

/// State of a run: in progress, or how the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The run has no end in the archive, and the process that archives it is alive.
    Going,
    Complete,
    /// A signal ended the run.
    Interrupted,
    /// The target disappeared.
    PlaceGone,
    Failed,
    /// The program was killed before the run ended.
    Unfinished,
}

impl State {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Going => "going",
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::PlaceGone => "place-gone",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
        }
    }

    pub const fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Complete => Self::Complete,
            Outcome::Interrupted { .. } => Self::Interrupted,
            Outcome::PlaceGone { .. } => Self::PlaceGone,
            Outcome::Failed { .. } => Self::Failed,
            Outcome::Unfinished => Self::Unfinished,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkKind {
    /// Transactions of the original PostMark.
    Classic,
    /// A mix of weighted operations.
    Mix,
}

impl WorkKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Mix => "mix",
        }
    }

    pub const fn of(work: &Work) -> Self {
        match work {
            Work::Classic(_) => Self::Classic,
            Work::Mix(_) => Self::Mix,
        }
    }
}

/// A run as one row of a list. Strings are copied from the record, so they must be sanitized before
/// display.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Headline {
    pub id: RunId,
    pub state: State,
    /// Wall clock at the run's origin, in nanoseconds since the epoch.
    pub begun_unix_ns: u64,
    pub host: String,
    /// Types of the targets' file systems, or protocols of their servers, each once. Empty if the
    /// engine uses no file system and no server, or if the types are not known.
    pub file_systems: Vec<String>,
    /// Class of the first target's device; `Network` for an engine that calls a server itself.
    /// `None` if the class is not known.
    pub device_class: Option<Class>,
    /// The preset that the run spec is based on; `None` without a preset.
    pub preset: Option<String>,
    /// Kind of the workload; `None` if the archive was written by a version that did not store the
    /// kind.
    #[serde(rename = "workload")]
    pub work: Option<WorkKind>,
    pub engine: String,
    /// Number of workers of all roles.
    pub workers: u32,
    /// Whether the run is a load sweep. Also `false` for a load sweep that an earlier program
    /// version archived without this field.
    #[serde(rename = "sweep", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_sweep: bool,
    /// Achieved rate in transactions a second. For a load sweep, this is the rate of
    /// [`SweepSummary::result`]. `None` if no transactions were measured, or if a load sweep
    /// sustained no load level.
    pub transactions_per_second: Option<f64>,
    /// 99th percentile of the latencies of all operations in the transactions of
    /// `transactions_per_second`, in nanoseconds. `None` if no latencies were recorded.
    pub p99_ns: Option<u64>,
    pub verdict: Level,
    pub fingerprint: String,
    /// The result of crash rounds in a few words; `None` for a run. The verdict of crash rounds is
    /// [`Level::Doubtful`] if they show nothing about durability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crash: Option<String>,
}

impl Headline {
    pub fn of(record: &Record) -> Self {
        let targets = || record.targets();
        let mounts = targets().filter_map(|target| target.mount.known());
        let locations = record.locations.iter();
        let servers = locations.filter_map(|location| location.server.as_ref());
        let names = mounts.map(|mount| &mount.file_system_type);
        let mut file_systems: Vec<String> = Vec::new();
        for name in names.chain(servers.map(|server| &server.protocol)) {
            if !file_systems.contains(name) {
                file_systems.push(name.clone());
            }
        }
        let result = result(record);
        let of_server = record.spec.engine.calls_server().then_some(Class::Network);
        Self {
            id: record.id,
            state: State::of(&record.actual.outcome),
            begun_unix_ns: record.origin.begun_unix_ns(),
            host: record.host.hostname.clone(),
            file_systems,
            device_class: targets()
                .next()
                .and_then(|target| target.class.known().copied())
                .or(of_server),
            preset: record.spec.preset.clone(),
            work: Some(WorkKind::of(&record.spec.workload.work)),
            engine: record.spec.engine.name().to_owned(),
            workers: record.spec.workload.workers.count(),
            is_sweep: record.spec.drive.sweep.is_some(),
            transactions_per_second: result
                .as_ref()
                .and_then(|result| result.achieved_per_second),
            p99_ns: result.and_then(|result| result.p99_ns),
            verdict: Verdict::of(record).level,
            fingerprint: record.fingerprint.to_string(),
            crash: None,
        }
    }

    /// Returns the name of the workload: its preset or, without a preset, its kind of work.
    pub fn workload(&self) -> Option<&str> {
        self.preset
            .as_deref()
            .or_else(|| self.work.map(WorkKind::name))
    }

    pub fn file_system(&self) -> Option<String> {
        (!self.file_systems.is_empty()).then(|| self.file_systems.join("+"))
    }
}

/// Returns the load level that the row describes. For a load sweep, this is the main result of the
/// sweep. For another run, the level is created from the run's transactions.
fn result(record: &Record) -> Option<SweepStepSummary> {
    if let Some(asked) = &record.spec.drive.sweep {
        let sweep = SweepSummary::of(asked, &record.actual.sweep_steps);
        return sweep.result().cloned();
    }
    let phases = record.actual.phases.iter();
    let transactions = phases.filter(|phase| phase.phase == Phase::Transactions);
    let alone = SweepStep {
        load: Load::Closed,
        name: None,
        workers: record.spec.workload.workers.count(),
        phases: transactions.cloned().collect(),
        of_run: None,
    };
    Some(SweepStepSummary::of(&alone))
}

pub const fn class_name(class: Class) -> &'static str {
    match class {
        Class::Memory => "memory",
        Class::Overlay => "overlay",
        Class::Network => "network",
        Class::Block => "block",
        Class::Other => "other",
    }
}

/// A run in a list, with its number, tags and note in the archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedRun {
    /// Number in the archive; `None` if the record is not archived.
    pub number: Option<u64>,
    #[serde(flatten)]
    pub headline: Headline,
    pub tags: Vec<String>,
    pub note: Option<String>,
}

/// Returns the value whose name in JSON is `word`; `None` if no value has this name.
pub fn by_word<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}
