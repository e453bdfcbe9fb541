//! Ratios of candidates to a baseline, with confidence intervals.
//!
//! How it works: every candidate (side) is compared with the baseline in every metric. Bonferroni's
//! correction divides the table's error among its rows, so the table's confidence applies to all
//! intervals together. Runs in blocks are paired ([`crate::pairs`]). Other runs are two samples,
//! and the comparison reports that they were not interleaved.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::drift::Drift;
use crate::incomplete::{IncompleteDifference, are_too_unlike, differences};
use crate::metric::Metric;
use crate::observed::{Baseline, ComparedSide, InvalidRun, Observed, SideGroup, Unlike, unlike};
use crate::order_apart::OrderApart;
use crate::pairs::{blocks_of, logarithm, pairs};
use crate::requirement::PASS_ALPHA;
use crate::run_time::run_s;
use crate::samples::{Method, Missing, Samples, count};
use crate::side_summary::{SideSummary, summaries};
use crate::statistics::{self, ALPHA, BLOCKS_MIN, Errors, Mean};
use crate::verdicts::VerdictCounts;

/// Maximum probability that a study reports a doubtful A/A control if nothing disturbs the machine.
pub const DOUBT_ALPHA: f64 = 0.01;

/// A confidence interval of a ratio. All intervals of a table contain their true ratios with the
/// probability [`Comparisons::confidence`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatioInterval {
    pub low: f64,
    pub high: f64,
}

impl RatioInterval {
    /// Whether 1 is outside of the interval, so that a difference is shown.
    pub fn excludes_one(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }
}

/// A ratio with its uncertainty. A confidence interval requires five blocks, or without blocks five
/// runs of each configuration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Ratio of candidate to baseline: the geometric mean over the blocks.
    pub ratio: f64,
    /// Confidence interval of the true ratio; `None` with too few blocks or runs.
    pub interval: Option<RatioInterval>,
    /// Standard deviation of a block's log ratio (0.03 is 3 %). Without blocks, it is the standard
    /// deviation of the difference between a run of the candidate and a run of the baseline. `None`
    /// for fewer than two blocks, or fewer than two runs of a configuration.
    pub standard_deviation: Option<f64>,
    /// Standard deviation from which `blocks_needed_to_show` is forecast: the larger one of
    /// `standard_deviation` and of what the A/A control of the same blocks implies (its noise times
    /// the square root of 0.75). `None` if `standard_deviation` is `None`.
    #[serde(default)]
    pub forecast_deviation: Option<f64>,
    /// Whether a difference is shown: 1 is outside of the interval.
    pub is_shown: bool,
    /// Smallest detectable difference, as a share of the baseline (0.03 is 3 %): the performed
    /// blocks show it with a probability of 80 %. `None` without an interval.
    pub smallest_detectable: Option<f64>,
    /// Number of blocks that would show a difference with a probability of 80 %, if the true ratio
    /// equals `ratio`. `None` without an interval, if a difference is already shown, or if 10,000
    /// blocks do not suffice.
    pub blocks_needed_to_show: Option<u32>,
}

/// Result of a comparison, or why the configurations were not compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonOutcome {
    Estimated(Estimate),
    /// Not compared: more than 20 % of the blocks (without blocks: of the runs) are INVALID.
    TooManyInvalid,
    /// Not compared: the shares of incomplete operations differ too much, and the user did not
    /// allow such comparisons (`--unlike`).
    UnlikeShares,
    /// Not compared: the included runs of at least one configuration do not contain the metric.
    NotMeasured,
    /// Not compared: the configurations have no block in common, or a configuration has no included
    /// run.
    NoRuns,
}

/// Comparison of a candidate with the baseline in one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Name of the candidate.
    pub side: String,
    pub baseline: String,
    pub metric: Metric,
    pub method: Method,
    /// Number of blocks; without blocks, number of the candidate's runs.
    pub count: u32,
    /// Number of blocks; without blocks, number of the baseline's runs.
    pub baseline_count: u32,
    /// Number of blocks that are excluded because they remained INVALID; without blocks, number of
    /// INVALID runs of candidate and baseline.
    pub invalid: u32,
    /// Number of blocks or runs excluded because the metric is not known, such as a percentile with
    /// fewer than ten samples beyond it.
    pub without: u32,
    /// Conditions, such as the host, in which candidate and baseline differ.
    pub unlike: Vec<Unlike>,
    /// Differences between the shares of incomplete operations.
    pub incomplete: Vec<IncompleteDifference>,
    /// Verdicts of the runs of candidate and baseline.
    pub verdicts: VerdictCounts,
    pub outcome: ComparisonOutcome,
}

