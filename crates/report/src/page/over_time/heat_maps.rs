//! Heat maps: the number of operations by time and latency.

use std::collections::BTreeMap;

use document::units::rate;
use document::{Cell, Document, Number, Table};
use measure::{Histogram, LATENCY_PRECISION_BITS};
use record::{Action, OperationRecord, PhaseRecord, Record};

use super::stretches::{POINTS_MAX, Stretch, stretches_of_latencies};
use super::timeline::{line, time};
use crate::latencies;
use crate::page::labels::short_latency;
use crate::page::percentiles;
use crate::page::served::service;
use crate::page::sides::capital;
use crate::pictures::chart::{Axis, Behind, Chart, Series};
use crate::pictures::heat::Grid;
use crate::pictures::scale::Scale;

/// Maximum number of rows in a table of latencies over time.
const ROWS_MAX: usize = 60;
/// Resolution of a heat map: columns of time, and rows of latency.
const COLUMNS: usize = 300;
const ROWS: usize = 60;

/// Adds a heat map for each kind of operation.
pub(super) fn render(
    document: &mut Document,
    record: &Record,
    phases: &[&PhaseRecord],
    kinds: &BTreeMap<Action, u64>,
) {
    let stretches = &stretches_of_latencies(phases, POINTS_MAX)[..];
    let operations: Vec<_> = percentiles::operations(record).collect();
    let what = percentiles::what(&operations);
    document.heading(format!("{} over time", capital(what)));
    let ends = || {
        let done = stretches.iter().flat_map(|stretch| stretch.done.values());
        done.flat_map(|done| [done.latency.min_ns(), done.latency.max_ns()])
            .flatten()
    };
    if ends().next().is_none() {
        document.note(format!("Heat maps: not available ({}).", why_none(record)));
        return;
    }
    let levels = Scale::decades(ends().map(|ns| ns.max(1) as f64));
    let axis = time(record);
    let grids: Vec<(Action, Grid)> = kinds
        .keys()
        .map(|action| (*action, grid(*action, stretches, axis.scale, levels)))
        .collect();
    let values = || grids.iter().flat_map(|(_, grid)| grid.values());
    let highest = values().fold(0.0, f64::max);
    // All cells below a ten-thousandth of the highest value have the darkest colour.
    let colours = (
        values().fold(f64::INFINITY, f64::min).max(highest / 1e4),
        highest,
    );
    let colour = meaning(colours);
    document.words("All heat maps have the same scales.");
    let few = stretches_of_latencies(phases, ROWS_MAX);
    for (action, grid) in &grids {
        if grid.values().next().is_none() {
            continue;
        }
        let title = format!("{} of {} over time", capital(what), action.name());
        let caption = format!(
            "How many operations had which {what}, and when; percentiles are within 7 %. \
             {colour}{}",
            sentence_of_issue(&operations, *action)
        );
        let mut behind = vec![Behind::Picture(grid.picture(colours))];
        behind.extend(percentiles(*action, &few).map(Behind::Unseen));
        let axes = (time(record), Axis::new(what, levels, short_latency));
        let chart = Chart::new(title, caption, axes, Vec::new()).over(behind);
        document.figure(chart.picture(latencies(*action, &few)));
    }
}

fn why_none(record: &Record) -> &'static str {
    match record.spec.latencies {
        true => "no operation was completed",
        false => "the run was made with --no-latencies",
    }
}

/// A sentence that explains the colours of the heat maps.
fn meaning((least, greatest): (f64, f64)) -> String {
    format!(
        "Colour: operations/s in a cell, from {} and less (dark) to {} (bright), on a logarithmic \
         scale.",
        rate(Some(least)),
        rate(Some(greatest))
    )
}

/// A sentence about the service time, which starts at the issue of an operation. Empty for a closed
/// loop, where latencies start at the issue anyway.
fn sentence_of_issue(operations: &[&OperationRecord], action: Action) -> String {
    let mut from_issue = Histogram::default();
    operations
        .iter()
        .filter(|operation| operation.action == action)
        .flat_map(|operation| &operation.meter.service)
        .for_each(|service| from_issue.merge(service));
    if from_issue.count() == 0 {
        return String::new();
    }
    format!(
        " From the due time; of all of them together the {}.",
        service(from_issue.summary().p99)
    )
}

/// Fills a heat map of an action: operations per second by time (columns) and latency (rows).
fn grid(action: Action, stretches: &[Stretch], time: Scale, levels: Scale) -> Grid {
    let mut grid = Grid::new(COLUMNS, ROWS);
    for stretch in stretches {
        let done = stretch.done.get(&action);
        let Some(done) = done.filter(|_| stretch.seconds() > 0.0) else {
            continue;
        };
        let column = |ns: u64| time.place(ns as f64 / 1e9).unwrap_or(1.0) * COLUMNS as f64;
        let (from, to) = (column(stretch.began_ns), column(stretch.ended_ns));
        let first = (from as usize).min(COLUMNS - 1);
        let last = (to.ceil() as usize).clamp(first + 1, COLUMNS);
        for (ns, count) in done.latency.durations() {
            for (row, share) in rows(ns, levels) {
                for column in first..last {
                    // If two time intervals overlap a column, each contributes in proportion to the
                    // overlap.
                    let part =
                        (to.min((column + 1) as f64) - from.max(column as f64)).clamp(0.0, 1.0);
                    grid.add(column, row, count as f64 / stretch.seconds() * part * share);
                }
            }
        }
    }
    grid
}

