//! A histogram of durations with a fixed range and a fixed relative precision.
//!
//! Up to 256 ns every nanosecond has a bucket of its own; above, every power of two is divided into
//! 128 buckets of equal width (the layout of HDR histograms with 7 bits). So a value read back, the
//! middle of its bucket, is off by at most [`Histogram::ERROR_BOUND`] of itself. All histograms
//! share range and precision, so any two can be merged, in any order. Durations past the range are
//! counted apart; the greatest and the least are kept exactly.
//!
//! The buckets are kept in one of two ways: [`Dense`] is recorded in, [`Packed`] takes little room
//! and is merged only. Everything that is read from a histogram is the same for both.

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
