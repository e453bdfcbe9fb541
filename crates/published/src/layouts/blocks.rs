//! The numbers of a cell, block by block.

use std::collections::BTreeMap;

use serde::Serialize;
use study::statistics::{BLOCKS_MIN, Mean, Middle, mean};

use super::measured::PaperRun;
use crate::number::Interval;

/// The middle of blocks, and how far they lie apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeasuredValue {
    /// The median over the blocks.
    pub median: f64,
    /// The least of a block.
    pub least: f64,
    /// The greatest of a block.
    pub greatest: f64,
    /// How many blocks.
    pub blocks: u32,
}

/// How many times one value is another, from pairs within blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedRatio {
    /// The geometric mean over the blocks.
    pub ratio: f64,
    /// Its interval; nothing of fewer blocks than an interval needs.
    pub interval: Option<Interval>,
    /// How many blocks.
    pub blocks: u32,
}

impl PairedRatio {
    /// The interval of the improvement, in percent.
    pub(super) fn interval_percent(&self) -> Option<(f64, f64)> {
        let interval = self.interval?;
        Some((percent(interval.low), percent(interval.high)))
    }
}

/// By how much what is so many times as fast is faster.
pub(super) fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// The runs of a cell: by block and attempt, values of the run and its twin.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockValues(BTreeMap<u32, BTreeMap<u32, Vec<f64>>>);

/// The geometric mean, where there is one: as comparisons take a baseline and its twin.
fn middle(values: &[f64]) -> f64 {
    if let [value] = values {
        return *value;
    }
    if values.iter().all(|value| *value > 0.0) {
        mean(&values.iter().map(|value| value.ln()).collect::<Vec<_>>()).exp()
    } else {
        mean(values)
    }
}

impl BlockValues {
    pub(super) fn add(&mut self, run: &PaperRun, value: f64) {
        let attempts = self.0.entry(run.part.block).or_default();
        attempts.entry(run.part.attempt).or_default().push(value);
    }

    /// A value for each block: of its last attempt.
    fn each(&self) -> Vec<f64> {
        let last = |attempts: &BTreeMap<u32, Vec<f64>>| {
            attempts.values().next_back().map(|values| middle(values))
        };
        self.0.values().filter_map(last).collect()
    }

    pub(super) fn measured(&self) -> Option<MeasuredValue> {
        let each = self.each();
        let blocks = count(each.len());
        let Middle {
            median,
            least,
            greatest,
        } = Middle::of(each)?;
        Some(MeasuredValue {
            median,
            least,
            greatest,
            blocks,
        })
    }

    /// These over those, in the blocks that both have, at the same attempt.
    pub(super) fn over(&self, other: &Self, alpha: f64) -> Option<PairedRatio> {
        let mut logs = Vec::new();
        for (block, attempts) in &self.0 {
            let Some(others) = other.0.get(block) else {
                continue;
            };
            let pair = attempts
                .iter()
                .rev()
                .find_map(|(attempt, values)| Some(middle(values) / middle(others.get(attempt)?)));
            logs.extend(pair.map(f64::ln).filter(|log| log.is_finite()));
        }
        if logs.is_empty() {
            return None;
        }
        let blocks = count(logs.len());
        let interval = Mean::of(&logs)
            .filter(|_| blocks >= BLOCKS_MIN)
            .map(|mean| {
                let (low, high) = mean.interval(alpha);
                Interval {
                    low: low.exp(),
                    high: high.exp(),
                }
            });
        Some(PairedRatio {
            ratio: mean(&logs).exp(),
            interval,
            blocks,
        })
    }
}

pub(super) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
