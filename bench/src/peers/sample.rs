//! What the tools are compared by.

use crate::result::Result;

/// Bytes of a file.
pub(super) const FILE_BYTES: u64 = 4096;

/// Rate and CPU time of one phase.
#[derive(Clone, Copy, Debug)]
pub struct PhaseSample {
    pub(super) files_per_s: f64,
    pub(super) user_us_per_file: f64,
}

/// A sample of every row, in their order.
pub(super) type Samples = Result<Vec<PhaseSample>>;
