//! The random number generator of everything except the classic editions. A random value is a pure
//! function of a seed, the name of a stream, a worker and an index. Each value can be computed
//! without the values before it.
//!
//! The generator is SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
//! Generators", OOPSLA 2014), accessed by position. The key is the initial state. Value `index` is
//! the result of the finaliser for the state after `index + 1` steps. The key is XXH3-64 over the
//! seed (8 bytes, little-endian), the worker (4 bytes, little-endian) and the stream's name.

use xxhash_rust::xxh3::xxh3_64;

/// The increment of SplitMix64's state: 2^64 divided by the golden ratio, rounded to an odd number.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
/// The factors of SplitMix64's finaliser.
const FACTORS: [u64; 2] = [0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB];
/// The inverses of [`FACTORS`] modulo 2^64.
const INVERSES: [u64; 2] = [0x96DE_1B17_3F11_9089, 0x3196_42B2_D24D_8EC3];

/// A stream of random values with access by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u64);

impl Key {
    pub fn new(seed: u64, name: &str, worker: u32) -> Self {
        let mut bytes = Vec::with_capacity(12 + name.len());
        bytes.extend_from_slice(&seed.to_le_bytes());
        bytes.extend_from_slice(&worker.to_le_bytes());
        bytes.extend_from_slice(name.as_bytes());
        Self(xxh3_64(&bytes))
    }

    /// Creates a stream of random values from a value of another stream.
    #[inline]
    pub const fn of(random: u64) -> Self {
        Self(random)
    }

    /// Returns value number `index`, without computing the values before it.
    #[inline]
    pub const fn at(self, index: u64) -> u64 {
        finish(
            self.0
                .wrapping_add(index.wrapping_add(1).wrapping_mul(STEP)),
        )
    }
}

/// Derives a second random value from a random value. Different values have different results.
#[inline]
pub const fn again(random: u64) -> u64 {
    finish(random.wrapping_add(STEP))
}

/// The inverse function of [`again`].
pub(crate) const fn before_again(random: u64) -> u64 {
    let mut z = random;
    z = (z ^ z >> 31 ^ z >> 62).wrapping_mul(INVERSES[1]);
    z = (z ^ z >> 27 ^ z >> 54).wrapping_mul(INVERSES[0]);
    (z ^ z >> 30 ^ z >> 60).wrapping_sub(STEP)
}

/// Maps a random value to an integer below `bound` by multiplication. Returns 0 if `bound` is 0.
/// For bounds below 2^40, the probabilities of the integers differ by at most one part in 2^24.
#[inline]
pub const fn below(random: u64, bound: u64) -> u64 {
    ((random as u128 * bound as u128) >> 64) as u64
}

/// Maps a random value to a number of 53 bits that is at least 0 and below 1.
#[inline]
pub const fn unit(random: u64) -> f64 {
    (random >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// Returns the running sums of weights. A random number selects the first weight whose sum is
/// greater than the number.
pub(crate) fn running_sums(weights: impl Iterator<Item = u64>) -> impl Iterator<Item = u64> {
    weights.scan(0_u64, |sum, weight| {
        *sum = sum.saturating_add(weight);
        Some(*sum)
    })
}

#[inline]
const fn finish(state: u64) -> u64 {
    let mut z = state;
    z = (z ^ z >> 30).wrapping_mul(FACTORS[0]);
    z = (z ^ z >> 27).wrapping_mul(FACTORS[1]);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_produce_the_published_splitmix64_sequence() {
        // The first outputs of the reference implementation for the seed 1234567.
        let key = Key::of(1_234_567);
        let first: Vec<u64> = (0..5).map(|index| key.at(index)).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821,
            ]
        );
    }

    #[test]
    fn named_streams_never_change() {
        let values = [
            Key::new(42, "sizes", 0).at(0),
            Key::new(42, "sizes", 0).at(1 << 40),
            Key::new(42, "sizes", 1).at(0),
            Key::new(42, "files", 0).at(0),
            Key::new(43, "sizes", 0).at(0),
        ];
        assert_eq!(
            values,
            [
                13_212_690_476_812_173_620,
                10_237_214_623_436_749_808,
                1_297_770_624_884_316_003,
                13_618_776_257_090_213_991,
                17_495_997_879_136_496_246,
            ]
        );
    }

    #[test]
    fn before_again_is_the_inverse_of_again() {
        assert_eq!(FACTORS[0].wrapping_mul(INVERSES[0]), 1);
        assert_eq!(FACTORS[1].wrapping_mul(INVERSES[1]), 1);
        for value in (0..1_000)
            .map(|index| Key::of(5).at(index))
            .chain([0, 1, u64::MAX])
        {
            assert_eq!(before_again(again(value)), value);
        }
    }

    /// Returns the chi-squared statistic that compares the counts with the assumption of equal
    /// probabilities.
    fn chi_squared(counts: &[u64]) -> f64 {
        let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        counts
            .iter()
            .map(|count| (*count as f64 - expected) * (*count as f64 - expected) / expected)
            .sum()
    }

    #[test]
    fn low_and_high_bits_of_values_are_uniform() {
        // With 255 degrees of freedom, chi-squared exceeds 377.1 with a probability of 10^-6. The
        // seeds are fixed, so the result of this test is always the same.
        for (name, worker) in [("a", 0), ("a", 1), ("b", 0)] {
            let key = Key::new(1, name, worker);
            let mut counts = [[0; 256]; 4];
            for index in 0..256_000 {
                let value = key.at(index);
                let other = again(value);
                counts[0][value as usize % 256] += 1;
                counts[1][(value >> 56) as usize] += 1;
                counts[2][other as usize % 256] += 1;
                // The high bits of both values form one number, so that a correlation between the
                // values would be detected.
                counts[3][(value >> 60 << 4 | other >> 60) as usize] += 1;
            }
            for counts in counts {
                let chi = chi_squared(&counts);
                assert!((150.0..377.1).contains(&chi), "{name} {worker}: {chi}");
            }
        }
    }

    #[test]
    fn below_and_unit_return_values_in_range() {
        assert_eq!(
            (below(u64::MAX, 7), below(0, 7), below(u64::MAX, u64::MAX)),
            (6, 0, u64::MAX - 1)
        );
        assert_eq!((below(5, 0), below(u64::MAX, 1)), (0, 0));
        assert_eq!(unit(0), 0.0);
        assert!(unit(u64::MAX) < 1.0);
        let key = Key::new(9, "unit", 0);
        let mut counts = [0; 10];
        for index in 0..100_000 {
            let value = key.at(index);
            counts[(unit(value) * 10.0) as usize] += 1;
            assert_eq!(below(value, 10), (unit(value) * 10.0) as u64);
        }
        // With 9 degrees of freedom, chi-squared exceeds 45 with a probability of 10^-6.
        assert!(chi_squared(&counts) < 45.0, "{counts:?}");
    }
}
