//! The data of runs that comparisons use, and the conditions in which two configurations differ.

use std::collections::{BTreeMap, BTreeSet};

use record::study::StudyPart;
use record::{Class, Fact, Phase, Record};
use serde::{Deserialize, Serialize};
use verdict::{Level, Summary};

use crate::metric::Metric;
use crate::subject::Subject;

/// The block of a study that a run belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BlockAttempt {
    /// Identity of the study that the block belongs to.
    pub study: String,
    /// Whether all cells of the block were run together, in random order.
    pub is_interleaved: bool,
    /// Number of the block, from 1.
    pub number: u32,
    /// Number of the attempt at the block, from 1. A block with an INVALID run is repeated.
    pub attempt: u32,
}

/// The part of a run that comparisons use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Number of the run in the archive; `None` if the record is not archived.
    pub run: Option<u64>,
    /// Block of the run; `None` if the run belongs to no study.
    pub block: Option<BlockAttempt>,
    /// Workload, target and cell of the run.
    pub subject: Subject,
    /// Level of the verdict. INVALID runs are listed but excluded from comparisons.
    pub level: Level,
    /// Wall clock at the start of the run, in nanoseconds since the epoch.
    pub begun_unix_ns: u64,
    /// Duration of the whole run with its pool's creation and removal, in seconds.
    pub elapsed_s: f64,
    /// The requested metrics that the run contains.
    pub values: BTreeMap<Metric, f64>,
    /// For requested percentiles that the run is too short for: [`Metric::needed_s`].
    #[serde(default)]
    pub needed_s: BTreeMap<Metric, f64>,
    /// Names of the rules that are the reasons of the verdict.
    pub reasons: BTreeSet<String>,
    /// What the user can do about each reason, by the name of its rule.
    pub advice: BTreeMap<String, String>,
    /// Conditions that must be equal for two runs to be comparable.
    pub conditions: BTreeMap<UnlikeWhat, String>,
    /// Share of the stream's operations that were not completed, by reason, from 0 to 1; empty if
    /// the stream has no operations.
    pub incomplete: BTreeMap<Incomplete, f64>,
}

/// Why an operation of the stream was not completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Incomplete {
    /// The operation was skipped: the file was at its maximum size, the pool was empty, or an
    /// earlier failure had damaged the file.
    Skipped,
    /// The system returned an error for the operation.
    Failed,
}

impl Incomplete {
    /// All reasons, in the order in which reports list them.
    pub const ALL: [Self; 2] = [Self::Skipped, Self::Failed];
}

/// The runs of one configuration, under one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedSide {
    /// Name of the configuration: its cell, a tag, or numbers of runs.
    pub label: String,
    /// The runs of the configuration, in any order.
    pub runs: Vec<Observed>,
}

/// The configuration with which candidates are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// The first runs of the baseline.
    pub side: ComparedSide,
    /// The second runs of the baseline in the same blocks; `None` without an A/A control.
    pub twin: Option<ComparedSide>,
}

/// A baseline with the candidates that are compared with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideGroup {
    pub baseline: Baseline,
    pub sides: Vec<ComparedSide>,
}

/// A run that comparisons exclude.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvalidRun {
    /// Number in the archive; `None` if the record is not archived.
    pub run: Option<u64>,
    /// Name of the run's configuration.
    pub side: String,
    /// Block of the run; `None` if the run belongs to no study.
    pub block: Option<BlockAttempt>,
}

/// A condition that must be equal for two runs to be comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnlikeWhat {
    Fingerprint,
    /// The durability level that acknowledged changes had reached.
    DurabilityTier,
    /// The requested state of the page cache.
    CacheState,
    Host,
    /// Whether the files are in memory: on tmpfs, or on a RAM disk.
    Medium,
    /// The requested options of a scratch file system's image, except its kind and directories.
    ScratchImage,
}

/// A condition in which two configurations differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unlike {
    pub what: UnlikeWhat,
    /// Values of the condition in the candidate's runs, each once.
    pub side: Vec<String>,
    /// Values of the condition in the baseline's runs, each once.
    pub baseline: Vec<String>,
}

