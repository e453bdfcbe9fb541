//! Decides whether new runs are worse than the noise of their history explains.
//!
//! The runs before them must predict them: the limit is the one-sided prediction bound of the last
//! level, and a failure also needs a result worse than every run of that level. The first condition
//! has the error [`GATE_ALPHA`] for normal noise. The second one has at most the error 1 / (n + 1)
//! for a level of n runs, if all orders of the runs are equally probable, whatever the distribution
//! of the noise.
//!
//! A gate that would pass is undecided if there are reasons to doubt it ([`HistoryDoubt`]): runs
//! are DOUBTFUL, or the noise would hide a loss of more than [`LOSS_MAX`]. DOUBTFUL runs also
//! prevent a failure, because the new runs are not interleaved with the earlier ones.

use serde::{Deserialize, Serialize};
use verdict::Level;

use crate::drift::Drift;
use crate::gate::{Decision, GateError};
use crate::history::History;
use crate::history_point::HistoryPoint;
use crate::metric::{Better, Metric};
use crate::statistics::{mean, standard_deviation, student_quantile};

/// Probability that a new run without a change is beyond the limit, for normal noise.
pub const GATE_ALPHA: f64 = 0.01;
/// Minimum number of runs of the last level. With fewer, the gate is undecided.
pub const LEVEL_RUNS_MIN: usize = 10;
/// Maximum loss at which the limit may be for a pass: a tenth. A noise of about 3 % of a single run
/// allows it. With more noise, a pass would not exclude a loss of that size.
pub const LOSS_MAX: f64 = 0.1;

/// What the last level of a history predicts for the mean of new runs, as logarithms of which
/// greater values are better.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The predicted mean.
    pub expected: f64,
    /// The least mean that the noise explains.
    pub limit: f64,
    /// Whether the level drifts. The prediction then continues the drift.
    pub drifts: bool,
}

impl Prediction {
    /// Predicts the mean of `count` new runs. `level` contains the runs of the last level in order,
    /// and `correlation` is that of neighbours. `None` for fewer than [`LEVEL_RUNS_MIN`] runs.
    pub fn of(level: &[f64], correlation: f64, count: usize) -> Option<Self> {
        if level.len() < LEVEL_RUNS_MIN || count == 0 {
            return None;
        }
        let drifts = Drift::of(level).is_some_and(|drift| drift.is_seen);
        let (expected, deviation, degrees, of_level) = match drifts {
            true => line(level, count),
            false => {
                let deviation = standard_deviation(level)?;
                let runs = level.len() as f64;
                (mean(level), deviation, runs - 1.0, 1.0 / runs)
            }
        };
        let factor = (1.0 + correlation) / (1.0 - correlation);
        // A single new run has the whole variance of a run, whatever the correlation.
        let of_new = match count {
            1 => 1.0,
            count => (factor / count as f64).min(1.0),
        };
        let reach = (of_new + factor * of_level).sqrt() * deviation;
        let least = level.iter().copied().fold(f64::INFINITY, f64::min);
        let limit = expected - student_quantile(1.0 - GATE_ALPHA, degrees) * reach;
        Some(Self {
            expected,
            limit: limit.min(least),
            drifts,
        })
    }

    /// Whether a mean of new runs is worse than the noise explains.
    pub fn is_worse(&self, mean: f64) -> bool {
        mean < self.limit
    }
}

/// A reason to doubt a decision against the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HistoryDoubt {
    /// More than half of the new runs are DOUBTFUL.
    NewRuns { doubtful: usize, runs: usize },
    /// More than half of the runs of the last level are DOUBTFUL.
    LevelRuns { doubtful: usize, runs: usize },
    /// The limit is farther from the prediction than [`LOSS_MAX`]. A failure needs no narrower
    /// limit.
    WideLimit {
        /// Distance of the limit from the prediction, as a share (0.6 is 60 %).
        distance: f64,
    },
}

impl HistoryDoubt {
    /// Whether the reason prevents a failure, and not only a pass.
    const fn prevents_failure(&self) -> bool {
        !matches!(self, Self::WideLimit { .. })
    }
}

/// The decision about new runs, against the history before them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryGate {
    pub decision: Decision,
    pub metric: Metric,
    /// Numbers of the new runs.
    pub runs: Vec<u64>,
    /// Geometric mean of the new runs, in the unit of the metric.
    pub mean: f64,
    /// Number of counted runs before the new ones.
    #[serde(default)]
    pub earlier_runs: usize,
    /// Number of runs of the last level of the history.
    pub level_runs: usize,
    /// Number of the first run of the last level; `None` without a level.
    pub level_first: Option<u64>,
    /// The predicted value; `None` for fewer than [`LEVEL_RUNS_MIN`] runs.
    pub expected: Option<f64>,
    /// The worst value that the noise explains.
    pub limit: Option<f64>,
    /// Whether the last level drifts.
    pub drifts: bool,
    /// Whether the new runs are worse than the noise explains.
    pub is_worse: bool,
    /// Whether the gate decides despite `doubts`.
    pub allows_doubtful: bool,
    /// Reasons to doubt the decision; none without a prediction.
    pub doubts: Vec<HistoryDoubt>,
}

