//! The results of a repeated run, which is a study of one configuration: means with confidence
//! intervals, the verdicts of the runs, and a test for a drift of the rate.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use verdict::Level;
use workload::{Action, Classic, Phase, Work, Workload};

use crate::alpha_spending::FIRST_LOOK_BLOCKS;
use crate::comparison::advice;
use crate::design::Design;
use crate::drift::Drift;
use crate::metric::{Metric, Statistic};
use crate::observed::{Observed, UnlikeWhat};
use crate::pairs::are_too_many;
use crate::statistics::{ALPHA, BLOCKS_MIN, Mean, mean, standard_deviation, student_quantile};
use crate::tables::{StudyRun, error_left};
use crate::verdicts::VerdictCounts;

/// Minimum number of runs of a repetition that ends when its interval is narrow enough.
pub const RUNS_MIN_UNTIL: u32 = FIRST_LOOK_BLOCKS;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repeats {
    /// Identity of the study that contains the runs.
    pub study: String,
    pub name: String,
    pub target: String,
    /// Fingerprints of the runs' operations, each once. There is one fingerprint if all runs issue
    /// the same operations.
    pub fingerprints: BTreeSet<String>,
    pub verdicts: VerdictCounts,
    /// What the user can do about the reasons of the verdicts, by the names of their rules.
    pub advice: BTreeMap<String, String>,
    /// Whether more than 20 % of the runs are INVALID. If so, no metric is estimated.
    pub has_too_many_invalid: bool,
    /// Probability that an interval contains the true mean (0.95 is 95 %).
    pub confidence: f64,
    /// The requested relative half-width of the rate's interval (0.02 is 2 %); `None` without a
    /// request.
    pub until: Option<f64>,
    /// Number of runs after which the interval would be that narrow, with the standard deviation of
    /// these runs; `None` if it is, or if there are too few runs.
    #[serde(default)]
    pub needed: Option<u64>,
    /// Maximum number of runs.
    #[serde(default)]
    pub planned: u32,
    /// The metrics of the design, the rate first. INVALID runs are excluded.
    pub metrics: Vec<RepeatedMetric>,
    /// Whether the rate drifts; `None` for fewer than five runs.
    pub drift: Option<Drift>,
    /// Two groups of rates whose mean describes no run; `None` without such groups.
    pub groups: Option<RateGroups>,
    /// All runs, including INVALID ones, ordered by block and attempt.
    pub runs: Vec<RepeatedRun>,
}

/// Two groups of rates, between which is at least half of the range of all rates. Ten evenly
/// distributed rates form such groups with a probability of 3 %, ten normal ones with 1 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateGroups {
    /// Number of runs in the lower group, and in the higher one; at least two in each.
    pub counts: (u32, u32),
    /// Lowest and highest rate of the lower group, in transactions a second.
    pub low: (f64, f64),
    /// Lowest and highest rate of the higher group, in transactions a second.
    pub high: (f64, f64),
}

impl RateGroups {
    /// Minimum number of runs. Of five runs, a quarter would form groups by chance.
    const RUNS_MIN: usize = 8;
    /// Minimum distance of the groups, relative to the mean. A smaller one does not matter.
    const DISTANCE_MIN: f64 = 0.1;

