//! Decides whether candidates meet requirements: passed, failed, or undecided, each with a bounded
//! error.
//!
//! How it works: a requirement is a metric and a bound on its ratio to the baseline. The bound
//! leaves a margin, so that identical systems meet it. A requirement is met if the whole one-sided
//! 95 % interval of the ratio is inside of the bound. This needs no correction for several
//! requirements, because all of them must be met (Berger 1982). The gate fails by Holm's procedure
//! over one-sided tests, with an error of 1 % for all tests together. For interleaved blocks, two
//! tests must reject. Student's t tests the hypothesis that the ratio meets its bound. The random
//! order of the runs (`order.rs`) tests the hypothesis that the systems are identical, and is valid
//! whatever disturbs the machine. All other results are undecided. A gate that would pass is
//! undecided as well if there are reasons to doubt the study ([`crate::GateDoubt`]), and so is a
//! gate that would fail by runs without a random order.

use serde::{Deserialize, Serialize};

use crate::comparison::Comparisons;
use crate::gate_doubts::{GateDoubt, doubts};
use crate::gate_error::{has_counted, missing};
use crate::incomplete::{IncompleteDifference, differences};
use crate::metric::Metric;
use crate::observed::{Baseline, ComparedSide, SideGroup, Unlike, unlike};
use crate::order::{blocks_to_reach, order_p};
use crate::pairs::logarithm;
use crate::samples::{Method, Samples};
use crate::statistics::{ALPHA, BLOCKS_MIN, EstimatedDeviation};

pub use crate::gate_error::GateError;
pub use crate::requirement::{Bound, FAIL_ALPHA, PASS_ALPHA, Requirement, RequirementError};

/// Result of a gate or of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Every requirement is shown to be met. A whole gate with doubts about the study passes only
    /// if the rules allow doubts.
    Passed,
    /// At least one requirement is shown to be violated.
    Failed,
    /// No requirement is shown to be violated, but at least one is not shown to be met, or doubts
    /// prevent the whole gate from passing.
    Undecided,
}

impl Decision {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Undecided => "undecided",
        }
    }

    /// The program's exit status for this result.
    pub const fn exit_status(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 4,
            Self::Undecided => 5,
        }
    }
}

/// A requirement of a candidate, with its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Name of the candidate.
    pub side: String,
    pub baseline: String,
    pub requirement: Requirement,
    pub decision: Decision,
    pub method: Method,
    /// Number of blocks. Without blocks: number of runs of the candidate or of the baseline,
    /// whichever has fewer.
    pub count: u32,
    /// Ratio of candidate to baseline.
    pub ratio: f64,
    /// One-sided 95 % confidence bound of the true ratio; `None` for fewer than five blocks.
    pub bound: Option<f64>,
    /// Probability of this ratio or a worse ratio if the true ratio equals the required bound
    /// (Student's t); `None` for fewer than five blocks.
    pub p: Option<f64>,
    /// Probability of this ratio or a worse ratio if the systems are identical, over all orders of
    /// the runs. `None` for fewer than five blocks, or without interleaving.
    pub order_p: Option<f64>,
    /// Standard deviation of a block's log ratio (0.03 is 3 %); `None` for fewer than two blocks.
    pub standard_deviation: Option<f64>,
    /// Standard deviation from which numbers of blocks are forecast
    /// ([`crate::Estimate::forecast_deviation`]).
    pub forecast_deviation: Option<f64>,
    /// Number of blocks with which identical systems pass the whole gate with a probability of 95 %
    /// at `forecast_deviation`; never less than `blocks_to_fail_min`. `None` without a standard
    /// deviation, or if 10,000 blocks do not suffice.
    pub blocks_needed_to_pass: Option<u32>,
    /// Number of blocks with which the requirement fails with a probability of 80 %, if the true
    /// ratio equals `ratio`; never less than `blocks_to_fail_min`. `None` if `ratio` meets the
    /// requirement, without a standard deviation, or if 10,000 blocks do not suffice.
    pub blocks_needed_to_fail: Option<u32>,
    /// The true ratio with which the requirement fails with a probability of 80 %, at the present
    /// number of blocks. This ratio is always beyond the threshold. `None` with fewer than
    /// `blocks_to_fail_min` blocks.
    pub failing_ratio: Option<f64>,
    /// Minimum number of blocks that can fail the gate. With fewer blocks, the candidate has the
    /// worst run of every block by chance too often.
    pub blocks_to_fail_min: u32,
    /// Conditions in which candidate and baseline differ.
    pub unlike: Vec<Unlike>,
    /// Differences between the shares of incomplete operations.
    pub incomplete: Vec<IncompleteDifference>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    pub decision: Decision,
    /// The requirements, ordered by candidate.
    pub requirements: Vec<Judged>,
    /// Number of blocks with which identical systems pass: the maximum of the requirements. `None`
    /// if [`Judged::blocks_needed_to_pass`] of a requirement is `None`.
    pub blocks_needed_to_pass: Option<u32>,
    /// Number of the last block that the gate ignores, because blocks up to this one were already
    /// examined; `None` if all blocks were used.
    pub confirmed_after: Option<u32>,
    /// Whether the rules allow the gate to pass despite `doubts`.
    pub allows_doubtful: bool,
    /// Reasons to doubt the study. If there is a reason, the gate passes only with
    /// [`GateRules::allows_doubtful`].
    pub doubts: Vec<GateDoubt>,
    /// Comparisons in the required metrics, with the A/A controls: one table for each baseline.
    pub comparisons: Vec<Comparisons>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateRules {
    /// Number of the last block that the gate ignores; `None` for all blocks.
    pub after: Option<u32>,
    /// Whether a study may pass despite reasons to doubt it ([`Gate::doubts`]).
    pub allows_doubtful: bool,
}

