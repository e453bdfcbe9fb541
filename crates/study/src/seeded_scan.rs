//! The most probable change of level in a part of a series, and its significance.
//!
//! A fall that was repaired after ten runs is hardly visible in the means of a whole series, so the
//! search uses many intervals: seeded binary segmentation (Kovács, Bühlmann, Li and Munk,
//! Biometrika 110 (2023), 249-256). The significance is that of a permutation test over the maximum
//! of all intervals, as in the divisive method of Matteson and James (Journal of the American
//! Statistical Association 109 (2014), 334-345). The seed of the permutations is fixed, so that a
//! series always has the same changes.

use workload::random::{Key, below};

use crate::series_noise::SeriesNoise;

/// Minimum number of runs on each side of a change. A single run is never a change.
pub const RUNS_MIN: usize = 2;
/// Number of random orders of a permutation test.
const ORDERS: u32 = 399;
/// Seed of the random orders.
const SEED: u64 = 37;
/// Ratio of the lengths of one layer of intervals to the next.
const DECAY: f64 = std::f64::consts::SQRT_2;

/// The most probable change of a part of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Index of the first value after the change.
    pub at: usize,
    /// Difference between the means of the two sides, in standard errors.
    pub standard_errors: f64,
}

/// Returns the candidate with the greatest number of standard errors, over all seeded intervals.
/// `None` for fewer values than two sides need, or for a series without noise and without a change.
pub fn candidate(values: &[f64]) -> Option<Candidate> {
    of_intervals(values, &intervals(values.len()))
}

/// Probability of a candidate with at least as many standard errors in a series without a change,
/// from random orders of the values. The test ends early, with a value above `alpha`, as soon as
/// the p-value cannot be at most `alpha`.
pub fn p_of(values: &[f64], candidate: Candidate, alpha: f64) -> f64 {
    let intervals = intervals(values.len());
    let enough = (alpha * f64::from(ORDERS + 1)).floor() as u32;
    let mut shuffled = values.to_vec();
    let mut as_high = 0;
    for order in 0..ORDERS {
        shuffle(&mut shuffled, Key::new(SEED, "history", order));
        let found = of_intervals(&shuffled, &intervals);
        let is_as_high =
            |other: Candidate| other.standard_errors >= candidate.standard_errors * (1.0 - 1e-12);
        as_high += u32::from(found.is_some_and(is_as_high));
        if as_high >= enough.max(1) {
            return f64::from(1 + as_high) / f64::from(order + 2);
        }
    }
    f64::from(1 + as_high) / f64::from(ORDERS + 1)
}

/// Fisher-Yates shuffle.
fn shuffle(values: &mut [f64], key: Key) {
    for last in (1..values.len()).rev() {
        let other = below(key.at(last as u64), last as u64 + 1);
        values.swap(last, other as usize);
    }
}

/// The place between `from` and `to` with the greatest difference between the means before and
/// after it, in units of the standard deviation of a run, for independent runs.
pub fn best_split(values: &[f64], from: usize, to: usize) -> Option<usize> {
    let sums = sums(values);
    in_interval(&sums, (from, to)).map(|(at, _)| at)
}

fn of_intervals(values: &[f64], intervals: &[(usize, usize)]) -> Option<Candidate> {
    let sums = sums(values);
    let mut best: Option<(usize, f64)> = None;
    for interval in intervals {
        let found = in_interval(&sums, *interval);
        if let Some((at, distance)) = found.filter(|found| best.is_none_or(|best| found.1 > best.1))
        {
            best = Some((at, distance));
        }
    }
    let (at, distance) = best.filter(|(_, distance)| *distance > 0.0)?;
    let deviation = SeriesNoise::of(values).long_run_deviation();
    Some(Candidate {
        at,
        standard_errors: match deviation > 0.0 {
            true => distance / deviation,
            false => f64::INFINITY,
        },
    })
}

/// Running sums of deviations from the first value, which keeps rounding errors small.
fn sums(values: &[f64]) -> Vec<f64> {
    let first = values.first().copied().unwrap_or_default();
    let mut sum = 0.0;
    let sums = values.iter().map(|value| {
        sum += value - first;
        sum
    });
    std::iter::once(0.0).chain(sums).collect()
}

/// The greatest distance of an interval, and its place: for `n` values before the place and `m`
/// after it, the difference of the means multiplied by √(n m / (n + m)).
fn in_interval(sums: &[f64], (from, to): (usize, usize)) -> Option<(usize, f64)> {
    let length = (to - from) as f64;
    let total = sums[to] - sums[from];
    let mut best: Option<(usize, f64)> = None;
    for at in from + RUNS_MIN..=to.checked_sub(RUNS_MIN)? {
        let before = (at - from) as f64;
        let after = length - before;
        let excess = sums[at] - sums[from] - total * before / length;
        let squared = excess * excess * length / (before * after);
        if best.is_none_or(|(_, most)| squared > most) {
            best = Some((at, squared));
        }
    }
    best.map(|(at, squared)| (at, squared.sqrt()))
}

/// The seeded intervals: layers of intervals of equal length that overlap by half, from the whole
/// series to intervals with [`RUNS_MIN`] values on each side.
fn intervals(count: usize) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    let mut length = count as f64;
    while length >= (2 * RUNS_MIN) as f64 {
        let whole = length.ceil() as usize;
        let number = 2 * (count as f64 / length).ceil() as usize - 1;
        for index in 0..number {
            let from = match number {
                1 => 0,
                _ => (count - whole) * index / (number - 1),
            };
            all.push((from, from + whole));
        }
        length /= DECAY;
    }
    all.dedup();
    all
}