/// The rows of a heat map that a histogram bucket covers, with the share of the bucket in each row.
/// `ns` is the middle of the bucket. A bucket may be wider than a row.
fn rows(ns: u64, levels: Scale) -> Vec<(usize, f64)> {
    /// Distance from the middle of a bucket to its ends, relative to the middle.
    const HALF: f64 = 0.5 / (1 << LATENCY_PRECISION_BITS) as f64;
    let ns = ns.max(1) as f64;
    let Some(middle) = levels.place(ns) else {
        return Vec::new();
    };
    let end = |ns: f64| levels.place(ns).unwrap_or(middle) * ROWS as f64;
    let (from, to) = (end(ns * (1.0 - HALF)), end(ns * (1.0 + HALF)));
    if to <= from {
        return vec![(((middle * ROWS as f64) as usize).min(ROWS - 1), 1.0)];
    }
    let share = |row: usize| (to.min((row + 1) as f64) - from.max(row as f64)) / (to - from);
    let rows = from as usize..(to.ceil() as usize).min(ROWS);
    // Rows with a negligible share of the bucket are left out.
    let shares = rows.map(|row| (row, share(row)));
    let mut seen: Vec<(usize, f64)> = shares.filter(|(_, share)| *share > 0.1).collect();
    let all: f64 = seen.iter().map(|(_, share)| share).sum();
    seen.iter_mut().for_each(|(_, share)| *share /= all);
    seen
}

/// Percentiles over time for the readout of a heat map, the same as in the table below the map.
fn percentiles(action: Action, stretches: &[Stretch]) -> impl Iterator<Item = Series> {
    ["p50", "p99", "max"].into_iter().map(move |name| {
        line(name, stretches, |stretch| {
            latencies::ns(&stretch.done.get(&action)?.latency.summary(), name)
        })
    })
}

fn latencies(action: Action, stretches: &[Stretch]) -> Table {
    let columns = ["p50", "p99", "max"];
    let mut table = Table::new(0, &[&["from, s", "operations"][..], &columns].concat());
    for stretch in stretches {
        let Some(done) = stretch.done.get(&action) else {
            continue;
        };
        let began = Number::Seconds(stretch.began_ns).into();
        let mut cells = vec![began, Cell::count(done.operations)];
        let times = done.latency.summary();
        cells.extend(latencies::cells(&times, columns, Number::Latency));
        table.row(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::stretches::Done;
    use super::*;

    /// The colour is constant even if columns and time intervals do not start at the same moments.
    #[test]
    fn constant_rate_has_one_colour_in_a_heat_map() {
        let mut latency = Histogram::default();
        for _ in 0..70 {
            latency.record(1_000_000);
        }
        let latency = latency.take_sparse();
        let stretch = |number: u64| Stretch {
            began_ns: number * 700_000_000,
            ended_ns: (number + 1) * 700_000_000,
            failed: 0,
            done: BTreeMap::from([(
                Action::Read,
                Done {
                    operations: 70,
                    bytes: 0,
                    latency: latency.clone(),
                },
            )]),
        };
        let stretches: Vec<Stretch> = (0..20).map(stretch).collect();
        let time = Scale::over([0.0, 14.0].into_iter());
        let cells: Vec<f64> = grid(
            Action::Read,
            &stretches,
            time,
            Scale::decades([1e5, 1e7].into_iter()),
        )
        .values()
        .collect();
        // A bucket covers a few rows, and its operations are divided among these rows.
        let rows: Vec<&[f64]> = cells.chunks(COLUMNS).collect();
        assert!((2..=3).contains(&rows.len()), "{}", cells.len());
        let odd = |row: &&&[f64]| {
            row.len() != COLUMNS || row.iter().any(|rate| (rate / row[0] - 1.0).abs() > 1e-6)
        };
        assert_eq!(rows.iter().find(odd), None);
        let sum: f64 = rows.iter().map(|row| row[0]).sum();
        assert!((sum - 100.0).abs() < 1e-6, "{sum}");
    }

    #[test]
    fn buckets_cover_all_rows_of_a_heat_map() {
        let levels = Scale::decades([1e5, 1e6].into_iter());
        let shares = |ns: u64| rows(ns, levels);
        let all: f64 = shares(300_000).iter().map(|(_, share)| share).sum();
        assert!((all - 1.0).abs() < 1e-9, "{all}");
        // A power of ten has 60 rows, but only 27 buckets (8 for each power of two). A bucket is
        // therefore wider than a row, so the buckets cover every row.
        let mut seen: Vec<usize> = (0..=26)
            .flat_map(|bucket| shares((1e5 * 2_f64.powf(f64::from(bucket) / 8.0)) as u64))
            .map(|(row, _)| row)
            .collect();
        seen.dedup();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, (0..ROWS).collect::<Vec<_>>());
        assert_eq!(shares(5_000_000), []);
    }
}
