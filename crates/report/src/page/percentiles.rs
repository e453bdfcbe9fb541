//! Percentile curves: latency against the share of operations that did not exceed it. The
//! horizontal axis is log(1/(1-p)), so that 90 %, 99 % and 99.9 % are equally far apart. A curve
//! ends where fewer than ten operations are beyond the percentile.

use std::collections::BTreeMap;

use document::units::counted;
use document::{Cell, Document, Number, Table};
use measure::Histogram;
use record::{Action, OperationRecord, Phase, PhaseRecord, Record};
use verdict::Summary;

use super::labels::short_latency;
use super::served::service;
use super::sides::capital;
use super::sweep;
use crate::latencies;
use crate::pictures::chart::{self, Axis, Chart, SERIES_MAX, Series};
use crate::pictures::scale::Scale;

/// Minimum number of operations beyond a point of a curve, the same as for every percentile in a
/// report.
const BEYOND_MIN: f64 = 10.0;
/// Number of points of a curve for each further nine of the percentile, for example from 99 % to
/// 99.9 %.
const POINTS: i32 = 20;

/// Adds the percentile curve of each operation of the transactions, and response time against
/// service time for an open loop.
pub(super) fn render(document: &mut Document, record: &Record, summary: &Summary) {
    document.title("Percentiles");
    if !record.spec.latencies {
        document.note("Percentile curves: not available (the run was made with --no-latencies).");
        return;
    }
    // Each load level of a sweep has different latencies, so the curves show only the last
    // sustained load level.
    let last = sweep::last_sustained(summary);
    let of_step = last.and_then(|(number, _)| record.actual.sweep_steps.get(number));
    let operations: Vec<&OperationRecord> = match of_step {
        Some(step) => {
            let phases = step.phases.iter();
            measured(phases.filter(|phase| phase.phase == Phase::Transactions)).collect()
        }
        None => self::operations(record).collect(),
    };
    let which = last.map(|(_, step)| format!(" Of {}.", sweep::which(step)));
    let which = which.unwrap_or_default();
    by_operation(document, &operations, &which);
    response(document, &operations, &which);
}

pub(crate) fn operations(record: &Record) -> impl Iterator<Item = &OperationRecord> {
    measured(record.actual.transactions())
}

fn measured<'a>(
    phases: impl Iterator<Item = &'a PhaseRecord>,
) -> impl Iterator<Item = &'a OperationRecord> {
    phases
        .flat_map(|phase| phase.measured())
        .flat_map(|segment| &segment.operations)
}

/// Latencies, and the service times of operations with a due time.
#[derive(Default)]
struct Times {
    latency: Histogram,
    service: Option<Histogram>,
}

fn by_operation(document: &mut Document, operations: &[&OperationRecord], which: &str) {
    let mut kinds: BTreeMap<Action, Times> = BTreeMap::new();
    for operation in operations {
        let times = kinds.entry(operation.action).or_default();
        times.latency.merge(&operation.meter.latency);
        if let Some(service) = &operation.meter.service {
            times.service.get_or_insert_default().merge(service);
        }
    }
    let mut kinds: Vec<(Action, Times)> = kinds.into_iter().collect();
    // If there are too many kinds for distinct lines, those with the most operations are shown.
    kinds.sort_by_key(|(_, times)| std::cmp::Reverse(times.latency.count()));
    let more = kinds.len().saturating_sub(SERIES_MAX);
    let curves: Vec<Curve<'_>> = kinds
        .iter()
        .take(SERIES_MAX)
        .map(|(action, times)| Curve {
            name: action.name().to_owned(),
            latency: &times.latency,
            service: times.service.as_ref(),
        })
        .collect();
    let what = what(operations);
    let mut caption = format!(
        "{} that a share of the operations did not exceed. Each curve ends where fewer than ten \
         operations lie beyond.{which}",
        capital(what)
    );
    let services: Vec<String> = curves
        .iter()
        .filter_map(|curve| {
            Some(format!(
                "{} {}",
                curve.name,
                service(curve.service?.summary().p99)
            ))
        })
        .collect();
    if !services.is_empty() {
        caption += &format!(
            " p99 service time, from the issue: {}.",
            services.join(", ")
        );
    }
    if more > 0 {
        caption += &format!(
            " {} with fewer operations left out.",
            counted(more as u64, "kind")
        );
    }
    let title = format!("Percentiles of {what} by operation");
    self::curves(document, &title, caption, what, &curves);
}