/// A/A control: the second runs of the baseline compared with its first runs, in one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AaControl {
    pub metric: Metric,
    /// Number of blocks.
    pub count: u32,
    /// Ratio of the second to the first run: the geometric mean over the blocks.
    pub ratio: f64,
    /// Confidence interval of the true ratio; `None` for fewer than five blocks.
    pub interval: Option<RatioInterval>,
    /// Distance of the upper end of the 90 % interval from `ratio`, as a share of `ratio`: 0.03 is
    /// 3 %. Each end of this interval is a one-sided bound with 95 % confidence, like the bound of
    /// a gate. `interval` has 95 % confidence, so it is wider. `None` for fewer than five blocks.
    pub half_width_90: Option<f64>,
    /// A/A noise: standard deviation of the log ratio of second to first run over the blocks (0.03
    /// is 3 %). `None` for fewer than two blocks.
    pub noise: Option<f64>,
    /// Probability that identical systems have a ratio at least as far from 1; `None` for fewer
    /// than five blocks.
    pub p: Option<f64>,
    /// Whether the same system seems to differ from itself.
    pub is_doubtful: bool,
}

impl AaControl {
    /// Greatest distance of the interval's ends from 1, as a share (0.012 is 1.2 %); `None` without
    /// an interval.
    pub fn within(&self) -> Option<f64> {
        let RatioInterval { low, high } = self.interval?;
        Some((high - 1.0).max(1.0 - low))
    }
}

/// A table of comparisons with one baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparisons {
    pub baseline: String,
    /// The workload and the coordinates of cells that all configurations have in common.
    pub common: Vec<String>,
    /// Identity of the study that contains all runs; `None` for other runs.
    pub study: Option<String>,
    /// The configurations; the baseline is the first one.
    pub sides: Vec<SideSummary>,
    /// Number of blocks with a run of any configuration.
    pub blocks: u32,
    /// Number of blocks of the study's design. `None` without a study, for runs of several studies,
    /// and for a study that other limits may end before.
    #[serde(default)]
    pub blocks_planned: Option<u32>,
    /// The order of the runs in the blocks of sides that were measured apart; `None` for other
    /// runs.
    #[serde(default)]
    pub order_apart: Option<OrderApart>,
    /// Number of runs in a block; without blocks, number of configurations.
    pub runs_per_block: u32,
    /// Mean time that a run takes, in seconds: from its start to the start of the next run of the
    /// study. Without a study, it is the mean duration of the whole runs. `None` without runs.
    pub run_s: Option<f64>,
    /// Probability that all intervals of the table contain the true ratios (0.95 is 95 %).
    pub confidence: f64,
    /// One row for each metric of each candidate, ordered by candidate.
    pub rows: Vec<Comparison>,
    /// The A/A control in each metric; empty without second runs of the baseline.
    pub aa_controls: Vec<AaControl>,
    /// Whether the same system seems to differ from itself, in this or another table of the study.
    /// Every row is then doubtful.
    pub is_doubtful: bool,
    /// The INVALID runs, which the comparisons exclude.
    pub invalid: Vec<InvalidRun>,
    /// The verdicts of all runs, including INVALID ones.
    pub verdicts: VerdictCounts,
    /// What the user can do about the reasons of DOUBTFUL and INVALID runs, by the rule's name.
    pub advice: BTreeMap<String, String>,
}

/// The A/A control of a baseline; `None` without second runs, or without a block that contains a
/// first and a second run.
fn aa_control(baseline: &Baseline, metric: Metric, alpha: f64) -> Option<AaControl> {
    let twin = baseline.twin.as_ref()?;
    let blocks = pairs(twin, std::iter::once(&baseline.side), &logarithm(metric));
    let logs = &blocks.differences();
    let mean = Mean::of(logs).filter(|_| count(logs) >= BLOCKS_MIN);
    (!logs.is_empty()).then(|| AaControl {
        metric,
        count: count(logs),
        ratio: statistics::mean(logs).exp(),
        interval: interval(count(logs), mean, alpha),
        half_width_90: mean.map(|mean| (mean.mean - mean.lower_bound(PASS_ALPHA)).exp_m1()),
        noise: statistics::standard_deviation(logs),
        p: mean.map(|mean| mean.p_of_zero()),
        is_doubtful: false,
    })
}

