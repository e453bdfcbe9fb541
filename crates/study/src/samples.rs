//! Samples of a candidate and a baseline, paired if possible, and their means.

use serde::{Deserialize, Serialize};

use crate::observed::{Baseline, ComparedSide};
use crate::pairs::{
    Apart, Blocks, Value, apart, are_in_blocks, are_interleaved, are_too_many, pairs,
};
use crate::statistics::{self, Mean};

/// How the runs of two configurations were compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Paired: both configurations ran in each block, in random order.
    Blocks,
    /// Paired: each block contains runs of both configurations, but they were measured separately
    /// instead of in random order.
    BlocksApart,
    /// Not paired: the runs were compared as two independent samples.
    NotInterleaved,
}

/// The samples of a comparison: their numbers, and the estimates from them.
pub(crate) struct Samples {
    pub method: Method,
    pub count: u32,
    pub baseline_count: u32,
    pub invalid: u32,
    pub without: u32,
    /// Mean difference with its standard error; `None` for fewer than two samples of a
    /// configuration.
    pub mean: Option<Mean>,
    /// Mean difference between the values of candidate and baseline. If the values are logarithms,
    /// it is the log ratio. `None` without samples.
    pub difference: Option<f64>,
    /// Standard deviation of the samples; `None` if `mean` is `None`.
    pub spread: Option<f64>,
    /// Standard deviation from which numbers of further blocks are forecast: the larger one of
    /// `spread` and of what the A/A control of the same blocks implies. A few blocks can have
    /// nearly equal ratios by chance, although the baseline itself differs from run to run.
    pub forecast: Option<f64>,
    /// For interleaved blocks, the values of each block: first the candidate's, then the
    /// baseline's. Otherwise empty.
    pub blocks: Vec<Vec<f64>>,
}

/// Why a difference cannot be estimated.
pub(crate) enum Missing {
    TooManyInvalid,
    NotMeasured,
    NoRuns,
}

impl Samples {
    pub(crate) fn of(side: &ComparedSide, baseline: &Baseline, value: &impl Value) -> Self {
        if are_in_blocks(side, baseline) {
            let method = if are_interleaved([side].into_iter().chain(baseline.sides())) {
                Method::Blocks
            } else {
                Method::BlocksApart
            };
            Self::of_blocks(method, pairs(side, baseline.sides(), value))
        } else {
            // Without blocks, the first and the second runs of the baseline are one sample.
            let mut all = baseline.side.clone();
            all.runs
                .extend(baseline.twin.iter().flat_map(|twin| twin.runs.clone()));
            Self::of_two(&apart(side, value), &apart(&all, value))
        }
    }

    fn of_blocks(method: Method, blocks: Blocks) -> Self {
        let logs = &blocks.differences();
        Self {
            method,
            count: count(logs),
            baseline_count: count(logs),
            invalid: blocks.invalid,
            without: blocks.without,
            mean: Mean::of(logs),
            difference: (!logs.is_empty()).then(|| statistics::mean(logs)),
            spread: statistics::standard_deviation(logs),
            forecast: forecast(&blocks.values, statistics::standard_deviation(logs)),
            blocks: match method {
                Method::Blocks => blocks.values,
                Method::BlocksApart | Method::NotInterleaved => Vec::new(),
            },
        }
    }

    fn of_two(side: &Apart, baseline: &Apart) -> Self {
        let (logs, others) = (&side.values, &baseline.values);
        let spreads =
            statistics::standard_deviation(logs).zip(statistics::standard_deviation(others));
        let has_both = !logs.is_empty() && !others.is_empty();
        Self {
            method: Method::NotInterleaved,
            count: count(logs),
            baseline_count: count(others),
            invalid: side.invalid + baseline.invalid,
            without: side.without + baseline.without,
            mean: Mean::of_difference(logs, others),
            difference: has_both.then(|| statistics::mean(logs) - statistics::mean(others)),
            spread: spreads.map(|(one, other)| one.hypot(other)),
            forecast: spreads.map(|(one, other)| one.hypot(other)),
            blocks: Vec::new(),
        }
    }

    /// The smaller of the two numbers of samples.
    pub(crate) fn count_min(&self) -> u32 {
        self.count.min(self.baseline_count)
    }

    /// Returns the difference of the means, or why there is no estimate.
    pub(crate) fn estimated(&self) -> Result<f64, Missing> {
        let all = match self.method {
            Method::Blocks | Method::BlocksApart => self.count,
            Method::NotInterleaved => self.count + self.baseline_count,
        };
        if are_too_many(self.invalid, all + self.without) {
            return Err(Missing::TooManyInvalid);
        }
        self.difference.ok_or(match self.without {
            0 => Missing::NoRuns,
            _ => Missing::NotMeasured,
        })
    }
}

/// The larger one of the standard deviation of the blocks' ratios, and of that which the A/A
/// control implies. If a run has the variance v, the difference of the baseline's two runs has 2 v,
/// and that of the candidate's run to their mean has 1.5 v. Without a control, it is `spread`.
fn forecast(blocks: &[Vec<f64>], spread: Option<f64>) -> Option<f64> {
    let of_control = |block: &Vec<f64>| match block[..] {
        [_, first, second] => Some(second - first),
        _ => None,
    };
    let noise: Option<Vec<f64>> = blocks.iter().map(of_control).collect();
    let noise = noise.and_then(|noise| statistics::standard_deviation(&noise));
    let implied = noise.map(|noise| noise * 0.75_f64.sqrt());
    spread.map(|spread| implied.map_or(spread, |implied| spread.max(implied)))
}

pub(crate) fn count(samples: &[f64]) -> u32 {
    u32::try_from(samples.len()).unwrap_or(u32::MAX)
}
