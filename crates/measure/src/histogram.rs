//! A histogram of durations with a fixed range and a fixed relative precision.
//!
//! Up to 256 ns every nanosecond has a bucket of its own; above, every power of two is divided into
//! 128 buckets of equal width (the layout of HDR histograms with 7 bits). So a value read back, the
//! middle of its bucket, is off by at most [`Histogram::ERROR_BOUND`] of itself. All histograms
//! share range and precision, so any two can be merged, in any order. Durations past the range are
//! counted apart; the greatest and the least are kept exactly.
//!
//! One that is made to be recorded in has room for all buckets at once: 35 kB, so that recording
//! allocates nothing. One that is read has those alone that something is in: whatever a record of
//! others holds, its histograms take memory in proportion to their text. It is given room for all
//! when somebody records in it.

use std::ops::Range;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) const PRECISION_BITS: u32 = 7;
pub(crate) const RANGE_BITS: u32 = 40;
pub(crate) const BUCKETS: usize = ((RANGE_BITS - PRECISION_BITS + 1) as usize) << PRECISION_BITS;

/// See the module's text.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// The count of each bucket; nothing at all of one that was read.
    pub(crate) counts: Vec<u64>,
    /// The buckets of one that was read: index and count, in ascending order, none of them empty.
    few: Vec<(u32, u64)>,
    pub(crate) overflow: u64,
    pub(crate) sum_ns: u128,
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
}

/// What reports show of durations, in nanoseconds. A percentile is given where at least ten
/// durations lie beyond it: with fewer, it is the luck of a few.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySummary {
    /// The arithmetic mean, exactly; nothing where nothing was measured.
    pub mean: Option<f64>,
    /// The median; nothing where fewer than ten durations lie beyond it.
    pub p50: Option<u64>,
    /// The 90th percentile; nothing where fewer than ten durations lie beyond it.
    pub p90: Option<u64>,
    /// The 95th percentile; nothing where fewer than ten durations lie beyond it.
    pub p95: Option<u64>,
    /// The 99th percentile; nothing where fewer than ten durations lie beyond it.
    pub p99: Option<u64>,
    /// The 99.9th percentile; nothing where fewer than ten durations lie beyond it.
    pub p99_9: Option<u64>,
    /// The 99.99th percentile; nothing where fewer than ten durations lie beyond it.
    pub p99_99: Option<u64>,
    /// The maximum, exactly; nothing where nothing was measured.
    pub max: Option<u64>,
}

/// So many durations lie beyond a percentile that is shown.
const BEYOND_MIN: f64 = 10.0;

impl LatencySummary {
    /// Of so many durations with this mean and this maximum.
    pub(crate) fn of(
        count: u64,
        mean: Option<f64>,
        max: Option<u64>,
        percentile: impl Fn(f64) -> Option<u64>,
    ) -> Self {
        // A tenth of a percent is no binary fraction: a millionth of a duration is let pass.
        let beyond = |percent| count as f64 * (100.0 - percent) / 100.0 + 1e-6;
        let shown = |percent| percentile(percent).filter(|_| beyond(percent) >= BEYOND_MIN);
        Self {
            mean,
            p50: shown(50.0),
            p90: shown(90.0),
            p95: shown(95.0),
            p99: shown(99.0),
            p99_9: shown(99.9),
            p99_99: shown(99.99),
            max,
        }
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS],
            ..Self::without_room()
        }
    }
}

/// Equal are those that hold the same, in however much room.
impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        let rest = |one: &Self| (one.overflow, one.sum_ns, one.min_ns, one.max_ns);
        rest(self) == rest(other) && self.buckets().eq(other.buckets())
    }
}

impl Eq for Histogram {}

impl Histogram {
    /// The greatest relative error of a value read back: half a bucket's width, 2^-8.
    pub const ERROR_BOUND: f64 = 1.0 / (1 << (PRECISION_BITS + 1)) as f64;
    /// Durations from this on are counted as overflow: 2^40 ns, 18.3 minutes.
    pub const RANGE_NS: u64 = 1 << RANGE_BITS;