/// The name of the measured time: response time if operations have due times, else latency.
pub(super) fn what<'a>(
    operations: impl IntoIterator<Item = &'a &'a OperationRecord>,
) -> &'static str {
    let is_due = operations
        .into_iter()
        .any(|operation| operation.meter.service.is_some());
    if is_due { "response time" } else { "latency" }
}

/// Adds a chart of response time and service time. The difference between them is the time that
/// operations wait before they are issued, which a closed loop hides (coordinated omission).
fn response(document: &mut Document, operations: &[&OperationRecord], which: &str) {
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
        Curve::of("response time", &response),
        Curve::of("service time", &service),
    ];
    let caption = format!(
        "All operations that were due at a time: response time counts from then, service time \
         from the issue. The gap is waiting, which a closed loop hides.{which}"
    );
    let title = "Response time over service time";
    self::curves(document, title, caption, "time", &curves);
}

pub(super) struct Curve<'a> {
    pub name: String,
    pub latency: &'a Histogram,
    /// Service time, if `latency` is counted from the due time.
    pub service: Option<&'a Histogram>,
}

impl<'a> Curve<'a> {
    /// A curve of latencies without service times, as for a closed loop.
    pub(super) fn of(name: &str, latency: &'a Histogram) -> Self {
        Self {
            name: name.to_owned(),
            latency,
            service: None,
        }
    }
}

pub(super) fn curves(
    document: &mut Document,
    title: &str,
    caption: String,
    what: &str,
    curves: &[Curve<'_>],
) {
    let mut series = Vec::new();
    for curve in curves {
        let points = self::points(curve.latency);
        if !points.is_empty() {
            let points = points.into_iter().map(Some).collect();
            series.push(Series::new(curve.name.clone(), points));
            continue;
        }
        document.note(format!(
            "Percentiles of {}: not available ({}, and ten must lie beyond the median).",
            curve.name,
            counted(curve.latency.count(), "operation")
        ));
    }
    if series.is_empty() {
        if curves.is_empty() {
            document.note("Percentile curves: not available (no transactions were measured).");
        }
        return;
    }
    let points = || chart::points(&series);
    let high = points().map(|(x, _)| x).fold(2.0, f64::max);
    let high = 10_f64.powf(high.log10().ceil());
    let shares = Scale::Log { low: 1.0, high };
    let latencies = Scale::decades(points().map(|(_, y)| y));
    let axes = (
        Axis::new("share of operations", shares, share),
        Axis::new(what, latencies, short_latency),
    );
    document.figure(Chart::new(title, caption, axes, series).picture(data(curves)));
}

/// The percentile that one in `parts` operations exceeds: `99.9 %` for 1,000.
pub(crate) fn share(parts: f64) -> String {
    if parts <= 1.0 {
        return "0 %".to_owned();
    }
    // Enough decimals to distinguish the percentile from 100 %; trailing zeros are removed below.
    let digits = (parts.log10().ceil() as usize).saturating_sub(1);
    let share = format!("{:.digits$}", 100.0 - 100.0 / parts);
    let share = match digits {
        0 => &share,
        _ => share.trim_end_matches('0').trim_end_matches('.'),
    };
    format!("{share} %")
}

/// Points of a curve: each consists of a number n, and the latency in nanoseconds that one in n
/// operations exceeds. Empty if fewer than ten operations are beyond the median.
pub(crate) fn points(latency: &Histogram) -> Vec<(f64, f64)> {
    // Of fewer than 20 operations, fewer than ten are beyond the median.
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

/// A table of the percentiles that reports show.
fn data(curves: &[Curve<'_>]) -> Table {
    let mut table = Table::new(1, &[&["", "operations"][..], &latencies::COLUMNS].concat());
    let has_service = curves.iter().any(|curve| curve.service.is_some());
    if has_service {
        table.column("p99 service time", false);
    }
    for curve in curves {
        let of = curve.latency.summary();
        let name = curve.name.as_str().into();
        let mut row = vec![name, Cell::count(curve.latency.count())];
        row.extend(latencies::cells(&of, latencies::COLUMNS, Number::Latency));
        if has_service {
            let service = curve.service.map(Histogram::summary);
            row.push(Cell::latency(service.and_then(|service| service.p99)));
        }
        table.row(row);
    }
    table
}