impl Gate {
    /// Tests every candidate of every group against every requirement.
    ///
    /// # Errors
    /// Returns an error if there is no requirement or no candidate, or if runs for a comparison are
    /// missing or INVALID, or lack the metric.
    pub fn of(
        groups: Vec<SideGroup>,
        requirements: &[Requirement],
        rules: GateRules,
    ) -> Result<Self, GateError> {
        let after = rules.after;
        let groups = groups.into_iter().filter(|group| !group.sides.is_empty());
        let groups: Vec<SideGroup> = match after {
            Some(after) => groups.map(|group| group.after_block(after)).collect(),
            None => groups.collect(),
        };
        if requirements.is_empty() {
            let why = "a gate needs a requirement (add --require 'transactions >= 0.985')";
            return Err(GateError::new(why.to_owned()));
        }
        if groups.is_empty() {
            let why = "a gate needs a baseline and a side to hold against it";
            return Err(GateError::new(why.to_owned()));
        }
        let all = requirements.len() * groups.iter().map(|group| group.sides.len()).sum::<usize>();
        let mut judged = Vec::with_capacity(all);
        for SideGroup { baseline, sides } in &groups {
            for side in baseline.sides().chain(sides) {
                has_counted(side, after)?;
            }
            for side in sides {
                for requirement in requirements {
                    judged.push(judge(side, baseline, requirement, all)?);
                }
            }
        }
        fail_by_holm(&mut judged);
        let needed: Option<Vec<u32>> = judged
            .iter()
            .map(|judged| judged.blocks_needed_to_pass)
            .collect();
        let comparisons = Comparisons::of_groups(&groups, &metrics(requirements), ALPHA);
        let doubts = doubts(&comparisons, requirements);
        Ok(Self {
            decision: match decision(&judged) {
                decision if doubts.is_empty() || rules.allows_doubtful => decision,
                // Doubts do not change a failure by the random order of the runs, because this
                // test is valid whatever disturbs the machine. Without this order, a disturbance
                // can look like a difference between the systems.
                Decision::Failed if judged.iter().any(Judged::fails_by_order) => Decision::Failed,
                _ => Decision::Undecided,
            },
            requirements: judged,
            blocks_needed_to_pass: needed.and_then(|needed| needed.into_iter().max()),
            confirmed_after: after,
            allows_doubtful: rules.allows_doubtful,
            doubts,
            comparisons,
        })
    }

    /// Whether each requirement is statistically shown to be met, so that only doubts can keep the
    /// gate from passing.
    pub fn is_met(&self) -> bool {
        let mut requirements = self.requirements.iter();
        requirements.all(|judged| judged.decision == Decision::Passed)
    }
}

/// The metrics of requirements, each once.
fn metrics(requirements: &[Requirement]) -> Vec<Metric> {
    let mut metrics: Vec<Metric> = Vec::new();
    for requirement in requirements {
        if !metrics.contains(&requirement.metric) {
            metrics.push(requirement.metric);
        }
    }
    metrics
}

/// Minimum number of blocks with which one of `all` requirements can fail.
fn blocks_to_fail(blocks: &[Vec<f64>], all: usize) -> u32 {
    blocks.first().map_or(BLOCKS_MIN, |block| {
        blocks_to_reach(FAIL_ALPHA / all as f64, block.len()).max(BLOCKS_MIN)
    })
}

