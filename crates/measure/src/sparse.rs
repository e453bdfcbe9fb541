//! What a [`Histogram`] holds, in little room: its buckets that are not empty. Buckets, range and
//! precision are the same, and so is every number that is read from it; nothing can be recorded in
//! it, only merged.
//!
//! It is kept, in memory and in JSON, as a text of numbers. First comes the index of the first used
//! bucket, then the counts of the buckets from there on; a count of 0 is followed by one less than
//! the number of empty buckets that it stands for. A number is written in digits of 5 bits, the
//! least first, each a character of base 64 (RFC 4648, table 1) that has 32 added where more digits
//! follow: the variable-length quantities of source maps (ECMA-426), without their sign.
//! A bucket takes one or two characters so, where a pair of index and count would take ten.

use std::collections::BTreeMap;
use std::slice;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::histogram::{
    BUCKETS, Histogram, LatencySummary, PRECISION_BITS, RANGE_BITS, is_possible, middle,
    nearest_rank, used,
};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const DIGIT_BITS: u32 = 5;
/// Added to a digit that is not the last.
const MORE: u8 = 1 << DIGIT_BITS;
/// Of a character that is no digit.
const NO_DIGIT: u8 = u8::MAX;
const VALUES: [u8; 256] = {
    let mut values = [NO_DIGIT; 256];
    let mut digit = 0;
    while digit < DIGITS.len() {
        values[DIGITS[digit] as usize] = digit as u8;
        digit += 1;
    }
    values
};

