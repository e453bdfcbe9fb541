//! By how much sides differ from a baseline, and how sure that is.
//!
//! How it works: every side is held against the baseline in every metric; the rows of that table
//! share its error by Bonferroni's correction, so that all intervals hold together. Runs of blocks
//! are pairs ([`crate::pairs`]); other runs are two samples, and the comparison says that they were
//! not interleaved.

use serde::{Deserialize, Serialize};

use crate::incomplete::{IncompleteDifference, are_too_unlike, differences};
use crate::metric::Metric;
use crate::observed::{Baseline, ComparedSide, InvalidRun, SideGroup, Unlike, unlike};
use crate::pairs::{logarithm, pairs};
use crate::samples::{Method, Missing, Samples, count};
use crate::statistics::{self, ALPHA, BLOCKS_MIN, Errors, Mean};
use crate::verdicts::VerdictCounts;

/// A system seems to differ from itself, where nothing disturbs the machine, with this probability
/// at most in a whole study.
pub const DOUBT_ALPHA: f64 = 0.01;

/// From where to where something lies, with the confidence of the whole table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatioInterval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl RatioInterval {
    /// Whether it does not have 1: the two are not the same.
    pub fn excludes_one(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }
}

/// A ratio and how sure it is. Nothing but the ratio where there are fewer than five blocks, or
/// runs of a side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Side over baseline: the geometric mean of the blocks' ratios.
    pub ratio: f64,
    /// Where the true ratio lies.
    pub interval: Option<RatioInterval>,
    /// The standard deviation of the log ratio of a block (0.03 is 3 %); not interleaved, of the
    /// two samples together. Nothing of fewer than two blocks or runs of a side.
    pub spread: Option<f64>,
    /// Whether a difference is shown: the interval does not have 1.
    pub is_shown: bool,
    /// The smallest difference that as many blocks would have shown with a probability of 80 %, as
    /// a share of the baseline (0.03 is 3 %).
    pub smallest_shown: Option<f64>,
    /// Where no difference is shown: blocks that would show the ratio, if it is the true one, with
    /// a probability of 80 %. Nothing where one is shown, and where 10,000 would not do.
    pub blocks_needed: Option<u32>,
}

/// What came of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonOutcome {
    /// A ratio.
    Estimated(Estimate),
    /// No comparison: more than a fifth of the blocks, or of the runs where there are no blocks,
    /// are INVALID.
    TooManyInvalid,
    /// No comparison: the sides did not complete unlike shares of their operations, and that is not
    /// allowed.
    UnlikeShares,
    /// No comparison: the metric is in none of the runs that are counted, or not in both sides.
    NotMeasured,
    /// No comparison: the sides have no block in common, or one of them has no run that is counted.
    NoRuns,
}

/// A side against the baseline in one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The side's name.
    pub side: String,
    /// The baseline's name.
    pub baseline: String,
    /// What is compared.
    pub metric: Metric,
    /// How.
    pub method: Method,
    /// Blocks; where there are none, runs of the side.
    pub count: u32,
    /// The same; where there are no blocks, runs of the baseline.
    pub baseline_count: u32,
    /// Blocks that are not counted because they stayed INVALID; without blocks, runs of both.
    pub invalid: u32,
    /// Those that are not counted because the metric is not known, like a percentile with fewer
    /// than ten samples beyond it.
    pub without: u32,
    /// What the sides are not alike in.
    pub unlike: Vec<Unlike>,
    /// Unlike shares of operations that were not completed.
    pub incomplete: Vec<IncompleteDifference>,
    /// The verdicts of the runs of both.
    pub verdicts: VerdictCounts,
    /// What came of it.
    pub outcome: ComparisonOutcome,
}

/// The baseline's twin against it in one metric: the same system twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwinNoise {
    /// What is compared.
    pub metric: Metric,
    /// Blocks.
    pub count: u32,
    /// Twin over baseline: the geometric mean.
    pub ratio: f64,
    /// Where the true ratio lies; nothing of fewer than five blocks.
    pub interval: Option<RatioInterval>,
    /// The A/A noise: the standard deviation of the log ratio of twin to baseline (0.03 is 3 %).
    /// Nothing of fewer than two blocks.
    pub spread: Option<f64>,
    /// The probability of a ratio as far from 1, or farther, of a system to itself; nothing of
    /// fewer than five blocks.
    pub p: Option<f64>,
    /// Whether the same system seems to differ from itself.
    pub is_doubtful: bool,
}

