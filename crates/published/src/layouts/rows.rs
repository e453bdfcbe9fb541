//! Rows of a layout's tables: numbers of the study and of the paper, and their spread.

use document::units::grouped;
use document::{Cell, Table};
use study::PaperLayout;

use super::blocks::MeasuredValue;
use super::figures::unit_of;
use super::results::{LayoutResults, ShownValue, UNKNOWN};
use crate::compare_tables::amount;
use crate::number::{KILOBYTE_BYTES, Unit};
use crate::source::Figure;

/// What stands in place of a number that no run has.
pub(super) const NOT_MEASURED: &str = "not measured";
/// What the row below a row of medians is called.
pub(super) const SPREAD: &str = "least to greatest";

/// Where a number is: work, system and figure.
pub(super) type Place = (usize, usize, Figure);

/// Which numbers are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayoutView {
    /// Those of the paper, too, and what of it holds.
    pub is_with_published: bool,
}

/// The systems whose numbers are shown.
pub(super) fn systems(results: &LayoutResults, view: LayoutView) -> Vec<usize> {
    let published = results.published().filter(|_| view.is_with_published);
    results.own().chain(published).collect()
}

/// What stands over a column: `UFS [NetApp, paper]`.
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

/// What a number of the study is multiplied with to be in the unit of the layout's table.
pub(super) fn scale(layout: PaperLayout, figure: Figure) -> f64 {
    match (layout, figure) {
        (PaperLayout::Sessions, Figure::DataReadRate | Figure::DataWrittenRate) => {
            1.0 / KILOBYTE_BYTES
        }
        _ => 1.0,
    }
}

/// A number in a table for people.
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

/// Adds a row of numbers behind its leads, and below it the least and the greatest, unless no
/// number of the row is of several blocks.
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
