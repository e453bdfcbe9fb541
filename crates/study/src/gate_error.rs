//! Why a gate cannot be decided.

use crate::metric::Metric;
use crate::observed::InvalidRun;

/// A gate cannot be decided at all: an error, never a pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// Nothing is required.
    #[error("a gate needs a requirement (add --require 'transactions >= 0.985')")]
    NoRequirements,
    /// There is nothing to hold against a baseline.
    #[error("a gate needs a baseline and a side to hold against it")]
    NoSides,
    /// A side, or the baseline, has no runs.
    #[error("'{side}' has no runs{}", behind(*after))]
    Missing {
        /// The side's name.
        side: String,
        /// The blocks behind this one alone were looked at.
        after: Option<u32>,
    },
    /// All runs of a side, or of the baseline, are INVALID.
    #[error("all {} runs of '{side}' are INVALID ('postmark show' has the reasons): a gate cannot \
        decide on them", .runs.len())]
    Invalid {
        /// The side's name.
        side: String,
        /// Its INVALID runs.
        runs: Vec<InvalidRun>,
    },
    /// Too many runs are INVALID.
    #[error(
        "more than 20 % of the blocks of '{side}' and '{baseline}' are INVALID ('postmark show' \
         has the reasons): a gate cannot decide on the rest"
    )]
    TooManyInvalid {
        /// The side's name.
        side: String,
        /// The baseline's name.
        baseline: String,
    },
    /// A metric is not in the runs.
    #[error(
        "{metric} is not in the runs of '{side}' and '{baseline}' (percentiles need ten samples \
         beyond them: run longer)"
    )]
    NotMeasured {
        /// The metric.
        metric: Metric,
        /// The side's name.
        side: String,
        /// The baseline's name.
        baseline: String,
    },
    /// The sides have no block in common.
    #[error(
        "'{side}' and '{baseline}' have no complete block in common (give runs of the same study)"
    )]
    NoPairs {
        /// The side's name.
        side: String,
        /// The baseline's name.
        baseline: String,
    },
}

fn behind(after: Option<u32>) -> String {
    after.map_or_else(String::new, |after| {
        format!(" after block {after} (run more blocks first)")
    })
}
