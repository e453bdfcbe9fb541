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

/// A unit in which all latencies of a column are printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    pub name: &'static str,
    ns: f64,
    /// Number of decimals of all values of the column.
    digits: usize,
}

impl Unit {
    /// The largest unit in which the largest latency is at least 1, and the smallest at least 0.01
    /// or the largest at least 100. The decimals show two significant digits of the smallest
    /// latency, but at most four.
    pub(crate) fn of(ns: impl Iterator<Item = f64>) -> Self {
        const UNITS: [(&str, f64); 3] = [("s", 1e9), ("ms", 1e6), ("µs", 1e3)];
        let (least, most) = ns
            .filter(|ns| *ns > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(least, most), ns| {
                (least.min(ns), most.max(ns))
            });
        let fits = |(_, unit): &&(&'static str, f64)| {
            most >= *unit && (least >= unit / 100.0 || most >= unit * 100.0)
        };
        let (name, ns) = *UNITS.iter().find(fits).unwrap_or(&UNITS[2]);
        let digits = match least / ns {
            least if least < 0.00995 => 4,
            least if least < 0.0995 => 3,
            least if least < 0.995 => 2,
            least if least < 9.95 => 1,
            _ => 0,
        };
        Self { name, ns, digits }
    }

    pub(crate) fn cell(self, ns: Option<f64>) -> Cell {
        Cell::decimal(ns.map(|ns| ns / self.ns), self.digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_of_a_column_shows_its_smallest_and_its_largest_latency() {
        for (ns, name, shown) in [
            ([31e3, 1.2e9], "ms", ["0.031", "1200.000"]),
            ([0.35e6, 20e6], "ms", ["0.35", "20.00"]),
            ([2.04e6, 310e6], "ms", ["2.0", "310.0"]),
            ([31e6, 310e6], "ms", ["31", "310"]),
            ([0.1e9, 12e9], "s", ["0.10", "12.00"]),
            ([2.0e3, 900e3], "µs", ["2.0", "900.0"]),
            ([7.2e3, 782e6], "ms", ["0.0072", "782.0000"]),
            ([90.0, 400.0], "µs", ["0.090", "0.400"]),
        ] {
            let unit = Unit::of(ns.into_iter());
            assert_eq!(unit.name, name, "{ns:?}");
            assert_eq!(ns.map(|ns| unit.cell(Some(ns)).to_string()), shown);
        }
        assert_eq!(Unit::of(std::iter::empty()).cell(None).short(), "-");
    }
}