    /// An empty one, as it is read.
    fn without_room() -> Self {
        Self {
            counts: Vec::new(),
            few: Vec::new(),
            overflow: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }

    /// Gives it room for all buckets, where it has none.
    pub(crate) fn make_room(&mut self) {
        if self.counts.is_empty() {
            self.counts = vec![0; BUCKETS];
            for (index, count) in std::mem::take(&mut self.few) {
                self.counts[index as usize] = count;
            }
        }
    }

    /// The buckets that have something, in ascending order.
    fn buckets(&self) -> impl Iterator<Item = (u32, u64)> {
        let all = (0_u32..).zip(self.counts.iter().copied());
        self.few
            .iter()
            .copied()
            .chain(all.filter(|(_, count)| *count > 0))
    }

    /// The durations as they are kept, in ascending order: the middle of each bucket that has some,
    /// in nanoseconds, and how many; those past the range are missing.
    pub fn durations(&self) -> impl Iterator<Item = (u64, u64)> {
        self.buckets()
            .map(|(index, count)| (middle(index as usize), count))
    }

    /// Counts a duration.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        match self.counts.get_mut(bucket(ns)) {
            Some(count) => *count += 1,
            None => self.record_seldom(ns),
        }
        self.sum_ns += u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// The count of a duration that is past the range, or the first one of a histogram that was
    /// read.
    #[cold]
    fn record_seldom(&mut self, ns: u64) {
        self.make_room();
        match self.counts.get_mut(bucket(ns)) {
            Some(count) => *count += 1,
            None => self.overflow += 1,
        }
    }

    /// Takes all of another histogram in. Two that were read become one of their kind, until room
    /// for all buckets is no more than twice what theirs take: from then on merging costs no
    /// more than the other one has.
    pub fn merge(&mut self, other: &Self) {
        let are_few = self.few.len() + other.few.len() <= BUCKETS / 4;
        if self.counts.is_empty() && other.counts.is_empty() && are_few {
            self.few = merged(&self.few, &other.few);
        } else {
            self.make_room();
            for (count, more) in self.counts.iter_mut().zip(&other.counts) {
                *count += more;
            }
            for (index, more) in &other.few {
                self.counts[*index as usize] += more;
            }
        }
        self.overflow += other.overflow;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// How many durations were counted, overflow included.
    pub fn count(&self) -> u64 {
        let few = self.few.iter().map(|(_, count)| count);
        self.counts.iter().chain(few).sum::<u64>() + self.overflow
    }

    /// How many of them were past the range.
    pub fn overflow(&self) -> u64 {
        self.overflow
    }

    /// The least duration, exactly; none of none.
    pub fn min_ns(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.min_ns)
    }

