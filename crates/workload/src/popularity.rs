//! The popularity of files: how often each file is used. A rank is drawn at random. The file with
//! rank 0 is the most popular.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::WorkloadError;
use crate::random::{again, below, unit};

/// The largest exponent of a Zipf distribution.
pub const EXPONENT_MAX: f64 = 10.0;

/// How uses are distributed over files. Serialised as its text form, such as `zipf:0.99`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^(uniform|shuffled|zipf:.+|hot:.+%/.+%)$"))]
pub enum Popularity {
    /// All files are equally likely.
    #[default]
    Uniform,
    /// The file with rank r (from 0) is used in proportion to 1 / (r + 1)^exponent.
    Zipf {
        /// The exponent; 0 is uniform, and 0.99 is common in storage benchmarks.
        exponent: f64,
    },
    /// A few hot files get most of the uses. All hot files are equally likely, and so are all other
    /// files.
    Hot {
        /// The percentage of files that are hot.
        files_percent: f64,
        /// The percentage of all uses that the hot files get.
        accesses_percent: f64,
    },
    /// An epoch uses each file of a pool once, over all workers of the pool. The order is
    /// pseudorandom and differs between epochs.
    Shuffled,
}

impl Popularity {
    pub fn validate(&self) -> Result<(), WorkloadError> {
        match *self {
            Self::Zipf { exponent } if !(0.0..=EXPONENT_MAX).contains(&exponent) => {
                Err(invalid_exponent(&exponent))
            }
            Self::Hot {
                files_percent: files,
                accesses_percent: accesses,
            } if !(files > 0.0 && files < 100.0 && accesses <= 100.0 && accesses >= files) => {
                Err(invalid!(
                    "invalid value '{files}%/{accesses}%' for hot: expected a percentage of files \
                     above 0 % and below 100 %, and a percentage of operations from that to 100 %"
                ))
            }
            _ => Ok(()),
        }
    }
}

impl FromStr for Popularity {
    type Err = WorkloadError;

    /// Accepts `uniform`, `zipf:0.99`, `hot:10%/90%`, and `shuffled`.
    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        let text = text.trim();
        let popularity = if text == "uniform" {
            Self::Uniform
        } else if text == "shuffled" {
            Self::Shuffled
        } else if let Some(exponent) = text.strip_prefix("zipf:") {
            Self::Zipf {
                exponent: exponent
                    .trim()
                    .parse()
                    .map_err(|_| invalid_exponent(&exponent))?,
            }
        } else if let Some(shares) = text.strip_prefix("hot:") {
            let percent = |text: &str| {
                text.trim()
                    .trim_end_matches('%')
                    .trim_end()
                    .parse::<f64>()
                    .ok()
            };
            let (files_percent, accesses_percent) = shares
                .split_once('/')
                .and_then(|(files, accesses)| Some((percent(files)?, percent(accesses)?)))
                .ok_or_else(|| {
                    invalid!(
                        "invalid value '{shares}' for hot: expected two percentages, like \
                         hot:10%/90% (10 % of the files get 90 % of the operations)"
                    )
                })?;
            Self::Hot {
                files_percent,
                accesses_percent,
            }
        } else {
            return Err(invalid!(
                "expected uniform, zipf:0.99, hot:10%/90% or shuffled"
            ));
        };
        popularity.validate()?;
        Ok(popularity)
    }
}

impl fmt::Display for Popularity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Shuffled => f.write_str("shuffled"),
            Self::Zipf { exponent } => write!(f, "zipf:{exponent}"),
            Self::Hot {
                files_percent,
                accesses_percent,
            } => write!(f, "hot:{files_percent}%/{accesses_percent}%"),
        }
    }
}

text_form!(Popularity);

fn invalid_exponent(exponent: &dyn fmt::Display) -> WorkloadError {
    invalid!(
        "invalid exponent '{exponent}' for zipf: expected a number from 0 to {EXPONENT_MAX}, like \
         zipf:0.99"
    )
}

/// Draws popularity ranks for pools of any size.
#[derive(Clone, Debug)]
pub struct PopularityRanks(PopularityKind);

