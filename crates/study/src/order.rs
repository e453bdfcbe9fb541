//! A test that follows from the order of the runs alone: whether a side is worse, whatever disturbs
//! the machine.
//!
//! How it works: the order of the runs of a block is drawn at random. If the systems are identical,
//! each run of a block is the side's with the same probability, and what disturbs the machine
//! (drift, periods, outliers) is the same whichever it is. So the probability of a mean as low as
//! the one that was seen is counted over all assignments (Fisher, The Design of Experiments (1935),
//! section 21; Edgington and Onghena, Randomization Tests, 4th edition 2007). Samples need no
//! distribution.

/// Values are rounded to so many steps over all blocks together; any rounding makes a valid test,
/// and a finer one more power.
const STEPS_MIN: f64 = 1024.0;
/// At least so many steps are left to a block on average.
const STEPS_OF_BLOCK: f64 = 32.0;

/// The probability that identical systems have a mean as low as the first value of each block has,
/// or lower. `blocks`: logarithms of the runs of each block, that of the side first; 1 where they
/// are all the same.
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
    // They lie between 0 and the number of steps.
    let rounded = |block: &Vec<f64>| -> Vec<usize> {
        let least = least(block);
        let step = |value: &f64| ((value - least) / width * steps).round() as usize;
        block.iter().map(step).collect()
    };
    let blocks: Vec<Vec<usize>> = blocks.iter().map(rounded).collect();
    let seen: usize = blocks.iter().filter_map(|block| block.first()).sum();
    // The probability of each sum, as far as the one that was seen.
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

/// The fewest blocks of so many runs in which a side that is the worst of each block has no greater
/// probability than this.
pub(crate) fn blocks_to_reach(p: f64, runs: usize) -> u32 {
    let blocks = (p.recip().ln() / (runs.max(2) as f64).ln() - 1e-9).ceil();
    // Probabilities of 10^-300 are some hundreds of blocks.
    blocks.max(1.0) as u32
}
