//! A distribution of numbers in bounded memory.

use std::collections::BTreeMap;

use serde::Serialize;

/// The number of different values up to which all values are exact.
const EXACT_MAX: usize = 4096;
/// Beyond [`EXACT_MAX`] values, each power of two is divided into 2^7 buckets of equal width, so
/// that a value differs from any other value of its bucket by less than 1 %.
const PRECISION_BITS: u32 = 7;
const BUCKETS: usize = ((64 - PRECISION_BITS + 1) as usize) << PRECISION_BITS;

/// A distribution of numbers, such as sizes in bytes or pauses in nanoseconds.
///
/// Up to 4,096 different values are counted exactly. With more, values are counted in buckets with
/// a relative width below 1 %. Count, sum, minimum and maximum are always exact.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(into = "Written")]
pub struct Distribution {
    counted: Counted,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

#[derive(Clone, Debug, PartialEq)]
enum Counted {
    Exact(BTreeMap<u64, u64>),
    Buckets(Vec<u64>),
}

/// A range of values, and how many values of a distribution are in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bucket {
    /// The smallest value of the bucket.
    pub low: u64,
    /// The largest value of the bucket.
    pub high: u64,
    /// How many values are in the bucket.
    pub count: u64,
}

/// The JSON form of a distribution.
#[derive(Serialize)]
struct Written {
    count: u64,
    mean: Option<f64>,
    min: Option<u64>,
    max: Option<u64>,
    buckets: Vec<Bucket>,
}

impl From<Distribution> for Written {
    fn from(distribution: Distribution) -> Self {
        Self {
            count: distribution.count,
            mean: distribution.mean(),
            min: distribution.min(),
            max: distribution.max(),
            buckets: distribution.buckets(),
        }
    }
}

impl Default for Distribution {
    fn default() -> Self {
        Self {
            counted: Counted::Exact(BTreeMap::new()),
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }
}

impl FromIterator<u64> for Distribution {
    fn from_iter<I: IntoIterator<Item = u64>>(values: I) -> Self {
        let mut distribution = Self::default();
        values.into_iter().for_each(|value| distribution.add(value));
        distribution
    }
}

impl Distribution {
    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        self.add_times(value, 1);
    }

    /// Counts a value several times.
    pub fn add_times(&mut self, value: u64, times: u64) {
        if times == 0 {
            return;
        }
        self.count = self.count.saturating_add(times);
        self.sum += u128::from(value) * u128::from(times);
        (self.min, self.max) = (self.min.min(value), self.max.max(value));
        match &mut self.counted {
            Counted::Exact(values) => {
                *values.entry(value).or_default() += times;
                if values.len() > EXACT_MAX {
                    self.counted = Counted::Buckets(bucketed(values));
                }
            }
            Counted::Buckets(counts) => counts[bucket(value)] += times,
        }
    }

    /// Returns how many values were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum of all values.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Returns the mean; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Returns the smallest value; `None` without values.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Returns the largest value; `None` without values.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Whether every value is exact.
    pub fn is_exact(&self) -> bool {
        matches!(self.counted, Counted::Exact(_))
    }