#[derive(Clone, Debug)]
enum PopularityKind {
    Uniform,
    Zipf(Box<Zipf>),
    Shuffled,
    /// `files` is the fraction of files that are hot, from 0 to 1. `uses` is the fraction of all
    /// uses that hot files get, times 2^64.
    Hot {
        files: f64,
        uses: u64,
    },
}

impl PopularityRanks {
    /// `popularity` must be valid.
    pub fn new(popularity: &Popularity) -> Self {
        Self(match *popularity {
            Popularity::Uniform => PopularityKind::Uniform,
            Popularity::Shuffled => PopularityKind::Shuffled,
            Popularity::Zipf { exponent } => PopularityKind::Zipf(Box::new(Zipf::new(exponent))),
            Popularity::Hot {
                files_percent,
                accesses_percent,
            } => PopularityKind::Hot {
                files: files_percent / 100.0,
                // For 100 %, the product exceeds the range, and the conversion returns the largest
                // integer.
                uses: (accesses_percent / 100.0 * 18_446_744_073_709_551_616.0) as u64,
            },
        })
    }

    /// Returns the rank for a random value among `n` files, from 0 to `n` - 1 (0 if `n` is 0). The
    /// rank is a pure function of `random` and `n`; the stored state only saves time. For a
    /// shuffled order, `random` is a running number.
    #[inline]
    pub fn rank(&mut self, random: u64, n: u64) -> u64 {
        match &mut self.0 {
            PopularityKind::Uniform => below(random, n),
            PopularityKind::Shuffled if n == 0 => 0,
            PopularityKind::Shuffled => shuffled(random % n, n, random / n),
            PopularityKind::Zipf(zipf) => zipf.rank(random, n),
            PopularityKind::Hot { files, uses } => {
                let hot = ((n as f64 * *files).ceil() as u64).min(n);
                if random < *uses || hot == n {
                    below(again(random), hot)
                } else {
                    hot + below(again(random), n - hot)
                }
            }
        }
    }
}