impl UnlikeWhat {
    /// All conditions, in the order in which reports list them.
    pub const ALL: [Self; 6] = [
        Self::Fingerprint,
        Self::DurabilityTier,
        Self::CacheState,
        Self::Host,
        Self::Medium,
        Self::ScratchImage,
    ];

    /// The name of the condition in `--unlike`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fingerprint => "workload",
            Self::DurabilityTier => "durability",
            Self::CacheState => "cache",
            Self::Host => "host",
            Self::Medium => "medium",
            Self::ScratchImage => "image",
        }
    }
}

impl From<&StudyPart> for BlockAttempt {
    fn from(part: &StudyPart) -> Self {
        Self {
            study: part.study.clone(),
            is_interleaved: part.side.is_none(),
            number: part.block,
            attempt: part.attempt,
        }
    }
}

/// Shares of incomplete operations in the measured transactions.
fn incomplete(record: &Record) -> BTreeMap<Incomplete, f64> {
    let phase = record.actual.phase(Phase::Transactions);
    let Some(phase) = phase else {
        return BTreeMap::new();
    };
    let meters = phase.measured_operations();
    let failed = meters
        .map(|done| done.meter.failed)
        .fold(0, u64::saturating_add);
    let skipped = phase.skipped().total();
    let (completed, others) = phase.tried();
    let issued = completed as f64 + others as f64 + skipped as f64;
    let counts = [(Incomplete::Skipped, skipped), (Incomplete::Failed, failed)];
    match issued > 0.0 {
        true => counts
            .map(|(why, count)| (why, count as f64 / issued))
            .into(),
        false => BTreeMap::new(),
    }
}

/// The conditions of a run. `Medium` is missing if the medium is not known, and `ScratchImage` is
/// missing if there is no scratch file system.
fn conditions(record: &Record, tier: String) -> BTreeMap<UnlikeWhat, String> {
    let medium = medium(record).map(|medium| (UnlikeWhat::Medium, medium.to_owned()));
    let made = record.study.as_ref().and_then(|part| part.made.as_ref());
    let image = made.map(|made| (UnlikeWhat::ScratchImage, image_options(&made.asked)));
    let always = [
        (UnlikeWhat::Fingerprint, record.fingerprint.to_string()),
        (UnlikeWhat::DurabilityTier, tier),
        (UnlikeWhat::CacheState, record.spec.cache.to_string()),
        (UnlikeWhat::Host, record.host.hostname.clone()),
    ];
    always.into_iter().chain(medium).chain(image).collect()
}

/// Returns "memory", "not memory" or "partly memory", depending on where the files of a run are
/// stored. `None` if a location has no file system, or if its class is not known.
fn medium(record: &Record) -> Option<&'static str> {
    let in_memory = record.locations.iter().map(|location| {
        let target = location.target.known()?;
        let device = target.device.known();
        Some(*target.class.known()? == Class::Memory || device.is_some_and(|of| of.is_memory()))
    });
    let in_memory: Vec<bool> = in_memory.collect::<Option<_>>()?;
    match (in_memory.contains(&true), in_memory.contains(&false)) {
        (false, false) => None,
        (false, true) => Some("not memory"),
        (true, false) => Some("memory"),
        (true, true) => Some("partly memory"),
    }
}

/// Returns the requested options of a scratch file system's image that runs must have in common.
/// For `make:ext4?size=1GiB&in=/mnt/a`, this is `size=1GiB`. The kind is excluded because studies
/// compare kinds. Directories are excluded because the medium is a separate condition.
fn image_options(asked: &str) -> String {
    let options = asked.split_once('?').map_or("", |(_, options)| options);
    let options = options.split('&').filter(|option| {
        let key = option.split('=').next().unwrap_or_default();
        !["", "in", "journal-in", "fullness"].contains(&key)
    });
    let options: Vec<&str> = options.collect();
    match options.is_empty() {
        true => "default options".to_owned(),
        false => options.join(" "),
    }
}

