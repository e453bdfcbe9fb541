//! A run in one line: what lists show, and are sorted and searched by.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use system::Class;
use workload::{Phase, Work};

use crate::rules::{Level, Verdict};
use crate::sweep::SweepStepSummary;
use record::id::RunId;
use record::run::{Load, SweepStep};
use record::run::{Outcome, Record};

/// How a run ended, or whether it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It goes on.
    Going,
    /// It came to its end.
    Complete,
    /// A signal ended it.
    Interrupted,
    /// Its place went away.
    PlaceGone,
    /// It failed.
    Failed,
    /// The program ended before it did.
    Unfinished,
}

impl State {
    /// The word for it.
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

    /// What the outcome of a record comes to.
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

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkKind {
    /// The original's, by an edition's rules.
    Classic,
    /// Weighted operations.
    Mix,
}

impl WorkKind {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Mix => "mix",
        }
    }

    /// The kind of some work.
    pub const fn of(work: &Work) -> Self {
        match work {
            Work::Classic(_) => Self::Classic,
            Work::Mix(_) => Self::Mix,
        }
    }
}

/// A run in one line. Strings are the record's: to be made harmless before they are shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Headline {
    /// The run's identity.
    pub id: RunId,
    /// How it ended.
    pub state: State,
    /// Wall clock at its origin, in nanoseconds of the epoch.
    pub begun_unix_ns: u64,
    /// The machine's name.
    pub host: String,
    /// The types of its locations' file systems, or the protocols of their servers, each once;
    /// empty where the storage touches none, or they are not known.
    pub file_systems: Vec<String>,
    /// What is behind the first location's file system; nothing where that is not known.
    pub device_class: Option<Class>,
    /// The preset that it began with.
    pub preset: Option<String>,
    /// What kind of work it was; nothing where an archive of before does not say so.
    #[serde(rename = "workload")]
    pub work: Option<WorkKind>,
    /// The engine's name.
    #[serde(rename = "storage")]
    pub engine: String,
    /// Workers of all roles.
    pub workers: u32,
    /// Transactions a second; of a sweep, those of the step that held with the most. Nothing where
    /// none were measured.
    pub transactions_per_second: Option<f64>,
    /// The 99th percentile of the latencies of all operations of the same transactions, in
    /// nanoseconds; nothing where none were recorded.
    pub p99_ns: Option<u64>,
    /// How good its numbers are.
    pub verdict: Level,
    /// The workload's fingerprint.
    pub fingerprint: String,
}

impl Headline {
    /// The line of a record.
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
        let best = best(record);
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
            transactions_per_second: best.as_ref().and_then(|best| best.achieved_per_second),
            p99_ns: best.and_then(|best| best.p99_ns),
            verdict: Verdict::of(record).level,
            fingerprint: record.fingerprint.to_string(),
        }
    }

    /// The workload in one word: its preset, else what kind of work it was.
    pub fn workload(&self) -> Option<&str> {
        self.preset
            .as_deref()
            .or_else(|| self.work.map(WorkKind::name))
    }

    /// The file systems in one word; nothing where there are none.
    pub fn file_system(&self) -> Option<String> {
        (!self.file_systems.is_empty()).then(|| self.file_systems.join("+"))
    }
}

/// The transactions that a line is about.
fn best(record: &Record) -> Option<SweepStepSummary> {
    if record.spec.drive.sweep.is_some() {
        let sweep_steps = record.actual.sweep_steps.iter().map(SweepStepSummary::of);
        return sweep_steps
            .filter(|sweep_step| sweep_step.complete && sweep_step.holds)
            .max_by(|a, b| {
                let rate = |sweep_step: &SweepStepSummary| {
                    sweep_step.achieved_per_second.unwrap_or_default()
                };
                rate(a).total_cmp(&rate(b))
            });
    }
    let phases = record.actual.phases.iter();
    let transactions = phases.filter(|phase| phase.phase == Phase::Transactions);
    let alone = SweepStep {
        load: Load::Closed,
        workers: record.spec.workload.workers.count(),
        phases: transactions.cloned().collect(),
        of_run: None,
    };
    Some(SweepStepSummary::of(&alone))
}

/// The word for a class of devices.
pub const fn class_name(class: Class) -> &'static str {
    match class {
        Class::Memory => "memory",
        Class::Overlay => "overlay",
        Class::Network => "network",
        Class::Block => "block",
        Class::Other => "other",
    }
}

/// A run as a list has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedRun {
    /// Its number in the archive; nothing of a record that is in none.
    pub number: Option<u64>,
    /// What it was.
    #[serde(flatten)]
    pub headline: Headline,
    /// Words that somebody gave it, in their order.
    pub tags: Vec<String>,
    /// What somebody noted of it.
    pub note: Option<String>,
}

/// What has this word in JSON.
pub fn by_word<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}