/// A table of comparisons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparisons {
    /// The baseline's name.
    pub baseline: String,
    /// The probability with which all intervals hold together (0.95 is 95 %).
    pub confidence: f64,
    /// Its rows: side after side, in each of them metric after metric.
    pub rows: Vec<Comparison>,
    /// What the twin showed, for each metric; empty where there is none.
    pub noise: Vec<TwinNoise>,
    /// Whether the same system seems to differ from itself, here or in another table of the study,
    /// so that every row is to be doubted.
    pub is_doubtful: bool,
    /// The runs that are not counted.
    pub invalid: Vec<InvalidRun>,
    /// The verdicts of all runs.
    pub verdicts: VerdictCounts,
}

/// What the twin of a baseline shows; nothing where there is none, or no block with both.
fn noise(baseline: &Baseline, metric: Metric, alpha: f64) -> Option<TwinNoise> {
    let twin = baseline.twin.as_ref()?;
    let blocks = pairs(twin, std::iter::once(&baseline.side), &logarithm(metric));
    let logs = &blocks.differences();
    let mean = Mean::of(logs).filter(|_| count(logs) >= BLOCKS_MIN);
    (!logs.is_empty()).then(|| TwinNoise {
        metric,
        count: count(logs),
        ratio: statistics::mean(logs).exp(),
        interval: interval(count(logs), mean, alpha),
        spread: statistics::standard_deviation(logs),
        p: mean.map(|mean| mean.p_of_zero()),
        is_doubtful: false,
    })
}

impl Comparisons {
    /// A table for each group; the intervals of each table hold together. A twin that differs makes
    /// all of them doubtful.
    pub fn of_groups(groups: &[SideGroup], metrics: &[Metric], alpha: f64) -> Vec<Self> {
        let table = |group: &SideGroup| Self::of(&group.baseline, &group.sides, metrics, alpha);
        let mut tables: Vec<Self> = groups.iter().map(table).collect();
        doubt(&mut tables);
        tables
    }

    /// Every side against the baseline in every metric, with the error of all intervals together
    /// ([`ALPHA`], or that of a look: [`crate::Looks`]).
    pub fn of(baseline: &Baseline, sides: &[ComparedSide], metrics: &[Metric], alpha: f64) -> Self {
        let rows_number = (sides.len() * metrics.len()).max(1);
        let each = alpha / rows_number as f64;
        let row = |side, metric| Comparison::of(side, baseline, metric, each);
        let rows = sides
            .iter()
            .flat_map(|side| metrics.iter().map(move |metric| row(side, *metric)))
            .collect();
        // The twin is a table of its own: whether the others can be trusted.
        let of_twin = ALPHA / metrics.len().max(1) as f64;
        let noise: Vec<TwinNoise> = metrics
            .iter()
            .filter_map(|metric| noise(baseline, *metric, of_twin))
            .collect();
        let mut table = Self {
            baseline: baseline.side.label.clone(),
            confidence: 1.0 - alpha,
            rows,
            is_doubtful: false,
            noise,
            invalid: baseline
                .sides()
                .chain(sides)
                .flat_map(ComparedSide::invalid)
                .collect(),
            verdicts: VerdictCounts::of(baseline.sides().chain(sides).flat_map(|side| &side.runs)),
        };
        doubt(std::slice::from_mut(&mut table));
        table
    }

    /// The same without comparisons of sides that did not complete unlike shares of their
    /// operations.
    #[must_use]
    pub fn without_unlike_shares(mut self) -> Self {
        for row in self.rows.iter_mut().filter(|row| row.has_unlike_shares()) {
            row.outcome = ComparisonOutcome::UnlikeShares;
        }
        self
    }

    /// The blocks that would decide what is not decided: the most that one of the rows needs.
    /// Nothing where all rows show a difference, or nobody knows.
    pub fn blocks_needed(&self) -> Option<u32> {
        self.rows
            .iter()
            .filter_map(|row| row.estimate()?.blocks_needed)
            .max()
    }

