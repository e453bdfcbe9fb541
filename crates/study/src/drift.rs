//! A test of whether repeated measurements drift: whether later values tend to be higher, or lower,
//! than earlier ones.
//!
//! The test of Mann (Econometrica 13 (1945), 245-259) counts for how many pairs the later value is
//! the higher one. Without a drift all orders of the values are equally probable, so the p-value
//! assumes no distribution of the values.

use serde::{Deserialize, Serialize};

use crate::statistics::{ALPHA, BLOCKS_MIN, mean, normal_distribution};

/// Maximum number of values for which the p-value is computed from all orders. For more values, it
/// is computed from a normal distribution.
const EXACT_MAX: usize = 60;

/// The result of a test for drift over a series of values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Mean of the second half of the values, relative to the mean of the first half: -0.08 is 8 %
    /// less. With an odd number of values, the middle one belongs to neither half.
    pub change: f64,
    /// Probability of a result at least as extreme as the observed one, if there is no drift.
    pub p: f64,
    /// Whether a drift is seen: `p` is at most 5 %.
    pub is_seen: bool,
}

impl Drift {
    /// Tests values in the order in which they were measured. `None` for fewer than [`BLOCKS_MIN`]
    /// values, because `p` would always exceed 5 %.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.len() < BLOCKS_MIN as usize {
            return None;
        }
        let half = values.len() / 2;
        let (first, second) = (&values[..half], &values[values.len() - half..]);
        let p = p_of_balance(values.len(), balance(values));
        Some(Self {
            change: mean(second) / mean(first) - 1.0,
            p,
            is_seen: p <= ALPHA,
        })
    }
}

/// Number of pairs of `count` values whose order must be the same (ascending, or descending) for a
/// drift to be seen. With few values, these are nearly all pairs.
pub fn pairs_needed(count: usize) -> u64 {
    let all = pairs(count);
    let (mut most, mut too_many) = (0, all / 2 + 1);
    while too_many - most > 1 {
        let others = u64::midpoint(most, too_many);
        // A pair in the other order changes the balance by 2.
        match p_of_balance(count, all.saturating_sub(2 * others)) <= ALPHA {
            true => most = others,
            false => too_many = others,
        }
    }
    all - most
}

/// Number of pairs of `count` values.
pub const fn pairs(count: usize) -> u64 {
    (count * (count - 1) / 2) as u64
}

/// Distance from 0 of the number of pairs whose later value is higher, minus the number of pairs
/// whose later value is lower.
fn balance(values: &[f64]) -> u64 {
    let later = |place: usize| values[place + 1..].iter().map(move |later| (place, later));
    let pairs = (0..values.len()).flat_map(later);
    let balance: i64 = pairs
        .map(|(place, later)| i64::from(*later > values[place]) - i64::from(*later < values[place]))
        .sum();
    balance.unsigned_abs()
}

/// Two-sided p-value: the probability that `values` different values in random order have a balance
/// at least as far from 0.
fn p_of_balance(values: usize, balance: u64) -> f64 {
    if values > EXACT_MAX {
        let count = values as f64;
        let variance = count * (count - 1.0) * (2.0 * count + 5.0) / 18.0;
        // The correction for continuity is 1, because the balance changes in steps of 2.
        let distance = (balance as f64 - 1.0).max(0.0) / variance.sqrt();
        return (2.0 * normal_distribution(-distance)).min(1.0);
    }
    let all = pairs(values);
    // Equal values can make `all - balance` odd. The division then rounds down. This does not
    // change the probability, because a number of inversions is whole.
    let inversions = usize::try_from((all - balance) / 2).unwrap_or(usize::MAX);
    (2.0 * p_of_inversions(values, inversions)).min(1.0)
}

/// Probability that a random order of `count` different values has at most `most` pairs whose later
/// value is lower.
fn p_of_inversions(count: usize, most: usize) -> f64 {
    // The probability of each number of inversions. A value with `before` values in front of it
    // adds from 0 to `before` inversions, each number with the same probability.
    let mut chances = vec![1.0];
    for before in 1..count {
        let mut next = vec![0.0; (chances.len() + before).min(most + 1)];
        for (inversions, chance) in chances.iter().enumerate() {
            let reached = next.iter_mut().skip(inversions).take(before + 1);
            reached.for_each(|sum| *sum += chance / (before + 1) as f64);
        }
        chances = next;
    }
    chances.iter().sum()
}