/// Returns the position of `index` in the pseudorandom order of `n` files for `epoch`. A Feistel
/// network of four rounds permutes all numbers with `b` bits, where `b` is the number of bits of
/// `n` - 1, rounded up to an even number. The network is applied until the result is below `n`
/// (cycle walking: Black and Rogaway, CT-RSA 2002), less than four times on average.
fn shuffled(index: u64, n: u64, epoch: u64) -> u64 {
    let half = (64 - (n - 1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1_u64 << half) - 1;
    let mut number = index;
    loop {
        let (mut left, mut right) = (number >> half, number & mask);
        for round in 0..4 {
            (left, right) = (
                right,
                left ^ again(right ^ again(epoch ^ (round << 60))) & mask,
            );
        }
        number = left << half | right;
        if number < n {
            return number;
        }
    }
}

const KEPT: usize = 256;

/// Draws ranks by rejection-inversion sampling (Hörmann and Derflinger, ACM TOMACS 6(3), 1996). The
/// probabilities are exact for all pool sizes. On average less than 1.02 random values are needed
/// per rank.
#[derive(Clone, Debug)]
struct Zipf {
    exponent: f64,
    /// The lower end of the range from which samples are drawn: [`Self::integral`] of 1.5, minus
    /// the weight of rank 0.
    first: f64,
    /// A sample is accepted without a further test if rounding it to a whole number adds at most
    /// this amount.
    safe: f64,
    /// Recently used pool sizes. Each entry contains a pool size, and the integral up to the last
    /// rank of such a pool.
    kept: [(u64, f64); KEPT],
}

impl Zipf {
    fn new(exponent: f64) -> Self {
        let mut zipf = Self {
            exponent,
            first: 0.0,
            safe: 0.0,
            kept: [(0, 0.0); KEPT],
        };
        zipf.first = zipf.integral(1.5) - 1.0;
        zipf.safe = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.weight(2.0));
        zipf
    }

    fn rank(&mut self, random: u64, n: u64) -> u64 {
        if n <= 1 {
            return 0;
        }
        let last = self.integral_to_end(n);
        let mut random = random;
        loop {
            let area = last + unit(random) * (self.first - last);
            let x = self.inverse(area);
            let number = ((x + 0.5) as u64).clamp(1, n);
            let k = number as f64;
            if k - x <= self.safe || area >= self.integral(k + 0.5) - self.weight(k) {
                return number - 1;
            }
            random = again(random);
        }
    }

    #[inline]
    fn integral_to_end(&mut self, n: u64) -> f64 {
        let at = n as usize % KEPT;
        if self.kept[at].0 != n {
            self.kept[at] = (n, self.integral(n as f64 + 0.5));
        }
        self.kept[at].1
    }

    /// Returns 1 / x^exponent.
    fn weight(&self, x: f64) -> f64 {
        libm::exp(-self.exponent * libm::log(x))
    }

    /// Returns the integral of [`Self::weight`] from 1 to x: (x^(1-exponent) - 1) / (1-exponent),
    /// or the logarithm of x if the exponent is 1.
    fn integral(&self, x: f64) -> f64 {
        let log = libm::log(x);
        let y = (1.0 - self.exponent) * log;
        let factor = if y.abs() > 1e-8 {
            libm::expm1(y) / y
        } else {
            1.0 + y / 2.0 * (1.0 + y / 3.0)
        };
        factor * log
    }

    /// Returns the inverse of [`Self::integral`]: the x for which the integral is `area`.
    fn inverse(&self, area: f64) -> f64 {
        // Rounding may produce values below -1, which `log1p` does not accept.
        let y = (area * (1.0 - self.exponent)).max(-1.0);
        let factor = if y.abs() > 1e-8 {
            libm::log1p(y) / y
        } else {
            1.0 - y * (0.5 - y / 3.0)
        };
        libm::exp(factor * area)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Key;

    fn counts(popularity: &str, n: u64, draws: u64) -> Vec<u64> {
        let mut ranks = PopularityRanks::new(&popularity.parse().unwrap());
        let key = Key::new(11, popularity, 0);
        let mut counts = vec![0; n as usize];
        for index in 0..draws {
            counts[ranks.rank(key.at(index), n) as usize] += 1;
        }
        counts
    }

    /// Returns the difference between chi-squared and its mean, in standard deviations. Ranks with
    /// less than 20 expected uses are combined.
    fn deviation(counts: &[u64], probabilities: &[f64]) -> f64 {
        let draws = counts.iter().sum::<u64>() as f64;
        let sum: f64 = probabilities.iter().sum();
        let (mut chi, mut cells, mut seldom) = (0.0, 0, (0.0, 0.0));
        for (count, probability) in counts.iter().zip(probabilities) {
            let expected = draws * probability / sum;
            if expected < 20.0 {
                seldom = (seldom.0 + *count as f64, seldom.1 + expected);
            } else {
                chi += (*count as f64 - expected) * (*count as f64 - expected) / expected;
                cells += 1;
            }
        }
        if seldom.1 > 5.0 {
            chi += (seldom.0 - seldom.1) * (seldom.0 - seldom.1) / seldom.1;
            cells += 1;
        }
        let freedom = f64::from(cells - 1).max(1.0);
        (chi - freedom) / (2.0 * freedom).sqrt()
    }

    #[test]
    fn zipf_ranks_have_exact_probabilities() {
        for exponent in ["0", "0.5", "0.99", "1", "1.000001", "1.5", "3", "10"] {
            for n in [2, 3, 10, 1_000] {
                let counts = counts(&format!("zipf:{exponent}"), n, 400_000);
                let exponent: f64 = exponent.parse().unwrap();
                let probabilities: Vec<f64> = (1..=n).map(|k| (k as f64).powf(-exponent)).collect();
                let off = deviation(&counts, &probabilities);
                assert!(off < 4.5, "{exponent} of {n}: {off}");
            }
        }
    }

    #[test]
    fn hot_files_get_their_percentage_of_uses() {
        let counts = counts("hot:10%/90%", 200, 1_000_000);
        let probabilities: Vec<f64> = (0..200)
            .map(|rank| if rank < 20 { 0.045 } else { 0.1 / 180.0 })
            .collect();
        assert!(deviation(&counts, &probabilities) < 4.0);
        let all = self::counts("hot:1%/100%", 200, 10_000);
        assert_eq!(all[0] + all[1], 10_000);
    }

    #[test]
    fn uniform_ranks_are_equally_likely() {
        let counts = counts("uniform", 100, 1_000_000);
        assert!(deviation(&counts, &[1.0; 100]).abs() < 4.0);
    }

    #[test]
    fn lower_ranks_are_more_popular() {
        for popularity in ["zipf:0.99", "zipf:1", "zipf:2", "hot:20%/80%"] {
            let counts = counts(popularity, 1_024, 2_000_000);
            let groups: Vec<u64> = (0..5)
                .map(|group| counts[group * 4..group * 4 + 4].iter().sum())
                .collect();
            let later: u64 = counts[512..516].iter().sum();
            if popularity.starts_with("zipf") {
                assert!(groups.is_sorted_by(|a, b| a > b), "{popularity} {groups:?}");
            }
            assert!(groups[0] > 2 * later, "{popularity} {groups:?} {later}");
        }
    }

    #[test]
    fn popularity_ranks_never_change() {
        let ranks = |text: &str| {
            let mut ranks = PopularityRanks::new(&text.parse().unwrap());
            let key = Key::new(7, "frozen", 0);
            let bytes: Vec<u8> = (0..100_000)
                .flat_map(|index| {
                    ranks
                        .rank(key.at(index), 1_000_000 + index % 7)
                        .to_le_bytes()
                })
                .collect();
            xxhash_rust::xxh3::xxh3_64(&bytes)
        };
        assert_eq!(ranks("zipf:0.99"), 1_956_315_330_957_701_322);
        assert_eq!(ranks("zipf:1"), 7_935_112_995_987_738_137);
        assert_eq!(ranks("hot:10%/90%"), 12_697_790_797_124_319_846);
    }

    #[test]
    fn rank_is_a_pure_function_of_value_and_pool_size() {
        for popularity in ["uniform", "zipf:0.99", "zipf:1", "zipf:10", "hot:10%/90%"] {
            let popularity: Popularity = popularity.parse().unwrap();
            let mut used = PopularityRanks::new(&popularity);
            let key = Key::new(3, "pure", 0);
            for index in 0..20_000 {
                let n = match index % 3 {
                    0 => 1 + index % 5,
                    1 => 20_000 + index % 600,
                    _ => 1 << (index % 48),
                };
                let rank = used.rank(key.at(index), n);
                assert_eq!(
                    rank,
                    PopularityRanks::new(&popularity).rank(key.at(index), n)
                );
                assert!(rank < n, "{popularity}: {rank} of {n}");
            }
            assert_eq!((used.rank(u64::MAX, 1), used.rank(0, 1)), (0, 0));
        }
    }

    #[test]
    fn popularities_parse_and_print() {
        for text in [
            "uniform",
            "zipf:0.99",
            "zipf:1",
            "zipf:0",
            "hot:10%/90%",
            "hot:0.5%/99.9%",
        ] {
            assert_eq!(text.parse::<Popularity>().unwrap().to_string(), text);
        }
        assert_eq!("hot:10/90".parse(), "hot:10%/90%".parse::<Popularity>());
        for (text, part) in [
            ("", "expected uniform"),
            ("zipf", "zipf:0.99"),
            ("zipf:x", "from 0 to 10"),
            ("zipf:-1", "from 0 to 10"),
            ("zipf:NaN", "from 0 to 10"),
            ("hot:10", "two percentages"),
            ("hot:0%/90%", "above 0 %"),
            ("hot:10%/101%", "to 100 %"),
            ("hot:90%/10%", "from that to 100 %"),
            ("hot:NaN/90", "above 0 %"),
        ] {
            let message = text.parse::<Popularity>().unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn shuffled_order_includes_every_file_once_per_epoch() {
        let mut ranks = PopularityRanks::new(&Popularity::Shuffled);
        for n in [1, 2, 3, 7, 64, 65, 1_000] {
            let mut orders = Vec::new();
            for epoch in 0..3 {
                let order: Vec<u64> = (epoch * n..(epoch + 1) * n)
                    .map(|index| ranks.rank(index, n))
                    .collect();
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..n).collect::<Vec<_>>());
                orders.push(order);
            }
            if n >= 64 {
                let neighbours = orders[0]
                    .windows(2)
                    .filter(|pair| pair[0].abs_diff(pair[1]) == 1)
                    .count();
                assert!(
                    neighbours < n as usize / 8,
                    "{n}: {neighbours} files follow their neighbours"
                );
                assert_ne!(orders[0], orders[1]);
                assert_ne!(orders[1], orders[2]);
            }
        }
    }
}
