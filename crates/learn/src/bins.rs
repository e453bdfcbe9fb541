//! A histogram with few bins for a distribution of sizes.
//!
//! Sizes within a bin are equally likely. Buckets are therefore combined as long as every quantile
//! of the bin differs by at most [`ERROR_MAX`] from that of its buckets.

use workload::sizes::{Bin, Sizes};

use crate::distribution::{Bucket, Distribution};

/// The largest relative error of a quantile. Buckets themselves add up to 1 %.
const ERROR_MAX: f64 = 0.035;
/// A size that more than one of this number of files have is a bin of its own.
const FREQUENT: u64 = 200;

/// Returns the sizes of a distribution as a histogram. Sizes above `most` become that one. `None`
/// without values.
pub(crate) fn histogram(distribution: &Distribution, most: u64) -> Option<Sizes> {
    let limited = |bucket: Bucket| Bucket {
        low: bucket.low.min(most),
        high: bucket.high.min(most),
        ..bucket
    };
    let buckets: Vec<Bucket> = distribution.buckets().into_iter().map(limited).collect();
    let is_frequent = |bucket: &Bucket| {
        bucket.low == bucket.high && bucket.count.saturating_mul(FREQUENT) > distribution.count()
    };
    let mut bins: Vec<Bin> = Vec::new();
    let mut from = 0;
    while let Some(first) = buckets.get(from) {
        let mut until = from + 1;
        while buckets.get(until).is_some_and(|next| {
            let is_one_size = next.low == next.high && next.high == first.low;
            let is_rare = !is_frequent(first) && !is_frequent(next);
            is_one_size || is_rare && is_uniform(&buckets[from..=until])
        }) {
            until += 1;
        }
        bins.push(Bin {
            low: first.low,
            high: buckets[until - 1].high,
            weight: buckets[from..until].iter().map(|bucket| bucket.count).sum(),
        });
        from = until;
    }
    match bins.as_slice() {
        [] => None,
        [only] if only.low == only.high => Some(Sizes::Fixed(only.low)),
        [only] => Some(Sizes::Uniform {
            low: only.low,
            high: only.high,
        }),
        _ => Some(Sizes::Histogram(bins)),
    }
}

/// Whether quantiles are about those of one bin, at the begin and at the end of each bucket.
fn is_uniform(buckets: &[Bucket]) -> bool {
    let (Some(first), Some(last)) = (buckets.first(), buckets.last()) else {
        return true;
    };
    let all: u64 = buckets.iter().map(|bucket| bucket.count).sum();
    let width = (last.high - first.low) as f64;
    let is_near = |below: u64, value: u64| {
        let model = first.low as f64 + below as f64 / all as f64 * width;
        (model - value as f64).abs() <= (value as f64 * ERROR_MAX).max(0.5)
    };
    let mut below = 0;
    buckets.iter().all(|bucket| {
        let begins = is_near(below, bucket.low);
        below += bucket.count;
        begins && is_near(below, bucket.high)
    })
}

#[cfg(test)]
mod tests {
    use workload::sizes::SIZE_MAX_BYTES;

    use super::*;

    fn bins(sizes: impl IntoIterator<Item = u64>) -> String {
        let distribution: Distribution = sizes.into_iter().collect();
        histogram(&distribution, SIZE_MAX_BYTES)
            .unwrap()
            .to_string()
    }

    #[test]
    fn bins_are_as_wide_as_sizes_are_evenly_distributed() {
        assert_eq!(bins([7, 7, 7]), "7");
        assert_eq!(
            bins((1000..2000).chain([5000; 3])),
            "histogram:1000..1999=1000,5000=3"
        );
        let frequent = bins((1000..2000).chain([1500; 10]));
        assert_eq!(frequent, "histogram:1000..1499=500,1500=11,1501..1999=499");
        assert_eq!(bins([0, 1, 10]), "histogram:0=1,1=1,10=1");
        assert_eq!(bins([1 << 30, 1 << 40, 2 << 40]), "1GiB");
        assert_eq!(
            bins((0..100_000).map(|size| 1_000_000 + size)),
            "1000000..1099999"
        );
        assert_eq!(histogram(&Distribution::default(), 1), None);
    }
}
