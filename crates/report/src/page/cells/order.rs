//! Runs in the order of time.

use document::{Cell, Document, Number, Table};
use study::Metric;

use super::limit::{PICTURES_MAX, left_out};
use crate::comparison::noun;
use crate::page::sides::{PageSide, anchor, capital, not_alike, number, value};
use crate::pictures::chart::{Axis, Behind, Chart, SERIES_MAX, Series};
use crate::pictures::scale::Scale;

/// Runs in the order of time, each over the median of its side: what drifts is seen.
pub(crate) fn order(document: &mut Document, groups: &[Vec<&PageSide<'_>>], metrics: &[Metric]) {
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
        x: Axis::new(
            "run, in the order of time",
            Scale::over(xs.into_iter()),
            |value| match value.fract() == 0.0 {
                true => document::units::fixed(value, 0),
                false => String::new(),
            },
        ),
        y: Axis::new(
            format!("{what} over the median"),
            Scale::Linear {
                low: (1.0 - far).max(0.0),
                high: 1.0 + far,
            },
            number,
        ),
        behind,
        series,
    };
    document.figure(chart.picture(data));
}
