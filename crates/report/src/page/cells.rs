//! What sides came to, beyond their ratios: a table of all of them, values along the axes of a
//! study, distributions over one another, and runs in their order.

use std::collections::BTreeMap;

use document::{Cell, Document, Number, Table};
use record::{Action, Histogram};
use study::{Design, Metric, UnlikeWhat};

use super::percentiles;
use super::percentiles::Curve;
use super::sides::{PageSide, anchor, capital, label, not_alike, number, value};
use crate::comparison::noun;
use crate::pictures::chart::{Axis, Behind, Chart, SERIES_MAX, Series};
use crate::pictures::scale::Scale;

/// No kind of picture is drawn more often: the tables have the rest.
const PICTURES_MAX: usize = 12;

/// Every side with its runs and the middle of each metric.
pub(super) fn table(document: &mut Document, sides: &[PageSide<'_>], metrics: &[Metric]) {
    let mut table = Table::new(3, &["", "durability tier", "cache state"])
        .folding()
        .leading(1);
    table.column("runs", false);
    table.column("INVALID", false);
    for metric in metrics {
        table.column(format!("{}, median", noun(*metric)), false);
        table.column("least", false);
        table.column("greatest", false);
    }
    for side in sides {
        let all = side.runs.len();
        let mut row = vec![
            side.linked(),
            side.conditions(UnlikeWhat::DurabilityTier).into(),
            side.conditions(UnlikeWhat::CacheState).into(),
            Number::Count(all as u64).into(),
            Number::Count((all - side.counted().count()) as u64).into(),
        ];
        for metric in metrics {
            let middle = side.middle(*metric);
            let cell = |of: Option<f64>| of.map(|of| value(*metric, of)).unwrap_or(Cell::Missing);
            row.push(cell(middle.map(|middle| middle.median)));
            row.push(cell(middle.map(|middle| middle.least)));
            row.push(cell(middle.map(|middle| middle.greatest)));
        }
        table.row(row);
    }
    document.table(table);
    document.note(
        "Medians over the runs that are counted, with the least and the greatest. A name leads to \
         its runs.",
    );
}

/// For each axis of numbers, the values along it: a picture for all else that is varied, a line for
/// each target.
pub(super) fn along(
    document: &mut Document,
    sides: &[PageSide<'_>],
    design: &Design,
    metrics: &[Metric],
) {
    for axis in &design.axes {
        let Some(values) = axis.numbers().filter(|values| values.len() > 1) else {
            continue;
        };
        let place = |side: &PageSide<'_>| {
            let at = side.coordinate(&axis.name)?;
            values
                .iter()
                .find(|(word, _)| word == at)
                .map(|(_, number)| *number)
        };
        // All else that is varied, but for targets and sides.
        let mut panels: BTreeMap<Vec<(&str, &str)>, Vec<&PageSide<'_>>> = BTreeMap::new();
        for side in sides
            .iter()
            .filter(|side| !side.is_twin && place(side).is_some())
        {
            let others = coordinates(side)
                .filter(|(dimension, _)| !["target", "side", &axis.name].contains(dimension));
            panels.entry(others.collect()).or_default().push(side);
        }
        let pictures = || {
            panels
                .iter()
                .flat_map(|panel| metrics.iter().map(move |metric| (panel, *metric)))
        };
        for ((others, sides), metric) in pictures().take(PICTURES_MAX) {
            let others: Vec<String> = others
                .iter()
                .map(|(dimension, value)| format!("{dimension} {value}"))
                .collect();
            panel(
                document,
                (&axis.name, &others.join(", ")),
                sides,
                &place,
                metric,
            );
        }
        left_out(document, pictures().count());
    }
}

fn coordinates<'a>(side: &'a PageSide<'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    let part = side
        .runs
        .first()
        .and_then(|run| run.run.record.study.as_ref());
    part.into_iter()
        .flat_map(|part| &part.coordinates)
        .map(|at| (at.dimension.as_str(), at.value.as_str()))
}

fn left_out(document: &mut Document, all: usize) {
    if all > PICTURES_MAX {
        document.note(format!(
            "{PICTURES_MAX} of {all} pictures are drawn; the tables have all values."
        ));
    }
}

