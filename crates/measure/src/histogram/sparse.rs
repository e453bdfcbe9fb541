//! Converts histograms to the compact representation, and reduces their resolution.

use std::collections::BTreeMap;

use super::dense::Histogram;
use super::durations::Buckets;
use super::layout::{PRECISION_BITS, range};
use super::packed::{Packer, SparseHistogram};

impl Histogram {
    /// Moves all durations into a compact histogram. `self` is then empty and can be reused. The
    /// function reads only the buckets from the minimum to the maximum, and allocates only the
    /// result.
    pub fn take_sparse(&mut self) -> SparseHistogram {
        self.buckets.make_room();
        let used = range(self.min_ns, self.max_ns);
        let mut packer = Packer::default();
        for (index, count) in used.clone().zip(&mut self.buckets.counts[used]) {
            if *count > 0 {
                packer.push(index, std::mem::take(count));
            }
        }
        let taken = self.in_buckets(packer.finish());
        (self.overflow, self.sum_ns, self.min_ns, self.max_ns) = (0, 0, u64::MAX, 0);
        taken
    }
}

impl SparseHistogram {
    /// Returns a histogram with coarser buckets: 2^`bits` for each power of two. A coarse bucket
    /// combines several buckets of `self`; the middle one of them stores the total count. Buckets
    /// below 128 ns are unchanged. Count, sum, minimum and maximum remain exact. The relative error
    /// of a percentile is at most 1 / 2^(bits + 1) plus half the width of an original bucket.
    pub fn coarse(&self, bits: u32) -> Self {
        let shift = PRECISION_BITS.saturating_sub(bits);
        if shift == 0 || self.count() == 0 {
            return self.clone();
        }
        let used = range(self.min_ns, self.max_ns);
        let last = used.end.saturating_sub(1);
        let one = |index: usize| match index >> PRECISION_BITS {
            0 => index,
            // The bucket must be in the range from the minimum to the maximum, because parsers
            // reject a histogram with buckets outside of this range.
            _ => ((index >> shift << shift) + (1 << (shift - 1))).clamp(used.start, last),
        };
        let mut packer = Packer::default();
        let mut sum: Option<(usize, u64)> = None;
        for (index, count) in self.buckets.used() {
            sum = match sum {
                Some((at, before)) if at == one(index) => Some((at, before + count)),
                before => {
                    packer.extend(before);
                    Some((one(index), count))
                }
            };
        }
        packer.extend(sum);
        self.in_buckets(packer.finish())
    }

    pub fn add_to(&self, histogram: &mut Histogram) {
        histogram.buckets.make_room();
        for (index, count) in self.buckets.used() {
            histogram.buckets.counts[index] += count;
        }
        histogram.merge_totals(self);
    }

    /// Checks that `self` may be the result of [`coarse`](Self::coarse) for `fine` and `bits`: both
    /// histograms have the same totals, and the same number of durations in each coarse bucket.
    ///
    /// # Errors
    /// Returns a description of the difference.
    pub fn is_coarse_of(&self, fine: &Histogram, bits: u32) -> Result<(), String> {
        let facts = [
            ("count", self.count().into(), fine.count().into()),
            ("sum", self.sum_ns, fine.sum_ns),
            ("least", self.min_ns.into(), fine.min_ns.into()),
            ("greatest", self.max_ns.into(), fine.max_ns.into()),
        ];
        for (what, own, others) in facts {
            if own != others {
                return Err(format!("the {what} is {own}, and not {others}"));
            }
        }
        let own = by_group(self.durations(), bits);
        let others = by_group(fine.durations(), bits);
        let differs = own
            .keys()
            .chain(others.keys())
            .find(|group| own.get(group) != others.get(group));
        let Some(group) = differs else {
            return Ok(());
        };
        let of = |groups: &BTreeMap<u64, u64>| groups.get(group).copied().unwrap_or(0);
        Err(format!(
            "{} durations from {group} ns on, and not {}",
            of(&own),
            of(&others)
        ))
    }
}

/// Returns the number of durations in each coarse bucket, with 2^`bits` buckets for each power of
/// two. The keys are the lower bounds of the buckets in nanoseconds.
fn by_group(durations: impl Iterator<Item = (u64, u64)>, bits: u32) -> BTreeMap<u64, u64> {
    let mut groups = BTreeMap::new();
    for (ns, count) in durations {
        // Below 2^PRECISION_BITS, each nanosecond is a separate bucket, which `coarse` does not
        // change.
        let octave = match ns >> PRECISION_BITS {
            0 => bits,
            _ => ns.ilog2(),
        };
        let shift = octave.saturating_sub(bits);
        *groups.entry(ns >> shift << shift).or_insert(0) += count;
    }
    groups
}