/// See the module's text. Merges associatively and commutatively.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SparseHistogram {
    packed: Vec<u8>,
    in_buckets: u64,
    overflow: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Default for SparseHistogram {
    fn default() -> Self {
        Self {
            packed: Vec::new(),
            in_buckets: 0,
            overflow: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }
}

impl Histogram {
    /// Takes everything out, so that it is empty and can be used again. Touches only the buckets
    /// between the least and the greatest duration, and allocates for the result alone.
    pub fn take_sparse(&mut self) -> SparseHistogram {
        self.make_room();
        let used = used(self.min_ns, self.max_ns);
        let mut packer = Packer::default();
        for (index, count) in used.clone().zip(&mut self.counts[used]) {
            if *count > 0 {
                packer.push(index, std::mem::take(count));
            }
        }
        let (packed, in_buckets) = packer.finish();
        SparseHistogram {
            packed,
            in_buckets,
            overflow: std::mem::take(&mut self.overflow),
            sum_ns: std::mem::take(&mut self.sum_ns),
            min_ns: std::mem::replace(&mut self.min_ns, u64::MAX),
            max_ns: std::mem::take(&mut self.max_ns),
        }
    }
}

impl SparseHistogram {
    /// Takes all of another one in.
    pub fn merge(&mut self, other: &Self) {
        if other.count() == 0 {
            return;
        }
        if self.count() == 0 {
            self.clone_from(other);
            return;
        }
        let mut packer = Packer {
            packed: Vec::with_capacity(self.packed.len() + other.packed.len()),
            ..Packer::default()
        };
        let (mut mine, mut theirs) = (self.buckets(), other.buckets());
        let (mut one, mut two) = (mine.next(), theirs.next());
        while let Some((index, count)) = first(one, two) {
            packer.push(index, count);
            if one.is_some_and(|bucket| bucket.0 == index) {
                one = mine.next();
            }
            if two.is_some_and(|bucket| bucket.0 == index) {
                two = theirs.next();
            }
        }
        (self.packed, self.in_buckets) = packer.finish();
        self.overflow += other.overflow;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// The same in coarser buckets, 2 to the power of `bits` to a power of two: each count goes to
    /// the bucket in the middle of those that become one. Below 128 ns buckets stay as they
    /// are. Count, sum, least and greatest stay exact; a percentile is off by 1 / 2^(bits + 1)
    /// of itself and half a bucket at most.
    pub fn coarse(&self, bits: u32) -> Self {
        let shift = PRECISION_BITS.saturating_sub(bits);
        if shift == 0 || self.count() == 0 {
            return self.clone();
        }
        let used = used(self.min_ns, self.max_ns);
        let last = used.end.saturating_sub(1);
        let one = |index: usize| match index >> PRECISION_BITS {
            0 => index,
            // No bucket beyond the least and the greatest duration.
            _ => ((index >> shift << shift) + (1 << (shift - 1))).clamp(used.start, last),
        };
        let mut packer = Packer::default();
        let mut sum: Option<(usize, u64)> = None;
        for (index, count) in self.buckets() {
            sum = match sum {
                Some((at, before)) if at == one(index) => Some((at, before + count)),
                before => {
                    before
                        .into_iter()
                        .for_each(|(at, count)| packer.push(at, count));
                    Some((one(index), count))
                }
            };
        }
        sum.into_iter()
            .for_each(|(at, count)| packer.push(at, count));
        let (packed, in_buckets) = packer.finish();
        Self {
            packed,
            in_buckets,
            ..self.clone()
        }
    }

    /// Adds all of it to a histogram.
    pub fn add_to(&self, histogram: &mut Histogram) {
        histogram.make_room();
        for (index, count) in self.buckets() {
            histogram.counts[index] += count;
        }
        histogram.overflow += self.overflow;
        histogram.sum_ns += self.sum_ns;
        histogram.min_ns = histogram.min_ns.min(self.min_ns);
        histogram.max_ns = histogram.max_ns.max(self.max_ns);
    }

    /// How many durations were counted, overflow included.
    pub fn count(&self) -> u64 {
        self.in_buckets + self.overflow
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

    /// As [`Histogram::percentile`] gives it.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        nearest_rank(
            self.buckets(),
            self.count(),
            (self.min_ns, self.max_ns),
            percent,
        )
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
        match differs {
            Some(group) => {
                let of = |groups: &BTreeMap<u64, u64>| groups.get(group).copied().unwrap_or(0);
                Err(format!(
                    "{} durations from {group} ns on, and not {}",
                    of(&own),
                    of(&others)
                ))
            }
            None => Ok(()),
        }
    }

    /// How many bytes its buckets take, in memory as in JSON.
    pub fn packed_bytes(&self) -> usize {
        self.packed.len()
    }

    /// As [`Histogram::durations`] gives them.
    pub fn durations(&self) -> impl Iterator<Item = (u64, u64)> {
        self.buckets().map(|(index, count)| (middle(index), count))
    }

    fn buckets(&self) -> Buckets<'_> {
        Buckets::of(&self.packed)
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

/// Buckets as the text that the module describes: index and count, in ascending order and none of
/// them empty; none of others.
pub fn packed(buckets: impl IntoIterator<Item = (usize, u64)>) -> Option<String> {
    let mut packer = Packer::default();
    for (index, count) in buckets {
        if count == 0 || index >= BUCKETS || packer.next.is_some_and(|next| index < next) {
            return None;
        }
        packer.sum = 0;
        packer.push(index, count);
    }
    String::from_utf8(packer.packed).ok()
}

/// The buckets of such a text; none of one that [`packed`] does not make.
pub fn unpacked(text: &str) -> Option<Vec<(usize, u64)>> {
    if text
        .bytes()
        .any(|digit| VALUES[usize::from(digit)] == NO_DIGIT)
    {
        return None;
    }
    let buckets: Vec<(usize, u64)> = Buckets::of(text.as_bytes()).collect();
    (packed(buckets.iter().copied())? == text).then_some(buckets)
}

/// The first of two buckets, or both where they are one.
#[inline]
fn first(one: Option<(usize, u64)>, two: Option<(usize, u64)>) -> Option<(usize, u64)> {
    match (one, two) {
        (Some((index, count)), Some((other, more))) if index == other => {
            Some((index, count + more))
        }
        (Some(one), Some(two)) => Some(if one.0 < two.0 { one } else { two }),
        (only, None) | (None, only) => only,
    }
}

/// Writes buckets, which come in ascending order and none of them empty.
#[derive(Default)]
struct Packer {
    packed: Vec<u8>,
    /// Behind the last bucket; nothing before the first.
    next: Option<usize>,
    sum: u64,
}

impl Packer {
    fn push(&mut self, index: usize, count: u64) {
        match self.next {
            None => self.number(index as u64),
            Some(next) if next == index => {}
            Some(next) => {
                self.number(0);
                self.number((index - next - 1) as u64);
            }
        }
        self.number(count);
        self.next = Some(index + 1);
        self.sum += count;
    }

    fn number(&mut self, number: u64) {
        let mut rest = number;
        while rest >= u64::from(MORE) {
            self.packed
                .push(DIGITS[usize::from((rest as u8 & (MORE - 1)) | MORE)]);
            rest >>= DIGIT_BITS;
        }
        self.packed.push(DIGITS[rest as usize]);
    }

    /// The text, and the sum of all counts.
    fn finish(mut self) -> (Vec<u8>, u64) {
        self.packed.shrink_to_fit();
        (self.packed, self.sum)
    }
}

/// Reads buckets: index and count.
struct Buckets<'a> {
    digits: slice::Iter<'a, u8>,
    next: usize,
}

impl<'a> Buckets<'a> {
    fn of(packed: &'a [u8]) -> Self {
        let mut buckets = Self {
            digits: packed.iter(),
            next: 0,
        };
        buckets.next = buckets.number().unwrap_or(0) as usize;
        buckets
    }

    #[inline]
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        let mut shift = 0;
        loop {
            let digit = VALUES[usize::from(*self.digits.next()?)];
            number |= u64::from(digit & (MORE - 1)).checked_shl(shift)?;
            if digit & MORE == 0 {
                return Some(number);
            }
            shift += DIGIT_BITS;
        }
    }
}

