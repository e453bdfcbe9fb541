//! Medians and shares with their confidence intervals.

use crate::result::Result;

/// The median of some values, and the two order statistics that enclose the true median with a
/// probability of at least 95 % (sign test). For 9 values, these are the 2nd and the 8th value
/// (96.1 %). For fewer than 6 values, the probability is lower.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Median {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Median {
    pub fn show(&self, decimals: usize) -> String {
        let Self { value, low, high } = self;
        format!("{value:.decimals$} [{low:.decimals$}, {high:.decimals$}]")
    }
}

/// The median of values; 0 if there are none.
pub fn median(values: impl IntoIterator<Item = f64>) -> Median {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    if count == 0 {
        return Median::default();
    }
    let rank = enclosing_rank(count);
    Median {
        value: f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2]),
        low: sorted[rank],
        high: sorted[count - 1 - rank],
    }
}

/// Formats a number with this many decimals, or a dash for `None`.
pub fn or_dash(number: Option<f64>, decimals: usize) -> String {
    number.map_or_else(|| "-".to_owned(), |number| format!("{number:.decimals$}"))
}

/// Two of `count` sorted values enclose the true median: those at the same rank from below and from
/// above, counted from 0. Returns the highest rank for which the probability is at least 95 %. For
/// fewer than 6 values, no rank reaches 95 %, and the result is 0.
fn enclosing_rank(count: usize) -> usize {
    let mut exactly = 0.5_f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let mut at_most = exactly;
    let mut rank = 0;
    loop {
        exactly *= (count - rank) as f64 / (rank + 1) as f64;
        at_most += exactly;
        if at_most > 0.025 {
            return rank;
        }
        rank += 1;
    }
}

/// The sum of all first values divided by the sum of all second values, with the 95 % interval of
/// the jackknife over pairs. Useful if the values are too coarse for the ratio of a single pair.
/// `None` for fewer than two pairs, or if the second sum is 0.
pub fn ratio_of_sums(pairs: &[(f64, f64)]) -> Option<Median> {
    /// The 97.5th percentile of the normal distribution.
    const DEVIATIONS: f64 = 1.96;
    let count = pairs.len() as f64;
    let (above, below) = pairs
        .iter()
        .fold((0.0, 0.0), |(above, below), (one, other)| {
            (above + one, below + other)
        });
    if pairs.len() < 2 || below <= 0.0 {
        return None;
    }
    let value = above / below;
    let without = |&(one, other): &(f64, f64)| (above - one) / (below - other);
    let mean = pairs.iter().map(without).sum::<f64>() / count;
    let squares: f64 = pairs
        .iter()
        .map(|pair| (without(pair) - mean).powi(2))
        .sum();
    let reach = DEVIATIONS * (squares * (count - 1.0) / count).sqrt();
    Some(Median {
        value,
        low: value - reach,
        high: value + reach,
    })
}

/// The exact 95 % interval of a probability, for `count` occurrences in `all` cases (Clopper and
/// Pearson, Biometrika 26 (1934), 404-413).
pub fn clopper_pearson(count: usize, all: usize) -> (f64, f64) {
    // A higher probability of one occurrence results in a lower probability of at most `count`
    // occurrences. Therefore, bisection finds the bounds.
    let find = |count: usize, at_most: f64| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if binomial_at_most(count, all, middle) > at_most {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    };
    let low = count.checked_sub(1).map_or(0.0, |fewer| find(fewer, 0.975));
    let high = if count >= all {
        1.0
    } else {
        find(count, 0.025)
    };
    (low, high)
}

/// The probability of at most `count` occurrences in `all` cases, each with the probability
/// `share`.
fn binomial_at_most(count: usize, all: usize, share: f64) -> f64 {
    // Uses logarithms, because the first terms of large counts are too small for an `f64`.
    let mut exactly_ln = all as f64 * (-share).ln_1p();
    let mut at_most = exactly_ln.exp();
    let odds_ln = share.ln() - (-share).ln_1p();
    for so in 0..count {
        exactly_ln += ((all - so) as f64 / (so + 1) as f64).ln() + odds_ln;
        at_most += exactly_ln.exp();
    }
    at_most
}

/// Takes `count` pairs of samples in alternating order, after one pair that is not counted.
///
/// # Errors
/// Returns the first error of a sample.
pub fn interleaved<A>(
    count: usize,
    one: impl Fn() -> Result<A>,
    other: impl Fn() -> Result<A>,
) -> Result<Vec<[A; 2]>> {
    let mut pairs = Vec::new();
    for number in 0..=count {
        let pair = in_turn(number % 2 == 0, &one, &other)?;
        if number > 0 {
            pairs.push(pair);
        }
    }
    Ok(pairs)
}

/// Takes a sample with `one` and a sample with `other`, in the order that `is_one_first`
/// determines. The first element of the result is always the sample of `one`.
///
/// # Errors
/// Returns the first error of a sample.
pub fn in_turn<A>(
    is_one_first: bool,
    one: impl FnOnce() -> Result<A>,
    other: impl FnOnce() -> Result<A>,
) -> Result<[A; 2]> {
    if is_one_first {
        return Ok([one()?, other()?]);
    }
    let other = other()?;
    Ok([one()?, other])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_nine_values_has_second_and_eighth_value_as_interval() {
        let values = (1..=9).map(f64::from);
        assert_eq!(
            median(values),
            Median {
                value: 5.0,
                low: 2.0,
                high: 8.0
            }
        );
    }

    #[test]
    fn median_of_few_values_has_least_and_greatest_value_as_interval() {
        assert_eq!(
            median([3.0, 1.0, 2.0]),
            Median {
                value: 2.0,
                low: 1.0,
                high: 3.0
            }
        );
        assert_eq!(median([]), Median::default());
    }

    #[test]
    fn interval_of_ratio_of_totals_widens_with_the_spread_of_pairs() {
        let even = ratio_of_sums(&[(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)]).unwrap();
        assert!(
            (even.value - 0.5).abs() < 1e-12 && even.high - even.low < 1e-12,
            "{even:?}"
        );
        let spread = ratio_of_sums(&[(0.0, 1.0), (2.0, 1.0), (1.0, 2.0)]).unwrap();
        assert!((spread.value - 0.75).abs() < 1e-12, "{spread:?}");
        assert!(spread.low < 0.2 && spread.high > 1.3, "{spread:?}");
        assert_eq!(ratio_of_sums(&[(1.0, 1.0)]), None);
        assert_eq!(ratio_of_sums(&[(1.0, 0.0), (1.0, 0.0)]), None);
    }

    #[test]
    fn intervals_of_shares_match_binom_test_of_r() {
        // From R: binom.test(x, n)$conf.int. The values for large counts were computed with 60
        // digits.
        for (count, all, low, high) in [
            (0, 40, 0.0, 0.088_097),
            (2, 40, 0.006_114, 0.169_197),
            (5, 10, 0.187_086, 0.812_914),
            (10, 10, 0.691_503, 1.0),
            (931, 1_000, 0.913_485, 0.945_921),
            (20, 2_000, 0.006_119, 0.015_402),
            (1_970, 2_000, 0.978_655, 0.989_857),
        ] {
            let found = clopper_pearson(count, all);
            assert!(
                (found.0 - low).abs() < 1e-5 && (found.1 - high).abs() < 1e-5,
                "{count} of {all}: {found:?}"
            );
        }
    }
}
