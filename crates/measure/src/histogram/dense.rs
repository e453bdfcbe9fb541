//! Buckets that support recording.
//!
//! A histogram for recording allocates all its buckets (35 kB) in advance, so that recording itself
//! allocates no memory. A histogram that was read from a file contains only the buckets that are
//! not empty, until the first duration is recorded. So a small file from an unknown source cannot
//! cause a large allocation.

use std::ops::Range;

use super::durations::{Buckets, Durations, merged};
use super::layout::{
    BUCKETS, PRECISION_BITS, RANGE_BITS, TOO_MANY, bounds, bucket, check_place, middle,
};

/// The counts of all buckets, or of the buckets that are not empty.
#[derive(Clone, Debug)]
pub struct Dense {
    /// The count of each bucket; empty if the histogram was read from a file.
    pub(super) counts: Vec<u64>,
    /// For a histogram that was read from a file: index and count of each bucket that is not empty,
    /// in ascending order of indices.
    pub(super) few: Vec<(u32, u64)>,
}

impl Default for Dense {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS],
            few: Vec::new(),
        }
    }
}

/// Compares the counts of all buckets, whether `counts` or `few` contains them.
impl PartialEq for Dense {
    fn eq(&self, other: &Self) -> bool {
        self.used().eq(other.used())
    }
}

impl Eq for Dense {}

impl Dense {
    /// Allocates all buckets, unless they are allocated already.
    pub(super) fn make_room(&mut self) {
        if self.counts.is_empty() {
            self.counts = vec![0; BUCKETS];
            for (index, count) in std::mem::take(&mut self.few) {
                self.counts[index as usize] = count;
            }
        }
    }
}

impl Buckets for Dense {
    type Written = Vec<(u32, u64)>;

    fn used(&self) -> impl Iterator<Item = (usize, u64)> {
        let all = self.counts.iter().copied().enumerate();
        let few = self
            .few
            .iter()
            .map(|(index, count)| (*index as usize, *count));
        few.chain(all.filter(|(_, count)| *count > 0))
    }

    fn sum(&self) -> u64 {
        let few = self.few.iter().map(|(_, count)| count);
        self.counts.iter().chain(few).sum()
    }

    /// If both histograms were read from files and use at most a quarter of the buckets, the result
    /// also contains only the used buckets. Otherwise, all buckets are allocated, which makes later
    /// merges faster.
    fn merge(&mut self, other: &Self) {
        let are_few = self.few.len() + other.few.len() <= BUCKETS / 4;
        if self.counts.is_empty() && other.counts.is_empty() && are_few {
            let mut few = Vec::with_capacity(self.few.len() + other.few.len());
            few.extend(merged(self.used(), other.used()).map(|(at, count)| (at as u32, count)));
            self.few = few;
            return;
        }
        self.make_room();
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        for (index, more) in &other.few {
            self.counts[*index as usize] += more;
        }
    }

    fn write(&self) -> Vec<(u32, u64)> {
        let used = self.used();
        used.map(|(index, count)| (index as u32, count)).collect()
    }

    fn read(mut few: Vec<(u32, u64)>, range: &Range<usize>) -> Result<Self, String> {
        few.shrink_to_fit();
        let (mut next, mut sum) = (0, 0_u64);
        for (index, count) in few.iter().copied() {
            check_place(index as usize, range)?;
            if index < next || count == 0 {
                return Err(format!(
                    "bucket {index}: buckets are in their order, each once, and those that have \
                     something"
                ));
            }
            next = index + 1;
            sum = sum.checked_add(count).ok_or_else(|| TOO_MANY.to_owned())?;
        }
        Ok(Self {
            counts: Vec::new(),
            few,
        })
    }
}

/// A histogram that supports recording.
pub type Histogram = Durations<Dense>;

