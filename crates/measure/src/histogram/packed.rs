//! A compact representation of buckets: a text that encodes the buckets that are not empty.
//!
//! The text is used in memory and in JSON. The text begins with the index of the first used bucket,
//! followed by the counts of this and the following buckets. A count of 0 is followed by the number
//! of consecutive empty buckets minus one. A number consists of digits of 5 bits, the lowest first.
//! If more digits follow, 32 is added to the digit. The result is written as a character of base 64
//! (RFC 4648, table 1). This is the encoding of variable-length quantities in source maps
//! (ECMA-426), without a sign. So a bucket takes one or two characters instead of about ten for a
//! pair of index and count.

use std::ops::Range;
use std::slice;

use super::durations::{Buckets, Durations, merged};
use super::layout::{BUCKETS, TOO_MANY, check_place};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const DIGIT_BITS: u32 = 5;
/// A flag that is added to a digit if more digits of the number follow.
const MORE: u8 = 1 << DIGIT_BITS;
/// The value of a character that is not a digit.
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

/// The text of the buckets that are not empty, and the sum of their counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    text: Vec<u8>,
    sum: u64,
}

/// A compact [`Histogram`](super::Histogram), which supports merging, but not recording.
pub type SparseHistogram = Durations<Packed>;

impl Buckets for Packed {
    type Written = String;

    fn used(&self) -> impl Iterator<Item = (usize, u64)> {
        Reader::of(&self.text)
    }

    fn sum(&self) -> u64 {
        self.sum
    }

    fn merge(&mut self, other: &Self) {
        if self.text.is_empty() || other.text.is_empty() {
            if self.text.is_empty() {
                self.clone_from(other);
            }
            return;
        }
        let mut packer = Packer {
            packed: Vec::with_capacity(self.text.len() + other.text.len()),
            ..Packer::default()
        };
        packer.extend(merged(self.used(), other.used()));
        *self = packer.finish();
    }

    fn write(&self) -> String {
        // The text consists of ASCII characters, so the conversion replaces none of them.
        String::from_utf8_lossy(&self.text).into_owned()
    }

    /// Accepts only texts that `write` can produce.
    fn read(text: String, range: &Range<usize>) -> Result<Self, String> {
        let mut packer = Packer::default();
        if are_digits(&text) {
            for (index, count) in Reader::of(text.as_bytes()) {
                check_place(index, range)?;
                if packer.sum.checked_add(count).is_none() {
                    return Err(TOO_MANY.to_owned());
                }
                packer.push(index, count);
            }
        }
        match packer.finish() {
            read if read.text == text.as_bytes() => Ok(read),
            _ => Err("the packed buckets of a histogram are spoilt".to_owned()),
        }
    }
}

fn are_digits(text: &str) -> bool {
    text.bytes()
        .all(|digit| VALUES[usize::from(digit)] != NO_DIGIT)
}

/// Encodes buckets (index and count) as the text that the module describes. Returns `None` for an
/// empty bucket, an index after the last bucket, or buckets that are not in ascending order.
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

/// Decodes a text that [`packed`] produced into buckets (index and count). Returns `None` for any
/// other text.
pub fn unpacked(text: &str) -> Option<Vec<(usize, u64)>> {
    if !are_digits(text) {
        return None;
    }
    let buckets: Vec<(usize, u64)> = Reader::of(text.as_bytes()).collect();
    (packed(buckets.iter().copied())? == text).then_some(buckets)
}

/// Encodes buckets one at a time. The indices of the buckets must ascend, and the counts must not
/// be 0.
#[derive(Default)]
pub(super) struct Packer {
    pub(super) packed: Vec<u8>,
    /// One more than the index of the last encoded bucket; `None` before the first bucket.
    next: Option<usize>,
    sum: u64,
}

impl Extend<(usize, u64)> for Packer {
    fn extend<T: IntoIterator<Item = (usize, u64)>>(&mut self, buckets: T) {
        buckets
            .into_iter()
            .for_each(|(index, count)| self.push(index, count));
    }
}

impl Packer {
    pub(super) fn push(&mut self, index: usize, count: u64) {
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

    pub(super) fn number(&mut self, number: u64) {
        let mut rest = number;
        while rest >= u64::from(MORE) {
            self.packed
                .push(DIGITS[usize::from((rest as u8 & (MORE - 1)) | MORE)]);
            rest >>= DIGIT_BITS;
        }
        self.packed.push(DIGITS[rest as usize]);
    }

    pub(super) fn finish(mut self) -> Packed {
        self.packed.shrink_to_fit();
        Packed {
            text: self.packed,
            sum: self.sum,
        }
    }
}

/// A decoder of buckets: an iterator over index and count.
pub(super) struct Reader<'a> {
    pub(super) digits: slice::Iter<'a, u8>,
    pub(super) next: usize,
}

impl<'a> Reader<'a> {
    fn of(packed: &'a [u8]) -> Self {
        let mut reader = Self {
            digits: packed.iter(),
            next: 0,
        };
        reader.next = reader.number().unwrap_or(0) as usize;
        reader
    }

    #[inline]
    pub(super) fn number(&mut self) -> Option<u64> {
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

impl Iterator for Reader<'_> {
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
