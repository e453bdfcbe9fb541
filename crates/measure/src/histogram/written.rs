//! Serialisation of histograms in JSON.

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::dense::Dense;
use super::durations::{Buckets, Durations};
use super::layout::{PRECISION_BITS, RANGE_BITS, TOO_MANY, range};
use super::packed::Packed;

/// Implements the JSON form of a histogram. The forms of [`Dense`] and [`Packed`] buckets differ in
/// one key.
macro_rules! written {
    ($(#[$about:meta])* $name:literal: $buckets:ty,
     $(#[$key_about:meta])* $key:ident: $written:ty) => {
        const _: () = {
            $(#[$about])*
            #[derive(Serialize, Deserialize, JsonSchema)]
            #[serde(rename_all = "snake_case", deny_unknown_fields)]
            struct Written {
                /// The precision: every power of two is divided into 2 to the power of this number
                /// of buckets. All histograms have the same precision.
                #[schemars(extend("const" = PRECISION_BITS))]
                precision_bits: u32,
                /// The range: buckets exist for durations below 2 to the power of this number of
                /// nanoseconds. All histograms have the same range.
                #[schemars(extend("const" = RANGE_BITS))]
                range_bits: u32,
                $(#[$key_about])*
                $key: $written,
                /// The number of durations beyond the range, which no bucket counts.
                overflow: u64,
                /// The exact sum of all durations in nanoseconds.
                sum_ns: u128,
                /// The exact minimum in nanoseconds; null if the histogram is empty.
                min_ns: Option<u64>,
                /// The exact maximum in nanoseconds; null if the histogram is empty.
                max_ns: Option<u64>,
            }

            #[cfg(feature = "schema")]
            impl schemars::JsonSchema for Durations<$buckets> {
                fn schema_name() -> std::borrow::Cow<'static, str> {
                    $name.into()
                }

                fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                    Written::json_schema(generator)
                }
            }

            impl Serialize for Durations<$buckets> {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    Written {
                        precision_bits: PRECISION_BITS,
                        range_bits: RANGE_BITS,
                        $key: self.buckets.write(),
                        overflow: self.overflow,
                        sum_ns: self.sum_ns,
                        min_ns: self.min_ns(),
                        max_ns: self.max_ns(),
                    }
                    .serialize(serializer)
                }
            }

            impl<'de> Deserialize<'de> for Durations<$buckets> {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let written = Written::deserialize(deserializer)?;
                    let totals = Durations {
                        buckets: written.$key,
                        overflow: written.overflow,
                        sum_ns: written.sum_ns,
                        min_ns: written.min_ns.unwrap_or(u64::MAX),
                        max_ns: written.max_ns.unwrap_or(0),
                    };
                    let bits = (written.precision_bits, written.range_bits);
                    read(bits, totals, (written.min_ns, written.max_ns)).map_err(D::Error::custom)
                }
            }
        };
    };
}

written! {
    /// A histogram of durations. Below 256 ns, every nanosecond is a separate bucket; above, every
    /// power of two is divided into 128 buckets of equal width.
    "Histogram": Dense,
    /// The buckets that are not empty, in ascending order, each with its index and its count.
    buckets: Vec<(u32, u64)>
}

written! {
    /// A histogram of durations in a compact form: the same buckets as in Histogram, encoded as
    /// text.
    "SparseHistogram": Packed,
    /// The index of the first used bucket, then the counts from this bucket on. A count of 0 is
    /// followed by the number of consecutive empty buckets minus one. A number consists of digits
    /// of 5 bits, the lowest first. If more digits follow, 32 is added to the digit. The result is
    /// written as a character of base 64 (RFC 4648, table 1).
    #[schemars(extend("pattern" = "^[A-Za-z0-9+/]*$"))]
    packed: String
}

/// Creates a histogram from its JSON form. This form may come from an unknown source, so it is
/// checked for contradictions.
fn read<B: Buckets>(
    bits: (u32, u32),
    written: Durations<B::Written>,
    (min_ns, max_ns): (Option<u64>, Option<u64>),
) -> Result<Durations<B>, String> {
    if bits != (PRECISION_BITS, RANGE_BITS) {
        return Err(format!(
            "a histogram of {} bits of precision over {} bits of range, where this schema has \
             {PRECISION_BITS} over {RANGE_BITS}",
            bits.0, bits.1
        ));
    }
    let totals = written.in_buckets(());
    let buckets = B::read(written.buckets, &range(totals.min_ns, totals.max_ns))?;
    let count = buckets.sum().checked_add(totals.overflow).ok_or(TOO_MANY)?;
    is_possible(count, totals.sum_ns, min_ns, max_ns)?;
    Ok(totals.in_buckets(buckets))
}

/// Checks that a number of durations can have this sum, minimum and maximum. Without this check,
/// adding up sums from an unknown source could overflow.
fn is_possible(
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
