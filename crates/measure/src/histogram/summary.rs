//! What reports show of a histogram.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What reports show of durations, in nanoseconds. A percentile is given where at least ten
/// durations lie beyond it: with fewer, it is the luck of a few.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySummary {
    /// The arithmetic mean, exactly; nothing where nothing was measured.
    pub mean: Option<f64>,
    /// The median; nothing where fewer than ten durations lie beyond it.
    pub p50: Option<u64>,
    /// The 90th percentile; nothing where fewer than ten durations lie beyond it.
    pub p90: Option<u64>,
    /// The 95th percentile; nothing where fewer than ten durations lie beyond it.
    pub p95: Option<u64>,
    /// The 99th percentile; nothing where fewer than ten durations lie beyond it.
    pub p99: Option<u64>,
    /// The 99.9th percentile; nothing where fewer than ten durations lie beyond it.
    pub p99_9: Option<u64>,
    /// The 99.99th percentile; nothing where fewer than ten durations lie beyond it.
    pub p99_99: Option<u64>,
    /// The maximum, exactly; nothing where nothing was measured.
    pub max: Option<u64>,
}

/// So many durations lie beyond a percentile that is shown.
const BEYOND_MIN: f64 = 10.0;

impl LatencySummary {
    /// Of so many durations with this mean and this maximum.
    pub(super) fn new(
        count: u64,
        mean: Option<f64>,
        max: Option<u64>,
        percentile: impl Fn(f64) -> Option<u64>,
    ) -> Self {
        // A tenth of a percent is no binary fraction: a millionth of a duration is let pass.
        let beyond = |percent| count as f64 * (100.0 - percent) / 100.0 + 1e-6;
        let shown = |percent| percentile(percent).filter(|_| beyond(percent) >= BEYOND_MIN);
        Self {
            mean,
            p50: shown(50.0),
            p90: shown(90.0),
            p95: shown(95.0),
            p99: shown(99.0),
            p99_9: shown(99.9),
            p99_99: shown(99.99),
            max,
        }
    }
}