impl Comparisons {
    /// Compares each group in a separate table. A table's confidence applies to all of its
    /// intervals together. A doubtful A/A control makes all tables doubtful.
    pub fn of_groups(groups: &[SideGroup], metrics: &[Metric], alpha: f64) -> Vec<Self> {
        let all = groups
            .iter()
            .flat_map(|group| group.baseline.sides().chain(&group.sides));
        let run_s = run_s(all.flat_map(|side| &side.runs).collect());
        let table = |group: &SideGroup| Self {
            run_s,
            ..Self::of(&group.baseline, &group.sides, metrics, alpha)
        };
        let mut tables: Vec<Self> = groups.iter().map(table).collect();
        doubt(&mut tables);
        tables
    }

    /// Compares every candidate with the baseline in every metric. `alpha` is the error of all
    /// intervals together: [`ALPHA`], or that of an interim analysis ([`crate::Looks`]).
    pub fn of(baseline: &Baseline, sides: &[ComparedSide], metrics: &[Metric], alpha: f64) -> Self {
        let rows_number = (sides.len() * metrics.len()).max(1);
        let each = alpha / rows_number as f64;
        let row = |side, metric| Comparison::of(side, baseline, metric, each);
        let rows = sides
            .iter()
            .flat_map(|side| metrics.iter().map(move |metric| row(side, *metric)))
            .collect();
        // The A/A control has its own error, because it has another purpose than the rows: it tests
        // whether the rows can be trusted.
        let of_twin = ALPHA / metrics.len().max(1) as f64;
        let control = |metric: &Metric| aa_control(baseline, *metric, of_twin);
        let all = || baseline.sides().chain(sides);
        let (summaries, common) = summaries(baseline, sides, metrics);
        let mut table = Self {
            baseline: baseline.side.label.clone(),
            confidence: 1.0 - alpha,
            common,
            study: study_of(all()),
            sides: summaries,
            blocks: blocks_of(all()),
            blocks_planned: None,
            order_apart: None,
            runs_per_block: count_of(all()),
            run_s: run_s(all().flat_map(|side| &side.runs).collect()),
            rows,
            is_doubtful: false,
            aa_controls: metrics.iter().filter_map(control).collect(),
            invalid: all().flat_map(ComparedSide::invalid).collect(),
            verdicts: VerdictCounts::of(all().flat_map(|side| &side.runs)),
            advice: advice(all().flat_map(|side| &side.runs)),
        };
        if table.is_apart() {
            table.order_apart = Some(OrderApart::of(baseline, sides));
        }
        doubt(std::slice::from_mut(&mut table));
        table
    }

    /// Whether a study has fewer blocks or runs than its design. Runs of repeated blocks are
    /// additional runs, so such a study may seem complete.
    pub fn is_unfinished(&self) -> bool {
        self.blocks_planned.is_some_and(|planned| {
            self.blocks < planned || u64::from(self.verdicts.all()) < self.runs_in(planned)
        })
    }

    /// Number of runs in this many blocks. Without blocks, one run of each configuration counts as
    /// a block.
    pub fn runs_in(&self, blocks: u32) -> u64 {
        u64::from(blocks) * u64::from(self.runs_per_block)
    }

    /// Removes the estimates of candidates whose shares of incomplete operations differ too much
    /// from the baseline's.
    #[must_use]
    pub fn without_unlike_shares(mut self) -> Self {
        for row in self.rows.iter_mut().filter(|row| row.has_unlike_shares()) {
            row.outcome = ComparisonOutcome::UnlikeShares;
        }
        self
    }

    pub fn is_in_blocks(&self) -> bool {
        let mut rows = self.rows.iter();
        rows.all(|row| row.method != Method::NotInterleaved)
    }

