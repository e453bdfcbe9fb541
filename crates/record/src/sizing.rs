//! The result of the steady-state rule, and how the pool's size was chosen.

use measure::{Drift, Steady};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::WorkingSet;

/// The rates of a run that ends by a steady-state rule, and the results of SNIA's rule and of the
/// slope rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyFound {
    /// Whether the last window was steady by the requested rule.
    pub is_steady: bool,
    /// Transactions per second in each round, in order.
    pub rounds: Vec<f64>,
    /// Transactions per second in each second of the last window.
    pub seconds: Vec<f64>,
    /// Result of SNIA's rule for the last window, whichever rule was requested; null without a
    /// complete window.
    pub snia: Option<Steady>,
    /// Result of the slope rule for the seconds of the last window, whichever rule was requested;
    /// null without a complete window, or if it has too few seconds.
    pub slope: Option<Drift>,
}

/// How the pool's size was chosen for a requested working set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sizing {
    /// Requested working set (`--working-set`), such as four times the page cache.
    pub working_set: WorkingSet,
    /// Size of the page cache, in bytes: the smaller of the memory and the control group's limit.
    pub cache_bytes: u64,
    /// Source of `cache_bytes`, as text: the machine's memory or the control group's limit.
    pub cache_is: String,
    /// Mean size of files, in bytes, from the sizes that the stream draws for the first files of a
    /// pool.
    pub mean_file_bytes: f64,
    /// Chosen number of files of all pools together.
    pub files: u64,
    /// Speed of the target in a short run; null in a plan, which does not touch the target.
    pub calibration: Option<Calibration>,
    /// Number of transactions of all workers that are expected in the requested time; null if no
    /// time was requested, or no calibration was performed.
    pub transactions: Option<u64>,
}

/// A short run of the same work on the same target, with a pool that fits in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// Duration of the complete calibration, in nanoseconds.
    pub duration_ns: u64,
    /// Number of files in the pools of the calibration.
    pub files: u64,
    /// Files created per second, timed until they were durable.
    pub created_per_second: f64,
    /// Transactions per second of all workers; null if the work has none.
    pub transactions_per_second: Option<f64>,
}
