//! Meters of operations: counts, bytes, latencies, time series and the slowest operations. The
//! crate also analyses measurements: whether a run was steady, and where the knee of a load sweep
//! is. The crate uses no clock and no file system; callers measure durations.

mod deviation;
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

pub use deviation::{dispersion, mean, standard_deviation};
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
