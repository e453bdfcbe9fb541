//! Charts of the runs of each configuration in order of time, which make drift visible.

use document::{Cell, Document, Number, Table};
use study::Metric;

use super::limit;
use crate::comparison::{noun, value};
use crate::page::labels::whole;
use crate::page::sides::{PageSide, SideRun, anchor, capital, not_alike, number};
use crate::pictures::chart::{Axis, Behind, Chart, SERIES_MAX, Series, points};
use crate::pictures::scale::Scale;

/// Adds charts of the runs in order of time, which make drift visible. Each run is drawn relative
/// to the median of its configuration.
pub(crate) fn order(document: &mut Document, groups: &[Vec<&PageSide<'_>>], metrics: &[Metric]) {
    limit::pictures(
        document,
        groups.iter(),
        metrics,
        |document, group, metric| {
            in_order(document, group, metric, groups.len() > 1);
        },
    );
}

fn in_order(
    document: &mut Document,
    group: &[&PageSide<'_>],
    metric: Metric,
    is_one_of_several: bool,
) {
    let sides = group.iter().take(SERIES_MAX);
    let medians = sides.filter_map(|side| Some((*side, side.middle(metric)?.median)));
    let drawn: Vec<_> = medians.filter(|(_, median)| *median > 0.0).collect();
    let data = table(&drawn, metric);
    if data.is_empty() {
        return;
    }
    let lines = drawn.iter();
    let lines = lines.map(|(side, median)| over_median(side, *median, metric));
    let series: Vec<Series> = lines.collect();
    let far = points(&series).fold(0.02_f64, |far, (_, y)| far.max((y - 1.0).abs())) * 1.1;
    let what = noun(metric);
    let title = match is_one_of_several {
        true => format!("{} in the order of runs: {}", capital(&what), group[0].name),
        false => format!("{} in the order of runs", capital(&what)),
    };
    let runs = drawn.iter().flat_map(|(side, _)| &side.runs);
    let orders = Scale::over(runs.map(|run| run.order as f64));
    let around_one = Scale::over([(1.0 - far).max(0.0), 1.0 + far].into_iter());
    let axes = (
        Axis::new("run, in the order of time", orders, whole),
        Axis::new(format!("{what} over the median"), around_one, number),
    );
    let chart = Chart::new(title, caption(group), axes, series);
    let invalid = drawn.iter().flat_map(|(side, _)| invalid(side)).collect();
    document.figure(chart.over(invalid).picture(data));
}

fn caption(group: &[&PageSide<'_>]) -> String {
    let mut caption = "Each run over the median of its side, in the order in which all runs \
                       began. Without drift, points lie around 1 from left to right. Red: INVALID \
                       runs, which are not counted."
        .to_owned();
    if group.len() > SERIES_MAX {
        caption += &format!(" The first {SERIES_MAX} of {} are drawn.", group.len());
    }
    caption + &not_alike(group)
}

fn in_time<'a>(side: &'a PageSide<'a>) -> Vec<&'a SideRun<'a>> {
    let mut runs: Vec<_> = side.runs.iter().collect();
    runs.sort_by_key(|run| run.order);
    runs
}

/// The runs of a configuration, relative to its median. An INVALID run interrupts the line.
fn over_median(side: &PageSide<'_>, median: f64, metric: Metric) -> Series {
    let point = |run: &SideRun<'_>| match run.observed.is_counted() {
        true => {
            let value = run.observed.values.get(&metric)?;
            Some(Some((run.order as f64, value / median)))
        }
        false => Some(None),
    };
    let points = in_time(side).into_iter().filter_map(point).collect();
    Series::new(side.name.clone(), points)
}

/// The INVALID runs of a configuration, as marks in the background.
fn invalid<'a>(side: &'a PageSide<'a>) -> impl Iterator<Item = Behind> + 'a {
    let runs = in_time(side).into_iter();
    runs.filter(|run| !run.observed.is_counted())
        .map(|run| Behind::Stretch {
            from: run.order as f64 - 0.3,
            to: run.order as f64 + 0.3,
            name: format!(
                "run {} of {} is INVALID",
                run.observed.run.unwrap_or_default(),
                side.name
            ),
            class: "failed",
        })
}

/// The counted runs of the configurations, each relative to the median of its configuration.
fn table(sides: &[(&PageSide<'_>, f64)], metric: Metric) -> Table {
    let header = ["run", "", "order", "block", "value", "over its median"];
    let mut table = Table::new(2, &header);
    for (side, median) in sides {
        for run in in_time(side) {
            let observed = &run.observed;
            let value_of_run = observed.values.get(&metric);
            let Some(of) = value_of_run.filter(|_| observed.is_counted()) else {
                continue;
            };
            let number = observed.run.unwrap_or_default();
            let block = observed.block.as_ref();
            table.row(vec![
                Cell::Linked(number.to_string(), anchor(number)),
                side.name.as_str().into(),
                Number::Ordinal(run.order as u64).into(),
                block.map(|of| Number::Ordinal(of.number.into())).into(),
                value(metric, *of),
                Number::Decimal(of / median, 3).into(),
            ]);
        }
    }
    table
}
