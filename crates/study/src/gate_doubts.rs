//! Reasons to doubt a study whose requirements are all met, so that its gate does not pass.
//!
//! How it works: a study is doubtful for four reasons. More than half of a configuration's runs are
//! DOUBTFUL, a configuration drifts and the configurations do not alternate in blocks, the A/A
//! control differs from 1, or the A/A control is too wide. The control is too wide if the
//! half-width of its 90 % interval exceeds the margin of a requirement. The ends of this interval
//! are one-sided 95 % bounds, as in the gate's own tests. With the number of blocks that a gate
//! requests, the
//! control is almost never too wide by chance, because it has the noise of the candidates.

use serde::{Deserialize, Serialize};

use crate::comparison::{AaControl, Comparisons, DOUBT_ALPHA};
use crate::drift::Drift;
use crate::metric::Metric;
use crate::requirement::{PASS_ALPHA, Requirement};
use crate::statistics::blocks_of_half_width;
use crate::verdicts::VerdictCounts;

/// A reason to doubt a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "doubt")]
pub enum GateDoubt {
    /// More than half of the counted runs of a configuration are DOUBTFUL.
    DoubtfulRuns {
        /// Name of the configuration.
        side: String,
        verdicts: VerdictCounts,
    },
    /// The configurations do not alternate in blocks, and the runs of a configuration drift.
    Drift {
        /// Name of the configuration.
        side: String,
        metric: Metric,
        drift: Drift,
    },
    /// A baseline differs from itself in an A/A control.
    BaselineDiffers {
        control: AaControl,
        baseline: String,
    },
    /// The A/A control is too wide for a requirement.
    WideControl {
        baseline: String,
        requirement: Requirement,
        /// [`AaControl::half_width_90`], as a share (0.44 is 44 %).
        half_width_90: f64,
        /// Distance of the requirement's threshold from 1, as a share (0.03 is 3 %).
        margin: f64,
        /// Number of blocks with which the control would be narrow enough at the same A/A noise;
        /// `None` if 10,000 blocks do not suffice.
        blocks_needed_for_control: Option<u32>,
    },
}

/// Returns all reasons to doubt the comparisons of a gate.
pub(crate) fn doubts(tables: &[Comparisons], requirements: &[Requirement]) -> Vec<GateDoubt> {
    let mut doubts = Vec::new();
    for table in tables {
        for side in &table.sides {
            let doubt = GateDoubt::DoubtfulRuns {
                side: side.label.clone(),
                verdicts: side.verdicts.clone(),
            };
            let is_new = side.verdicts.are_mostly_doubtful() && !doubts.contains(&doubt);
            doubts.extend(is_new.then_some(doubt));
        }
        let tests = table.drifts().count().max(1);
        for (side, metric, drift) in table.drifts() {
            let doubt = || GateDoubt::Drift {
                side: side.label.clone(),
                metric,
                drift,
            };
            // Identical systems without a drift have such a doubt with a probability of at most 1 %
            // (Bonferroni's correction).
            doubts.extend((drift.p <= DOUBT_ALPHA / tests as f64).then(doubt));
        }
        for control in &table.aa_controls {
            let doubt = || GateDoubt::BaselineDiffers {
                control: control.clone(),
                baseline: table.baseline.clone(),
            };
            doubts.extend(control.is_doubtful.then(doubt));
            let of_metric = requirements
                .iter()
                .filter(|of| of.metric() == control.metric);
            doubts.extend(of_metric.filter_map(|of| wide(control, &table.baseline, of)));
        }
    }
    doubts
}

fn wide(control: &AaControl, baseline: &str, requirement: &Requirement) -> Option<GateDoubt> {
    let half_width_90 = control.half_width_90?;
    let margin = requirement.margin();
    (half_width_90.ln_1p() > margin).then(|| GateDoubt::WideControl {
        baseline: baseline.to_owned(),
        requirement: *requirement,
        half_width_90,
        margin: requirement.distance(),
        blocks_needed_for_control: control
            .noise
            .and_then(|noise| blocks_of_half_width(margin, noise, PASS_ALPHA)),
    })
}
