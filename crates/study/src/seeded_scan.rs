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
/// Number of places that are compared at once: the compiler uses vector instructions for them.
const LANES: usize = 4;

/// The most probable change of a part of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Index of the first value after the change.
    pub at: usize,
    /// Difference between the means of the two sides, in standard errors.
    pub standard_errors: f64,
}

/// The seeded intervals of a series of a given length. A permutation test uses them many times.
struct Scan {
    layers: Vec<Layer>,
}

/// Intervals of equal length.
struct Layer {
    length: usize,
    /// Indexes of the first values of the intervals.
    starts: Vec<usize>,
    /// For each place of a change: the number of values before it, and the weight of the squared
    /// excess there (see [`Layer::squares`]).
    places: Vec<(f64, f64)>,
}

/// Returns the candidate with the greatest number of standard errors, over all seeded intervals.
/// `None` for fewer values than two sides need, or for a series without noise and without a change.
pub fn candidate(values: &[f64]) -> Option<Candidate> {
    Scan::new(values.len()).candidate(values)
}

/// Probability of a candidate with at least as many standard errors in a series without a change,
/// from random orders of the values. The test ends early, with a value above `alpha`, as soon as
/// the p-value cannot be at most `alpha`.
pub fn p_of(values: &[f64], candidate: Candidate, alpha: f64) -> f64 {
    let scan = Scan::new(values.len());
    let enough = (alpha * f64::from(ORDERS + 1)).floor() as u32;
    let mut shuffled = values.to_vec();
    let mut as_high = 0;
    for order in 0..ORDERS {
        shuffle(&mut shuffled, Key::new(SEED, "history", order));
        let is_as_high =
            |other: Candidate| other.standard_errors >= candidate.standard_errors * (1.0 - 1e-12);
        as_high += u32::from(scan.candidate(&shuffled).is_some_and(is_as_high));
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
    let layer = Layer::new(to - from, vec![from])?;
    Some(from + layer.best_place(&sums(&values[from..to])))
}

impl Scan {
    /// Layers of intervals that overlap by half, from the whole series to intervals with
    /// [`RUNS_MIN`] values on each side.
    fn new(count: usize) -> Self {
        let mut layers = Vec::new();
        let mut length = count as f64;
        while length >= (2 * RUNS_MIN) as f64 {
            let whole = length.ceil() as usize;
            let number = 2 * (count as f64 / length).ceil() as usize - 1;
            let start = |index: usize| match number {
                1 => 0,
                _ => (count - whole) * index / (number - 1),
            };
            let mut starts: Vec<usize> = (0..number).map(start).collect();
            starts.dedup();
            layers.extend(Layer::new(whole, starts));
            length /= DECAY;
        }
        Self { layers }
    }

    fn candidate(&self, values: &[f64]) -> Option<Candidate> {
        let sums = sums(values);
        let mut best: Option<(&Layer, usize, f64)> = None;
        for layer in &self.layers {
            for from in &layer.starts {
                let squared = layer.greatest(&sums[*from..=from + layer.length]);
                if best.is_none_or(|(.., most)| squared > most) {
                    best = Some((layer, *from, squared));
                }
            }
        }
        let (layer, from, squared) = best.filter(|(.., squared)| *squared > 0.0)?;
        let at = from + layer.best_place(&sums[from..=from + layer.length]);
        let (before, after) = values.split_at(at);
        let deviation = SeriesNoise::of(&[before, after]).long_run_deviation();
        Some(Candidate {
            at,
            standard_errors: match deviation > 0.0 {
                true => squared.sqrt() / deviation,
                false => f64::INFINITY,
            },
        })
    }
}

impl Layer {
    /// `None` if the intervals are too short for a change.
    fn new(length: usize, starts: Vec<usize>) -> Option<Self> {
        let places = RUNS_MIN..=length.checked_sub(RUNS_MIN)?;
        let whole = length as f64;
        let place = |before: usize| {
            let before = before as f64;
            (before, whole / (before * (whole - before)))
        };
        let places: Vec<(f64, f64)> = places.map(place).collect();
        (!places.is_empty()).then_some(Self {
            length,
            starts,
            places,
        })
    }

    /// The squares of all places of an interval, whose running sums are given. With `n` values
    /// before a place and `m` after it, the square is that of the difference of the means times
    /// √(n m / (n + m)). The excess is the sum before the place without its share of the sum of the
    /// interval.
    fn squares<'a>(&'a self, sums: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let (first, last) = (sums[0], sums[self.length]);
        let slope = (last - first) / self.length as f64;
        let places = self.places.iter().zip(&sums[RUNS_MIN..]);
        places.map(move |((before, weight), sum)| {
            let excess = sum - first - slope * before;
            excess * excess * weight
        })
    }

    /// The greatest square of an interval.
    fn greatest(&self, sums: &[f64]) -> f64 {
        let mut lanes = [0.0_f64; LANES];
        for (place, squared) in self.squares(sums).enumerate() {
            let lane = &mut lanes[place % LANES];
            *lane = if squared > *lane { squared } else { *lane };
        }
        lanes.into_iter().fold(0.0, f64::max)
    }

    /// The first place with the greatest square, as the number of values before it.
    fn best_place(&self, sums: &[f64]) -> usize {
        let mut best = (RUNS_MIN, 0.0);
        for (place, squared) in self.squares(sums).enumerate() {
            if squared > best.1 {
                best = (RUNS_MIN + place, squared);
            }
        }
        best.0
    }
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
