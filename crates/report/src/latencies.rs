//! The latency columns of tables. Each table contains some of the columns.

use document::{Cell, Number};
use verdict::SweepStepSummary;
use verdict::summary::LatencySummary;

/// The names of all latency columns that a table can contain.
pub(crate) const COLUMNS: [&str; 8] =
    ["mean", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max"];

/// The value of a column, in nanoseconds.
pub(crate) fn ns(times: &LatencySummary, column: &str) -> Option<f64> {
    let ns = match column {
        "mean" => return times.mean,
        "p50" => times.p50,
        "p90" => times.p90,
        "p95" => times.p95,
        "p99" => times.p99,
        "p99.9" => times.p99_9,
        "p99.99" => times.p99_99,
        _ => times.max,
    };
    ns.map(|ns| ns as f64)
}

pub(crate) fn cells<const N: usize>(
    times: &LatencySummary,
    columns: [&str; N],
    number: fn(f64) -> Number,
) -> [Cell; N] {
    columns.map(|column| ns(times, column).map(number).into())
}

/// The latencies of a load level. A load level stores only some of the columns.
pub(crate) fn of_step(step: &SweepStepSummary) -> LatencySummary {
    LatencySummary {
        mean: step.mean_ns,
        p50: step.p50_ns,
        p99: step.p99_ns,
        p99_9: step.p999_ns,
        max: step.max_ns,
        ..LatencySummary::default()
    }
}