    /// The greatest duration, exactly; none of none.
    pub fn max_ns(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.max_ns)
    }

    /// The arithmetic mean, from the exact sum; none of none.
    pub fn mean_ns(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum_ns as f64 / count as f64)
    }

    /// The duration that `percent` of all do not exceed: the nearest rank, within the error bound;
    /// none of none.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        let buckets = self.buckets().map(|(index, count)| (index as usize, count));
        nearest_rank(buckets, self.count(), (self.min_ns, self.max_ns), percent)
    }

    /// What reports show.
    pub fn summary(&self) -> LatencySummary {
        LatencySummary::of(self.count(), self.mean_ns(), self.max_ns(), |percent| {
            self.percentile(percent)
        })
    }

    /// All durations added up, exactly, in nanoseconds.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// The `most` greatest durations as they are kept, the greatest first: each by the middle of
    /// its bucket, or [`RANGE_NS`](Self::RANGE_NS) past the range.
    pub fn greatest(&self, most: usize) -> Vec<u64> {
        let buckets: Vec<(u32, u64)> = self.buckets().collect();
        let kept = buckets
            .iter()
            .rev()
            .map(|(index, count)| (middle(*index as usize), *count));
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

    /// A duration as it is kept: the middle of its bucket, or [`RANGE_NS`](Self::RANGE_NS) past the
    /// range.
    pub fn kept(ns: u64) -> u64 {
        match bucket(ns) {
            index if index < BUCKETS => middle(index),
            _ => Self::RANGE_NS,
        }
    }

    /// Whether its buckets can have the least and the greatest duration and the sum that it has.
    ///
    /// # Errors
    /// What contradicts them.
    pub fn agrees_with_its_buckets(&self) -> Result<(), String> {
        let (Some(min_ns), Some(max_ns)) = (self.min_ns(), self.max_ns()) else {
            return Ok(());
        };
        let (mut low, mut high) = (0_u128, 0_u128);
        let mut ends: Option<(Range<u64>, Range<u64>)> = None;
        let past = (self.overflow > 0).then_some((Self::RANGE_NS..u64::MAX, self.overflow));
        let within = self
            .buckets()
            .map(|(index, count)| (bounds(index as usize), count));
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
        // One of them is the least, and one the greatest.
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

/// Two lists of buckets in one.
fn merged(one: &[(u32, u64)], two: &[(u32, u64)]) -> Vec<(u32, u64)> {
    let mut all = Vec::with_capacity(one.len() + two.len());
    let (mut one, mut two) = (
        one.iter().copied().peekable(),
        two.iter().copied().peekable(),
    );
    loop {
        let next = match (one.peek(), two.peek()) {
            (Some((index, count)), Some((other, more))) if index == other => {
                let both = (*index, count + more);
                two.next();
                one.next();
                Some(both)
            }
            (Some((index, _)), Some((other, _))) if other < index => two.next(),
            (Some(_), _) => one.next(),
            (None, _) => two.next(),
        };
        match next {
            Some(bucket) => all.push(bucket),
            None => return all,
        }
    }
}

/// The duration that `percent` of `count` do not exceed, of buckets in their order and the least
/// and the greatest duration; none of none.
pub(crate) fn nearest_rank(
    buckets: impl Iterator<Item = (usize, u64)>,
    count: u64,
    (min_ns, max_ns): (u64, u64),
    percent: f64,
) -> Option<u64> {
    if count == 0 {
        return None;
    }
    let rank = ((percent / 100.0 * count as f64).ceil() as u64).clamp(1, count);
    let mut below = 0;
    for (index, in_bucket) in buckets {
        below += in_bucket;
        if below >= rank {
            return Some(middle(index).clamp(min_ns, max_ns));
        }
    }
    Some(max_ns)
}

/// Whether durations can be so many with such a sum, and the least and the greatest these. What is
/// read may be anybody's: a sum beyond that of the greatest ones might not be added to others.
pub(crate) fn is_possible(
    count: u64,
    sum_ns: u128,
    min_ns: Option<u64>,
    max_ns: Option<u64>,
) -> Result<(), &'static str> {
    let (min_ns, max_ns) = match (count, min_ns, max_ns) {
        (0, None, None) => (0, 0),
        (1.., Some(min_ns), Some(max_ns)) => (min_ns, max_ns),
        _ => {
            return Err(
                "a histogram with a least and a greatest duration has some, one without has none",
            );
        }
    };
    let all = |ns: u64| u128::from(ns) * u128::from(count);
    if !(all(min_ns)..=all(max_ns)).contains(&sum_ns) {
        return Err(
            "the sum of a histogram's durations is not that of as many between the least and the \
             greatest",
        );
    }
    Ok(())
}

/// The buckets among which all used ones are, where these are the least and the greatest duration.
pub(crate) fn used(min_ns: u64, max_ns: u64) -> Range<usize> {
    if min_ns > max_ns {
        0..0
    } else {
        bucket(min_ns).min(BUCKETS)..(bucket(max_ns) + 1).min(BUCKETS)
    }
}

/// The bucket of a duration; past the last one for what is out of range.
#[inline]
fn bucket(ns: u64) -> usize {
    let shift = (63 - PRECISION_BITS).saturating_sub((ns | 1).leading_zeros());
    ((u64::from(shift) << PRECISION_BITS) + (ns >> shift)) as usize
}

/// The middle of a bucket.
pub(crate) fn middle(index: usize) -> u64 {
    let bounds = bounds(index);
    bounds.start + (bounds.end - bounds.start) / 2
}

/// The durations of a bucket.
fn bounds(index: usize) -> Range<u64> {
    let index = index as u64;
    let shift = (index >> PRECISION_BITS).saturating_sub(1);
    let low = (index - (shift << PRECISION_BITS)) << shift;
    low..low + (1 << shift)
}

/// A histogram of durations, as it is written. Up to 256 ns every nanosecond has a bucket of its
/// own; above, every power of two is divided into 128 buckets of equal width.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) struct WrittenHistogram {
    /// Every power of two has 2 to the power of this many buckets: the same in all histograms.
    #[schemars(extend("const" = PRECISION_BITS))]
    precision_bits: u32,
    /// Durations below 2 to the power of this, in nanoseconds, have a bucket: the same in all
    /// histograms.
    #[schemars(extend("const" = RANGE_BITS))]
    range_bits: u32,
    /// The buckets that have something, in ascending order: index and count.
    buckets: Vec<(u32, u64)>,
    /// Durations past the range, which no bucket has.
    overflow: u64,
    /// All durations added up, exactly, in nanoseconds.
    sum_ns: u128,
    /// The least, exactly, in nanoseconds; nothing where there is none.
    min_ns: Option<u64>,
    /// The greatest, exactly, in nanoseconds; nothing where there is none.
    max_ns: Option<u64>,
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WrittenHistogram {
            precision_bits: PRECISION_BITS,
            range_bits: RANGE_BITS,
            buckets: self.buckets().collect(),
            overflow: self.overflow,
            sum_ns: self.sum_ns,
            min_ns: self.min_ns(),
            max_ns: self.max_ns(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = WrittenHistogram::deserialize(deserializer)?;
        if (written.precision_bits, written.range_bits) != (PRECISION_BITS, RANGE_BITS) {
            return Err(D::Error::custom(format!(
                "a histogram of {} bits of precision over {} bits of range, where this schema has \
                 {PRECISION_BITS} over {RANGE_BITS}",
                written.precision_bits, written.range_bits
            )));
        }
        let mut few = written.buckets;
        few.shrink_to_fit();
        let histogram = Self {
            overflow: written.overflow,
            sum_ns: written.sum_ns,
            min_ns: written.min_ns.unwrap_or(u64::MAX),
            max_ns: written.max_ns.unwrap_or(0),
            few,
            ..Self::without_room()
        };
        let used = used(histogram.min_ns, histogram.max_ns);
        let mut count = histogram.overflow;
        let mut next = 0;
        for (index, in_bucket) in histogram.few.iter().copied() {
            if index as usize >= BUCKETS {
                return Err(D::Error::custom(format!(
                    "there is no bucket {index}: the last is {}",
                    BUCKETS - 1
                )));
            }
            if !used.contains(&(index as usize)) {
                return Err(D::Error::custom(format!(
                    "bucket {index} lies outside of the least and the greatest duration"
                )));
            }
            if index < next || in_bucket == 0 {
                return Err(D::Error::custom(format!(
                    "bucket {index}: buckets are in their order, each once, and those that have \
                     something"
                )));
            }
            next = index + 1;
            count = count
                .checked_add(in_bucket)
                .ok_or_else(|| D::Error::custom("a histogram of more than 2^64 durations"))?;
        }
        is_possible(count, written.sum_ns, written.min_ns, written.max_ns)
            .map_err(D::Error::custom)?;
        Ok(histogram)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        values.iter().for_each(|value| histogram.record(*value));
        histogram
    }

    fn merged(a: &Histogram, b: &Histogram) -> Histogram {
        let mut sum = a.clone();
        sum.merge(b);
        sum
    }

    #[test]
    fn a_percentile_is_shown_where_ten_durations_lie_beyond_it() {
        for (count, p50, p99, p99_9) in [
            (0, false, false, false),
            (19, false, false, false),
            (20, true, false, false),
            (999, true, false, false),
            (1_000, true, true, false),
            (10_000, true, true, true),
        ] {
            let mut histogram = Histogram::default();
            (0..count).for_each(|ns| histogram.record(ns));
            let summary = histogram.summary();
            let shown = [summary.p50, summary.p99, summary.p99_9].map(|ns| ns.is_some());
            assert_eq!(shown, [p50, p99, p99_9], "{count}");
            assert_eq!(summary.max, histogram.max_ns());
        }
    }

    proptest! {
        #[test]
        fn a_value_comes_back_within_the_error_bound(ns in 0..Histogram::RANGE_NS) {
            let back = middle(bucket(ns));
            prop_assert!(back.abs_diff(ns) as f64 <= Histogram::ERROR_BOUND * ns as f64,
                "{ns} came back as {back}");
        }

        #[test]
        fn a_percentile_is_the_nearest_rank(mut values in prop::collection::vec(0_u64..1 << 30,
            1..300), percent in 0.1_f64..100.0) {
            let histogram = of(&values);
            values.sort_unstable();
            let rank = ((percent / 100.0 * values.len() as f64).ceil() as usize).clamp(1,
                values.len());
            let exact = values[rank - 1];
            let read = histogram.percentile(percent).unwrap();
            prop_assert!(read.abs_diff(exact) as f64 <= Histogram::ERROR_BOUND * exact as f64,
                "{exact} came back as {read}");
        }

        #[test]
        fn merging_is_commutative_associative_and_the_same_as_recording(
            a in prop::collection::vec(any::<u64>(), 0..50),
            b in prop::collection::vec(any::<u64>(), 0..50),
            c in prop::collection::vec(any::<u64>(), 0..50),
        ) {
            let all: Vec<u64> = [&a[..], &b, &c].concat();
            let (a, b, c) = (of(&a), of(&b), of(&c));
            prop_assert_eq!(merged(&a, &b), merged(&b, &a));
            prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
            prop_assert_eq!(merged(&merged(&a, &b), &c), of(&all));
        }

        #[test]
        fn what_is_written_is_read_again(values in prop::collection::vec(any::<u64>(), 0..100)) {
            let histogram = of(&values);
            prop_assert_eq!(read(&histogram), histogram);
        }

        /// In however much room a histogram is: what was read is merged, recorded in and asked as
        /// what was recorded.
        #[test]
        fn what_was_read_does_what_was_recorded_does(
            a in durations(), b in durations(), more in any::<u64>(), percent in 0.0_f64..=100.0,
        ) {
            let (one, two) = (of(&a), of(&b));
            let both = merged(&one, &two);
            for (one, two) in [(read(&one), two.clone()), (one.clone(), read(&two)), (read(&one),
                read(&two))] {
                let mut sum = merged(&one, &two);
                prop_assert_eq!(&sum, &both);
                prop_assert_eq!(sum.count(), both.count());
                prop_assert_eq!(sum.percentile(percent), both.percentile(percent));
                prop_assert_eq!(serde_json::to_string(&sum).unwrap(),
                    serde_json::to_string(&both).unwrap());
                let mut recorded = both.clone();
                recorded.record(more);
                sum.record(more);
                prop_assert_eq!(&sum, &recorded);
                prop_assert_eq!(sum.take_sparse(), recorded.take_sparse());
                let mut added = read(&one);
                two.clone().take_sparse().add_to(&mut added);
                prop_assert_eq!(&added, &both);
            }
        }
    }

    /// Of a text, as records are.
    fn read(histogram: &Histogram) -> Histogram {
        let json = serde_json::to_string(histogram).unwrap();
        serde_json::from_str(&json).unwrap()
    }

    fn durations() -> impl Strategy<Value = Vec<u64>> {
        let some = |many| {
            prop::collection::vec(prop_oneof![0_u64..300, any::<u64>(), 0_u64..1 << 24], many)
        };
        prop_oneof![some(0..40), some(700..1_200)]
    }

    #[test]
    fn what_was_read_takes_room_for_what_it_holds() {
        let two = read(&of(&[1, Histogram::RANGE_NS - 1]));
        assert_eq!((two.counts.capacity(), two.few.capacity()), (0, 2));
        let sum = merged(&two, &read(&of(&[7])));
        assert_eq!((sum.counts.capacity(), sum.few.capacity()), (0, 3));
        assert_eq!(read(&Histogram::default()).few.capacity(), 0);
    }

    #[test]
    fn buckets_are_contiguous_and_cover_the_range() {
        let mut last = 0;
        for power in 0..RANGE_BITS {
            for ns in [
                (1_u64 << power) - 1,
                1 << power,
                (1 << power) + (1 << power) / 2,
            ] {
                let index = bucket(ns);
                assert!(
                    index >= last && index < BUCKETS,
                    "{ns} is in bucket {index} behind {last}"
                );
                last = index;
            }
        }
        assert_eq!(bucket(Histogram::RANGE_NS - 1), BUCKETS - 1);
        assert_eq!(bucket(Histogram::RANGE_NS), BUCKETS);
    }

    #[test]
    fn what_overflows_is_counted_and_the_maximum_stays_exact() {
        let histogram = of(&[1, Histogram::RANGE_NS + 5]);
        assert_eq!((histogram.count(), histogram.overflow()), (2, 1));
        assert_eq!(histogram.max_ns(), Some(Histogram::RANGE_NS + 5));
        assert_eq!(histogram.percentile(100.0), Some(Histogram::RANGE_NS + 5));
    }

    #[test]
    fn a_histogram_of_another_precision_is_refused() {
        let json = serde_json::to_string(&of(&[5])).unwrap();
        let other = json.replace("\"precision_bits\":7", "\"precision_bits\":6");
        assert!(serde_json::from_str::<Histogram>(&other).is_err());
        for bucket in ["[99999,1]", "[4,1]", "[6,1]"] {
            let other = json.replace("[5,1]", bucket);
            assert!(
                serde_json::from_str::<Histogram>(&other).is_err(),
                "{bucket}"
            );
        }
    }

    #[test]
    fn a_histogram_that_nobody_can_have_recorded_is_refused() {
        let json = serde_json::to_string(&of(&[5, 7, 7])).unwrap();
        assert!(serde_json::from_str::<Histogram>(&json).is_ok());
        for (part, other, why) in [
            ("[7,2]", "[7,18446744073709551615]", "more than 2^64"),
            (
                "\"overflow\":0",
                "\"overflow\":18446744073709551613",
                "more than 2^64",
            ),
            ("[7,2]", "[7,0]", "bucket 7"),
            ("[5,1],[7,2]", "[7,2],[5,1]", "bucket 5"),
            ("[5,1],[7,2]", "[5,1],[5,2]", "bucket 5"),
            ("[5,1],[7,2]", "", "has none"),
            ("\"sum_ns\":19", "\"sum_ns\":14", "the sum"),
            ("\"sum_ns\":19", "\"sum_ns\":22", "the sum"),
            ("\"min_ns\":5", "\"min_ns\":null", "outside"),
            ("\"max_ns\":7", "\"max_ns\":4", "outside"),
        ] {
            let other = json.replace(part, other);
            assert_ne!(other, json, "{part}");
            let error = serde_json::from_str::<Histogram>(&other)
                .unwrap_err()
                .to_string();
            assert!(error.contains(why), "{other}: {error}");
        }
    }

    #[test]
    fn a_sum_past_64_bits_is_read_again() {
        let histogram = of(&[u64::MAX; 3]);
        let json = serde_json::to_string(&histogram).unwrap();
        assert_eq!(serde_json::from_str::<Histogram>(&json).unwrap(), histogram);
    }
}
