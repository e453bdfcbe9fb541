//! Draws sizes. Drawing uses only integer arithmetic, so that a random value yields the same size
//! on every machine.
//!
//! For a lognormal or exponential distribution, the sampler contains a table of quantiles. The
//! table has one half for the probabilities up to 1/2, and one half for the probabilities above
//! 1/2. Each half is divided into octaves. Each octave is half as wide as its neighbour nearer to
//! 1/2, and has 64 cells. The tails are therefore as precise as the middle. Between two quantiles,
//! the size is a linear function of the probability.

use std::sync::Arc;

use super::Sizes;
use super::normal::normal;
use crate::random::{again, below, running_sums};

const OCTAVES: usize = 40;
const CELLS_BITS: u32 = 6;
const CELLS: usize = 1 << CELLS_BITS;
/// Number of quantiles in the table for probabilities up to 1/2. As many quantiles follow for
/// probabilities above 1/2.
const POINTS: usize = OCTAVES * CELLS + 1;
/// Number of fractional bits in a quantile, and in a position within a cell.
const FRACTION_BITS: u32 = 16;

/// Draws sizes of one distribution, and rounds them up to multiples of the alignment. A clone
/// shares the tables.
#[derive(Clone, Debug)]
pub struct Sampler {
    source: Source,
    align: u64,
    low: u64,
    high: u64,
}

#[derive(Clone, Debug)]
enum Source {
    /// All sizes from `low` on are equally likely; `count` is the number of different sizes.
    Uniform { low: u64, count: u64 },
    /// The quantiles of the lower half of the probabilities, from 0 to 1/2, and then those of the
    /// upper half, from 1 down to 1/2.
    Quantiles(Arc<[i64]>),
    /// `sums` contains the running sum of the bins' weights. `bins` contains the smallest size and
    /// the number of different sizes of each bin.
    Histogram {
        sums: Arc<[u64]>,
        bins: Arc<[(u64, u64)]>,
    },
}

impl Sizes {
    /// Returns a sampler of this distribution, which must be valid. Sizes are rounded up to a
    /// multiple of `align` bytes, and are at least `align`. An `align` of 1 does not change sizes.
    pub fn sampler(&self, align: u64) -> Sampler {
        Sampler::new(self, align)
    }
}

impl Sampler {
    /// `sizes` must be valid; an `align` of 0 is treated as 1.
    fn new(sizes: &Sizes, align: u64) -> Self {
        let align = align.max(1);
        let source = match sizes {
            Sizes::Fixed(size) => Source::Uniform {
                low: *size,
                count: 1,
            },
            Sizes::Uniform { low, high } => Source::Uniform {
                low: *low,
                count: high.saturating_sub(*low) + 1,
            },
            Sizes::Lognormal {
                median,
                sigma,
                low,
                high,
            } => quantiles(&lognormal(*median as f64, *sigma), *low, *high),
            Sizes::Exponential { mean, low, high } => {
                quantiles(&exponential(*mean as f64), *low, *high)
            }
            Sizes::Histogram(bins) => Source::Histogram {
                sums: running_sums(bins.iter().map(|bin| bin.weight)).collect(),
                bins: bins
                    .iter()
                    .map(|bin| (bin.low, bin.high.saturating_sub(bin.low) + 1))
                    .collect(),
            },
        };
        Self {
            source,
            align,
            low: aligned(sizes.low(), align),
            high: aligned(sizes.high(), align),
        }
    }

    /// Returns the smallest size that can be drawn, after rounding.
    pub fn low(&self) -> u64 {
        self.low
    }

    /// Returns the largest size that can be drawn, after rounding.
    pub fn high(&self) -> u64 {
        self.high
    }

    #[inline]
    pub fn draw(&self, random: u64) -> u64 {
        let size = match &self.source {
            Source::Uniform { low, count } => low + below(random, *count),
            Source::Quantiles(quantiles) => quantile(quantiles, random),
            Source::Histogram { sums, bins } => {
                let pick = below(random, sums.last().copied().unwrap_or(0));
                let bin = sums.partition_point(|sum| *sum <= pick);
                bins.get(bin)
                    .map_or(0, |(low, count)| low + below(again(random), *count))
            }
        };
        aligned(size, self.align)
    }
}

/// Rounds a size up to a multiple of `align`, and to at least `align`. An `align` of 0 or 1 does
/// not change the size.
#[inline]
pub fn aligned(size: u64, align: u64) -> u64 {
    if align <= 1 {
        size
    } else if align.is_power_of_two() {
        (size.max(1) + align - 1) & !(align - 1)
    } else {
        size.max(1).next_multiple_of(align)
    }
}

