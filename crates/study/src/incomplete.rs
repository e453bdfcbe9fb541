//! Differences between the shares of incomplete operations of two configurations. A system that
//! fails or skips operations seems faster than it is.

use serde::{Deserialize, Serialize};

use crate::observed::{Baseline, ComparedSide, Incomplete, Observed};
use crate::samples::Samples;
use crate::statistics::{ALPHA, BLOCKS_MIN};

/// Minimum difference between shares of incomplete operations that is reported. A smaller
/// difference is ignored, even if it exceeds the noise of the blocks.
const NAMED_MIN: f64 = 0.001;

/// By default, configurations are compared only if their shares of incomplete operations differ by
/// at most this.
pub const INCOMPLETE_MAX: f64 = 0.01;

/// Shares of the operations that a candidate and its baseline did not complete, for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IncompleteDifference {
    pub why: Incomplete,
    /// Mean share of incomplete operations in the candidate's runs, from 0 to 1.
    pub side: f64,
    /// Mean share of incomplete operations in the baseline's runs, from 0 to 1.
    pub baseline: f64,
}

impl IncompleteDifference {
    fn distance(&self) -> f64 {
        (self.side - self.baseline).abs()
    }
}

/// Returns the differences of at least [`NAMED_MIN`] that are beyond the noise: their confidence
/// interval excludes 0. With fewer than five blocks, or fewer than five runs of a configuration,
/// the noise is not known and is ignored.
pub(crate) fn differences(side: &ComparedSide, baseline: &Baseline) -> Vec<IncompleteDifference> {
    let of = |why: Incomplete| {
        let samples = Samples::of(side, baseline, &|run: &Observed| {
            run.incomplete.get(&why).copied()
        });
        let difference = samples.difference?;
        let known = samples.mean.filter(|_| samples.count_min() >= BLOCKS_MIN);
        let is_noise = known.is_some_and(|mean| {
            let (low, high) = mean.interval(ALPHA);
            low <= 0.0 && high >= 0.0
        });
        let mean = |sides: &mut dyn Iterator<Item = &ComparedSide>| {
            let runs = sides.flat_map(ComparedSide::counted);
            let shares: Vec<f64> = runs
                .filter_map(|run| run.incomplete.get(&why).copied())
                .collect();
            crate::statistics::mean(&shares)
        };
        (difference.abs() >= NAMED_MIN && !is_noise).then(|| IncompleteDifference {
            why,
            side: mean(&mut std::iter::once(side)),
            baseline: mean(&mut baseline.sides()),
        })
    };
    Incomplete::ALL.into_iter().filter_map(of).collect()
}

/// Whether the differences add up to more than [`INCOMPLETE_MAX`], so that the configurations are
/// not comparable.
pub(crate) fn are_too_unlike(differences: &[IncompleteDifference]) -> bool {
    differences
        .iter()
        .map(IncompleteDifference::distance)
        .sum::<f64>()
        > INCOMPLETE_MAX
}
