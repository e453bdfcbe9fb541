//! The code that dense and compact histograms share.

use std::ops::Range;

use super::layout::middle;
use super::summary::LatencySummary;

/// A histogram of durations. Merging is associative and commutative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Durations<B> {
    pub(super) buckets: B,
    pub(super) overflow: u64,
    pub(super) sum_ns: u128,
    pub(super) min_ns: u64,
    pub(super) max_ns: u64,
}

/// A representation of the counts of buckets.
pub trait Buckets: Clone + Default {
    /// The type of the buckets in JSON.
    type Written;

    /// Returns the buckets that are not empty, in ascending order: index and count.
    fn used(&self) -> impl Iterator<Item = (usize, u64)>;

    fn sum(&self) -> u64;

    fn merge(&mut self, other: &Self);

    fn write(&self) -> Self::Written;

    /// Parses the JSON form of the buckets. The indices of all buckets must be within `range`.
    ///
    /// # Errors
    /// Returns a description of the invalid bucket or text.
    fn read(written: Self::Written, range: &Range<usize>) -> Result<Self, String>;
}

impl<B: Buckets> Default for Durations<B> {
    fn default() -> Self {
        Self::from_buckets(B::default())
    }
}

impl<B> Durations<B> {
    /// Creates an empty histogram. The given buckets must be empty.
    pub(super) fn from_buckets(buckets: B) -> Self {
        Self {
            buckets,
            overflow: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }

    /// Returns a histogram with the totals of `self` and the given buckets.
    pub(super) fn in_buckets<C>(&self, buckets: C) -> Durations<C> {
        Durations {
            buckets,
            overflow: self.overflow,
            sum_ns: self.sum_ns,
            min_ns: self.min_ns,
            max_ns: self.max_ns,
        }
    }

    pub(super) fn merge_totals<C>(&mut self, other: &Durations<C>) {
        self.overflow += other.overflow;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Returns the number of durations beyond the range.
    pub fn overflow(&self) -> u64 {
        self.overflow
    }

    /// Returns the exact minimum, or `None` for an empty histogram.
    pub fn min_ns(&self) -> Option<u64> {
        (self.min_ns <= self.max_ns).then_some(self.min_ns)
    }

    /// Returns the exact maximum, or `None` for an empty histogram.
    pub fn max_ns(&self) -> Option<u64> {
        (self.min_ns <= self.max_ns).then_some(self.max_ns)
    }

    /// Returns the exact sum of all durations in nanoseconds.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }
}

impl<B: Buckets> Durations<B> {
    pub fn merge(&mut self, other: &Self) {
        self.buckets.merge(&other.buckets);
        self.merge_totals(other);
    }

    /// Returns the number of durations, including those beyond the range of the buckets.
    pub fn count(&self) -> u64 {
        self.buckets.sum() + self.overflow
    }

    /// Returns the exact arithmetic mean, or `None` for an empty histogram.
    pub fn mean_ns(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum_ns as f64 / count as f64)
    }

    /// Returns the buckets that are not empty, in ascending order: the middle of the bucket in
    /// nanoseconds, and its count. Durations beyond the range are not included.
    pub fn durations(&self) -> impl Iterator<Item = (u64, u64)> {
        self.buckets
            .used()
            .map(|(index, count)| (middle(index), count))
    }

    /// Returns a percentile by the nearest-rank method. In ascending order, this is the duration
    /// whose rank is `percent` % of the count, rounded up. The relative error is at most the error
    /// bound of histograms. Returns `None` for an empty histogram.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        self.nearest(self.count(), self.durations(), percent)
    }

    /// Returns a percentile of `count` durations, whose buckets are given.
    fn nearest(
        &self,
        count: u64,
        durations: impl Iterator<Item = (u64, u64)>,
        percent: f64,
    ) -> Option<u64> {
        if count == 0 {
            return None;
        }
        let rank = ((percent / 100.0 * count as f64).ceil() as u64).clamp(1, count);
        let mut below = 0;
        for (ns, in_bucket) in durations {
            below += in_bucket;
            if below >= rank {
                return Some(ns.clamp(self.min_ns, self.max_ns));
            }
        }
        Some(self.max_ns)
    }

    /// Returns the statistics that reports show.
    pub fn summary(&self) -> LatencySummary {
        let count = self.count();
        // Most buckets are empty, and are passed once instead of once for each percentile.
        let used: Vec<(u64, u64)> = self.durations().collect();
        LatencySummary::new(count, self.mean_ns(), self.max_ns(), |percent| {
            self.nearest(count, used.iter().copied(), percent)
        })
    }
}

/// Merges two ascending sequences of buckets (index and count). Counts of the same bucket are
/// added.
pub(super) fn merged(
    one: impl Iterator<Item = (usize, u64)>,
    two: impl Iterator<Item = (usize, u64)>,
) -> impl Iterator<Item = (usize, u64)> {
    let (mut one, mut two) = (one.peekable(), two.peekable());
    std::iter::from_fn(move || match (one.peek().copied(), two.peek().copied()) {
        (Some((index, count)), Some((other, more))) if index == other => {
            one.next();
            two.next();
            Some((index, count + more))
        }
        (Some((index, _)), Some((other, _))) if other < index => two.next(),
        (Some(_), _) => one.next(),
        (None, _) => two.next(),
    })
}
