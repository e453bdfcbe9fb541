//! Heat maps: how many operations had which latency, and when.

use std::collections::BTreeMap;

use document::units::rate;
use document::{Document, Number, Table};
use record::{Action, PhaseRecord, Record};

use super::{POINTS_MAX, Stretch, line, short_latency, stretches_of_latencies, time};
use crate::pictures::chart::{Axis, Behind, Chart, Series};
use crate::pictures::heat::Grid;
use crate::pictures::scale::Scale;

/// No table of latencies over time has more rows.
const ROWS_MAX: usize = 60;
/// Of a heat map.
const COLUMNS: usize = 300;
const ROWS: usize = 60;

/// A heat map for each kind of operation.
pub(super) fn render(document: &mut Document, record: &Record, phases: &[&PhaseRecord], kinds: &BTreeMap<Action, u64>) {
    let stretches = &stretches_of_latencies(phases, POINTS_MAX)[..];
    document.heading("Latency over time");
    let durations = || stretches.iter().flat_map(|stretch| stretch.done.values());
    let ends = || {
        durations()
            .flat_map(|done| [done.latency.min_ns(), done.latency.max_ns()])
            .flatten()
    };
    if ends().next().is_none() {
        let why = if record.spec.latencies {
            "no operation was completed"
        } else {
            "the run was made with --no-latencies"
        };
        document.note(format!("Heat maps: not available ({why})."));
        return;
    }
    let levels = Scale::decades(ends().map(|ns| ns.max(1) as f64));
    let axis = time(record);
    let grids: Vec<(Action, Grid)> = kinds
        .keys()
        .map(|action| (*action, grid(*action, stretches, axis.scale, levels)))
        .collect();
    let values = || grids.iter().flat_map(|(_, grid)| grid.values());
    let colours = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let colour = format!(
        "Colour: operations/s in a cell, from {} (dark) to {} (bright), on a logarithmic scale.",
        rate(Some(colours.0)),
        rate(Some(colours.1))
    );
    document.words("All heat maps have the same scales.");
    let few = stretches_of_latencies(phases, ROWS_MAX);
    for (action, grid) in &grids {
        if grid.values().next().is_none() {
            continue;
        }
        let title = format!("Latency of {} over time", action.name());
        let caption = format!("How many operations had which latency, and when. {colour}");
        let chart = Chart {
            title: &title,
            description: &caption,
            x: time(record),
            y: Axis {
                name: "latency".to_owned(),
                scale: levels,
                label: short_latency,
            },
            behind: std::iter::once(Behind::Picture(grid.picture(colours)))
                .chain(percentiles(*action, &few).map(Behind::Unseen))
                .collect(),
            series: Vec::new(),
        };
        let data = latencies(*action, &few);
        document.figure(chart.picture(data));
    }
}

/// Operations a second by time and latency.
fn grid(action: Action, stretches: &[Stretch], time: Scale, levels: Scale) -> Grid {
    let mut grid = Grid::new(COLUMNS, ROWS);
    for stretch in stretches {
        let Some(done) = stretch.done.get(&action).filter(|_| stretch.seconds() > 0.0) else {
            continue;
        };
        let column = |ns: u64| time.place(ns as f64 / 1e9).unwrap_or(1.0) * COLUMNS as f64;
        let (from, to) = (column(stretch.began_ns), column(stretch.ended_ns));
        let first = (from as usize).min(COLUMNS - 1);
        let last = (to.ceil() as usize).clamp(first + 1, COLUMNS);
        for (ns, count) in done.latency.durations() {
            let Some(level) = levels.place(ns.max(1) as f64) else {
                continue;
            };
            let row = ((level * ROWS as f64) as usize).min(ROWS - 1);
            for column in first..last {
                // Of a column that two stretches share each has its part.
                let part = (to.min((column + 1) as f64) - from.max(column as f64)).clamp(0.0, 1.0);
                grid.add(column, row, count as f64 / stretch.seconds() * part);
            }
        }
    }
    grid
}

/// What a readout shows over a heat map: as in the table beside it.
fn percentiles(action: Action, stretches: &[Stretch]) -> impl Iterator<Item = Series> {
    ["p50", "p99", "max"].into_iter().map(move |name| {
        line(name, stretches, |stretch| {
            let of = stretch.done.get(&action)?.latency.summary();
            let ns = match name {
                "p50" => of.p50,
                "p99" => of.p99,
                _ => of.max,
            };
            ns.map(|ns| ns as f64)
        })
    })
}

fn latencies(action: Action, stretches: &[Stretch]) -> Table {
    let mut table = Table::new(0, &["from, s", "operations", "p50", "p99", "max"]);
    for stretch in stretches {
        let Some(done) = stretch.done.get(&action) else {
            continue;
        };
        let summary = done.latency.summary();
        let cell = |ns: Option<u64>| ns.map(|ns| Number::Latency(ns as f64)).into();
        table.row(vec![
            Number::Seconds(stretch.began_ns).into(),
            Number::Count(done.operations).into(),
            cell(summary.p50),
            cell(summary.p99),
            cell(summary.max),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use measure::Histogram;

    use super::super::Done;
    use super::*;

    /// Also where columns and stretches do not begin at the same moments.
    #[test]
    fn a_constant_rate_has_one_colour() {
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
        let cells: Vec<f64> = grid(Action::Read, &stretches, time, Scale::decades([1e5, 1e7].into_iter()))
            .values()
            .collect();
        assert_eq!(cells.len(), COLUMNS);
        let odd = cells.iter().find(|rate| (*rate / 100.0 - 1.0).abs() > 1e-6);
        assert_eq!(odd, None);
    }
}
