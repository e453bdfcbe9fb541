//! Whether sides meet requirements: passed, failed, or undecided, each with a bounded error.
//!
//! How it works: a requirement is a metric and a bound on the ratio to the baseline, with a margin
//! that identical systems meet. It is met when the whole one-sided 95 % interval is inside of its
//! bound; since all must be met, no correction is needed (Berger 1982). The gate fails by Holm's
//! procedure over one-sided tests, with an error of 1 % for all of them together. Of interleaved
//! blocks two tests have to reject: Student's t, that the ratio meets its bound; and the random
//! order of the runs (`order.rs`), that the systems are identical, which holds whatever disturbs
//! the machine. What is neither is undecided, and so is a gate that would pass on a study whose own
//! A/A control is doubtful.

use serde::{Deserialize, Serialize};

use crate::comparison::Comparisons;
use crate::incomplete::{IncompleteDifference, differences};
use crate::metric::Metric;
use crate::observed::{Baseline, ComparedSide, SideGroup, Unlike, unlike};
use crate::order::{blocks_to_reach, order_p};
use crate::pairs::logarithm;
use crate::samples::{Method, Missing, Samples};
use crate::statistics::{ALPHA, BLOCKS_MIN, EstimatedDeviation};

pub use crate::requirement::{Bound, PASS_ALPHA, Requirement, RequirementError};

/// A gate cannot be decided at all: an error, never a pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GateError(String);

/// A gate whose requirements are all met fails with this probability at most.
pub const FAIL_ALPHA: f64 = 0.01;

/// What a gate came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Every requirement is shown to be met.
    Passed,
    /// At least one is shown not to be met.
    Failed,
    /// Neither.
    Undecided,
}

impl Decision {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Undecided => "undecided",
        }
    }

    /// The exit status of a program that ends with it.
    pub const fn exit_status(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 4,
            Self::Undecided => 5,
        }
    }
}

/// A requirement of a side, and whether it is met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The side's name.
    pub side: String,
    /// The baseline's name.
    pub baseline: String,
    /// What was required.
    pub requirement: Requirement,
    /// Whether it is met.
    pub decision: Decision,
    /// How runs were put side by side.
    pub method: Method,
    /// Blocks; where there are none, the runs of the side or of the baseline, whichever are fewer.
    pub count: u32,
    /// Side over baseline.
    pub ratio: f64,
    /// The true ratio lies on the better side of it with 95 %; nothing of fewer than five blocks.
    pub bound: Option<f64>,
    /// The probability of this ratio, or a worse one, where the requirement is just met (Student's
    /// t); nothing of fewer than five blocks.
    pub p: Option<f64>,
    /// The probability that the random order of the runs gives identical systems this ratio, or a
    /// worse one; nothing of fewer than five blocks, or of runs that were not interleaved.
    pub order_p: Option<f64>,
    /// The standard deviation of the log ratio of a block (0.03 is 3 %); nothing of fewer than
    /// two.
    pub spread: Option<f64>,
    /// Blocks that it needs at this spread, so that identical systems pass the whole gate with a
    /// probability of 95 %, and at least as many as can fail it. Nothing where the spread is
    /// not known, or 10,000 do not do.
    pub blocks_needed: Option<u32>,
    /// The fewest blocks that can fail the gate: with fewer, the random order alone may make a
    /// side the worst of all of them.
    pub blocks_to_fail: u32,
    /// What the sides are not alike in.
    pub unlike: Vec<Unlike>,
    /// Unlike shares of operations that were not completed.
    pub incomplete: Vec<IncompleteDifference>,
}

/// A gate: sides, requirements, and what came of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// What it came to.
    pub decision: Decision,
    /// Its requirements, side after side.
    pub requirements: Vec<Judged>,
    /// The blocks that it needs: the most that one of the requirements does. Nothing where that is
    /// not known of one.
    pub blocks_needed: Option<u32>,
    /// The blocks behind this one alone were looked at; nothing where all were.
    pub confirmed_after: Option<u32>,
    /// Whether a baseline seems to differ from itself. Then the gate does not pass, unless that is
    /// allowed.
    pub is_doubtful: bool,
    /// The comparisons of the same sides in the required metrics, with what twins showed: a table
    /// for each baseline.
    pub comparisons: Vec<Comparisons>,
}

