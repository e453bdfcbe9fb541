//! Charts of a load sweep: latency against the achieved rate, achieved against offered rate, and
//! the limits. For a sweep over workers or ranks: how the rate scales.

use document::units::{latency, rate};
use document::{Cell, Column, Document, Number, Table};
use record::Load;
use verdict::{SloSummary, Summary, SweepStepSummary, SweepSummary};

use super::labels::{short_latency, short_rate};
use crate::latencies;
use crate::pictures::chart::{Axis, Behind, Chart, Series, points};
use crate::pictures::scale::Scale;
use crate::steps::by_load;
use crate::text;

pub(super) use crate::text::sweep::load;

/// The sustained load level with the highest load, and its index in the order of measurement. If
/// none was sustained, the complete level with the highest load.
pub(super) fn last_sustained(summary: &Summary) -> Option<(usize, &SweepStepSummary)> {
    let ended = || {
        let steps = by_load(summary).into_iter();
        steps.filter(|(_, step)| step.complete && step.achieved_per_second.is_some())
    };
    ended()
        .rfind(|(_, step)| step.holds)
        .or_else(|| ended().next_back())
}

/// Describes a load level and whether it was sustained.
pub(super) fn which(step: &SweepStepSummary) -> String {
    match step.holds {
        true => format!("the last sustained step, {}", load(step.load)),
        false => format!("{}, which was not sustained: no step was", load(step.load)),
    }
}

pub(super) fn render(document: &mut Document, summary: &Summary) {
    let Some(sweep) = &summary.sweep else {
        return;
    };
    document.title("Sweep");
    let steps: Vec<&SweepStepSummary> =
        by_load(summary).into_iter().map(|(_, step)| step).collect();
    let measured: Vec<&SweepStepSummary> = steps
        .iter()
        .copied()
        .filter(|step| step.achieved_per_second.is_some())
        .collect();
    if measured.is_empty() {
        document.note("Pictures of the sweep: not available (no step measured a transaction).");
    } else {
        latencies(document, sweep, &measured);
        achieved(document, &measured);
    }
    text::sweep::render(document, summary, true);
}

fn axis(name: &str, values: impl Iterator<Item = f64>) -> Axis {
    Axis::new(name, Scale::from_zero(values), short_rate)
}

fn table(steps: &[&SweepStepSummary]) -> Table {
    let columns: [Column<&&SweepStepSummary>; 6] = [
        ("requested/s", |of| Cell::rate(of.load.rate())),
        ("workers", |of| Cell::count(of.workers)),
        ("achieved/s", |of| Cell::rate(of.achieved_per_second)),
        ("p50", |of| Cell::latency(of.p50_ns)),
        ("p99", |of| Cell::latency(of.p99_ns)),
        ("p99.9", |of| Cell::latency(of.p999_ns)),
    ];
    Table::of(0, &columns, steps)
}

fn latencies(document: &mut Document, sweep: &SweepSummary, steps: &[&SweepStepSummary]) {
    let line = |name| {
        let point = |step: &&SweepStepSummary| {
            let ns = latencies::ns(&latencies::of_step(step), name)?;
            Some((step.achieved_per_second?, ns))
        };
        Series::new(name, steps.iter().map(point).collect())
    };
    let series: Vec<Series> = ["p50", "p99", "p99.9"].map(line).into();
    let ys = || points(&series).map(|(_, y)| y);
    if ys().next().is_none() {
        document.note("Latency against the rate: not available (no latencies were recorded).");
        return;
    }
    // The chart shows the latencies of all operations, so an SLO of one of them is no level of it.
    let of_all = |slo: &&SloSummary| slo.operation.is_none();
    let slo = sweep.slo.as_ref().filter(of_all);
    let slo = slo.map(|slo| slo.p99_ns as f64);
    let mut behind = Vec::new();
    behind.extend(slo.map(|at| Behind::Level {
        at,
        name: format!("SLO: p99 < {}", latency(at)),
    }));
    behind.extend(knee(sweep, steps));
    let data = table(steps);
    let found = text::sweep::found(sweep);
    let caption = match found.is_empty() {
        true => "All operations of each step.".to_owned(),
        false => format!("All operations of each step. Found: {}.", found.join(", ")),
    };
    let achieved = steps.iter().filter_map(|step| step.achieved_per_second);
    let scale = Scale::decades(ys().chain(slo).collect::<Vec<_>>().into_iter());
    let axes = (
        axis("achieved transactions/s", achieved),
        Axis::new("latency", scale, short_latency),
    );
    let chart = Chart::new("Latency against the achieved rate", caption, axes, series);
    document.figure(chart.over(behind).picture(data));
}

