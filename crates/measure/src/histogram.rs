//! A histogram of durations with a fixed range and a fixed relative precision.
//!
//! Below 256 ns, every nanosecond is a separate bucket. Above, every power of two is divided into
//! 128 buckets of equal width (the layout of HDR histograms with 7 bits). A value is reported as
//! the middle of its bucket, with a relative error of at most [`Histogram::ERROR_BOUND`]. All
//! histograms have the same range and precision, so that any two can be merged, in any order.
//! Durations beyond the range are counted separately; the maximum and the minimum are exact.
//!
//! There are two representations of the buckets: [`Dense`] supports recording, [`Packed`] takes
//! little memory and supports only merging. [`Dense`] and [`Packed`] give equal results.

mod dense;
mod durations;
mod layout;
mod packed;
mod sparse;
mod summary;
mod written;

pub use dense::Histogram;
pub use packed::{SparseHistogram, packed, unpacked};
pub use summary::LatencySummary;

#[cfg(test)]
mod tests;
