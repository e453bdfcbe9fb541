//! The layout of buckets, which is the same for all histograms.

use std::ops::Range;

pub(super) const PRECISION_BITS: u32 = 7;
pub(super) const RANGE_BITS: u32 = 40;
pub(super) const BUCKETS: usize = ((RANGE_BITS - PRECISION_BITS + 1) as usize) << PRECISION_BITS;

pub(super) const TOO_MANY: &str = "a histogram of more than 2^64 durations";

/// Returns the index of a duration's bucket, or an index of at least [`BUCKETS`] for durations of
/// 2^[`RANGE_BITS`] ns and more.
#[inline]
pub(super) fn bucket(ns: u64) -> usize {
    let shift = (63 - PRECISION_BITS).saturating_sub((ns | 1).leading_zeros());
    ((u64::from(shift) << PRECISION_BITS) + (ns >> shift)) as usize
}

/// Returns the middle of a bucket in nanoseconds.
pub(super) fn middle(index: usize) -> u64 {
    let bounds = bounds(index);
    bounds.start + (bounds.end - bounds.start) / 2
}

/// Returns the range of durations that a bucket counts, in nanoseconds.
pub(super) fn bounds(index: usize) -> Range<u64> {
    let index = index as u64;
    let shift = (index >> PRECISION_BITS).saturating_sub(1);
    let low = (index - (shift << PRECISION_BITS)) << shift;
    low..low + (1 << shift)
}

/// Returns the range of bucket indices from the minimum's bucket to the maximum's bucket. An empty
/// histogram has `min_ns` above `max_ns`, and an empty range.
pub(super) fn range(min_ns: u64, max_ns: u64) -> Range<usize> {
    if min_ns > max_ns {
        0..0
    } else {
        bucket(min_ns).min(BUCKETS)..(bucket(max_ns) + 1).min(BUCKETS)
    }
}

/// Refuses a bucket that does not exist, or that is outside of the range from the minimum to the
/// maximum.
pub(super) fn check_place(index: usize, range: &Range<usize>) -> Result<(), String> {
    if index >= BUCKETS {
        return Err(format!(
            "there is no bucket {index}: the last is {}",
            BUCKETS - 1
        ));
    }
    if !range.contains(&index) {
        return Err(format!(
            "bucket {index} lies outside of the least and the greatest duration"
        ));
    }
    Ok(())
}