    /// Whether a block's configurations were measured separately, instead of together in random
    /// order.
    pub fn is_apart(&self) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|row| row.method == Method::BlocksApart)
    }

    /// The tests of all configurations for a drift; none for interleaved runs and for alternating
    /// blocks, because a drift then affects all configurations alike.
    pub fn drifts(&self) -> impl Iterator<Item = (&SideSummary, Metric, Drift)> {
        let alternates = self.order_apart.is_none_or(|order| order.is_alternating);
        let is_alike = self.is_in_blocks() && alternates;
        let sides = self.sides.iter().filter(move |_| !is_alike);
        sides.flat_map(|side| {
            side.drifts
                .iter()
                .map(move |(of, drift)| (side, *of, *drift))
        })
    }

    pub fn side(&self, label: &str) -> Option<&SideSummary> {
        self.sides.iter().find(|side| side.label == label)
    }

    /// Number of blocks that would decide all undecided rows: the maximum over the rows. `None` if
    /// [`Estimate::blocks_needed_to_show`] of every row is `None`.
    pub fn blocks_needed_to_show(&self) -> Option<u32> {
        self.rows
            .iter()
            .filter_map(|row| row.estimate()?.blocks_needed_to_show)
            .max()
    }

    /// Half-width of the widest interval, relative to its middle (0.02 is 2 %); `None` if a row has
    /// no interval. A study with `until` continues until this half-width is small enough.
    pub fn half_width_max(&self) -> Option<f64> {
        let half = |row: &Comparison| {
            let interval = row.estimate()?.interval?;
            Some((interval.high / interval.low).sqrt() - 1.0)
        };
        let halves: Option<Vec<f64>> = self.rows.iter().map(half).collect();
        halves?.into_iter().reduce(f64::max)
    }
}

/// The advice for each reason, by the name of the rule. If runs have different advice for a rule,
/// that of the last run is used.
pub(crate) fn advice<'a>(runs: impl Iterator<Item = &'a Observed>) -> BTreeMap<String, String> {
    runs.flat_map(|run| run.advice.clone()).collect()
}

fn count_of<'a>(sides: impl Iterator<Item = &'a ComparedSide>) -> u32 {
    u32::try_from(sides.count()).unwrap_or(u32::MAX)
}

/// The study that contains all runs; `None` if a run belongs to no study, or to another one.
fn study_of<'a>(sides: impl Iterator<Item = &'a ComparedSide>) -> Option<String> {
    let runs = sides.flat_map(|side| &side.runs);
    let studies = runs.map(|run| run.block.as_ref().map(|block| block.study.as_str()));
    let studies: BTreeSet<Option<&str>> = studies.collect();
    let study = studies.first().copied().flatten();
    study.filter(|_| studies.len() == 1).map(str::to_owned)
}

/// Marks tables as doubtful if an A/A control shows a difference. All A/A controls of a study share
/// the error [`DOUBT_ALPHA`] (Bonferroni's correction).
fn doubt(tables: &mut [Comparisons]) {
    let twins = tables
        .iter()
        .map(|table| table.aa_controls.len())
        .sum::<usize>()
        .max(1);
    for control in tables.iter_mut().flat_map(|table| &mut table.aa_controls) {
        control.is_doubtful = control.p.is_some_and(|p| p <= DOUBT_ALPHA / twins as f64);
    }
    let is_doubtful = tables
        .iter()
        .flat_map(|table| &table.aa_controls)
        .any(|control| control.is_doubtful);
    for table in tables {
        table.is_doubtful = is_doubtful;
    }
}

impl Comparison {
    /// Compares a candidate with the baseline. `alpha` is the error of this interval only.
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

    /// Whether the shares of incomplete operations differ by more than
    /// [`INCOMPLETE_MAX`](crate::incomplete::INCOMPLETE_MAX), so that the configurations are not
    /// comparable.
    pub fn has_unlike_shares(&self) -> bool {
        are_too_unlike(&self.incomplete)
    }

    pub fn estimate(&self) -> Option<&Estimate> {
        match &self.outcome {
            ComparisonOutcome::Estimated(estimate) => Some(estimate),
            _ => None,
        }
    }

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
        let smallest =
            known.map(|mean| errors.smallest_detectable(mean.standard_error, mean.degrees));
        let needed = samples.forecast.filter(|_| !is_shown && interval.is_some());
        Self {
            ratio: log_ratio.exp(),
            interval,
            standard_deviation: samples.spread,
            forecast_deviation: samples.forecast,
            is_shown,
            smallest_detectable: smallest.map(f64::exp_m1),
            blocks_needed_to_show: needed
                .and_then(|spread| errors.blocks_needed(log_ratio, spread)),
        }
    }
}

/// Converts the interval of a mean log ratio to that of the ratio; `None` for fewer than
/// [`BLOCKS_MIN`] samples.
fn interval(count: u32, mean: Option<Mean>, alpha: f64) -> Option<RatioInterval> {
    let mean = mean.filter(|_| count >= BLOCKS_MIN)?;
    let (low, high) = mean.interval(alpha);
    let (low, high) = (low.exp(), high.exp());
    Some(RatioInterval { low, high })
}