fn panel(
    document: &mut Document,
    (axis, others): (&str, &str),
    sides: &[&PageSide<'_>],
    place: &impl Fn(&PageSide<'_>) -> Option<f64>,
    metric: Metric,
) {
    let mut lines: Vec<(&str, Vec<&PageSide<'_>>)> = Vec::new();
    for side in sides {
        let name = side
            .coordinate("target")
            .or_else(|| side.coordinate("side"))
            .unwrap_or_default();
        match lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sides)) => sides.push(side),
            None => lines.push((name, vec![side])),
        }
    }
    let more = lines.len().saturating_sub(SERIES_MAX);
    lines.truncate(SERIES_MAX);
    let mut data = Table::new(1, &["", axis, "runs", "median", "least", "greatest"]);
    let mut series = Vec::new();
    let mut behind = Vec::new();
    let mut highest = 0.0_f64;
    for (number, (name, sides)) in lines.iter_mut().enumerate() {
        let at = |side: &&PageSide<'_>| place(side).unwrap_or_default();
        sides.sort_by(|one, other| at(one).total_cmp(&at(other)));
        let mut points = Vec::new();
        for side in sides {
            let (Some(x), Some(middle)) = (place(side), side.middle(metric)) else {
                points.push(None);
                continue;
            };
            points.push(Some((x, middle.median)));
            highest = highest.max(middle.greatest);
            behind.push(Behind::Range {
                at: x,
                from: middle.least,
                to: middle.greatest,
                series: number,
            });
            data.row(vec![
                side.linked(),
                Cell::ours(super::sides::number(x)),
                Number::Count(side.counted().count() as u64).into(),
                value(metric, middle.median),
                value(metric, middle.least),
                value(metric, middle.greatest),
            ]);
        }
        let name = (*name).to_owned();
        series.push(Series { name, points });
    }
    if data.is_empty() {
        return;
    }
    let title = match others.is_empty() {
        true => format!("{} along {axis}", capital(&noun(metric))),
        false => format!("{} along {axis}, {others}", capital(&noun(metric))),
    };
    let mut caption = "Medians over the counted runs of each cell; bars from the least to the \
                       greatest."
        .to_owned();
    if more > 0 {
        caption += &format!(" {more} more targets are not drawn.");
    }
    let drawn: Vec<&PageSide<'_>> = lines
        .iter()
        .flat_map(|(_, sides)| sides.iter().copied())
        .collect();
    caption += &not_alike(&drawn);
    let xs: Vec<f64> = series
        .iter()
        .flat_map(|series| series.points.iter().flatten())
        .map(|(x, _)| *x)
        .collect();
    let chart = Chart {
        title: &title,
        description: &caption,
        x: Axis {
            name: axis.to_owned(),
            scale: wide(&xs),
            label: number,
        },
        y: Axis {
            name: noun(metric),
            scale: Scale::from_zero(std::iter::once(highest)),
            label: label(metric),
        },
        behind,
        series,
    };
    document.figure(chart.picture(data));
}

/// A logarithmic scale where values lie far apart, exactly from the least to the greatest.
fn wide(values: &[f64]) -> Scale {
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
            (low.min(*value), high.max(*value))
        });
    match low > 0.0 && high / low >= 8.0 {
        true => Scale::Log { low, high },
        false => Scale::over(values.iter().copied()),
    }
}

/// Percentile curves of what is compared with one another: of all operations of the transactions,
/// and of those whose latencies are compared.
pub(super) fn distributions(
    document: &mut Document,
    groups: &[Vec<&PageSide<'_>>],
    metrics: &[Metric],
) {
    let mut kinds: Vec<Option<Action>> = vec![None];
    for metric in metrics {
        if let Metric::Latency(action, _) = metric {
            if !kinds.contains(&Some(*action)) {
                kinds.push(Some(*action));
            }
        }
    }
    let pictures = || {
        groups
            .iter()
            .flat_map(|group| kinds.iter().map(move |kind| (group, *kind)))
    };
    for (group, kind) in pictures().take(PICTURES_MAX) {
        let merged = |side: &PageSide<'_>| {
            let mut merged = Histogram::default();
            for run in side.counted() {
                let operations = percentiles::operations(run.run.record);
                for operation in
                    operations.filter(|operation| kind.is_none_or(|kind| operation.action == kind))
                {
                    merged.merge(&operation.meter.latency);
                }
            }
            merged
        };
        let drawn: Vec<&PageSide<'_>> = group.iter().copied().take(SERIES_MAX).collect();
        let merged: Vec<(String, Histogram)> = drawn
            .iter()
            .map(|side| (side.name.clone(), merged(side)))
            .collect();
        let curves: Vec<Curve<'_>> = merged
            .iter()
            .map(|(name, latency)| Curve::of(name, latency))
            .collect();
        let runs = drawn.iter().flat_map(|side| side.counted());
        let operations: Vec<_> = runs
            .flat_map(|run| percentiles::operations(run.run.record))
            .collect();
        let time = percentiles::what(&operations);
        let what = kind.map_or_else(
            || "all operations".to_owned(),
            |kind| kind.name().to_owned(),
        );
        let mut caption = format!(
            "{} that a share of {what} of the transactions did not exceed, over all counted runs. \
             Each curve ends where fewer than ten operations lie beyond.",
            capital(time)
        );
        if group.len() > SERIES_MAX {
            caption += &format!(" The first {SERIES_MAX} of {} are drawn.", group.len());
        }
        caption += &not_alike(&drawn);
        let title = match groups.len() {
            1 => format!("Percentiles of {time}, {what}"),
            _ => format!(
                "Percentiles of {time}, {what}: {} and what is compared with it",
                group[0].name
            ),
        };
        percentiles::curves(document, &title, caption, time, &curves);
    }
    left_out(document, pictures().count());
}

