//! What was found of how the transactions were driven and how large their pool was to be.

use measure::{Drift, Steady};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::WorkingSet;

/// What the rule found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyFound {
    /// Whether the last window was steady.
    pub is_steady: bool,
    /// Transactions a second of each round, in order.
    pub rounds: Vec<f64>,
    /// Transactions a second of each second of the last window.
    pub seconds: Vec<f64>,
    /// The verdict of SNIA's rule on the last window, whichever was asked for; nothing where there
    /// was no whole window.
    pub snia: Option<Steady>,
    /// The verdict of the slope rule on the seconds of the last window, likewise, and nothing
    /// where they are too few.
    pub slope: Option<Drift>,
}

/// How the pool's size was chosen where an intent was said in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sizing {
    /// What was asked for.
    pub working_set: WorkingSet,
    /// The cache: the smaller of memory and the control group's limit, in bytes.
    pub cache_bytes: u64,
    /// Where that number comes from, in words.
    pub cache_is: String,
    /// Mean bytes of a file, of those that the stream draws first.
    pub mean_file_bytes: f64,
    /// Files that were chosen, of all pools together.
    pub files: u64,
    /// What a short run on the target said of its speed; nothing in a plan, which touches nothing.
    pub calibration: Option<Calibration>,
    /// Transactions that are expected in the time that was said, of all workers; nothing where no
    /// time was, or nothing was calibrated.
    pub transactions: Option<u64>,
}

/// A short run of the same work on the same target, with a pool that fits in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// How long all of it took, in nanoseconds.
    pub duration_ns: u64,
    /// Files of its pools.
    pub files: u64,
    /// Files a second that it created, until they were on the device.
    pub created_per_second: f64,
    /// Transactions a second that it performed, of all workers; nothing where the work has none.
    pub transactions_per_second: Option<f64>,
}
