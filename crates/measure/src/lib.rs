//! Meters: how often, how much, how long; over time, the slowest, and what they tell about a run:
//! whether it was steady, and where a load is too much. Pure: no clock, no file system; durations
//! come in as numbers.

mod histogram;
pub mod knee;
mod line;
mod meter;
mod middle;
#[cfg(feature = "schema")]
mod schema;
mod slices;
mod slowest;
pub mod steady;

pub use histogram::{Histogram, LatencySummary, SparseHistogram, packed, unpacked};
pub use knee::Knee;
pub use meter::Meter;
pub use middle::Middle;
pub use slices::{
    LATENCIES_MAX, LATENCY_PRECISION_BITS, LATENCY_SLICES_MAX, SLICE_NS, SLICES_MAX, Slice,
    SliceMeter, Slices,
};
pub use slowest::{SLOWEST_KEPT, Slow, Slowest};
pub use steady::{Drift, RateChange, Steady};

#[cfg(test)]
mod noise;