impl Histogram {
    /// The largest relative error of a duration: half the width of a bucket, 2^-8.
    pub const ERROR_BOUND: f64 = 1.0 / (1 << (PRECISION_BITS + 1)) as f64;
    /// Durations of at least 2^40 ns (18.3 minutes) are beyond the range, and are counted as
    /// overflow.
    pub const RANGE_NS: u64 = 1 << RANGE_BITS;

    #[inline]
    pub fn record(&mut self, ns: u64) {
        match self.buckets.counts.get_mut(bucket(ns)) {
            Some(count) => *count += 1,
            None => self.record_seldom(ns),
        }
        self.sum_ns += u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Counts a duration for which `counts` has no bucket. Either it is beyond the range of the
    /// buckets, or the histogram was read from a file and `counts` is not allocated yet.
    #[cold]
    fn record_seldom(&mut self, ns: u64) {
        self.buckets.make_room();
        match self.buckets.counts.get_mut(bucket(ns)) {
            Some(count) => *count += 1,
            None => self.overflow += 1,
        }
    }

    /// Returns the `most` longest durations, the longest first. Each duration is given as the
    /// middle of its bucket, or as [`RANGE_NS`](Self::RANGE_NS) if it is beyond the range.
    pub fn greatest(&self, most: usize) -> Vec<u64> {
        let durations: Vec<(u64, u64)> = self.durations().collect();
        let kept = durations.into_iter().rev();
        let all = std::iter::once((Self::RANGE_NS, self.overflow)).chain(kept);
        let mut greatest = Vec::new();
        for (ns, count) in all {
            let room = most - greatest.len();
            greatest.extend(std::iter::repeat_n(
                ns,
                room.min(usize::try_from(count).unwrap_or(room)),
            ));
        }
        greatest
    }

    /// Rounds a duration as all histograms do: to the middle of its bucket, or to
    /// [`RANGE_NS`](Self::RANGE_NS) if it is beyond the range.
    pub fn kept(ns: u64) -> u64 {
        match bucket(ns) {
            index if index < BUCKETS => middle(index),
            _ => Self::RANGE_NS,
        }
    }

    /// Checks that the minimum, the maximum and the sum are possible with the counts of the
    /// buckets.
    ///
    /// # Errors
    /// Returns a description of the contradiction.
    pub fn agrees_with_its_buckets(&self) -> Result<(), String> {
        let (Some(min_ns), Some(max_ns)) = (self.min_ns(), self.max_ns()) else {
            return Ok(());
        };
        let (mut low, mut high) = (0_u128, 0_u128);
        let mut ends: Option<(Range<u64>, Range<u64>)> = None;
        let past = (self.overflow > 0).then_some((Self::RANGE_NS..u64::MAX, self.overflow));
        let within = self
            .buckets
            .used()
            .map(|(index, count)| (bounds(index), count));
        for (bounds, count) in within.chain(past) {
            low += u128::from(bounds.start.max(min_ns)) * u128::from(count);
            high += u128::from((bounds.end - 1).min(max_ns)) * u128::from(count);
            let first = ends
                .take()
                .map_or_else(|| bounds.clone(), |(first, _)| first);
            ends = Some((first, bounds));
        }
        let Some((first, last)) = ends else {
            return Ok(());
        };
        if !first.contains(&min_ns) {
            return Err(format!(
                "the least is {min_ns} ns, and the first bucket begins at {} ns",
                first.start
            ));
        }
        if !last.contains(&max_ns) {
            return Err(format!(
                "the greatest is {max_ns} ns, and the last bucket begins at {} ns",
                last.start
            ));
        }
        // One of the durations is the minimum, and one is the maximum, which narrows the range of
        // possible sums.
        low += u128::from(max_ns - last.start.max(min_ns));
        high -= u128::from((first.end - 1).min(max_ns) - min_ns);
        if !(low..=high).contains(&self.sum_ns) {
            return Err(format!(
                "the sum is {} ns, and the buckets have {low} to {high} ns",
                self.sum_ns
            ));
        }
        Ok(())
    }
}
