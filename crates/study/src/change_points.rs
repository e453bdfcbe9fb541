//! Finds the places at which the level of a series changes.
//!
//! How it works: the most probable change of the whole series is tested; if it is significant, it
//! divides the series, and each part is searched in the same way (divisive segmentation). At the
//! end each place is moved to where it fits best between its neighbours. A change whose
//! neighbourhood is fitted better by a line is a drift, not a step; so are several changes in one
//! direction, if a line through all of their levels has the lower Bayesian information criterion
//! (Schwarz, Annals of Statistics 6 (1978), 461-464).

use serde::{Deserialize, Serialize};

use crate::seeded_scan::{RUNS_MIN, best_split, candidate, p_of};
use crate::series_noise::{SeriesNoise, without_outliers};
use crate::statistics::{ALPHA, Mean, mean};

/// Maximum p-value of a change.
pub const CHANGE_ALPHA: f64 = 0.01;
/// Maximum number of changes that are searched in a series.
const CHANGES_MAX: usize = 1_000;

/// Whether a change is a step or a part of a drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Two constant levels fit the runs at least as well as a line.
    Step,
    /// A line fits the runs better than two constant levels.
    Drift,
}

/// A change of the level of a series of logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelChange {
    /// Index of the first run after the change.
    pub at: usize,
    /// Difference of the means after and before, with its standard error.
    pub difference: Mean,
    pub p: f64,
    pub shape: Shape,
}

/// The levels of a series, and the changes between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Levels {
    /// The changes, in the order of the series.
    pub changes: Vec<LevelChange>,
    /// Mean of each level: one more than changes, none for an empty series.
    pub means: Vec<f64>,
    /// Correlation of each run with the previous one, from 0 to 0.9.
    pub correlation: f64,
    /// Standard deviation of a run around its level; `None` for fewer than three runs.
    pub deviation: Option<f64>,
}

impl LevelChange {
    /// The 95 % confidence interval of the difference.
    pub fn interval(&self) -> (f64, f64) {
        self.difference.interval(ALPHA)
    }
}

impl Levels {
    /// Finds the changes of a series of logarithms.
    pub fn of(values: &[f64]) -> Self {
        let values = without_outliers(values);
        let mut found = Vec::new();
        divide(&values, 0, &mut found);
        found.sort_by_key(|(at, _)| *at);
        refine(&values, &mut found);
        let ends: Vec<usize> = [0]
            .into_iter()
            .chain(found.iter().map(|(at, _)| *at))
            .chain([values.len()])
            .collect();
        let changes = found.iter().zip(ends.windows(3));
        let parts = ends.windows(2).map(|ends| &values[ends[0]..ends[1]]);
        let parts: Vec<&[f64]> = parts.filter(|part| !part.is_empty()).collect();
        let noise = SeriesNoise::of(&parts);
        let mut changes: Vec<LevelChange> = changes
            .map(|((at, p), ends)| LevelChange {
                at: *at,
                difference: difference(&values[ends[0]..*at], &values[*at..ends[2]], &noise),
                p: *p,
                shape: shape(&values[ends[0]..*at], &values[*at..ends[2]]),
            })
            .collect();
        mark_long_drifts(&mut changes, &parts);
        Self {
            changes,
            deviation: deviation(&parts),
            means: parts.into_iter().map(mean).collect(),
            correlation: noise.correlation,
        }
    }

    /// Indexes of the first run of each level, beginning with 0.
    pub fn starts(&self) -> Vec<usize> {
        let starts = self.changes.iter().map(|change| change.at);
        std::iter::once(0).chain(starts).collect()
    }
}

/// Adds the changes of a part of a series, which begins at index `from` of the series.
fn divide(values: &[f64], from: usize, found: &mut Vec<(usize, f64)>) {
    let Some(candidate) = candidate(values).filter(|_| found.len() < CHANGES_MAX) else {
        return;
    };
    let p = p_of(values, candidate, CHANGE_ALPHA);
    if p > CHANGE_ALPHA {
        return;
    }
    found.push((from + candidate.at, p));
    divide(&values[..candidate.at], from, found);
    divide(&values[candidate.at..], from + candidate.at, found);
}

/// Moves each change to the place that fits best between its neighbours.
fn refine(values: &[f64], found: &mut [(usize, f64)]) {
    for index in 0..found.len() {
        let from = index.checked_sub(1).map_or(0, |before| found[before].0);
        let to = found.get(index + 1).map_or(values.len(), |next| next.0);
        if let Some(at) = best_split(values, from, to) {
            found[index].0 = at;
        }
    }
}

/// Difference of the means of two neighbouring levels. Both sides have the same noise, so that a
/// side of few runs does not need an estimate of its own.
fn difference(before: &[f64], after: &[f64], noise: &SeriesNoise) -> Mean {
    let (count, others) = (before.len() as f64, after.len() as f64);
    let degrees = (count + others - 2.0).max(1.0);
    let variance = (squares(before) + squares(after)) / degrees;
    Mean {
        mean: mean(after) - mean(before),
        standard_error: (variance * noise.variance_factor() * (1.0 / count + 1.0 / others)).sqrt(),
        degrees,
    }
}

/// Sum of the squared distances from the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// Standard deviation of a run around the mean of its level.
fn deviation(parts: &[&[f64]]) -> Option<f64> {
    let count: usize = parts.iter().map(|part| part.len()).sum();
    let degrees = count
        .checked_sub(parts.len())
        .filter(|degrees| *degrees > 1)?;
    let sum: f64 = parts.iter().map(|part| squares(part)).sum();
    Some((sum / degrees as f64).sqrt())
}

fn shape(before: &[f64], after: &[f64]) -> Shape {
    let both = [before, after].concat();
    // A line fits few runs well by chance, so it does not show a drift.
    let is_short = before.len().min(after.len()) < 2 * RUNS_MIN;
    match !is_short && squares_around_line(&both) < squares(before) + squares(after) {
        true => Shape::Drift,
        false => Shape::Step,
    }
}

/// Marks successive changes in one direction as a drift if a line fits all of their levels better.
fn mark_long_drifts(changes: &mut [LevelChange], levels: &[&[f64]]) {
    let is_up = |change: &LevelChange| change.difference.mean > 0.0;
    let mut first = 0;
    for stretch in changes.chunk_by_mut(|one, next| is_up(one) == is_up(next)) {
        let levels = &levels[first..=first + stretch.len()];
        first += stretch.len();
        let (all, count) = (levels.concat(), levels.concat().len() as f64);
        let steps: f64 = levels.iter().map(|level| squares(level)).sum();
        // A line has 2 parameters. Levels have a mean each, and the places of the changes between
        // them.
        let more = 2.0 * levels.len() as f64 - 1.0 - 2.0;
        let gain = count * (squares_around_line(&all) / steps).ln();
        if stretch.len() > 1 && gain < more * count.ln() {
            stretch
                .iter_mut()
                .for_each(|change| change.shape = Shape::Drift);
        }
    }
}

/// Sum of the squared distances from the line of least squares.
fn squares_around_line(values: &[f64]) -> f64 {
    let (level, middle) = (mean(values), (values.len() as f64 - 1.0) / 2.0);
    let places = || (0..values.len()).map(|place| place as f64 - middle);
    let products = places().zip(values).map(|(place, value)| place * value);
    let slope = products.sum::<f64>() / places().map(|place| place * place).sum::<f64>();
    places()
        .zip(values)
        .map(|(place, value)| (value - level - slope * place).powi(2))
        .sum()
}