    /// The widest interval of all, as half of its width over its middle (0.02 is 2 %); nothing
    /// where a row has none. For a study that goes on until all are narrow enough.
    pub fn half_width_max(&self) -> Option<f64> {
        let half = |row: &Comparison| {
            let interval = row.estimate()?.interval?;
            Some((interval.high / interval.low).sqrt() - 1.0)
        };
        let halves: Option<Vec<f64>> = self.rows.iter().map(half).collect();
        halves?.into_iter().reduce(f64::max)
    }
}

/// Decides what is doubtful in the tables of a study: all of its twins share [`DOUBT_ALPHA`]
/// (Bonferroni's correction).
fn doubt(tables: &mut [Comparisons]) {
    let twins = tables
        .iter()
        .map(|table| table.noise.len())
        .sum::<usize>()
        .max(1);
    for noise in tables.iter_mut().flat_map(|table| &mut table.noise) {
        noise.is_doubtful = noise.p.is_some_and(|p| p <= DOUBT_ALPHA / twins as f64);
    }
    let is_doubtful = tables
        .iter()
        .flat_map(|table| &table.noise)
        .any(|noise| noise.is_doubtful);
    for table in tables {
        table.is_doubtful = is_doubtful;
    }
}

impl Comparison {
    /// A side against the baseline, with the error of this interval alone.
    fn of(side: &ComparedSide, baseline: &Baseline, metric: Metric, alpha: f64) -> Self {
        let samples = Samples::of(side, baseline, &logarithm(metric));
        let outcome = match samples.estimated() {
            Err(Missing::TooManyInvalid) => ComparisonOutcome::TooManyInvalid,
            Err(Missing::NotMeasured) => ComparisonOutcome::NotMeasured,
            Err(Missing::NoRuns) => ComparisonOutcome::NoRuns,
            Ok(log_ratio) => ComparisonOutcome::Estimated(Estimate::of(&samples, log_ratio, alpha)),
        };
        Self {
            side: side.label.clone(),
            baseline: baseline.side.label.clone(),
            metric,
            method: samples.method,
            count: samples.count,
            baseline_count: samples.baseline_count,
            invalid: samples.invalid,
            without: samples.without,
            unlike: unlike(side, &baseline.side),
            incomplete: differences(side, baseline),
            verdicts: VerdictCounts::of(
                [side]
                    .into_iter()
                    .chain(baseline.sides())
                    .flat_map(|side| &side.runs),
            ),
            outcome,
        }
    }

    /// Whether the sides differ by so much in what they did not complete that they are not
    /// comparable.
    pub fn has_unlike_shares(&self) -> bool {
        are_too_unlike(&self.incomplete)
    }

    /// Its estimate; nothing where no comparison is made.
    pub fn estimate(&self) -> Option<&Estimate> {
        match &self.outcome {
            ComparisonOutcome::Estimated(estimate) => Some(estimate),
            _ => None,
        }
    }

    /// The interval of its ratio.
    pub fn interval(&self) -> Option<RatioInterval> {
        self.estimate()?.interval
    }
}

impl Estimate {
    fn of(samples: &Samples, log_ratio: f64, alpha: f64) -> Self {
        let interval = interval(samples.count_min(), samples.mean, alpha);
        let is_shown = interval.as_ref().is_some_and(RatioInterval::excludes_one);
        let errors = Errors::of_interval(alpha);
        let known = samples.mean.filter(|_| interval.is_some());
        let smallest = known.map(|mean| errors.smallest_shown(mean.standard_error, mean.degrees));
        let needed = samples.spread.filter(|_| !is_shown && interval.is_some());
        Self {
            ratio: log_ratio.exp(),
            interval,
            spread: samples.spread,
            is_shown,
            smallest_shown: smallest.map(f64::exp_m1),
            blocks_needed: needed.and_then(|spread| errors.blocks_needed(log_ratio, spread)),
        }
    }
}

/// Nothing of fewer than [`BLOCKS_MIN`].
fn interval(count: u32, mean: Option<Mean>, alpha: f64) -> Option<RatioInterval> {
    let mean = mean.filter(|_| count >= BLOCKS_MIN)?;
    let (low, high) = mean.interval(alpha);
    let (low, high) = (low.exp(), high.exp());
    Some(RatioInterval { low, high })
}
