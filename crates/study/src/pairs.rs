//! Samples of a comparison: values of a candidate and of the baseline by block, or values of runs
//! that belong to no block.

use std::collections::{BTreeMap, BTreeSet};

use crate::metric::Metric;
use crate::observed::{Baseline, ComparedSide, Observed};

/// Maximum share of INVALID blocks (without blocks: of INVALID runs) at which a comparison is made.
pub const INVALID_MAX: f64 = 0.2;

/// A block: the study's identity, and the block's number.
type Key<'a> = (&'a str, u32);

/// A function that returns a value of a run, or `None` if the run does not contain the value.
pub(crate) trait Value: Fn(&Observed) -> Option<f64> {}

impl<F: Fn(&Observed) -> Option<f64>> Value for F {}

pub(crate) fn logarithm(metric: Metric) -> impl Value {
    move |run: &Observed| run.values.get(&metric).map(|value| value.ln())
}

/// Samples, with the numbers of excluded blocks or runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counted<S> {
    pub values: Vec<S>,
    /// Number of blocks with an INVALID run and without an attempt in which every side has a valid
    /// run; without blocks, number of INVALID runs.
    pub invalid: u32,
    /// Number of valid blocks or runs that do not contain the value.
    pub without: u32,
}

/// The values of each block: first that of the candidate's run, then those of the baseline's runs.
pub(crate) type Blocks = Counted<Vec<f64>>;

/// Values of a configuration's runs that belong to no block.
pub(crate) type Apart = Counted<f64>;

impl Blocks {
    /// The candidate's value minus the mean of the baseline's values, for each block.
    pub(crate) fn differences(&self) -> Vec<f64> {
        let difference = |values: &Vec<f64>| {
            let (side, others) = values.split_first()?;
            Some(side - others.iter().sum::<f64>() / others.len() as f64)
        };
        self.values.iter().filter_map(difference).collect()
    }
}

/// Whether the runs form pairs. All runs must belong to blocks, and the configurations must have a
/// block in common. No configuration may have two runs in one attempt at a block.
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

/// Number of blocks with a run of any of these configurations.
pub(crate) fn blocks_of<'a>(sides: impl Iterator<Item = &'a ComparedSide>) -> u32 {
    let blocks: BTreeSet<Key<'_>> = sides.flat_map(keys).collect();
    u32::try_from(blocks.len()).unwrap_or(u32::MAX)
}

/// Whether the runs of every block were performed together, in random order.
pub(crate) fn are_interleaved<'a>(sides: impl IntoIterator<Item = &'a ComparedSide>) -> bool {
    let mut blocks = sides
        .into_iter()
        .flat_map(|side| &side.runs)
        .filter_map(|run| run.block.as_ref());
    blocks.all(|block| block.is_interleaved)
}

/// Pairs the runs of a candidate and a baseline by block. With an A/A control, the baseline has two
/// runs in each block.
pub(crate) fn pairs<'a>(
    side: &'a ComparedSide,
    baseline: impl Iterator<Item = &'a ComparedSide>,
    value: &impl Value,
) -> Blocks {
    let sides: Vec<&ComparedSide> = [side].into_iter().chain(baseline).collect();
    let mut blocks = Blocks::default();
    for (attempts, is_invalid) in attempts(&sides) {
        // Later attempts replace earlier ones.
        match attempts.last() {
            Some(runs) => match runs.iter().map(|run| value(run)).collect() {
                Some(values) => blocks.values.push(values),
                None => blocks.without += 1,
            },
            None if is_invalid => blocks.invalid += 1,
            // The block was interrupted before all of its runs were complete, so it is not counted.
            None => {}
        }
    }
    blocks
}

/// Returns for each block, in ascending order, the runs of its complete attempts, and whether any
/// run of the block is INVALID. An attempt is complete if every configuration has a run in it that
/// is not INVALID. The runs of an attempt are in the order of `sides`.
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

/// The values of a configuration's runs, with the numbers of INVALID runs and of runs without the
/// value.
pub(crate) fn apart(side: &ComparedSide, value: &impl Value) -> Apart {
    let values: Vec<f64> = side.counted().filter_map(value).collect();
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Apart {
        invalid: count(side.invalid().count()),
        without: count(side.counted().count() - values.len()),
        values,
    }
}

/// Whether the share of INVALID blocks or runs rules out a comparison.
pub(crate) fn are_too_many(invalid: u32, counted: u32) -> bool {
    f64::from(invalid) > INVALID_MAX * (f64::from(invalid) + f64::from(counted))
}
