//! What a histogram holds moves into little room, and from there into coarser buckets.

use std::collections::BTreeMap;

use super::dense::Histogram;
use super::durations::Buckets;
use super::layout::{PRECISION_BITS, range};
use super::packed::{Packer, SparseHistogram};

impl Histogram {
    /// Takes everything out, so that it is empty and can be used again. Touches only the buckets
    /// between the least and the greatest duration, and allocates for the result alone.
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
    /// The same in coarser buckets, 2 to the power of `bits` to a power of two: each count goes to
    /// the bucket in the middle of those that become one. Below 128 ns buckets stay as they
    /// are. Count, sum, least and greatest stay exact; a percentile is off by 1 / 2^(bits + 1)
    /// of itself and half a bucket at most.
    pub fn coarse(&self, bits: u32) -> Self {
        let shift = PRECISION_BITS.saturating_sub(bits);
        if shift == 0 || self.count() == 0 {
            return self.clone();
        }
        let used = range(self.min_ns, self.max_ns);
        let last = used.end.saturating_sub(1);
        let one = |index: usize| match index >> PRECISION_BITS {
            0 => index,
            // No bucket beyond the least and the greatest duration.
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

    /// Adds all of it to a histogram.
    pub fn add_to(&self, histogram: &mut Histogram) {
        histogram.buckets.make_room();
        for (index, count) in self.buckets.used() {
            histogram.buckets.counts[index] += count;
        }
        histogram.merge_totals(self);
    }

    /// Whether it holds the same durations as a finer one, as far as its coarse buckets
    /// ([`coarse`](Self::coarse)) tell.
    ///
    /// # Errors
    /// What differs.
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

/// How many durations there are by where their coarse bucket begins.
fn by_group(durations: impl Iterator<Item = (u64, u64)>, bits: u32) -> BTreeMap<u64, u64> {
    let mut groups = BTreeMap::new();
    for (ns, count) in durations {
        // Below that every duration has a bucket of its own, which stays.
        let octave = match ns >> PRECISION_BITS {
            0 => bits,
            _ => ns.ilog2(),
        };
        let shift = octave.saturating_sub(bits);
        *groups.entry(ns >> shift << shift).or_insert(0) += count;
    }
    groups
}
