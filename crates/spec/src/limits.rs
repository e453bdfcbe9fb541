//! No more, and no less.

use engines::registry::ROWS;

use std::time::Duration;

/// The most locations of a run: each is looked at before it, held open in it, and read again with
/// its record.
pub const LOCATIONS_MAX: usize = 16_384;
/// The most operations of a worker in flight: signs of life have a line for each.
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
/// The most ranks of a run: each has a worker at least.
pub const RANKS_MAX: u32 = workload::Workload::WORKERS_MAX;
/// What contents that go past the page cache have to be multiples of.
pub(crate) const DIRECT_BYTES: u64 = 4096;
/// A step is measured for at least so long.
pub(crate) const SWEEP_STEP_MIN: Duration = Duration::from_secs(10);
/// A limit is narrowed down by no more steps than these.
pub const BISECTIONS_MAX: usize = 6;
/// A sweep has no more steps than these as said; a closed loop before them and what lies between
/// them come besides.
pub const SWEEP_STEPS_MAX: usize = 64;
/// And no more slices, of all steps and kinds of operations: a record with more could not be read
/// again.
pub const SWEEP_SLICES_MAX: u64 = 100_000;
