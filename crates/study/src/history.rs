//! A metric over the runs of one series, with the changes of its level.
//!
//! `docs/reference/history.md` describes the method, its sources and its error rates.

use serde::{Deserialize, Serialize};
use verdict::Level;

use crate::change_points::{LevelChange, Levels, Shape};
use crate::history_point::{HistoryPoint, SeriesKey};
use crate::host_change::{Cause, cause};
use crate::metric::Metric;

/// Minimum number of runs in which changes are searched.
pub const HISTORY_RUNS_MIN: usize = 5;

/// A part of the history between two changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryLevel {
    /// Number of the first run and of the last run.
    pub first: u64,
    pub last: u64,
    /// Number of counted runs.
    pub runs: usize,
    /// Geometric mean, with outliers moved towards it.
    pub mean: f64,
}

/// A change of the level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryChange {
    /// Number of the last counted run before the change and of the first one after it.
    pub last_before: u64,
    pub first_after: u64,
    /// Ratio of the levels after and before, with its 95 % confidence interval.
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
    /// Probability of a change this clear in a series without a change.
    pub p: f64,
    pub shape: Shape,
    /// Whether the host or the system changed.
    pub cause: Cause,
}

/// A metric over the runs of one series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct History {
    pub series: SeriesKey,
    pub metric: Metric,
    /// The order: `time`, `note` or `tag:NAME`.
    pub by: String,
    /// All runs in order, also INVALID ones.
    pub runs: Vec<HistoryPoint>,
    /// Number of runs that are left out because they have no such tag or note.
    pub without_label: u64,
    pub levels: Vec<HistoryLevel>,
    pub changes: Vec<HistoryChange>,
    /// Standard deviation of a run around its level (0.03 is 3 %); `None` for fewer than
    /// [`HISTORY_RUNS_MIN`] counted runs.
    pub deviation: Option<f64>,
    /// Correlation of each run with the previous one.
    pub correlation: f64,
}

impl History {
    /// Searches the changes of a metric over runs that are already in order.
    pub fn of(
        (series, metric): (SeriesKey, Metric),
        by: String,
        (runs, without_label): (Vec<HistoryPoint>, u64),
    ) -> Self {
        let counted: Vec<&HistoryPoint> =
            runs.iter().filter(|run| run.counted().is_some()).collect();
        let logs: Vec<f64> = counted
            .iter()
            .filter_map(|run| run.counted())
            .map(f64::ln)
            .collect();
        let found = match logs.len() < HISTORY_RUNS_MIN {
            true => Levels::default(),
            false => Levels::of(&logs),
        };
        let starts = found.starts();
        let ends = starts.iter().skip(1).copied().chain([counted.len()]);
        let parts: Vec<&[&HistoryPoint]> = starts
            .iter()
            .zip(ends)
            .map(|(from, to)| &counted[*from..to])
            .collect();
        let levels = parts.iter().zip(&found.means);
        let levels = levels
            .filter_map(|(part, mean)| level(part, *mean))
            .collect();
        let changes = found.changes.iter().zip(parts.windows(2));
        let changes = changes.filter_map(|(found, parts)| change(found, parts[0], parts[1]));
        Self {
            changes: changes.collect(),
            levels,
            deviation: found.deviation,
            correlation: found.correlation,
            series,
            metric,
            by,
            runs,
            without_label,
        }
    }

    pub fn invalid(&self) -> impl Iterator<Item = &HistoryPoint> {
        let runs = self.runs.iter();
        runs.filter(|run| run.verdict == Level::Invalid)
    }

    /// The counted runs of the last level, in order.
    pub fn last_level(&self) -> Vec<&HistoryPoint> {
        let counted = self.runs.iter().filter(|run| run.counted().is_some());
        let counted: Vec<&HistoryPoint> = counted.collect();
        let count = self.levels.last().map_or(0, |level| level.runs);
        counted[counted.len().saturating_sub(count)..].to_vec()
    }
}

fn level(part: &[&HistoryPoint], mean: f64) -> Option<HistoryLevel> {
    Some(HistoryLevel {
        first: part.first()?.run,
        last: part.last()?.run,
        runs: part.len(),
        mean: mean.exp(),
    })
}

fn change(
    found: &LevelChange,
    before: &[&HistoryPoint],
    after: &[&HistoryPoint],
) -> Option<HistoryChange> {
    let (low, high) = found.interval();
    Some(HistoryChange {
        last_before: before.last()?.run,
        first_after: after.first()?.run,
        ratio: found.difference.mean.exp(),
        low: low.exp(),
        high: high.exp(),
        p: found.p,
        shape: found.shape,
        cause: cause(before, after),
    })
}
