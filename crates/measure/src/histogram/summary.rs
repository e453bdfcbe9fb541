//! The statistics of latencies that reports show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Statistics of durations, in nanoseconds. A percentile is available only if at least ten
/// durations are beyond it. With fewer, its value would depend on chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySummary {
    /// The exact arithmetic mean; null if no durations were measured.
    pub mean: Option<f64>,
    /// The median; null if fewer than ten durations are beyond it.
    pub p50: Option<u64>,
    /// The 90th percentile; null if fewer than ten durations are beyond it.
    pub p90: Option<u64>,
    /// The 95th percentile; null if fewer than ten durations are beyond it.
    pub p95: Option<u64>,
    /// The 99th percentile; null if fewer than ten durations are beyond it.
    pub p99: Option<u64>,
    /// The 99.9th percentile; null if fewer than ten durations are beyond it.
    pub p99_9: Option<u64>,
    /// The 99.99th percentile; null if fewer than ten durations are beyond it.
    pub p99_99: Option<u64>,
    /// The exact maximum; null if no durations were measured.
    pub max: Option<u64>,
}

/// A percentile is available only if at least this number of durations is beyond it.
const BEYOND_MIN: u64 = 10;

impl LatencySummary {
    /// The smallest number of durations with a 99th percentile.
    pub const P99_MIN: u64 = 100 * BEYOND_MIN;

    pub(super) fn new(
        count: u64,
        mean: Option<f64>,
        max: Option<u64>,
        percentile: impl Fn(f64) -> Option<u64>,
    ) -> Self {
        // Fractions such as 0.1 % are not exact in binary, so a millionth of a duration is added.
        let beyond = |percent| count as f64 * (100.0 - percent) / 100.0 + 1e-6;
        let shown = |percent| percentile(percent).filter(|_| beyond(percent) >= BEYOND_MIN as f64);
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