    /// Returns the value below or at which `share` (0 to 1) of the values are: exact, or the middle
    /// of a bucket. `None` without values.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let rank = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        let found = self.buckets().into_iter().find(|bucket| {
            below += bucket.count;
            below >= rank
        });
        found.map(|bucket| bucket.low + (bucket.high - bucket.low) / 2)
    }

    /// Returns how many values are above `value`. A bucket is above it if its lowest value is.
    pub fn above(&self, value: u64) -> u64 {
        let above = self
            .buckets()
            .into_iter()
            .filter(|bucket| bucket.low > value);
        above.map(|bucket| bucket.count).sum()
    }

    /// Returns the buckets that contain values, with the smallest values first. A bucket of an
    /// exact value has the same low and high bound. Bounds are within the minimum and the maximum.
    pub fn buckets(&self) -> Vec<Bucket> {
        match &self.counted {
            Counted::Exact(values) => values
                .iter()
                .map(|(value, count)| Bucket {
                    low: *value,
                    high: *value,
                    count: *count,
                })
                .collect(),
            Counted::Buckets(counts) => counts
                .iter()
                .enumerate()
                .filter(|(_, count)| **count > 0)
                .map(|(index, count)| Bucket {
                    low: lowest(index).max(self.min),
                    high: highest(index).min(self.max),
                    count: *count,
                })
                .collect(),
        }
    }

    /// Returns the Kolmogorov-Smirnov distance, from 0 to 1: the largest difference between the
    /// share of values up to a number and `model`, which returns this share for the model. `None`
    /// without values.
    pub fn distance(&self, model: impl Fn(u64) -> f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let (mut below, mut largest) = (0_u64, 0.0_f64);
        for bucket in self.buckets() {
            let before = below as f64 / self.count as f64;
            // No value is below 0, neither in the distribution nor in the model.
            let modelled = bucket.low.checked_sub(1).map_or(0.0, &model);
            largest = largest.max((before - modelled).abs());
            below += bucket.count;
            let until = below as f64 / self.count as f64;
            largest = largest.max((until - model(bucket.high)).abs());
        }
        Some(largest)
    }
}

fn bucketed(values: &BTreeMap<u64, u64>) -> Vec<u64> {
    let mut counts = vec![0; BUCKETS];
    for (value, times) in values {
        counts[bucket(*value)] += times;
    }
    counts
}

/// Returns the index of a value's bucket. Values below 2^8 have a bucket each.
fn bucket(value: u64) -> usize {
    let shift = (63 - PRECISION_BITS).saturating_sub((value | 1).leading_zeros());
    ((u64::from(shift) << PRECISION_BITS) + (value >> shift)) as usize
}

fn lowest(index: usize) -> u64 {
    let index = index as u64;
    let shift = (index >> PRECISION_BITS).saturating_sub(1);
    (index - (shift << PRECISION_BITS)) << shift
}

fn highest(index: usize) -> u64 {
    match index + 1 {
        BUCKETS => u64::MAX,
        next => lowest(next) - 1,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn buckets_cover_all_numbers_without_gaps() {
        assert_eq!(
            (lowest(0), bucket(0), bucket(u64::MAX)),
            (0, 0, BUCKETS - 1)
        );
        for index in 0..BUCKETS {
            assert_eq!(bucket(lowest(index)), index);
            assert_eq!(bucket(highest(index)), index);
        }
    }

    proptest! {
        #[test]
        fn quantiles_differ_by_less_than_one_percent(
            values in prop::collection::vec(0_u64..1 << 30, 5000..6000)) {
            let distribution: Distribution = values.iter().copied().collect();
            let mut sorted = values;
            sorted.sort_unstable();
            for share in [0.0, 0.01, 0.5, 0.9, 0.999, 1.0] {
                let rank = ((share * sorted.len() as f64).ceil() as usize).max(1) - 1;
                let exact = sorted[rank] as f64;
                let told = distribution.quantile(share).unwrap() as f64;
                prop_assert!((told - exact).abs() <= exact / 100.0, "{told} {exact}");
            }
            prop_assert_eq!(distribution.max(), sorted.last().copied());
        }
    }

    #[test]
    fn distance_is_zero_for_the_same_and_one_for_disjoint_distributions() {
        let few: Distribution = [1, 1, 5, 9].into_iter().collect();
        let cdf =
            |value: u64| [1, 1, 5, 9].iter().filter(|one| **one <= value).count() as f64 / 4.0;
        assert_eq!(few.distance(cdf), Some(0.0));
        assert_eq!(few.distance(|_| 0.0), Some(1.0));
        assert_eq!(few.distance(|value| f64::from(value >= 20)), Some(1.0));
        assert_eq!(few.distance(|value| f64::from(value >= 1)), Some(0.5));
        assert_eq!(Distribution::default().distance(|_| 0.0), None);
    }
}
