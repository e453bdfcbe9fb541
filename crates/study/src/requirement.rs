//! Requirements of a gate: a metric and a bound on its ratio to the baseline.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::metric::{Better, Metric, UnknownMetric};
use crate::samples::Samples;
use crate::statistics::{Errors, EstimatedDeviation, Mean, POWER};

/// Maximum probability that a requirement passes although the true ratio violates it.
pub const PASS_ALPHA: f64 = 0.05;

/// Maximum probability that a gate fails although all requirements are met.
pub const FAIL_ALPHA: f64 = 0.01;

/// Probability that identical systems do not meet a requirement, in a gate with as many blocks as
/// it requests. With a probability of another 1 %, the A/A control is doubtful by chance
/// ([`crate::comparison::DOUBT_ALPHA`]). Identical systems therefore pass with a probability of
/// 95 %.
const MISS: f64 = 0.04;

/// Whether a ratio must be above or below its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// `>=`, for metrics whose higher values are better.
    AtLeast,
    /// `<=`, for metrics whose lower values are better.
    AtMost,
}

/// A metric and a bound on its ratio to the baseline, like `transactions >= 0.985`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Requirement {
    pub(crate) metric: Metric,
    pub(crate) bound: Bound,
    threshold: f64,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct RequirementError(String);

impl RequirementError {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl Bound {
    pub const fn sign(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::AtMost => "<=",
        }
    }

    /// An example of a bound, for messages. Identical systems meet it.
    const fn example(self) -> &'static str {
        match self {
            Self::AtLeast => ">= 0.985",
            Self::AtMost => "<= 1.10",
        }
    }
}

impl Requirement {
    pub const fn metric(&self) -> Metric {
        self.metric
    }

    pub const fn bound(&self) -> Bound {
        self.bound
    }

    /// Distance of the threshold from 1, the ratio of identical systems, as a positive logarithm.
    pub(crate) fn margin(&self) -> f64 {
        self.threshold.ln().abs()
    }

    pub const fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Distance of the threshold from 1, as a share: 0.03 for `>= 0.97`.
    pub fn distance(&self) -> f64 {
        (self.threshold - 1.0).abs()
    }

    /// Returns two values for one of `all` requirements, both for a probability of 80 %. The first
    /// is the number of blocks that fail the requirement if the true ratio equals that of
    /// `samples`; `None` if that ratio meets the requirement. The second is the true ratio that the
    /// blocks of `samples` fail; `None` with fewer than `blocks_to_fail` blocks.
    pub(crate) fn failing(
        &self,
        samples: &Samples,
        (blocks_to_fail, all): (u32, usize),
    ) -> (Option<u32>, Option<f64>) {
        let errors = Errors {
            false_alarm: FAIL_ALPHA / all as f64,
            miss: 1.0 - POWER,
        };
        let Some((mean, spread)) = samples.mean.zip(samples.forecast) else {
            return (None, None);
        };
        let (signed, least) = self.at_least(mean);
        let beyond = Some(least - signed.mean).filter(|beyond| *beyond > 0.0);
        let needed = beyond.and_then(|beyond| errors.blocks_needed(beyond, spread));
        let ratio = (samples.count_min() >= blocks_to_fail).then(|| {
            let smallest = errors.smallest_detectable(mean.standard_error, mean.degrees);
            self.ratio_beyond(smallest)
        });
        (needed.map(|needed| needed.max(blocks_to_fail)), ratio)
    }

    /// Returns the ratio that is beyond the threshold by the factor e^`log`, where `log` is
    /// positive.
    fn ratio_beyond(&self, log: f64) -> f64 {
        match self.bound {
            Bound::AtLeast => self.threshold * (-log).exp(),
            Bound::AtMost => self.threshold * log.exp(),
        }
    }

    /// Returns the mean log ratio and the minimum that the requirement demands. For an upper bound,
    /// both are negated, so that greater values are better.
    pub(crate) fn at_least(&self, mean: Mean) -> (Mean, f64) {
        match self.bound {
            Bound::AtLeast => (mean, self.threshold.ln()),
            Bound::AtMost => (
                Mean {
                    mean: -mean.mean,
                    ..mean
                },
                -self.threshold.ln(),
            ),
        }
    }

    /// Number of blocks that a gate needs for this requirement, so that identical systems pass the
    /// gate with a probability of 95 %. `spread` is the estimated standard deviation of a block's
    /// log ratio, `requirements` the number of all requirements. `None` if 10,000 blocks do not
    /// suffice.
    pub fn blocks_needed(&self, spread: EstimatedDeviation, requirements: usize) -> Option<u32> {
        spread.samples_needed(self.margin(), PASS_ALPHA, MISS / requirements.max(1) as f64)
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} {}",
            self.metric,
            self.bound.sign(),
            self.threshold
        )
    }
}

impl FromStr for Requirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Self, RequirementError> {
        let text = text.trim();
        let split = |bound: Bound| {
            text.split_once(bound.sign())
                .map(|(metric, rest)| (metric, bound, rest.trim()))
        };
        let (metric, bound, threshold_word) = split(Bound::AtLeast)
            .or_else(|| split(Bound::AtMost))
            .ok_or_else(|| {
                RequirementError(
                    "expected METRIC >= RATIO or METRIC <= RATIO, like 'transactions >= 0.985' or \
                     'create.p99 <= 1.10'"
                        .to_owned(),
                )
            })?;
        let metric: Metric = metric
            .parse()
            .map_err(|unknown: UnknownMetric| RequirementError(unknown.to_string()))?;
        let (right, better) = match metric.better() {
            Better::Higher => (Bound::AtLeast, "higher"),
            Better::Lower => (Bound::AtMost, "lower"),
        };
        let threshold = threshold_word.parse::<f64>().ok();
        let threshold = threshold.filter(|threshold| threshold.is_finite() && *threshold > 0.0);
        let threshold = threshold.ok_or_else(|| {
            let example = match bound {
                Bound::AtLeast => "0.985",
                Bound::AtMost => "1.10; 'postmark help sweep' is about limits in time",
            };
            RequirementError(format!(
                "'{threshold_word}' is not a positive ratio to the baseline (use one like \
                         {example})"
            ))
        })?;
        if bound != right {
            let right = right.example();
            return Err(RequirementError(format!(
                "{better} {metric} is better (write '{metric} {right}')"
            )));
        }
        let has_margin = match bound {
            Bound::AtLeast => threshold < 1.0,
            Bound::AtMost => threshold > 1.0,
        };
        if !has_margin {
            let right = right.example();
            return Err(RequirementError(format!(
                "identical systems cannot be shown to meet it (leave a margin, like '{metric} \
                 {right}')"
            )));
        }
        Ok(Self {
            metric,
            bound,
            threshold,
        })
    }
}

impl TryFrom<String> for Requirement {
    type Error = RequirementError;

    fn try_from(text: String) -> Result<Self, RequirementError> {
        text.parse()
    }
}

impl From<Requirement> for String {
    fn from(requirement: Requirement) -> Self {
        requirement.to_string()
    }
}
