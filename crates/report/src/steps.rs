//! The load levels of a sweep, ordered by load.

use record::Load;
use verdict::{Summary, SweepStepSummary};

/// Returns the load levels ordered by load, each with its index in the order of measurement, from
/// 0.
pub(crate) fn by_load(summary: &Summary) -> Vec<(usize, &SweepStepSummary)> {
    let steps = summary
        .sweep
        .iter()
        .flat_map(|sweep| sweep.sweep_steps.iter().enumerate());
    let mut steps: Vec<_> = steps.collect();
    steps.sort_by(|(_, one), (_, other)| load(one).total_cmp(&load(other)));
    steps
}

fn load(step: &SweepStepSummary) -> f64 {
    match step.load {
        Load::Closed => 0.0,
        Load::Rate(rate) => rate,
        Load::Workers(count) | Load::Ranks(count) => count.into(),
    }
}
