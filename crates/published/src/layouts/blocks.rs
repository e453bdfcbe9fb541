//! The values of a system with a workload, in each block (repetition) of a study.

use std::collections::BTreeMap;

use serde::Serialize;
use study::statistics::{BLOCKS_MIN, Mean, Middle, mean};

use super::measured::PaperRun;
use crate::number::Interval;

/// The median of a value over the blocks of a study, with its minimum and maximum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeasuredValue {
    pub median: f64,
    pub least: f64,
    pub greatest: f64,
    pub blocks: u32,
}

/// The ratio of two values, from pairs of values of the same block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedRatio {
    /// The geometric mean of the ratios of all blocks.
    pub ratio: f64,
    /// The confidence interval; `None` if there are too few blocks.
    pub interval: Option<Interval>,
    pub blocks: u32,
}

impl PairedRatio {
    /// Returns the confidence interval of the improvement in percent.
    pub(super) fn interval_percent(&self) -> Option<(f64, f64)> {
        let interval = self.interval?;
        Some((percent(interval.low), percent(interval.high)))
    }
}

/// Converts a ratio to an improvement in percent.
pub(super) fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// The values of a figure for a system with a workload, by block and attempt. Each attempt contains
/// one value, or two values if it includes an A/A control.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockValues(BTreeMap<u32, BTreeMap<u32, Vec<f64>>>);

/// Returns the geometric mean, or the arithmetic mean if a value is not positive. The comparisons
/// of a study use the same mean for a baseline and its A/A control.
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

    /// Returns one value for each block, from its last attempt.
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

    /// Returns the ratio of the values of `self` to the values of `other`, from all blocks with
    /// both values. If a block has several attempts, its ratio is that of the last attempt with
    /// both values.
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
