//! Values of the compared configurations: a table of all configurations, values along the axes of a
//! study, latency distributions, and runs in order of time.

mod axes;
mod distributions;
mod limit;
mod order;

use document::{Cell, Document, Number, Table};
use study::{Metric, UnlikeWhat};

pub(super) use self::axes::along;
pub(super) use self::distributions::distributions;
pub(super) use self::order::order;
use super::sides::PageSide;
use crate::comparison::{noun, value};

/// Adds a table of all configurations, with the number of runs and the median of each metric.
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