/// A mark at the knee. The knee is defined by its load, but drawn at the rate that was achieved
/// with this load.
fn knee(sweep: &SweepSummary, steps: &[&SweepStepSummary]) -> Option<Behind> {
    let knee = sweep.knee.as_ref()?;
    let at_knee = |step: &&&SweepStepSummary| match step.load {
        Load::Rate(rate) => rate == knee.rate,
        Load::Workers(count) | Load::Ranks(count) => f64::from(count) == knee.rate,
        Load::Closed => false,
    };
    let at = steps.iter().find(at_knee)?.achieved_per_second?;
    let name = if steps.iter().any(|step| step.load.rate().is_some()) {
        format!("knee {}/s", rate(Some(knee.rate)))
    } else {
        format!("knee {} {}s", knee.rate, counted_by(steps))
    };
    Some(Behind::Upright { at, name })
}

/// The unit of load levels without a rate: worker or rank.
fn counted_by(steps: &[&SweepStepSummary]) -> &'static str {
    match steps.first().map(|step| step.load) {
        Some(Load::Ranks(_)) => "rank",
        _ => "worker",
    }
}

/// Adds a chart of achieved against offered rate. For a sweep over workers or ranks, it is a chart
/// of the achieved rate against the number of workers or ranks. The reference line is then the rate
/// of the lowest level, scaled linearly.
fn achieved(document: &mut Document, steps: &[&SweepStepSummary]) {
    let of = |load: fn(&SweepStepSummary) -> Option<f64>| -> Vec<(f64, f64)> {
        steps
            .iter()
            .filter_map(|step| Some((load(step)?, step.achieved_per_second?)))
            .collect()
    };
    let of_rates = of(|step| step.load.rate());
    let of_counts = of(|step| step.load.count().map(f64::from));
    let is_of_counts = !of_counts.is_empty();
    let points = if is_of_counts { of_counts } else { of_rates };
    let Some((first, at_first)) = points.first().copied().filter(|(load, _)| *load > 0.0) else {
        return;
    };
    let each = if is_of_counts { at_first / first } else { 1.0 };
    let ideal: Vec<(f64, f64)> = points
        .iter()
        .map(|(load, _)| (*load, load * each))
        .collect();
    let [title, x, against, caption] = words_of_scaling(is_of_counts, counted_by(steps));
    let mut data = Table::new(0, &[x, "achieved/s", against]);
    for ((load, achieved), (_, ideal)) in points.iter().zip(&ideal) {
        let load = if is_of_counts {
            Number::Count(*load as u64)
        } else {
            Number::Rate(*load)
        };
        data.row(vec![
            load.into(),
            Number::Rate(*achieved).into(),
            Number::Rate(*ideal).into(),
        ]);
    }
    let ys: Vec<f64> = points.iter().chain(&ideal).map(|(_, y)| *y).collect();
    let axes = (
        axis(x, points.iter().map(|(x, _)| *x)),
        axis("transactions/s", ys.into_iter()),
    );
    let series = [("achieved", points), (against, ideal)]
        .map(|(name, points)| Series::new(name, points.into_iter().map(Some).collect()));
    document.figure(Chart::new(title, caption, axes, series.into()).picture(data));
}

/// Texts of the chart: title, name of the horizontal axis, name of the reference line, and caption.
fn words_of_scaling(is_of_counts: bool, counted_by: &str) -> [&'static str; 4] {
    match (is_of_counts, counted_by) {
        (true, "rank") => [
            "Scaling over ranks",
            "ranks",
            "linear",
            "Achieved rate against a line on which each rank adds what the ranks of the first \
             step did.",
        ],
        (true, _) => [
            "Scaling over workers",
            "workers",
            "linear",
            "Achieved rate against a line on which each worker adds what the workers of the first \
             step did.",
        ],
        (false, _) => [
            "Achieved against offered rate",
            "offered transactions/s",
            "offered",
            "Where the achieved rate leaves the offered one, transactions wait.",
        ],
    }
}
