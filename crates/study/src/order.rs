//! A test of whether a candidate is worse than its baseline. It uses only the random order of the
//! runs, so it is valid whatever disturbs the machine.
//!
//! How it works: the runs of a block are in random order. If the systems are identical, each run of
//! a block is the candidate's with the same probability. Disturbances of the machine (drift,
//! periods, outliers) are the same, whichever run is the candidate's. The p-value is therefore the
//! share of all assignments in which the candidate's mean is at most as high as observed (Fisher,
//! The Design of Experiments (1935), section 21; Edgington and Onghena, Randomization Tests, 4th
//! edition 2007). The test assumes no distribution of the samples.

/// Values are rounded to whole steps. The sum of the ranges of all blocks is divided into at least
/// this number of steps. The test is valid with any rounding; finer steps increase its power.
const STEPS_MIN: f64 = 1024.0;
/// Minimum number of rounding steps per block, on average.
const STEPS_OF_BLOCK: f64 = 32.0;

/// Returns the probability that the candidate's mean is at most as high as observed, if the systems
/// are identical. `blocks` contains the logarithms of the runs of each block, the candidate's
/// first. The result is 1 if all values are equal.
pub(crate) fn order_p(blocks: &[Vec<f64>]) -> f64 {
    let least = |block: &[f64]| block.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = |block: &[f64]| block.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let width: f64 = blocks
        .iter()
        .map(|block| greatest(block) - least(block))
        .sum();
    if !width.is_finite() || width <= 0.0 {
        return 1.0;
    }
    let steps = STEPS_MIN.max(STEPS_OF_BLOCK * blocks.len() as f64);
    // The rounded values are between 0 and the number of steps.
    let rounded = |block: &Vec<f64>| -> Vec<usize> {
        let least = least(block);
        let step = |value: &f64| ((value - least) / width * steps).round() as usize;
        block.iter().map(step).collect()
    };
    let blocks: Vec<Vec<usize>> = blocks.iter().map(rounded).collect();
    let seen: usize = blocks.iter().filter_map(|block| block.first()).sum();
    // Probability of each possible sum of the candidate's values, up to the observed sum.
    let mut sums = vec![1.0];
    for block in &blocks {
        let most = block.iter().max().copied().unwrap_or(0);
        let mut next = vec![0.0; (sums.len() + most).min(seen + 1)];
        for (sum, probability) in sums
            .iter()
            .enumerate()
            .filter(|(_, probability)| **probability > 0.0)
        {
            for value in block {
                if let Some(place) = next.get_mut(sum + value) {
                    *place += probability / block.len() as f64;
                }
            }
        }
        sums = next;
    }
    sums.iter().sum::<f64>().min(1.0)
}

/// Minimum number of blocks, with `runs` runs each, that can result in a p-value of at most `p`.
/// The p-value is lowest if the candidate is the worst of every block.
pub(crate) fn blocks_to_reach(p: f64, runs: usize) -> u32 {
    let blocks = (p.recip().ln() / (runs.max(2) as f64).ln() - 1e-9).ceil();
    // The cast is safe: even a probability of 10^-300 needs fewer than 1,000 blocks.
    blocks.max(1.0) as u32
}
