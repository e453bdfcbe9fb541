//! Values along the axes of a study.

use std::collections::BTreeMap;

use document::{Cell, Document, Number, Table};
use study::{Design, Metric};

use super::limit;
use crate::comparison::{noun, value};
use crate::page::sides::{self, PageSide, capital, label, not_alike, number};
use crate::pictures::chart::{Axis, Behind, Chart, SERIES_MAX, Series, points};
use crate::pictures::scale::Scale;

/// Adds charts of the metrics along each numeric axis of a study. Each combination of the values of
/// all other dimensions has its own chart, with one line for each target.
pub(crate) fn along(
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
        // The keys are the values of all dimensions, except `target`, `side` and this axis.
        let mut panels: BTreeMap<Vec<(&str, &str)>, Vec<&PageSide<'_>>> = BTreeMap::new();
        for side in sides
            .iter()
            .filter(|side| !side.is_twin && place(side).is_some())
        {
            let others = coordinates(side)
                .filter(|(dimension, _)| !["target", "side", &axis.name].contains(dimension));
            panels.entry(others.collect()).or_default().push(side);
        }
        limit::pictures(
            document,
            panels.iter(),
            metrics,
            |document, panel, metric| {
                let (others, sides) = panel;
                let others: Vec<String> = others
                    .iter()
                    .map(|(dimension, value)| format!("{dimension} {value}"))
                    .collect();
                let names = (axis.name.as_str(), others.join(", "));
                self::panel(document, names, sides, &place, metric);
            },
        );
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

/// Groups the configurations by target, or by the dimension `side` if they have no target.
fn by_target<'a>(sides: &[&'a PageSide<'a>]) -> Vec<(&'a str, Vec<&'a PageSide<'a>>)> {
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
    lines
}

fn panel(
    document: &mut Document,
    (axis, others): (&str, String),
    sides: &[&PageSide<'_>],
    place: &impl Fn(&PageSide<'_>) -> Option<f64>,
    metric: Metric,
) {
    let mut lines = by_target(sides);
    let more = lines.len().saturating_sub(SERIES_MAX);
    lines.truncate(SERIES_MAX);
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
        }
        series.push(Series::new(*name, points));
    }
    let data = table(axis, &lines, place, metric);
    if data.is_empty() {
        return;
    }
    let separator = if others.is_empty() { "" } else { ", " };
    let title = format!("{} along {axis}{separator}{others}", capital(&noun(metric)));
    let scales = (
        wide(points(&series).map(|(x, _)| x)),
        Scale::from_zero(std::iter::once(highest)),
    );
    let axes = (
        Axis::new(axis, scales.0, number),
        Axis::new(noun(metric), scales.1, label(metric)),
    );
    let chart = Chart::new(title, caption(&lines, more), axes, series);
    document.figure(chart.over(behind).picture(data));
}

/// A table of the median, the minimum and the maximum of each configuration in `lines`.
fn table(
    axis: &str,
    lines: &[(&str, Vec<&PageSide<'_>>)],
    place: &impl Fn(&PageSide<'_>) -> Option<f64>,
    metric: Metric,
) -> Table {
    let mut table = Table::new(1, &["", axis, "runs", "median", "least", "greatest"]);
    for side in lines.iter().flat_map(|(_, sides)| sides) {
        let (Some(x), Some(middle)) = (place(side), side.middle(metric)) else {
            continue;
        };
        table.row(vec![
            side.linked(),
            Cell::ours(sides::number(x)),
            Number::Count(side.counted().count() as u64).into(),
            value(metric, middle.median),
            value(metric, middle.least),
            value(metric, middle.greatest),
        ]);
    }
    table
}

fn caption(lines: &[(&str, Vec<&PageSide<'_>>)], more: usize) -> String {
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
    caption + &not_alike(&drawn)
}

/// A scale from the least to the greatest value, logarithmic if the greatest is at least 8 times
/// the least.
fn wide(values: impl Iterator<Item = f64> + Clone) -> Scale {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.clone().fold(0.0, f64::max);
    match low > 0.0 && high / low >= 8.0 {
        true => Scale::Log { low, high },
        false => Scale::over(values),
    }
}