impl Iterator for Buckets<'_> {
    type Item = (usize, u64);

    #[inline]
    fn next(&mut self) -> Option<(usize, u64)> {
        let mut count = self.number()?;
        if count == 0 {
            let empty = (self.number()? as usize).saturating_add(1);
            self.next = self.next.saturating_add(empty);
            count = self.number()?;
        }
        let index = self.next;
        self.next = index.saturating_add(1);
        Some((index, count))
    }
}

/// A histogram of durations in little room, as it is written: the buckets of the others, packed.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) struct WrittenSparse<T> {
    /// Every power of two has 2 to the power of this many buckets: the same in all histograms.
    #[schemars(extend("const" = PRECISION_BITS))]
    precision_bits: u32,
    /// Durations below 2 to the power of this, in nanoseconds, have a bucket: the same in all
    /// histograms.
    #[schemars(extend("const" = RANGE_BITS))]
    range_bits: u32,
    /// The index of the first used bucket, then counts from there on; a count of 0 is followed by
    /// one less than the number of empty buckets that it stands for. A number is written in
    /// digits of 5 bits, the least first, each a character of base 64 that has 32 added where
    /// more digits follow.
    #[schemars(extend("pattern" = "^[A-Za-z0-9+/]*$"))]
    packed: T,
    /// Durations past the range, which no bucket has.
    overflow: u64,
    /// All durations added up, exactly, in nanoseconds.
    sum_ns: u128,
    /// The least, exactly, in nanoseconds; nothing where there is none.
    min_ns: Option<u64>,
    /// The greatest, exactly, in nanoseconds; nothing where there is none.
    max_ns: Option<u64>,
}

impl Serialize for SparseHistogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WrittenSparse {
            precision_bits: PRECISION_BITS,
            range_bits: RANGE_BITS,
            packed: std::str::from_utf8(&self.packed).map_err(serde::ser::Error::custom)?,
            overflow: self.overflow,
            sum_ns: self.sum_ns,
            min_ns: self.min_ns(),
            max_ns: self.max_ns(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SparseHistogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = WrittenSparse::<String>::deserialize(deserializer)?;
        if (written.precision_bits, written.range_bits) != (PRECISION_BITS, RANGE_BITS) {
            return Err(D::Error::custom(format!(
                "a histogram of {} bits of precision over {} bits of range, where this schema has \
                 {PRECISION_BITS} over {RANGE_BITS}",
                written.precision_bits, written.range_bits
            )));
        }
        let (min_ns, max_ns) = (
            written.min_ns.unwrap_or(u64::MAX),
            written.max_ns.unwrap_or(0),
        );
        let in_buckets =
            checked(written.packed.as_bytes(), min_ns, max_ns).map_err(D::Error::custom)?;
        let Some(count) = in_buckets.checked_add(written.overflow) else {
            return Err(D::Error::custom("a histogram of more than 2^64 durations"));
        };
        is_possible(count, written.sum_ns, written.min_ns, written.max_ns)
            .map_err(D::Error::custom)?;
        Ok(Self {
            packed: written.packed.into_bytes(),
            in_buckets,
            overflow: written.overflow,
            sum_ns: written.sum_ns,
            min_ns,
            max_ns,
        })
    }
}

