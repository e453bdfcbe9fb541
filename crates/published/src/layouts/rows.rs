//! Rows of a layout's tables, with values of the study and of the paper, and the spread of blocks.

use document::units::grouped;
use document::{Cell, Table};
use study::PaperLayout;

use super::blocks::MeasuredValue;
use super::figures::unit_of;
use super::results::{LayoutResults, ShownValue, UNKNOWN};
use crate::compare_tables::amount;
use crate::number::{KILOBYTE_BYTES, Unit};
use crate::source::Figure;

/// The text in place of a value if no run contains this value.
pub(super) const NOT_MEASURED: &str = "not measured";
/// The label of the row with the minimum and maximum, below a row of medians.
pub(super) const SPREAD: &str = "least to greatest";

/// The position of a value: indices of its workload and system, and its figure.
pub(super) type Place = (usize, usize, Figure);

/// Selects the values in tables: only those of the study, or also those of the paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayoutView {
    /// Whether tables include the paper's values and the comparison with them.
    pub is_with_published: bool,
}

/// Returns the indices of the systems whose values are shown, the study's systems first.
pub(super) fn systems(results: &LayoutResults, view: LayoutView) -> Vec<usize> {
    let published = results.published().filter(|_| view.is_with_published);
    results.own().chain(published).collect()
}

/// Returns a column's header, such as `UFS [NetApp, paper]`.
pub(super) fn header(results: &LayoutResults, system: usize) -> String {
    let system = &results.systems[system];
    if !system.is_published {
        return system.name.clone();
    }
    match &system.variant {
        Some(variant) => format!("{} [{}, {variant}]", system.name, results.source),
        None => format!("{} [{}]", system.name, results.source),
    }
}

/// Returns the factor that converts a number of the study to the unit of the layout's table.
pub(super) fn scale(layout: PaperLayout, figure: Figure) -> f64 {
    match (layout, figure) {
        (PaperLayout::Sessions, Figure::DataReadRate | Figure::DataWrittenRate) => {
            1.0 / KILOBYTE_BYTES
        }
        _ => 1.0,
    }
}

/// Returns the cell of a value in a text or Markdown table. The module `csv` creates the cells of
/// CSV.
pub(super) fn cell(results: &LayoutResults, (work, system, figure): Place) -> Cell {
    let scale = scale(results.layout, figure);
    match results.value(work, system, figure, None) {
        Some(ShownValue::Measured(measured)) => Cell::ours(number(measured.median * scale, figure)),
        Some(ShownValue::Printed { printed, .. }) => Cell::ours(printed),
        Some(ShownValue::Missing { why }) if !results.systems[system].is_published => {
            match why.as_str() {
                UNKNOWN => Cell::Unavailable(why.clone()),
                _ => Cell::ours(NOT_MEASURED),
            }
        }
        Some(ShownValue::Missing { why }) => Cell::Unavailable(why.clone()),
        None => Cell::Empty,
    }
}

pub(super) fn number(value: f64, figure: Figure) -> String {
    match unit_of(figure) {
        Unit::Files | Unit::Messages => grouped(value.round() as u64),
        _ => amount(value),
    }
}

/// Adds a row with the cells `leads`, the values at `places`, and the cells `rest`. If a value has
/// several blocks, adds a second row with the cells `below`, the minima and the maxima.
pub(super) fn add_row(
    table: &mut Table,
    results: &LayoutResults,
    (leads, below): (Vec<Cell>, Vec<Cell>),
    places: &[Place],
    rest: Vec<Cell>,
) {
    let numbers = places.iter().map(|place| cell(results, *place));
    table.row(leads.into_iter().chain(numbers).chain(rest).collect());
    add_spread(table, results, below, places);
}

pub(super) fn add_spread(
    table: &mut Table,
    results: &LayoutResults,
    leads: Vec<Cell>,
    places: &[Place],
) {
    let range = |(work, system, figure): &Place| {
        let scale = scale(results.layout, *figure);
        match results.value(*work, *system, *figure, None) {
            Some(ShownValue::Measured(MeasuredValue {
                least,
                greatest,
                blocks: 2..,
                ..
            })) => Cell::ours(format!(
                "{} to {}",
                number(least * scale, *figure),
                number(greatest * scale, *figure)
            )),
            _ => Cell::Empty,
        }
    };
    let cells: Vec<Cell> = places.iter().map(range).collect();
    if cells.iter().any(|cell| *cell != Cell::Empty) {
        table.row(leads.into_iter().chain(cells).collect());
    }
}