impl HistoryGate {
    /// Decides on new runs, which must not be part of the history. `allows_doubtful` ignores the
    /// reasons to doubt the decision.
    ///
    /// # Errors
    /// Returns an error if no new run has a value.
    pub fn of(
        history: &History,
        new: &[HistoryPoint],
        allows_doubtful: bool,
    ) -> Result<Self, GateError> {
        let sign = match history.metric.better() {
            Better::Higher => 1.0,
            Better::Lower => -1.0,
        };
        let logs = |run: &HistoryPoint| Some(sign * run.counted()?.ln());
        let values: Vec<f64> = new.iter().filter_map(logs).collect();
        if values.is_empty() {
            return Err(GateError::new("the new runs contain no value".to_owned()));
        }
        let last = history.last_level();
        let level: Vec<f64> = last.iter().filter_map(|run| logs(run)).collect();
        let predicted = Prediction::of(&level, history.correlation, values.len());
        let average = mean(&values);
        let value = |log: f64| (sign * log).exp();
        let is_worse = predicted.is_some_and(|predicted| predicted.is_worse(average));
        let doubts = predicted.map_or_else(Vec::new, |predicted| {
            let limit = (value(predicted.limit) / value(predicted.expected) - 1.0).abs();
            doubts(new, &last, limit)
        });
        let mut considered = doubts.iter().filter(|_| !allows_doubtful);
        Ok(Self {
            decision: match predicted {
                None => Decision::Undecided,
                Some(_) if is_worse => match considered.any(HistoryDoubt::prevents_failure) {
                    true => Decision::Undecided,
                    false => Decision::Failed,
                },
                Some(_) => match considered.next() {
                    Some(_) => Decision::Undecided,
                    None => Decision::Passed,
                },
            },
            metric: history.metric,
            runs: new.iter().map(|run| run.run).collect(),
            mean: value(average),
            earlier_runs: history.runs.iter().filter_map(logs).count(),
            level_runs: level.len(),
            level_first: last.first().map(|run| run.run),
            expected: predicted.map(|predicted| value(predicted.expected)),
            limit: predicted.map(|predicted| value(predicted.limit)),
            drifts: predicted.is_some_and(|predicted| predicted.drifts),
            is_worse,
            allows_doubtful,
            doubts,
        })
    }
}

/// The reasons to doubt a decision on new runs against the runs of the last level. `distance` is
/// that of the limit from the prediction.
fn doubts(new: &[HistoryPoint], level: &[&HistoryPoint], distance: f64) -> Vec<HistoryDoubt> {
    let is_doubtful = |run: &HistoryPoint| run.verdict == Level::Doubtful;
    let mut doubts = Vec::new();
    let (doubtful, runs) = (new.iter().filter(|run| is_doubtful(run)).count(), new.len());
    doubts.extend((2 * doubtful > runs).then_some(HistoryDoubt::NewRuns { doubtful, runs }));
    let (doubtful, runs) = (
        level.iter().filter(|run| is_doubtful(run)).count(),
        level.len(),
    );
    doubts.extend((2 * doubtful > runs).then_some(HistoryDoubt::LevelRuns { doubtful, runs }));
    doubts.extend((distance > LOSS_MAX).then_some(HistoryDoubt::WideLimit { distance }));
    doubts
}

/// Continues the line of least squares to the middle of `count` new runs. Returns the value there,
/// the standard deviation around the line, its degrees of freedom, and the variance of the
/// predicted value relative to that of a run.
fn line(level: &[f64], count: usize) -> (f64, f64, f64, f64) {
    let runs = level.len() as f64;
    let (average, middle) = (mean(level), (runs - 1.0) / 2.0);
    let places = || (0..level.len()).map(|place| place as f64 - middle);
    let squares: f64 = places().map(|place| place * place).sum();
    let products = places().zip(level).map(|(place, value)| place * value);
    let slope = products.sum::<f64>() / squares;
    let distances = places().zip(level);
    let rest: f64 = distances
        .map(|(place, value)| (value - average - slope * place).powi(2))
        .sum();
    let next = middle + f64::midpoint(1.0, count as f64);
    (
        average + slope * next,
        (rest / (runs - 2.0)).sqrt(),
        runs - 2.0,
        1.0 / runs + next * next / squares,
    )
}
