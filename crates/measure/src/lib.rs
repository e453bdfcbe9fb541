//! Meters: how often, how much, how long; over time, and the slowest. Pure: no clock, no file system; durations come in as
//! numbers.

mod histogram;
mod meter;
#[cfg(test)]
mod noise;
mod slices;
mod slowest;
mod sparse;

pub use histogram::{Histogram, Percentile};
pub use meter::Meter;
pub use slices::{Merge, SLICE_NS, SLICES_MAX, Slice, SliceMeter, Slices};
pub use slowest::{SLOWEST_KEPT, Slow, Slowest};
pub use sparse::SparseHistogram;
