//! Latency distributions of several configurations in one chart.

use document::Document;
use record::{Action, Histogram};
use study::Metric;

use super::limit;
use crate::page::percentiles::{self, Curve};
use crate::page::sides::{PageSide, capital, not_alike};
use crate::pictures::chart::SERIES_MAX;

/// Adds percentile curves of the configurations in each group: for all operations of the
/// transactions, and for each action whose latency is compared.
pub(crate) fn distributions(
    document: &mut Document,
    groups: &[Vec<&PageSide<'_>>],
    metrics: &[Metric],
) {
    let mut kinds: Vec<Option<Action>> = vec![None];
    for metric in metrics {
        match metric {
            Metric::Latency(action, _) if !kinds.contains(&Some(*action)) => {
                kinds.push(Some(*action));
            }
            _ => {}
        }
    }
    limit::pictures(document, groups.iter(), &kinds, |document, group, kind| {
        let drawn: Vec<&PageSide<'_>> = group.iter().copied().take(SERIES_MAX).collect();
        let merged: Vec<(String, Histogram)> = drawn
            .iter()
            .map(|side| (side.name.clone(), merged(side, kind)))
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
    });
}

/// The merged latencies of all counted runs of a configuration, for one action or for all.
fn merged(side: &PageSide<'_>, kind: Option<Action>) -> Histogram {
    let mut merged = Histogram::default();
    let operations = side
        .counted()
        .flat_map(|run| percentiles::operations(run.run.record));
    for operation in operations.filter(|of| kind.is_none_or(|kind| of.action == kind)) {
        merged.merge(&operation.meter.latency);
    }
    merged
}
