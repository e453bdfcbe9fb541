//! Charts of a load sweep: latency against the achieved rate, achieved against offered rate, and
//! the limits. For a sweep over workers or ranks: how the rate scales.

use document::units::rate;
use document::{Cell, Column, Document, Number, Table};
use record::Load;
use verdict::{SloSummary, Summary, SweepStepSummary, SweepSummary};

use super::labels::{short_latency, short_rate};
use crate::latencies;
use crate::pictures::chart::{Axis, Behind, Chart, Series, points};
use crate::pictures::scale::Scale;
use crate::steps::{Swept, by_load, is_at};
use crate::text;

pub(super) use crate::steps::load;

/// The load level at the saturation rate, preceded by its index in the order of measurement. For a
/// sweep of workers or ranks: the sustained load level with the highest load. If no load level was
/// sustained, the complete load level with the highest load.
pub(super) fn last_sustained(summary: &Summary) -> Option<(usize, &SweepStepSummary)> {
    let limit = summary.sweep.as_ref()?.limit;
    let saturation = limit.and_then(|limit| limit.highest);
    let ended = || {
        let steps = by_load(summary).into_iter();
        steps.filter(|(_, step)| step.complete && step.achieved_per_second.is_some())
    };
    ended()
        .find(|(_, step)| saturation.is_some_and(|rate| is_at(step.load, rate)))
        .or_else(|| ended().rfind(|(_, step)| step.holds))
        .or_else(|| ended().next_back())
}

/// Describes a load level and whether it was sustained.
pub(super) fn which(step: &SweepStepSummary) -> String {
    if step.name.is_some() {
        return text::sweep::name(step);
    }
    match step.holds {
        true => format!("the last sustained level, {}", load(step.load)),
        false => format!("{}, which was not sustained: no level was", load(step.load)),
    }
}

pub(super) fn render(document: &mut Document, summary: &Summary) {
    let Some(sweep) = &summary.sweep else {
        return;
    };
    if sweep.is_of_phases() {
        document.title("Phases of the workload");
        return text::sweep::render(document, summary, true);
    }
    document.title("Sweep");
    let steps: Vec<&SweepStepSummary> =
        by_load(summary).into_iter().map(|(_, step)| step).collect();
    let measured: Vec<&SweepStepSummary> = steps
        .iter()
        .copied()
        .filter(|step| step.achieved_per_second.is_some())
        .collect();
    if measured.is_empty() {
        document.note("Pictures of the sweep: not available (no level measured a transaction).");
    } else {
        latencies(document, sweep, &measured);
        achieved(document, Swept::of(sweep), &measured);
    }
    text::sweep::render(document, summary, true);
}

fn axis(name: &str, values: impl Iterator<Item = f64>) -> Axis {
    Axis::new(name, Scale::from_zero(values), short_rate)
}

fn table(steps: &[&SweepStepSummary]) -> Table {
    let columns: [Column<&&SweepStepSummary>; 6] = [
        ("offered/s", |of| Cell::rate(of.load.rate())),
        ("workers", |of| Cell::count(of.workers)),
        ("achieved/s", |of| Cell::rate(of.achieved_per_second)),
        ("p50", |of| Cell::latency(of.p50_ns)),
        ("p99", |of| Cell::latency(of.p99_ns)),
        ("p99.9", |of| Cell::latency(of.p999_ns)),
    ];
    Table::of(0, &columns, steps)
}

/// Whether the line of the chart joins the point of a load level. The line leaves out the closed
/// loop, which has no offered load, and load levels that were not sustained.
fn is_joined(step: &SweepStepSummary) -> bool {
    step.complete && step.holds && step.load != Load::Closed
}

/// A line through the sustained load levels, by load, and single points for the other levels.
fn series(
    name: &str,
    steps: &[&SweepStepSummary],
    point: impl Fn(&SweepStepSummary) -> Option<(f64, f64)>,
) -> Series {
    let of = |joined: bool| {
        let steps = steps.iter().filter(move |step| is_joined(step) == joined);
        steps.map(|step| point(step))
    };
    let single = of(false).flatten().collect();
    Series::new(name, of(true).collect()).with_single(single)
}

/// The part of a caption that explains single points, which are not on the line.
fn singles(steps: &[&SweepStepSummary]) -> &'static str {
    let others = || steps.iter().filter(|step| !is_joined(step));
    let has_closed = others().any(|step| step.load == Load::Closed);
    let has_unsustained = others().any(|step| step.load != Load::Closed);
    match (has_closed, has_unsustained) {
        (false, false) => "",
        (true, false) => " The pale points are the closed loop.",
        (false, true) => " The pale points are levels that were not sustained.",
        (true, true) => " The pale points are the closed loop and levels that were not sustained.",
    }
}

