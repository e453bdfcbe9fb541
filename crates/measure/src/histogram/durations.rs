//! What all histograms are, however the counts of their buckets are kept.

use std::ops::Range;

use super::layout::middle;
use super::summary::LatencySummary;

/// A histogram, whatever keeps its counts. Merges associatively and commutatively.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Durations<B> {
    pub(super) buckets: B,
    pub(super) overflow: u64,
    pub(super) sum_ns: u128,
    pub(super) min_ns: u64,
    pub(super) max_ns: u64,
}

/// How the counts of buckets are kept.
pub trait Buckets: Clone + Default {
    /// The same in JSON.
    type Written;

    /// The buckets that have something, in ascending order: index and count.
    fn used(&self) -> impl Iterator<Item = (usize, u64)>;

    /// The sum of all counts.
    fn sum(&self) -> u64;

    /// Adds all counts of another.
    fn merge(&mut self, other: &Self);

    /// The buckets as they are written.
    fn write(&self) -> Self::Written;

    /// The buckets that were written, all of which lie within `range`.
    ///
    /// # Errors
    /// What cannot be.
    fn read(written: Self::Written, range: &Range<usize>) -> Result<Self, String>;
}

impl<B: Buckets> Default for Durations<B> {
    fn default() -> Self {
        Self::from_buckets(B::default())
    }
}

impl<B> Durations<B> {
    /// Of buckets that have nothing yet.
    pub(super) fn from_buckets(buckets: B) -> Self {
        Self {
            buckets,
            overflow: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }

    /// The same durations in other buckets.
    pub(super) fn in_buckets<C>(&self, buckets: C) -> Durations<C> {
        Durations {
            buckets,
            overflow: self.overflow,
            sum_ns: self.sum_ns,
            min_ns: self.min_ns,
            max_ns: self.max_ns,
        }
    }

    /// Adds all of another but what is in its buckets.
    pub(super) fn merge_totals<C>(&mut self, other: &Durations<C>) {
        self.overflow += other.overflow;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// How many of the durations were past the range.
    pub fn overflow(&self) -> u64 {
        self.overflow
    }

    /// The least duration, exactly; none of none.
    pub fn min_ns(&self) -> Option<u64> {
        (self.min_ns <= self.max_ns).then_some(self.min_ns)
    }

    /// The greatest duration, exactly; none of none.
    pub fn max_ns(&self) -> Option<u64> {
        (self.min_ns <= self.max_ns).then_some(self.max_ns)
    }

    /// All durations added up, exactly, in nanoseconds.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }
}

impl<B: Buckets> Durations<B> {
    /// Takes all of another histogram in.
    pub fn merge(&mut self, other: &Self) {
        self.buckets.merge(&other.buckets);
        self.merge_totals(other);
    }

    /// How many durations were counted, overflow included.
    pub fn count(&self) -> u64 {
        self.buckets.sum() + self.overflow
    }

    /// The arithmetic mean, from the exact sum; none of none.
    pub fn mean_ns(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum_ns as f64 / count as f64)
    }

    /// The durations as they are kept, in ascending order: the middle of each bucket that has some,
    /// in nanoseconds, and how many; those past the range are missing.
    pub fn durations(&self) -> impl Iterator<Item = (u64, u64)> {
        self.buckets
            .used()
            .map(|(index, count)| (middle(index), count))
    }

    /// The duration that `percent` of all do not exceed: the nearest rank, within the error bound;
    /// none of none.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let rank = ((percent / 100.0 * count as f64).ceil() as u64).clamp(1, count);
        let mut below = 0;
        for (ns, in_bucket) in self.durations() {
            below += in_bucket;
            if below >= rank {
                return Some(ns.clamp(self.min_ns, self.max_ns));
            }
        }
        Some(self.max_ns)
    }

    /// What reports show.
    pub fn summary(&self) -> LatencySummary {
        LatencySummary::new(self.count(), self.mean_ns(), self.max_ns(), |percent| {
            self.percentile(percent)
        })
    }
}

/// Two ascending sequences of buckets as one.
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
