//! Why a gate cannot be decided: runs are missing or INVALID, or lack the metric.

use crate::metric::Metric;
use crate::observed::{Baseline, ComparedSide, needed_s};
use crate::samples::Missing;

/// Why a gate cannot be decided. This is an error, never a pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GateError(String);

impl GateError {
    pub(crate) fn new(why: String) -> Self {
        Self(why)
    }
}

/// Returns an error if the configuration has no run, or only INVALID runs.
pub(crate) fn has_counted(side: &ComparedSide, after: Option<u32>) -> Result<(), GateError> {
    let (label, runs) = (&side.label, side.runs.len());
    if runs == 0 {
        let after = after.map_or_else(String::new, |after| {
            format!(" after block {after} (run more blocks first)")
        });
        return Err(GateError(format!("'{label}' has no runs{after}")));
    }
    match side.counted().next() {
        Some(_) => Ok(()),
        None => Err(GateError(match runs {
            1 => format!(
                "the only run of '{label}' is INVALID ('postmark show' has the reasons): a gate \
                 cannot decide on it"
            ),
            _ => format!(
                "all {runs} runs of '{label}' are INVALID ('postmark show' has the reasons): a \
                 gate cannot decide on them"
            ),
        })),
    }
}

/// The error if a candidate and the baseline cannot be compared in a metric.
pub(crate) fn missing(
    why: Missing,
    metric: Metric,
    side: &ComparedSide,
    baseline: &Baseline,
) -> GateError {
    let runs = side
        .counted()
        .chain(baseline.sides().flat_map(ComparedSide::counted));
    let needed_s = needed_s(runs, metric);
    let (side, baseline) = (&side.label, &baseline.side.label);
    GateError(match why {
        Missing::TooManyInvalid => format!(
            "more than 20 % of the blocks of '{side}' and '{baseline}' are INVALID ('postmark \
             show' has the reasons): a gate cannot decide on the rest"
        ),
        Missing::NotMeasured => {
            let why = metric.why_missing(needed_s);
            let why = why.map_or_else(String::new, |why| format!(" ({why})"));
            format!("{metric} is not in the runs of '{side}' and '{baseline}'{why}")
        }
        Missing::NoRuns => format!(
            "'{side}' and '{baseline}' have no complete block in common (give runs of the same \
             study)"
        ),
    })
}