fn latencies(document: &mut Document, sweep: &SweepSummary, steps: &[&SweepStepSummary]) {
    let line = |name| {
        series(name, steps, |step| {
            let ns = latencies::ns(&latencies::of_step(step), name)?;
            Some((step.achieved_per_second?, ns))
        })
    };
    let mut series: Vec<Series> = ["p50", "p99", "p99.9"].map(line).into();
    // A percentile with too few operations at every level has no line.
    series.retain(|of| points(std::slice::from_ref(of)).next().is_some());
    let ys = || points(&series).map(|(_, y)| y);
    if ys().next().is_none() {
        document.note("Latency against the rate: not available (no latencies were recorded).");
        return;
    }
    // The chart shows the latencies of all operations together, so an SLO for one kind of operation
    // is not drawn.
    let of_all = |slo: &&SloSummary| slo.operation.is_none();
    let slo = sweep.slo.as_ref().filter(of_all);
    let mut behind = Vec::new();
    behind.extend(slo.map(|slo| Behind::Level {
        at: slo.p99_ns as f64,
        name: format!("SLO: {}", text::slo::slo_name(slo)),
    }));
    behind.extend(knee(sweep, steps));
    let found = text::sweep::found(sweep);
    let found = match found.is_empty() {
        true => String::new(),
        false => format!(" Found: {}.", found.join(", ")),
    };
    let caption = format!("All operations of each level.{}{found}", singles(steps));
    let achieved = steps.iter().filter_map(|step| step.achieved_per_second);
    let all = ys()
        .chain(slo.map(|slo| slo.p99_ns as f64))
        .collect::<Vec<_>>();
    let axes = (
        axis("achieved transactions/s", achieved),
        Axis::new("latency", Scale::decades(all.into_iter()), short_latency),
    );
    let chart = Chart::new("Latency against the achieved rate", caption, axes, series);
    document.figure(chart.over(behind).picture(table(steps)));
}

/// A mark at the knee. The knee is defined by its load, but drawn at the rate that was achieved
/// with this load.
fn knee(sweep: &SweepSummary, steps: &[&SweepStepSummary]) -> Option<Behind> {
    let knee = sweep.knee.as_ref()?;
    let at_knee = steps.iter().find(|step| is_at(step.load, knee.rate));
    // For rates, the name of the axis contains the unit, so the mark has none.
    let load = match Swept::of(sweep) {
        Swept::Rates => format!("{} offered", rate(Some(knee.rate))),
        swept => swept.load(knee.rate),
    };
    Some(Behind::Upright {
        at: at_knee?.achieved_per_second?,
        name: format!("knee {load}"),
    })
}

/// Adds a chart of achieved against offered rate. For a sweep over workers or ranks, it is a chart
/// of the achieved rate against the number of workers or ranks. The reference line is then the rate
/// of the lowest load level, scaled linearly.
fn achieved(document: &mut Document, swept: Swept, steps: &[&SweepStepSummary]) {
    let load = |step: &SweepStepSummary| match swept {
        Swept::Rates => step.load.rate(),
        Swept::Workers | Swept::Ranks | Swept::Phases => step.load.count().map(f64::from),
    };
    let point = |step: &SweepStepSummary| Some((load(step)?, step.achieved_per_second?));
    let points: Vec<(f64, f64)> = steps.iter().filter_map(|step| point(step)).collect();
    let Some((first, at_first)) = points.first().copied().filter(|(load, _)| *load > 0.0) else {
        return;
    };
    let each = match swept {
        Swept::Rates => 1.0,
        Swept::Workers | Swept::Ranks | Swept::Phases => at_first / first,
    };
    let ideal: Vec<(f64, f64)> = points
        .iter()
        .map(|(load, _)| (*load, load * each))
        .collect();
    let [title, x, against, caption] = words_of_scaling(swept);
    let mut data = Table::new(0, &[x, "achieved/s", against]);
    for ((load, achieved), (_, ideal)) in points.iter().zip(&ideal) {
        let load = match swept {
            Swept::Rates => Number::Rate(*load),
            Swept::Workers | Swept::Ranks | Swept::Phases => Number::Count(*load as u64),
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
    let offered: Vec<&SweepStepSummary> = steps
        .iter()
        .copied()
        .filter(|step| load(step).is_some())
        .collect();
    let achieved = series("achieved", &offered, point);
    let ideal = Series::new(against, ideal.into_iter().map(Some).collect());
    let caption = format!("{caption}{}", singles(&offered));
    document.figure(Chart::new(title, caption, axes, vec![achieved, ideal]).picture(data));
}

/// Texts of the chart: title, name of the horizontal axis, name of the reference line, and caption.
const fn words_of_scaling(swept: Swept) -> [&'static str; 4] {
    match swept {
        Swept::Ranks => [
            "Scaling over ranks",
            "ranks",
            "linear",
            "Achieved rate against a line on which each rank adds what the ranks of the first \
             level did.",
        ],
        Swept::Workers => [
            "Scaling over workers",
            "workers",
            "linear",
            "Achieved rate against a line on which each worker adds what the workers of the first \
             level did.",
        ],
        // Phases have no common chart: their operations differ.
        Swept::Rates | Swept::Phases => [
            "Achieved against offered rate",
            "offered transactions/s",
            "offered",
            "Where the achieved rate leaves the offered one, transactions wait.",
        ],
    }
}