#[inline]
fn quantile(quantiles: &[i64], random: u64) -> u64 {
    let is_upper = random >> 63 == 1;
    // The distance of `random` from the nearer end of the range of 64 bits, but at least 2^-40 of
    // half the range. All values nearer to an end have the same size.
    let distance = if is_upper { !random } else { random }.max(1 << (63 - OCTAVES));
    let octave = distance.leading_zeros() - 1;
    // After its leading one, `distance` contains the index of the cell, and then the position
    // within the cell.
    let behind = distance << (octave + 2);
    let cell = (behind >> (64 - CELLS_BITS)) as usize;
    let position = (behind << CELLS_BITS >> (64 - FRACTION_BITS)) as i64;
    let index = (OCTAVES - 1 - octave as usize) * CELLS + cell + usize::from(is_upper) * POINTS;
    let (from, to) = (quantiles[index], quantiles[index + 1]);
    let size = from + (((to - from) * position) >> FRACTION_BITS);
    ((size + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS) as u64
}

/// Returns the probabilities of the quantiles in the lower half, in ascending order up to 1/2.
fn probabilities() -> impl DoubleEndedIterator<Item = f64> {
    (0..POINTS).map(|point| {
        let octave = OCTAVES - 1 - (point / CELLS).min(OCTAVES - 1);
        let cell = point - (OCTAVES - 1 - octave) * CELLS;
        (CELLS + cell) as f64 / CELLS as f64 / (1_u64 << (octave + 2)) as f64
    })
}

/// Converts the quantiles of both halves to fixed-point numbers within the bounds.
fn quantiles(sizes: &[f64], low: u64, high: u64) -> Source {
    let scale = (1_u64 << FRACTION_BITS) as f64;
    let fixed = |size: &f64| (size.clamp(low as f64, high as f64) * scale + 0.5) as i64;
    Source::Quantiles(sizes.iter().map(fixed).collect())
}

fn exponential(mean: f64) -> Vec<f64> {
    let lower = probabilities().map(|p| -mean * libm::log1p(-p));
    let upper = probabilities().map(|p| -mean * libm::log(p));
    lower.chain(upper).collect()
}

fn lognormal(median: f64, sigma: f64) -> Vec<f64> {
    let deviations = normal_quantiles();
    let half = |sigma: f64| {
        deviations
            .iter()
            .map(move |z| median * libm::exp(sigma * z))
    };
    half(sigma).chain(half(-sigma)).collect()
}

/// Returns the quantiles of the standard normal distribution at the [`probabilities`], which are at
/// most 1/2.
fn normal_quantiles() -> Vec<f64> {
    let mut z = 0.0;
    let mut quantiles: Vec<f64> = probabilities()
        .rev()
        .map(|p| {
            // Newton's method starts from the neighbouring quantile and converges quadratically.
            for _ in 0..5 {
                z -= (normal(z) - p)
                    / (libm::exp(-0.5 * z * z) / libm::sqrt(2.0 * std::f64::consts::PI));
            }
            z
        })
        .collect();
    quantiles.reverse();
    quantiles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Key;
    use crate::sizes::Bin;

    /// Returns the random value that corresponds to a cumulative probability.
    fn at(probability: f64) -> u64 {
        (probability * 18_446_744_073_709_551_616.0) as u64
    }

    fn near(found: u64, expected: f64) {
        let tolerance = 0.51 + expected * 1e-4;
        assert!(
            (found as f64 - expected).abs() <= tolerance,
            "{found} for {expected}"
        );
    }

    #[test]
    fn normal_quantiles_match_published_tables() {
        let quantiles = normal_quantiles();
        let by_probability = |p: f64| {
            let index = probabilities().position(|other| other >= p).unwrap();
            assert_eq!(probabilities().nth(index), Some(p));
            quantiles[index]
        };
        assert!((by_probability(0.5)).abs() < 1e-15);
        assert!((by_probability(0.25) + 0.674_489_750_196_081_7).abs() < 1e-13);
        assert!((by_probability(1.0 / 1_024.0) + 3.097_269_078_198_784).abs() < 1e-6);
        for (z, p) in quantiles.iter().zip(probabilities()) {
            assert!((normal(*z) / p - 1.0).abs() < 1e-12, "{z} {p}");
        }
    }

    #[test]
    fn exponential_sizes_have_the_theoretical_quantiles() {
        let sampler = Sampler::new(
            &Sizes::Exponential {
                mean: 100_000,
                low: 0,
                high: 1 << 30,
            },
            1,
        );
        for p in [
            1e-6, 0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999, 0.999_999,
        ] {
            near(sampler.draw(at(p)), -100_000.0 * (1.0 - p).ln());
        }
        assert_eq!(sampler.draw(0), 0);
        assert!(sampler.draw(u64::MAX) > 2_700_000);
    }

    #[test]
    fn lognormal_sizes_have_the_theoretical_quantiles() {
        let sizes = Sizes::Lognormal {
            median: 8_192,
            sigma: 1.2,
            low: 1,
            high: 1 << 20,
        };
        let sampler = Sampler::new(&sizes, 1);
        for (p, z) in [
            (0.001, -3.090_232_306_167_813),
            (0.025, -1.959_963_984_540_054),
            (0.25, -0.674_489_750_196_081_7),
            (0.5, 0.0),
            (0.8, 0.841_621_233_572_914_3),
            (0.99, 2.326_347_874_040_841),
            (0.999, 3.090_232_306_167_813),
        ] {
            near(sampler.draw(at(p)), 8_192.0 * (1.2_f64 * z).exp());
        }
        assert_eq!(sampler.draw(u64::MAX), 1 << 20);
        let key = Key::new(1, "test", 0);
        let sum: u64 = (0..1_000_000)
            .map(|index| sampler.draw(key.at(index)))
            .sum();
        let mean = sum as f64 / 1_000_000.0;
        assert!(
            (mean / sizes.mean() - 1.0).abs() < 0.01,
            "{mean} {}",
            sizes.mean()
        );
    }

    #[test]
    fn larger_random_values_never_have_smaller_sizes() {
        for text in [
            "lognormal:median=100,sigma=4,max=1GiB",
            "exponential:mean=3,max=40,min=0",
            "3..9",
        ] {
            let sampler = text.parse::<Sizes>().unwrap().sampler(1);
            let mut before = 0;
            for random in (0..=u64::MAX).step_by((u64::MAX / 100_000) as usize) {
                let size = sampler.draw(random);
                assert!(
                    size >= before && size >= sampler.low() && size <= sampler.high(),
                    "{text}: {size}"
                );
                before = size;
            }
        }
    }

    #[test]
    fn bins_are_drawn_by_weight_and_sizes_in_a_bin_uniformly() {
        let bin = |low, high, weight| Bin { low, high, weight };
        let sampler = Sampler::new(
            &Sizes::Histogram(vec![bin(0, 9, 30), bin(5, 5, 0), bin(100, 103, 70)]),
            1,
        );
        let key = Key::new(2, "test", 0);
        let mut counts = [0_u32; 104];
        for index in 0..1_000_000 {
            counts[sampler.draw(key.at(index)) as usize] += 1;
        }
        for (size, count) in counts.into_iter().enumerate() {
            let expected = match size {
                0..10 => 30_000.0_f64,
                100.. => 175_000.0,
                _ => 0.0,
            };
            let difference = f64::from(count) - expected;
            assert!(difference.abs() <= 5.0 * expected.sqrt(), "{size}: {count}");
        }
    }

    #[test]
    fn drawn_sizes_never_change() {
        let draws = |text: &str| {
            let sampler = text.parse::<Sizes>().unwrap().sampler(1);
            let key = Key::new(7, "frozen", 0);
            let bytes: Vec<u8> = (0..100_000)
                .flat_map(|index| sampler.draw(key.at(index)).to_le_bytes())
                .collect();
            xxhash_rust::xxh3::xxh3_64(&bytes)
        };
        assert_eq!(draws("500..10000"), 7_259_140_111_060_470_331);
        assert_eq!(
            draws("lognormal:median=8KiB,sigma=1.2,max=1GiB"),
            34_773_895_326_142_104
        );
        assert_eq!(
            draws("exponential:mean=16KiB,max=1MiB"),
            8_193_970_329_224_497_428
        );
        assert_eq!(
            draws("histogram:0..1KiB=30,1KiB..8KiB=50,64KiB=20"),
            10_950_821_527_957_318_930
        );
    }

    #[test]
    fn aligned_sizes_are_multiples_of_the_alignment() {
        assert_eq!(
            [0, 1, 4_096, 4_097].map(|size| aligned(size, 4_096)),
            [4_096, 4_096, 4_096, 8_192]
        );
        assert_eq!(
            [0, 1, 100, 101].map(|size| aligned(size, 100)),
            [100, 100, 100, 200]
        );
        assert_eq!([0, 5].map(|size| aligned(size, 1)), [0, 5]);
        let sampler = Sizes::Uniform {
            low: 0,
            high: 10_000,
        }
        .sampler(512);
        assert_eq!((sampler.low(), sampler.high()), (512, 10_240));
        for random in (0..=u64::MAX).step_by(1 << 50) {
            assert_eq!(sampler.draw(random) % 512, 0);
        }
    }
}