/// Tests a requirement of a candidate, with the result passed or undecided. Failures are decided
/// later, for all requirements together.
fn judge(
    side: &ComparedSide,
    baseline: &Baseline,
    requirement: &Requirement,
    all: usize,
) -> Result<Judged, GateError> {
    let metric = requirement.metric;
    let samples = Samples::of(side, baseline, &logarithm(metric));
    let log_ratio = samples.estimated();
    let log_ratio = log_ratio.map_err(|why| missing(why, metric, side, baseline))?;
    let known = samples.mean.filter(|_| samples.count_min() >= BLOCKS_MIN);
    let tested = known.map(|mean| {
        let (mean, least) = requirement.at_least(mean);
        (mean.lower_bound(PASS_ALPHA), least, mean.p_below(least))
    });
    let is_inside = tested.is_some_and(|(bound, least, _)| bound >= least);
    let sign = if requirement.bound == Bound::AtLeast {
        1.0
    } else {
        -1.0
    };
    // Log ratios. For a metric whose lower values are better, they are negated, so that greater
    // values are better.
    let with_sign = |block: &Vec<f64>| block.iter().map(|log| sign * log).collect();
    let signed: Vec<Vec<f64>> = samples.blocks.iter().map(with_sign).collect();
    let blocks_to_fail = blocks_to_fail(&samples.blocks, all);
    let estimated = samples.forecast.zip(samples.mean);
    let needed = estimated.and_then(|(deviation, mean)| {
        let degrees = mean.degrees;
        requirement.blocks_needed(EstimatedDeviation { deviation, degrees }, all)
    });
    let (blocks_needed_to_fail, failing_ratio) =
        requirement.failing(&samples, (blocks_to_fail, all));
    Ok(Judged {
        side: side.label.clone(),
        baseline: baseline.side.label.clone(),
        requirement: *requirement,
        decision: if is_inside {
            Decision::Passed
        } else {
            Decision::Undecided
        },
        method: samples.method,
        count: samples.count_min(),
        ratio: log_ratio.exp(),
        bound: tested.map(|(bound, _, _)| (sign * bound).exp()),
        p: tested.map(|(_, _, p)| p),
        order_p: tested
            .filter(|_| !signed.is_empty())
            .map(|_| order_p(&signed)),
        standard_deviation: samples.spread,
        forecast_deviation: samples.forecast,
        blocks_needed_to_pass: needed.map(|needed| needed.max(blocks_to_fail)),
        blocks_needed_to_fail,
        failing_ratio,
        blocks_to_fail_min: blocks_to_fail,
        unlike: unlike(side, &baseline.side),
        incomplete: differences(side, baseline),
    })
}

impl Judged {
    /// Whether the estimated ratio is beyond the threshold, even if this is not significant.
    pub fn is_violated(&self) -> bool {
        match self.requirement.bound {
            Bound::AtLeast => self.ratio < self.requirement.threshold(),
            Bound::AtMost => self.ratio > self.requirement.threshold(),
        }
    }

    /// What `count` counts: blocks, or runs of each configuration.
    pub const fn unit(&self) -> &'static str {
        match self.method {
            Method::Blocks | Method::BlocksApart => "block",
            Method::NotInterleaved => "run",
        }
    }

    /// Whether the requirement failed by interleaved runs, whose order is random.
    fn fails_by_order(&self) -> bool {
        self.decision == Decision::Failed && self.method == Method::Blocks
    }

    /// The greater p-value of Student's t test and the order test, both of which must reject.
    pub fn p_of_both(&self) -> Option<f64> {
        let p = self.p?;
        Some(self.order_p.map_or(p, |order_p| p.max(order_p)))
    }
}

/// Decides which requirements failed, by Holm's procedure (Scandinavian Journal of Statistics 6
/// (1979), 65-70). The limit of the smallest p-value is [`FAIL_ALPHA`] divided by the number of
/// tests. For each further p-value, the divisor is smaller by one, until a p-value exceeds its
/// limit. A requirement that cannot be tested counts as a test.
fn fail_by_holm(judged: &mut [Judged]) {
    let all = judged.len();
    let mut tested: Vec<(&mut Judged, f64)> = judged
        .iter_mut()
        .filter_map(|judged| judged.p_of_both().map(|p| (judged, p)))
        .collect();
    tested.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    for (place, (judged, p)) in tested.into_iter().enumerate() {
        if p > FAIL_ALPHA / (all - place) as f64 {
            return;
        }
        judged.decision = Decision::Failed;
    }
}

fn decision(judged: &[Judged]) -> Decision {
    let is = |decision| move |judged: &Judged| judged.decision == decision;
    if judged.iter().any(is(Decision::Failed)) {
        Decision::Failed
    } else if judged.iter().all(is(Decision::Passed)) {
        Decision::Passed
    } else {
        Decision::Undecided
    }
}
