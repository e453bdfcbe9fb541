//! The classes of published results, and the rules of the class `strict`.
//!
//! Results are compared only within a class. `docs/reference/sites.md` states the rules in words.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use record::Record;
use record::study::StudyPart;
use serde::{Deserialize, Serialize};
use spec::Cache;
use verdict::{Level, Summary};
use workload::presets;

use crate::statistics::BLOCKS_MIN;

/// A working set this many times as large as the memory counts as larger than the cache.
pub const MEMORY_FACTOR: f64 = 4.0;

/// The rules of the verdict that a run of the class `strict` may break: its machine or its target
/// limits the result, and the result remains that of this system.
pub const DOUBTS_ALLOWED: [&str; 2] = ["client-saturated", "nearly-full"];

/// The class of a published result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResultClass {
    /// All rules of [`StrictRule`] hold.
    Strict,
    /// A submission discloses who measured what, and what was tuned.
    Open,
    /// Printed from 1997 to 2004.
    Historic,
    /// A record without a submission.
    Unclassified,
}

impl ResultClass {
    pub const ALL: [Self; 4] = [Self::Strict, Self::Open, Self::Historic, Self::Unclassified];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Open => "open",
            Self::Historic => "historic",
            Self::Unclassified => "unclassified",
        }
    }
}

/// A rule of the class `strict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StrictRule {
    PresetUnchanged,
    VerdictAllowed,
    CacheDeclared,
    LargerThanMemory,
    BlocksWithControl,
    RecordAgrees,
}

impl StrictRule {
    pub const fn name(self) -> &'static str {
        match self {
            Self::PresetUnchanged => "preset-unchanged",
            Self::VerdictAllowed => "verdict-allowed",
            Self::CacheDeclared => "cache-declared",
            Self::LargerThanMemory => "larger-than-memory",
            Self::BlocksWithControl => "blocks-with-control",
            Self::RecordAgrees => "record-agrees",
        }
    }

    /// What the submitter can do: an imperative without a period.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::PresetUnchanged => "use --preset without options that change its operations",
            Self::VerdictAllowed => "repeat the run on an idle machine, and see its report",
            Self::CacheDeclared => "state the cache: --cache warm, cold or cold-data",
            Self::LargerThanMemory => "use --working-set 4x or --cache cold",
            Self::BlocksWithControl => "perform a study with --blocks 5 or more and --twin",
            Self::RecordAgrees => "submit the file as postmark wrote it",
        }
    }
}

/// A rule of the class `strict` that a run breaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StrictBreach {
    pub rule: StrictRule,
    /// What was found: a clause without a period.
    pub why: String,
}

impl StrictBreach {
    pub fn new(rule: StrictRule, why: impl Into<String>) -> Self {
        let why = why.into();
        Self { rule, why }
    }
}

impl fmt::Display for StrictBreach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, why } = self;
        write!(f, "{}: {why} ({})", rule.name(), rule.advice())
    }
}

/// Returns the rules that a run breaks, except those about its study.
pub fn breaches(record: &Record, summary: &Summary) -> Vec<StrictBreach> {
    let found = [
        preset(record),
        verdict(summary),
        cache(record),
        working_set(record, summary),
    ];
    found.into_iter().flatten().collect()
}

fn preset(record: &Record) -> Option<StrictBreach> {
    let breach = |why: &str| Some(StrictBreach::new(StrictRule::PresetUnchanged, why));
    let Some(name) = &record.spec.preset else {
        return breach("the workload is of no preset");
    };
    let mut all = presets::all().into_iter();
    match all.find(|preset| preset.full_name() == *name) {
        None => breach("this program has no preset with the recorded name"),
        Some(preset) if preset.is_of(&record.spec.workload) => None,
        Some(_) => breach("options changed the operations of the preset"),
    }
}