/// Runs in the order of time, each over the median of its side: what drifts is seen.
pub(super) fn order(document: &mut Document, groups: &[Vec<&PageSide<'_>>], metrics: &[Metric]) {
    let pictures = || {
        groups
            .iter()
            .flat_map(|group| metrics.iter().map(move |metric| (group, *metric)))
    };
    for (group, metric) in pictures().take(PICTURES_MAX) {
        in_order(document, group, metric, groups.len() > 1);
    }
    left_out(document, pictures().count());
}

fn in_order(
    document: &mut Document,
    group: &[&PageSide<'_>],
    metric: Metric,
    is_one_of_several: bool,
) {
    let mut data = Table::new(
        2,
        &["run", "", "order", "block", "value", "over its median"],
    );
    let mut series = Vec::new();
    let mut behind = Vec::new();
    let mut xs = Vec::new();
    for side in group.iter().take(SERIES_MAX) {
        let Some(middle) = side.middle(metric).filter(|middle| middle.median > 0.0) else {
            continue;
        };
        let mut runs: Vec<_> = side.runs.iter().collect();
        runs.sort_by_key(|run| run.order);
        let mut points = Vec::new();
        for run in runs {
            let order = run.order as f64;
            xs.push(order);
            let number = run.observed.run.unwrap_or_default();
            if !run.observed.is_counted() {
                points.push(None);
                behind.push(Behind::Stretch {
                    from: order - 0.3,
                    to: order + 0.3,
                    name: format!("run {number} of {} is INVALID", side.name),
                    class: "failed",
                });
                continue;
            }
            let Some(of) = run.observed.values.get(&metric) else {
                continue;
            };
            points.push(Some((order, of / middle.median)));
            let block = run
                .observed
                .block
                .as_ref()
                .map(|block| Number::Ordinal(block.number.into()));
            data.row(vec![
                Cell::Linked(number.to_string(), anchor(number)),
                side.name.as_str().into(),
                Number::Ordinal(run.order as u64).into(),
                block.into(),
                value(metric, *of),
                Number::Decimal(of / middle.median, 3).into(),
            ]);
        }
        let name = side.name.clone();
        series.push(Series { name, points });
    }
    if data.is_empty() {
        return;
    }
    let points = series
        .iter()
        .flat_map(|series| series.points.iter().flatten());
    let far = points.fold(0.02_f64, |far, (_, y)| far.max((y - 1.0).abs())) * 1.1;
    let what = noun(metric);
    let title = match is_one_of_several {
        true => format!("{} in the order of runs: {}", capital(&what), group[0].name),
        false => format!("{} in the order of runs", capital(&what)),
    };
    let mut caption = "Each run over the median of its side, in the order in which all runs \
                       began. Without drift, points lie around 1 from left to right. Red: INVALID \
                       runs, which are not counted."
        .to_owned();
    if group.len() > SERIES_MAX {
        caption += &format!(" The first {SERIES_MAX} of {} are drawn.", group.len());
    }
    caption += &not_alike(group);
    let chart = Chart {
        title: &title,
        description: &caption,
        x: Axis {
            name: "run, in the order of time".to_owned(),
            scale: Scale::over(xs.into_iter()),
            label: |value| match value.fract() == 0.0 {
                true => document::units::fixed(value, 0),
                false => String::new(),
            },
        },
        y: Axis {
            name: format!("{what} over the median"),
            scale: Scale::Linear {
                low: (1.0 - far).max(0.0),
                high: 1.0 + far,
            },
            label: number,
        },
        behind,
        series,
    };
    document.figure(chart.picture(data));
}