    fn of(rates: &[f64]) -> Option<Self> {
        let mut sorted = rates.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (least, most) = (*sorted.first()?, *sorted.last()?);
        let gap = |at: &usize| sorted[*at] - sorted[at - 1];
        let at = (1..sorted.len()).max_by(|one, other| gap(one).total_cmp(&gap(other)))?;
        let count = |runs: usize| u32::try_from(runs).unwrap_or(u32::MAX);
        let is_wide =
            gap(&at) >= (most - least) / 2.0 && gap(&at) >= Self::DISTANCE_MIN * mean(rates);
        let (lower, higher) = (at, sorted.len() - at);
        (is_wide && sorted.len() >= Self::RUNS_MIN && lower.min(higher) >= 2).then(|| Self {
            counts: (count(lower), count(higher)),
            low: (least, sorted[at - 1]),
            high: (sorted[at], most),
        })
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RepeatedMetric {
    pub metric: Metric,
    /// Number of runs that contain the metric.
    pub count: u32,
    /// Number of runs that are not INVALID but lack the metric, such as runs with fewer than ten
    /// samples beyond a percentile.
    pub without: u32,
    /// Arithmetic mean, in the metric's unit; `None` if no run contains the metric.
    pub mean: Option<f64>,
    /// Standard deviation of a run; `None` for fewer than two runs.
    pub standard_deviation: Option<f64>,
    /// Confidence interval of the true mean; `None` for fewer than five runs.
    pub interval: Option<MeanInterval>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeanInterval {
    pub low: f64,
    pub high: f64,
    /// Half of the width, relative to the mean (0.02 is 2 %).
    pub half_width: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RepeatedRun {
    /// Number of the run in the archive; `None` if the run is not archived.
    pub run: Option<u64>,
    /// Number of the block, from 1.
    pub block: u32,
    pub level: Level,
    /// The first metric of the design: transactions a second. `None` if the run has no rate.
    pub rate: Option<f64>,
}

impl Repeats {
    pub fn of(design: &Design, study: &str, runs: &[StudyRun]) -> Self {
        Self::with_error(design, study, runs, error_left(design, runs))
    }

    /// Whether the interval of the rate, with the error `alpha`, is as narrow as `until` requests.
    pub fn is_narrow(design: &Design, runs: &[StudyRun], alpha: f64, until: f64) -> bool {
        let repeats = Self::with_error(design, "", runs, alpha);
        let interval = repeats.metrics.first().and_then(|rate| rate.interval);
        interval.is_some_and(|interval| interval.half_width <= until)
    }

    fn with_error(design: &Design, study: &str, runs: &[StudyRun], alpha: f64) -> Self {
        let mut runs: Vec<&StudyRun> = runs.iter().collect();
        runs.sort_by_key(|run| (run.part.block, run.part.attempt));
        let verdicts = VerdictCounts::of(runs.iter().map(|run| &run.observed));
        let is_estimated = !are_too_many(verdicts.invalid, verdicts.valid + verdicts.doubtful);
        let counted = runs.iter().map(|run| &run.observed);
        let counted: Vec<&Observed> = counted
            .filter(|run| run.is_counted() && is_estimated)
            .collect();
        let rate = |run: &Observed| run.values.get(design.metrics.first()?).copied();
        let rates: Vec<f64> = counted.iter().filter_map(|run| rate(run)).collect();
        let repeated = |run: &&StudyRun| RepeatedRun {
            run: run.observed.run,
            block: run.part.block,
            level: run.observed.level,
            rate: rate(&run.observed),
        };
        let metrics = design.metrics.iter();
        let target = design.targets.first();
        Self {
            study: study.to_owned(),
            name: design.name.clone(),
            target: target.map_or_else(String::new, |target| target.name.clone()),
            fingerprints: runs.iter().filter_map(|run| fingerprint(run)).collect(),
            has_too_many_invalid: !is_estimated,
            // The errors of all interim analyses add up to `ALPHA`.
            confidence: 1.0 - ALPHA,
            until: design.until,
            needed: design.until.and_then(|until| needed(&rates, alpha, until)),
            planned: design.blocks,
            metrics: metrics
                .map(|metric| RepeatedMetric::of(*metric, &counted, alpha))
                .collect(),
            drift: Drift::of(&rates),
            groups: RateGroups::of(&rates),
            advice: advice(runs.iter().map(|run| &run.observed)),
            runs: runs.iter().map(repeated).collect(),
            verdicts,
        }
    }
}

/// Number of runs whose interval has the relative half-width `until`, if their standard deviation
/// is that of `rates`. `None` if it is not more than there are.
fn needed(rates: &[f64], alpha: f64, until: f64) -> Option<u64> {
    let share = standard_deviation(rates)? / mean(rates);
    let factor = student_quantile(1.0 - alpha / 2.0, rates.len() as f64 - 1.0);
    let runs = (factor * share / until).powi(2).ceil() as u64;
    (rates.len() >= BLOCKS_MIN as usize && runs > rates.len() as u64).then_some(runs)
}

fn fingerprint(run: &StudyRun) -> Option<String> {
    let conditions = &run.observed.conditions;
    conditions.get(&UnlikeWhat::Fingerprint).cloned()
}

impl RepeatedMetric {
    fn of(metric: Metric, runs: &[&Observed], alpha: f64) -> Self {
        let values = runs.iter().filter_map(|run| run.values.get(&metric));
        let values: Vec<f64> = values.copied().collect();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let known = Mean::of(&values).filter(|_| count(values.len()) >= BLOCKS_MIN);
        Self {
            metric,
            count: count(values.len()),
            without: count(runs.len() - values.len()),
            mean: (!values.is_empty()).then(|| mean(&values)),
            standard_deviation: standard_deviation(&values),
            interval: known.map(|mean| MeanInterval::of(&mean, alpha)),
        }
    }
}

impl MeanInterval {
    fn of(mean: &Mean, alpha: f64) -> Self {
        let (low, high) = mean.interval(alpha);
        Self {
            low,
            high,
            half_width: (high - low) / (2.0 * mean.mean),
        }
    }
}

/// The metrics of a repeated run: the rate, and the 99th percentile of each operation of the
/// workload.
pub fn metrics(workload: &Workload) -> Vec<Metric> {
    let is_used = |action: &Action, classic: &Classic| match action {
        Action::Read | Action::Append => classic.bias_read.tenths().is_some(),
        _ => classic.bias_create.tenths().is_some(),
    };
    let mut actions: Vec<Action> = match &workload.work {
        Work::Mix(mix) => {
            let drawn = mix.weights.actions();
            drawn.flat_map(Action::comes_as).copied().collect()
        }
        Work::Classic(classic) => {
            let all = workload.actions(Phase::Transactions).into_iter();
            all.filter(|action| is_used(action, classic)).collect()
        }
    };
    actions.sort_unstable();
    actions.dedup();
    let performed = actions
        .into_iter()
        .filter(|action| action.performs().is_some());
    let latencies = performed.map(|action| Metric::Latency(action, Statistic::P99));
    std::iter::once(Metric::Transactions)
        .chain(latencies)
        .collect()
}
