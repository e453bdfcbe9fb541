//! Runs as comparisons see them, and whether two sides are alike but for what is compared.

use std::collections::{BTreeMap, BTreeSet};

use record::study::StudyPart;
use record::{Fact, Phase, Record};
use serde::{Deserialize, Serialize};
use verdict::{Level, Summary};

use crate::metric::Metric;

/// Which block of a study a run belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BlockAttempt {
    /// The study's identity.
    pub study: String,
    /// Whether all cells of the block were run together, in random order.
    pub is_interleaved: bool,
    /// Its number, from 1.
    pub number: u32,
    /// Which attempt at it, from 1: a block with an INVALID run is repeated.
    pub attempt: u32,
}

/// A run, as far as it is compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Its number in the archive; nothing of a record that is in none.
    pub run: Option<u64>,
    /// Its block; nothing of a run that belongs to no study.
    pub block: Option<BlockAttempt>,
    /// Its verdict. INVALID runs are listed and never counted.
    pub level: Level,
    /// Its metrics, as far as it has them.
    pub values: BTreeMap<Metric, f64>,
    /// The rules that its verdict names, each once.
    pub reasons: BTreeSet<String>,
    /// What has to be the same for two runs to be compared.
    pub conditions: BTreeMap<UnlikeWhat, String>,
    /// Operations that were issued and not completed, as shares of those that were issued, from 0
    /// to 1. Nothing where none was issued.
    pub incomplete: BTreeMap<Incomplete, f64>,
}

/// Why an operation that was issued was not completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Incomplete {
    /// There was nothing to do: the file at its maximum, the pool empty, a failure before.
    Skipped,
    /// The system answered with an error.
    Failed,
}

impl Incomplete {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 2] = [Self::Skipped, Self::Failed];
}

/// The runs of one system under one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedSide {
    /// What it is called: a cell, a tag, numbers of runs.
    pub label: String,
    /// Its runs, in any order.
    pub runs: Vec<Observed>,
}

/// What sides are compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Its runs.
    pub side: ComparedSide,
    /// The runs of the same system once more, in the same blocks; nothing where there is no twin.
    pub twin: Option<ComparedSide>,
}

/// A baseline with the sides that are held against it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideGroup {
    /// What they are compared with.
    pub baseline: Baseline,
    /// What is compared with it.
    pub sides: Vec<ComparedSide>,
}

/// A run that is not counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvalidRun {
    /// Its number in the archive; nothing of a record that is in none.
    pub run: Option<u64>,
    /// The side that it belongs to.
    pub side: String,
    /// Its block; nothing of a run that belongs to no study.
    pub block: Option<BlockAttempt>,
}

/// What has to be the same for two runs to be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnlikeWhat {
    /// What was done: the workload's fingerprint.
    Fingerprint,
    /// What acknowledged changes had reached.
    DurabilityTier,
    /// The state of the page cache before the transactions.
    CacheState,
    /// The machine's name.
    Host,
}

/// Two sides are not alike in this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unlike {
    /// In what.
    pub what: UnlikeWhat,
    /// What the runs of the one side have, each once.
    pub side: Vec<String>,
    /// What those of the baseline have, each once.
    pub baseline: Vec<String>,
}

impl UnlikeWhat {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 4] = [
        Self::Fingerprint,
        Self::DurabilityTier,
        Self::CacheState,
        Self::Host,
    ];
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

/// Of the measured transactions.
fn incomplete(record: &Record) -> BTreeMap<Incomplete, f64> {
    let phase = record.actual.phase(Phase::Transactions);
    let Some(phase) = phase else {
        return BTreeMap::new();
    };
    let meters = phase.measured_operations();
    let failed: u64 = meters.map(|done| done.meter.failed).sum();
    let skipped = phase.skipped().total();
    let (completed, others) = phase.tried();
    let issued = (completed + others + skipped) as f64;
    let counts = [(Incomplete::Skipped, skipped), (Incomplete::Failed, failed)];
    match issued > 0.0 {
        true => counts
            .map(|(why, count)| (why, count as f64 / issued))
            .into(),
        false => BTreeMap::new(),
    }
}

impl Observed {
    /// What is compared of a run, with its number in the archive.
    pub fn of(record: &Record, run: Option<u64>, metrics: &[Metric]) -> Self {
        let summary = Summary::of(record);
        let value = |metric: &Metric| metric.of(&summary).map(|value| (*metric, value));
        // A word of the schema, so that what is told apart is what a record tells apart.
        let tier = match &summary.durability.tier {
            Fact::Known(tier) => tier.name().to_owned(),
            Fact::NotApplicable | Fact::Unavailable(_) => "not available".to_owned(),
        };
        Self {
            run,
            block: record.study.as_ref().map(BlockAttempt::from),
            level: summary.verdict.level,
            values: metrics.iter().filter_map(value).collect(),
            reasons: summary
                .verdict
                .reasons
                .iter()
                .map(verdict::Reason::name)
                .collect(),
            incomplete: incomplete(record),
            conditions: BTreeMap::from([
                (UnlikeWhat::Fingerprint, record.fingerprint.to_string()),
                (UnlikeWhat::DurabilityTier, tier),
                (UnlikeWhat::CacheState, record.spec.cache.to_string()),
                (UnlikeWhat::Host, record.host.hostname.clone()),
            ]),
        }
    }

    /// Whether it is counted.
    pub fn is_counted(&self) -> bool {
        self.level != Level::Invalid
    }
}

impl ComparedSide {
    /// The runs that are counted.
    pub fn counted(&self) -> impl Iterator<Item = &Observed> {
        self.runs.iter().filter(|run| run.is_counted())
    }

    /// The runs that are not.
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
    /// One without a twin.
    pub fn alone(side: ComparedSide) -> Self {
        Self { side, twin: None }
    }

    /// Itself and its twin.
    pub(crate) fn sides(&self) -> impl Iterator<Item = &ComparedSide> {
        [&self.side].into_iter().chain(&self.twin)
    }
}

impl SideGroup {
    /// The same with the runs of blocks behind this one alone: for a decision that nothing that was
    /// seen before has a part in.
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

/// What two sides are not alike in, or what the runs of one of them are not alike in. Runs that are
/// not counted do not matter.
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