impl Observed {
    /// Extracts the compared numbers from a record. `run` is the number of the run in the archive.
    pub fn of(record: &Record, run: Option<u64>, metrics: &[Metric]) -> Self {
        let summary = Summary::of(record);
        let value = |metric: &Metric| metric.of(&summary).map(|value| (*metric, value));
        let needed = |metric: &Metric| Some((*metric, metric.needed_s(&summary)?));
        // Durability levels are compared by their names in JSON.
        let tier = match &summary.durability.tier {
            Fact::Known(tier) => tier.name().to_owned(),
            Fact::NotApplicable | Fact::Unavailable(_) => "not available".to_owned(),
        };
        Self {
            run,
            block: record.study.as_ref().map(BlockAttempt::from),
            subject: Subject::from(record),
            level: summary.verdict.level,
            begun_unix_ns: record.origin.begun_unix_ns(),
            elapsed_s: summary.elapsed_ns as f64 / 1e9,
            values: metrics.iter().filter_map(value).collect(),
            needed_s: metrics.iter().filter_map(needed).collect(),
            reasons: summary
                .verdict
                .reasons
                .iter()
                .map(verdict::Reason::name)
                .collect(),
            advice: summary
                .verdict
                .reasons
                .iter()
                .map(|reason| (reason.name(), reason.advice().to_owned()))
                .collect(),
            incomplete: incomplete(record),
            conditions: conditions(record, tier),
        }
    }

    /// Whether comparisons include the run.
    pub fn is_counted(&self) -> bool {
        self.level != Level::Invalid
    }
}

impl ComparedSide {
    pub fn counted(&self) -> impl Iterator<Item = &Observed> {
        self.runs.iter().filter(|run| run.is_counted())
    }

    /// The runs that comparisons exclude, because they are INVALID.
    pub fn invalid(&self) -> impl Iterator<Item = InvalidRun> {
        let invalid = self.runs.iter().filter(|run| !run.is_counted());
        invalid.map(|run| InvalidRun {
            run: run.run,
            side: self.label.clone(),
            block: run.block.clone(),
        })
    }

    fn conditions(&self, what: UnlikeWhat) -> BTreeSet<&str> {
        let conditions = self.counted().filter_map(|run| run.conditions.get(&what));
        conditions.map(String::as_str).collect()
    }
}

impl Baseline {
    /// A baseline without an A/A control.
    pub fn alone(side: ComparedSide) -> Self {
        Self { side, twin: None }
    }

    /// The first and the second runs of the baseline.
    pub(crate) fn sides(&self) -> impl Iterator<Item = &ComparedSide> {
        [&self.side].into_iter().chain(&self.twin)
    }
}

impl SideGroup {
    /// Keeps only the runs of blocks after `number`. A decision then uses only data that was not
    /// examined before.
    #[must_use]
    pub fn after_block(mut self, number: u32) -> Self {
        let is_behind = |run: &Observed| {
            run.block
                .as_ref()
                .is_some_and(|block| block.number > number)
        };
        let baseline = [&mut self.baseline.side]
            .into_iter()
            .chain(&mut self.baseline.twin);
        for side in baseline.chain(&mut self.sides) {
            side.runs.retain(is_behind);
        }
        self
    }
}

/// The greatest length of a measurement that any of these runs needs for the metric
/// ([`Metric::needed_s`]).
pub fn needed_s<'a>(runs: impl Iterator<Item = &'a Observed>, metric: Metric) -> Option<f64> {
    let needed = runs.filter_map(|run| run.needed_s.get(&metric).copied());
    needed.reduce(f64::max)
}

/// The conditions in which two configurations differ, or in which the runs of one configuration
/// differ. INVALID runs are ignored.
pub fn unlike(side: &ComparedSide, baseline: &ComparedSide) -> Vec<Unlike> {
    let owned = |words: &BTreeSet<&str>| words.iter().map(|word| (*word).to_owned()).collect();
    let differs = |what| {
        let (one, other) = (side.conditions(what), baseline.conditions(what));
        (one.union(&other).count() > 1).then(|| Unlike {
            what,
            side: owned(&one),
            baseline: owned(&other),
        })
    };
    UnlikeWhat::ALL.into_iter().filter_map(differs).collect()
}
