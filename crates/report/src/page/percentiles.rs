//! Percentile curves: latency against the share of operations that took no longer, on the axis log(1/(1-p)), on which each
//! further nine is as wide as the one before. A curve ends where fewer than ten operations lie beyond.

use std::collections::BTreeMap;

use document::units::counted;
use document::{Cell, Document, Number, Table};
use measure::Histogram;
use record::{Action, OperationRecord, Record};

use super::over_time::short_latency;
use crate::pictures::chart::{Axis, Chart, SERIES_MAX, Series};
use crate::pictures::scale::Scale;

/// So many operations lie beyond the last point, as beyond every percentile in a report.
const BEYOND_MIN: f64 = 10.0;
/// Points to each nine.
const POINTS: i32 = 20;

/// The curve of each operation of the transactions, and response over service time where loads are requested.
pub(super) fn render(document: &mut Document, record: &Record) {
    document.title("Percentiles");
    let operations = || operations(record);
    if !record.spec.latencies {
        document.note("Percentile curves: not available (the run was made with --no-latencies).");
        return;
    }
    by_operation(document, record);
    response(document, operations());
}

/// What was measured of the operations of the transactions.
pub(super) fn operations(record: &Record) -> impl Iterator<Item = &OperationRecord> {
    let transactions = record.actual.transactions();
    transactions
        .flat_map(|phase| phase.measured())
        .flat_map(|segment| &segment.operations)
}

fn by_operation(document: &mut Document, record: &Record) {
    let mut kinds: BTreeMap<Action, Histogram> = BTreeMap::new();
    for operation in operations(record) {
        kinds
            .entry(operation.action)
            .or_default()
            .merge(&operation.meter.latency);
    }
    let mut kinds: Vec<(Action, Histogram)> = kinds.into_iter().collect();
    // Those with the most operations, where not all can be told apart.
    kinds.sort_by_key(|(_, latency)| std::cmp::Reverse(latency.count()));
    let more = kinds.len().saturating_sub(SERIES_MAX);
    let curves: Vec<(String, &Histogram)> = kinds
        .iter()
        .take(SERIES_MAX)
        .map(|(action, latency)| (action.name().to_owned(), latency))
        .collect();
    let mut caption = "Latency that a share of the operations did not exceed. Each curve ends where fewer than ten operations lie beyond.".to_owned();
    if !record.actual.sweep_steps.is_empty() {
        caption += " All steps of the sweep are together in it, those above the saturation rate included.";
    }
    if more > 0 {
        caption += &format!(" {} with fewer operations left out.", counted(more as u64, "kind"));
    }
    self::curves(
        document,
        "Percentiles of latency by operation",
        caption,
        "latency",
        &curves,
    );
}

/// From the due time, and from the issue: what lies between them a closed loop hides.
fn response<'a>(document: &mut Document, operations: impl Iterator<Item = &'a OperationRecord>) {
    let (mut response, mut service) = (Histogram::default(), Histogram::default());
    for operation in operations {
        if let Some(from_issue) = &operation.meter.service {
            response.merge(&operation.meter.latency);
            service.merge(from_issue);
        }
    }
    if service.count() == 0 {
        return;
    }
    let curves = [
        ("response time".to_owned(), &response),
        ("service time".to_owned(), &service),
    ];
    let caption = "All operations that were due at a time: response time counts from then, service time from the issue. The gap is waiting, which a closed loop hides.";
    self::curves(
        document,
        "Response time over service time",
        caption.to_owned(),
        "time",
        &curves,
    );
}

pub(super) fn curves(
    document: &mut Document,
    title: &str,
    caption: String,
    what: &str,
    curves: &[(String, &Histogram)],
) {
    let series: Vec<Series> = curves
        .iter()
        .map(|(name, latency)| Series {
            name: name.clone(),
            points: self::points(latency).into_iter().map(Some).collect(),
        })
        .filter(|series| !series.points.is_empty())
        .collect();
    for (name, latency) in curves.iter().filter(|(_, latency)| self::points(latency).is_empty()) {
        document.note(format!(
            "Percentiles of {name}: not available ({}, and ten must lie beyond the median).",
            counted(latency.count(), "operation")
        ));
    }
    if series.is_empty() {
        if curves.is_empty() {
            document.note("Percentile curves: not available (no transactions were measured).");
        }
        return;
    }
    let points = || series.iter().flat_map(|series| series.points.iter().flatten());
    let high = points().map(|(x, _)| *x).fold(2.0, f64::max);
    let chart = Chart {
        title,
        description: &caption,
        x: Axis {
            name: "share of operations".to_owned(),
            scale: Scale::Log {
                low: 1.0,
                high: 10_f64.powf(high.log10().ceil()),
            },
            label: share,
        },
        y: Axis {
            name: what.to_owned(),
            scale: Scale::decades(points().map(|(_, y)| *y)),
            label: short_latency,
        },
        behind: Vec::new(),
        series,
    };
    let data = data(curves);
    document.figure(chart.picture(data));
}

/// The share that lies not beyond one part of so many, in percent.
pub(crate) fn share(parts: f64) -> String {
    if parts <= 1.0 {
        return "0 %".to_owned();
    }
    // As many nines, and what lies between two of them with a digit more than the first.
    let digits = (parts.log10().ceil() as usize).saturating_sub(1);
    let share = format!("{:.digits$}", 100.0 - 100.0 / parts);
    let share = match digits {
        0 => &share,
        _ => share.trim_end_matches('0').trim_end_matches('.'),
    };
    format!("{share} %")
}

/// One part of so many lies beyond a latency; and the latency in nanoseconds. None where ten lie beyond no median.
pub(crate) fn points(latency: &Histogram) -> Vec<(f64, f64)> {
    // Half of them lie beyond the median: with fewer there is nothing to show.
    let most = latency.count() as f64 / BEYOND_MIN;
    if most < 2.0 {
        return Vec::new();
    }
    let last = (most.log10() * f64::from(POINTS)).floor() as i32;
    let points = (0..=last).filter_map(|number| {
        let parts = 10_f64.powf(f64::from(number) / f64::from(POINTS));
        let ns = latency.percentile(100.0 - 100.0 / parts)?;
        Some((parts, ns.max(1) as f64))
    });
    points.collect()
}

/// The percentiles that reports show.
fn data(curves: &[(String, &Histogram)]) -> Table {
    let mut table = Table::new(
        1,
        &[
            "",
            "operations",
            "mean",
            "p50",
            "p90",
            "p95",
            "p99",
            "p99.9",
            "p99.99",
            "max",
        ],
    );
    for (name, latency) in curves {
        let of = latency.summary();
        let mut row: Vec<Cell> = vec![
            name.as_str().into(),
            Number::Count(latency.count()).into(),
            of.mean.map(Number::Latency).into(),
        ];
        let shown = [of.p50, of.p90, of.p95, of.p99, of.p99_9, of.p99_99, of.max];
        row.extend(shown.map(|ns| ns.map(|ns| Number::Latency(ns as f64)).into()));
        table.row(row);
    }
    table
}