/// How a gate decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateRules {
    /// On the blocks behind this one alone.
    pub after: Option<u32>,
    /// A study whose A/A control is doubtful may pass.
    pub allows_doubtful: bool,
}

impl Gate {
    /// Judges every side of every group by every requirement.
    ///
    /// # Errors
    /// Where something is missing or INVALID, so that there is nothing to decide on.
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
            return Err(GateError(why.to_owned()));
        }
        if groups.is_empty() {
            let why = "a gate needs a baseline and a side to hold against it";
            return Err(GateError(why.to_owned()));
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
        let needed: Option<Vec<u32>> = judged.iter().map(|judged| judged.blocks_needed).collect();
        let comparisons = Comparisons::of_groups(&groups, &metrics(requirements), ALPHA);
        let is_doubtful = comparisons.iter().any(|table| table.is_doubtful);
        Ok(Self {
            decision: match decision(&judged) {
                // A failure stays one: the test by the order of the runs holds whatever disturbed
                // them.
                Decision::Passed if is_doubtful && !rules.allows_doubtful => Decision::Undecided,
                decision => decision,
            },
            requirements: judged,
            blocks_needed: needed.and_then(|needed| needed.into_iter().max()),
            confirmed_after: after,
            is_doubtful,
            comparisons,
        })
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

/// Whether there is something to decide on.
fn has_counted(side: &ComparedSide, after: Option<u32>) -> Result<(), GateError> {
    let (label, runs) = (&side.label, side.runs.len());
    if runs == 0 {
        let after = after.map_or_else(String::new, |after| {
            format!(" after block {after} (run more blocks first)")
        });
        return Err(GateError(format!("'{label}' has no runs{after}")));
    }
    match side.counted().next() {
        Some(_) => Ok(()),
        None => Err(GateError(format!(
            "all {runs} runs of '{label}' are INVALID ('postmark show' has the reasons): a gate \
             cannot decide on them"
        ))),
    }
}

/// Why a metric of a side cannot be compared with the baseline.
fn missing(why: Missing, metric: Metric, side: &ComparedSide, baseline: &Baseline) -> GateError {
    let (side, baseline) = (&side.label, &baseline.side.label);
    GateError(match why {
        Missing::TooManyInvalid => format!(
            "more than 20 % of the blocks of '{side}' and '{baseline}' are INVALID ('postmark \
             show' has the reasons): a gate cannot decide on the rest"
        ),
        Missing::NotMeasured => format!(
            "{metric} is not in the runs of '{side}' and '{baseline}' (percentiles need ten \
             samples beyond them: run longer)"
        ),
        Missing::NoRuns => format!(
            "'{side}' and '{baseline}' have no complete block in common (give runs of the same \
             study)"
        ),
    })
}

/// The fewest blocks with which one of `all` requirements can fail.
fn blocks_to_fail(blocks: &[Vec<f64>], all: usize) -> u32 {
    blocks.first().map_or(BLOCKS_MIN, |block| {
        blocks_to_reach(FAIL_ALPHA / all as f64, block.len()).max(BLOCKS_MIN)
    })
}

/// A requirement of a side, passed or not yet: whether it fails, all of them decide together.
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
    // Log ratios with the sign that makes more of them better.
    let with_sign = |block: &Vec<f64>| block.iter().map(|log| sign * log).collect();
    let signed: Vec<Vec<f64>> = samples.blocks.iter().map(with_sign).collect();
    let blocks_to_fail = blocks_to_fail(&samples.blocks, all);
    let needed = samples
        .spread
        .zip(samples.mean)
        .and_then(|(deviation, mean)| {
            let degrees = mean.degrees;
            requirement.blocks_needed(EstimatedDeviation { deviation, degrees }, all)
        });
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
        spread: samples.spread,
        blocks_needed: needed.map(|needed| needed.max(blocks_to_fail)),
        blocks_to_fail,
        unlike: unlike(side, &baseline.side),
        incomplete: differences(side, baseline),
    })
}

impl Judged {
    /// The greater probability of both tests, each of which has to reject.
    pub fn p_of_both(&self) -> Option<f64> {
        let p = self.p?;
        Some(self.order_p.map_or(p, |order_p| p.max(order_p)))
    }
}

/// Holm's procedure (Scandinavian Journal of Statistics 6 (1979), 65-70): the smallest probability
/// is held against the error over the number of tests, the next one against the error over one
/// fewer, until one is not below. What cannot be tested counts among the tests.
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
