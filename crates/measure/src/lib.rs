//! Meters: how often, how much, how long. Pure: no clock, no file system; durations come in as numbers.

mod histogram;
mod meter;

pub use histogram::{Histogram, Percentile};
pub use meter::Meter;