fn verdict(summary: &Summary) -> Option<StrictBreach> {
    let level = summary.verdict.level;
    let reasons = summary.verdict.reasons.iter();
    let names: Vec<String> = reasons
        .map(verdict::Reason::name)
        .filter(|name| level == Level::Invalid || !DOUBTS_ALLOWED.contains(&name.as_str()))
        .collect();
    let is_allowed = level != Level::Invalid && names.is_empty();
    (!is_allowed).then(|| {
        let why = format!("the verdict is {} ({})", level.name(), names.join(", "));
        StrictBreach::new(StrictRule::VerdictAllowed, why)
    })
}

fn cache(record: &Record) -> Option<StrictBreach> {
    let is_declared = record.spec.direct || record.spec.cache != Cache::AsIs;
    let why = "the cache is as the preparation left it (as-is)";
    (!is_declared).then(|| StrictBreach::new(StrictRule::CacheDeclared, why))
}

fn working_set(record: &Record, summary: &Summary) -> Option<StrictBreach> {
    if matches!(record.spec.cache, Cache::Cold | Cache::ColdData) {
        // If files remained in the cache, a rule of the verdict reports this.
        return None;
    }
    let fraction = summary.pool.as_ref().and_then(|pool| pool.memory_fraction);
    let why = match fraction {
        Some(fraction) if fraction >= MEMORY_FACTOR => return None,
        Some(fraction) => format!(
            "the cache is not cold, and the pool is {fraction:.2} times as large as the memory, \
             not {MEMORY_FACTOR}"
        ),
        None => "the cache is not cold, and the memory is not known".to_owned(),
    };
    Some(StrictBreach::new(StrictRule::LargerThanMemory, why))
}

/// The blocks of a study that its runs contain: counted by cell, and those of the A/A control.
#[derive(Clone, Debug, Default)]
pub struct StudyBlocks {
    cells: BTreeMap<String, BTreeSet<u32>>,
    control: BTreeSet<u32>,
}

impl StudyBlocks {
    /// Adds a run of a cell, unless it is INVALID.
    pub fn add(&mut self, cell: &str, part: &StudyPart, level: Level) {
        if level == Level::Invalid {
            return;
        }
        match part.is_twin {
            true => self.control.insert(part.block),
            false => {
                let blocks = self.cells.entry(cell.to_owned()).or_default();
                blocks.insert(part.block)
            }
        };
    }

    /// Returns the breach of a cell with too few blocks, or whose study has too few runs of the
    /// A/A control.
    pub fn breach(&self, cell: &str) -> Option<StrictBreach> {
        let blocks = self.cells.get(cell).map_or(0, BTreeSet::len);
        let control = self.control.len();
        let why = format!(
            "the cell has {blocks} blocks that count, and its study {control} with the A/A \
             control, of at least {BLOCKS_MIN} each"
        );
        (blocks.min(control) < BLOCKS_MIN as usize)
            .then(|| StrictBreach::new(StrictRule::BlocksWithControl, why))
    }

    /// Returns the breach of a run that belongs to no study.
    pub fn no_study() -> StrictBreach {
        StrictBreach::new(
            StrictRule::BlocksWithControl,
            "the run belongs to no study, so nothing shows how much runs vary",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(blocks: &mut StudyBlocks, is_twin: bool, block: u32, level: Level) {
        let part = StudyPart {
            is_twin,
            block,
            ..StudyPart::default()
        };
        blocks.add("a", &part, level);
    }

    #[test]
    fn cell_needs_five_valid_blocks_and_the_control() {
        let mut blocks = StudyBlocks::default();
        for block in 1..=5 {
            add(&mut blocks, false, block, Level::Valid);
        }
        let breach = blocks.breach("a").unwrap();
        assert!(
            breach.why.contains("5 blocks that count, and its study 0"),
            "{breach}"
        );
        for block in 1..=4 {
            add(&mut blocks, true, block, Level::Doubtful);
        }
        add(&mut blocks, true, 5, Level::Invalid);
        assert!(blocks.breach("a").is_some());
        add(&mut blocks, true, 5, Level::Valid);
        assert_eq!(blocks.breach("a"), None);
        assert!(blocks.breach("b").is_some());
    }

    #[test]
    fn lowest_class_is_the_greatest_value() {
        assert!(ResultClass::Strict < ResultClass::Open);
        assert!(ResultClass::Open < ResultClass::Unclassified);
    }
}
