//! Limits of runs and load sweeps.

use engines::registry::ROWS;

use std::time::Duration;

/// Maximum number of locations. Each location is inspected before the run and kept open during the
/// run. The record also contains each location, and a record must be small enough to be read back.
pub const LOCATIONS_MAX: usize = 16_384;
/// Maximum number of operations in flight per worker, which is the largest depth of all engines.
pub const DEPTH_MAX: u32 = {
    let mut most = 1;
    let mut index = 0;
    while index < ROWS.len() {
        let depth = ROWS[index].facts.depth_max as u32;
        if depth > most {
            most = depth;
        }
        index += 1;
    }
    most
};
/// Maximum number of ranks. The value equals the maximum number of workers, because each rank has
/// at least one worker.
pub const RANKS_MAX: u32 = workload::Workload::WORKERS_MAX;
/// Unit of direct I/O: sizes and blocks must be multiples of this number of bytes.
pub(crate) const DIRECT_BYTES: u64 = 4096;
/// Minimum measurement time of a load level.
pub(crate) const SWEEP_STEP_MIN: Duration = Duration::from_secs(10);
/// Maximum number of load levels that narrow down the saturation rate. The same maximum applies to
/// the levels that narrow down the load at which the SLO is missed.
pub const BISECTIONS_MAX: usize = 6;
/// Maximum number of load levels that the user may list. The sweep adds the closed loop and the
/// levels that narrow down the saturation rate or the SLO.
pub const SWEEP_STEPS_MAX: usize = 64;
/// Maximum number of time-series entries of a sweep, over all load levels and kinds of operations.
/// A record with more entries could not be read back.
pub const SWEEP_SLICES_MAX: u64 = 100_000;
