//! Samples of a comparison: values of a side and of the baseline, block after block, or those of
//! runs that belong to none.

use std::collections::{BTreeMap, BTreeSet};

use crate::metric::Metric;
use crate::observed::{Baseline, ComparedSide, Observed};

/// The share of the blocks, or of the runs where there are no blocks, that may be INVALID: beyond
/// it there is no comparison.
pub const INVALID_MAX: f64 = 0.2;

/// A block: study and number.
type Key<'a> = (&'a str, u32);

/// A value of a run; nothing where the run does not have it.
pub(crate) trait Value: Fn(&Observed) -> Option<f64> {}

impl<F: Fn(&Observed) -> Option<f64>> Value for F {}

/// The logarithm of a metric.
pub(crate) fn logarithm(metric: Metric) -> impl Value {
    move |run: &Observed| run.values.get(&metric).map(|value| value.ln())
}

/// Samples, with what is not among them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counted<S> {
    pub values: Vec<S>,
    /// Blocks of which no attempt was without an INVALID run; without blocks, INVALID runs.
    pub invalid: u32,
    /// Blocks or runs that are counted and do not have the value.
    pub without: u32,
}

/// The values of a block, block after block: that of the side, then those of the baseline's runs.
pub(crate) type Blocks = Counted<Vec<f64>>;

/// Values of the runs of a side that belong to no block.
pub(crate) type Apart = Counted<f64>;

impl Blocks {
    /// The side's value less the mean of the baseline's, block after block.
    pub(crate) fn differences(&self) -> Vec<f64> {
        let difference = |values: &Vec<f64>| {
            let (side, others) = values.split_first()?;
            Some(side - others.iter().sum::<f64>() / others.len() as f64)
        };
        self.values.iter().filter_map(difference).collect()
    }
}

/// Whether all runs belong to blocks, no side has two in one attempt at one, and the sides have a
/// block in common: then there are pairs.
pub(crate) fn are_in_blocks(side: &ComparedSide, baseline: &Baseline) -> bool {
    let sides = || [side].into_iter().chain(baseline.sides());
    let common = sides().map(keys).reduce(|common, keys| &common & &keys);
    sides().all(has_one_run_an_attempt) && common.is_some_and(|common| !common.is_empty())
}

fn has_one_run_an_attempt(side: &ComparedSide) -> bool {
    let mut seen = BTreeSet::new();
    side.runs
        .iter()
        .all(|run| run.block.as_ref().is_some_and(|block| seen.insert(block)))
}

fn keys(side: &ComparedSide) -> BTreeSet<Key<'_>> {
    let blocks = side.runs.iter().filter_map(|run| run.block.as_ref());
    blocks
        .map(|block| (block.study.as_str(), block.number))
        .collect()
}

/// Whether all of those blocks were run as a whole, in random order.
pub(crate) fn are_interleaved<'a>(sides: impl IntoIterator<Item = &'a ComparedSide>) -> bool {
    let mut blocks = sides
        .into_iter()
        .flat_map(|side| &side.runs)
        .filter_map(|run| run.block.as_ref());
    blocks.all(|block| block.is_interleaved)
}

/// The blocks of a side and a baseline. With a twin the baseline has two runs in each block.
pub(crate) fn pairs<'a>(
    side: &'a ComparedSide,
    baseline: impl Iterator<Item = &'a ComparedSide>,
    value: &impl Value,
) -> Blocks {
    let sides: Vec<&ComparedSide> = [side].into_iter().chain(baseline).collect();
    let mut blocks = Blocks::default();
    for (attempts, is_invalid) in attempts(&sides) {
        // The last attempt is the one that was meant to stand.
        match attempts.last() {
            Some(runs) => match runs.iter().map(|run| value(run)).collect() {
                Some(values) => blocks.values.push(values),
                None => blocks.without += 1,
            },
            None if is_invalid => blocks.invalid += 1,
            // It has not been performed to its end.
            None => {}
        }
    }
    blocks
}

/// Of each block, in order: the attempts at it that have a counted run of every side, those runs in
/// the order of the sides; and whether any of its runs is INVALID.
fn attempts<'a>(sides: &[&'a ComparedSide]) -> Vec<(Vec<Vec<&'a Observed>>, bool)> {
    let mut by_attempt: BTreeMap<Key<'a>, BTreeMap<u32, Vec<Option<&'a Observed>>>> =
        BTreeMap::new();
    let mut invalid: BTreeSet<Key<'a>> = BTreeSet::new();
    for (place, side) in sides.iter().enumerate() {
        for run in &side.runs {
            let Some(block) = &run.block else { continue };
            let key = (block.study.as_str(), block.number);
            let attempts = by_attempt.entry(key).or_default();
            let runs = attempts
                .entry(block.attempt)
                .or_insert_with(|| vec![None; sides.len()]);
            if run.is_counted() {
                runs[place] = Some(run);
            } else {
                invalid.insert(key);
            }
        }
    }
    let whole = |attempts: BTreeMap<u32, Vec<Option<&'a Observed>>>| {
        let whole = attempts
            .into_values()
            .filter_map(|runs| runs.into_iter().collect());
        whole.collect()
    };
    by_attempt
        .into_iter()
        .map(|(key, attempts)| (whole(attempts), invalid.contains(&key)))
        .collect()
}

/// The values of a side's runs, and how many of its runs are INVALID and do not have it.
pub(crate) fn apart(side: &ComparedSide, value: &impl Value) -> Apart {
    let values: Vec<f64> = side.counted().filter_map(value).collect();
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Apart {
        invalid: count(side.invalid().count()),
        without: count(side.counted().count() - values.len()),
        values,
    }
}

/// Whether so many INVALID ones of all are too many.
pub(crate) fn are_too_many(invalid: u32, counted: u32) -> bool {
    f64::from(invalid) > INVALID_MAX * (f64::from(invalid) + f64::from(counted))
}