/// The sum of all counts of a text that is one of ours: what is read from it is written as it
/// stands there.
fn checked(packed: &[u8], min_ns: u64, max_ns: u64) -> Result<u64, String> {
    let used = used(min_ns, max_ns);
    let mut packer = Packer::default();
    if packed
        .iter()
        .all(|digit| VALUES[usize::from(*digit)] != NO_DIGIT)
    {
        for (index, count) in Buckets::of(packed) {
            if index >= BUCKETS {
                return Err(format!(
                    "there is no bucket {index}: the last is {}",
                    BUCKETS - 1
                ));
            }
            if !used.contains(&index) {
                return Err(format!(
                    "bucket {index} lies outside of the least and the greatest duration"
                ));
            }
            if packer.sum.checked_add(count).is_none() {
                return Err("a histogram of more than 2^64 durations".to_owned());
            }
            packer.push(index, count);
        }
    }
    match packer.finish() {
        (again, sum) if again == packed => Ok(sum),
        _ => Err("the packed buckets of a histogram are spoilt".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dense(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        values.iter().for_each(|value| histogram.record(*value));
        histogram
    }

    fn of(values: &[u64]) -> SparseHistogram {
        dense(values).take_sparse()
    }

    fn merged(a: &SparseHistogram, b: &SparseHistogram) -> SparseHistogram {
        let mut sum = a.clone();
        sum.merge(b);
        sum
    }

    /// Near together and far apart, past the range, too.
    fn durations() -> impl Strategy<Value = Vec<u64>> {
        let duration = prop_oneof![
            0_u64..300,
            10_000_u64..12_000,
            any::<u64>(),
            (0_u32..64).prop_map(|bit| 1 << bit)
        ];
        prop::collection::vec(duration, 0..80)
    }

    proptest! {
        #[test]
        fn it_says_what_the_dense_one_says(values in durations(), percent in 0.0_f64..=100.0) {
            let (dense, sparse) = (dense(&values), of(&values));
            prop_assert_eq!(sparse.percentile(percent), dense.percentile(percent));
            prop_assert_eq!(sparse.summary(), dense.summary());
            prop_assert_eq!((sparse.count(), sparse.overflow()), (dense.count(), dense.overflow()));
            prop_assert_eq!((sparse.min_ns(), sparse.max_ns()), (dense.min_ns(), dense.max_ns()));
            prop_assert_eq!(sparse.mean_ns(), dense.mean_ns());
        }

        #[test]
        fn merging_is_commutative_associative_and_the_same_as_recording(a in durations(),
            b in durations(), c in durations()) {
            let all: Vec<u64> = [&a[..], &b, &c].concat();
            let (a, b, c) = (of(&a), of(&b), of(&c));
            prop_assert_eq!(merged(&a, &b), merged(&b, &a));
            prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
            prop_assert_eq!(merged(&merged(&a, &b), &c), of(&all));
        }

        #[test]
        fn a_coarse_one_is_near_and_stays_as_it_is(values in durations(),
            percent in 0.0_f64..=100.0) {
            let fine = of(&values);
            let coarse = fine.coarse(4);
            prop_assert_eq!(coarse.coarse(4), coarse.clone());
            prop_assert_eq!((coarse.count(), coarse.overflow()), (fine.count(), fine.overflow()));
            prop_assert_eq!((coarse.min_ns(), coarse.max_ns()), (fine.min_ns(), fine.max_ns()));
            prop_assert_eq!(coarse.mean_ns(), fine.mean_ns());
            if let (Some(coarse), Some(fine)) = (coarse.percentile(percent),
                fine.percentile(percent)) {
                let bound = 1.0 / 32.0 + Histogram::ERROR_BOUND;
                prop_assert!(coarse.abs_diff(fine) as f64 <= fine as f64 * bound,
                    "{coarse} for {fine}");
            }
            let json = serde_json::to_string(&coarse).unwrap();
            prop_assert_eq!(serde_json::from_str::<SparseHistogram>(&json).unwrap(), coarse);
        }

        #[test]
        fn what_is_taken_is_gone_and_can_be_put_back(a in durations(), b in durations()) {
            let mut histogram = dense(&a);
            let taken = histogram.take_sparse();
            prop_assert_eq!(&histogram, &Histogram::default());
            b.iter().for_each(|value| histogram.record(*value));
            taken.add_to(&mut histogram);
            prop_assert_eq!(histogram, dense(&[a, b].concat()));
        }

        #[test]
        fn what_is_written_is_read_again(values in durations()) {
            let histogram = of(&values);
            let json = serde_json::to_string(&histogram).unwrap();
            prop_assert_eq!(serde_json::from_str::<SparseHistogram>(&json).unwrap(), histogram);
        }

        #[test]
        fn numbers_of_any_size_are_kept(
            numbers in prop::collection::vec(
                (0_u32..64).prop_flat_map(|bits| 0..=u64::MAX >> bits), 1..20
            )
        ) {
            let mut packer = Packer::default();
            numbers.iter().for_each(|number| packer.number(*number));
            let mut reader = Buckets { digits: packer.packed.iter(), next: 0 };
            let read: Vec<u64> = std::iter::from_fn(|| reader.number()).collect();
            prop_assert_eq!(read, numbers);
        }

        #[test]
        fn foreign_texts_are_refused_or_read_as_they_stand(text in "[A-Za-z0-9+/!]{0,12}") {
            if checked(text.as_bytes(), 0, u64::MAX).is_ok() {
                let mut packer = Packer::default();
                Buckets::of(text.as_bytes()).for_each(|(index, count)| packer.push(index, count));
                prop_assert_eq!(packer.packed, text.as_bytes());
            }
        }
    }

    #[test]
    fn buckets_become_a_text_and_come_back() {
        for buckets in [
            vec![],
            vec![(5, 3), (6, 40), (9, 1)],
            vec![(BUCKETS - 1, u64::MAX)],
        ] {
            assert_eq!(unpacked(&packed(buckets.clone()).unwrap()), Some(buckets));
        }
        for buckets in [
            [(5, 1), (5, 1)],
            [(5, 1), (4, 1)],
            [(5, 0), (6, 1)],
            [(5, 1), (BUCKETS, 1)],
        ] {
            assert_eq!(packed(buckets), None, "{buckets:?}");
        }
        assert_eq!(
            (unpacked("F!"), unpacked("FjA"), unpacked("FA")),
            (None, None, None)
        );
    }

    #[test]
    fn the_text_is_as_documented() {
        // Buckets 5, 6 and 9, three, forty and one durations: first index, counts, two empty ones,
        // a count.
        let histogram = of(&[&[5; 3][..], &[6; 40], &[9]].concat());
        // 40 is 8 and 1 × 32: the digit 8 with 32 added is `o`, the digit 1 is `B`.
        assert_eq!(std::str::from_utf8(&histogram.packed), Ok("FDoBABB"));
        assert_eq!(
            histogram.buckets().collect::<Vec<_>>(),
            [(5, 3), (6, 40), (9, 1)]
        );
    }

    #[test]
    fn spoilt_ones_are_refused() {
        let json = serde_json::to_string(&of(&[5, 5, 5])).unwrap();
        assert!(json.contains("\"FD\""));
        // No digit; cut off; an empty count; a number that is longer than it must be; another
        // bucket; none there.
        for packed in [
            "F!", "F", "Fj", "FA", "FAA", "FjA", "ED", "GD", "/////D", "",
        ] {
            let other = json.replace("\"FD\"", &format!("\"{packed}\""));
            assert!(
                serde_json::from_str::<SparseHistogram>(&other).is_err(),
                "{packed}"
            );
        }
        let other = json.replace("\"range_bits\":40", "\"range_bits\":41");
        assert!(serde_json::from_str::<SparseHistogram>(&other).is_err());
    }
}
