//! Results as CSV, with a row for each number.

use document::{Cell, Number, Table};
use study::PaperLayout;

use super::arrangements::improvements;
use super::blocks::percent;
use super::figures::unit_of;
use super::results::{LayoutResults, ShownValue};
use super::rows::LayoutView;
use crate::cells::{kebab, sheet};
use crate::number::Unit;
use crate::shape::ConfigurationShape;
use crate::source::Figure;

/// The headers of the columns, in the order of the cells that [`line`] returns.
const COLUMNS: &str = "layout work files transactions subdirectories processes system source \
                       variant contributor description figure over unit value least greatest low \
                       high blocks printed unavailable";

/// The number in a row, and the cells that describe this number.
#[derive(Default)]
struct Amount<'a> {
    value: Option<f64>,
    /// The minimum and the maximum over the blocks.
    spread: Option<(f64, f64)>,
    /// The lower and upper end of the confidence interval, for improvements.
    interval: Option<(f64, f64)>,
    blocks: Option<u32>,
    printed: Option<&'a str>,
    why: Option<&'a str>,
}

fn line(
    results: &LayoutResults,
    (work, system): (usize, usize),
    (figure, over): (Figure, Option<usize>),
    unit: Unit,
    amount: &Amount<'_>,
) -> Vec<Cell> {
    let (work, system) = (&results.works[work], &results.systems[system]);
    let (shape, source) = match system.is_published {
        true => (work.published, results.source.as_str()),
        false => (work.shape, "study"),
    };
    let count = |of: fn(ConfigurationShape) -> u64| Cell::from(shape.map(of).map(Cell::count));
    let text = |text: Option<&String>| Cell::from(text.map(String::as_str));
    let number = |number: Option<f64>| Cell::from(number.map(Number::Rate));
    let ends = |ends: Option<(f64, f64)>| {
        [ends.map(|(low, _)| low), ends.map(|(_, high)| high)].map(number)
    };
    let mut line = vec![
        Cell::ours(results.layout.name()),
        work.name.as_str().into(),
        count(|shape| shape.files),
        count(|shape| shape.transactions),
        count(|shape| shape.subdirectories.into()),
        count(|shape| shape.processes.into()),
        system.name.as_str().into(),
        Cell::ours(source),
        text(system.variant.as_ref()),
        text(system.contributor.known()),
        text(system.description.known()),
        Cell::ours(kebab(figure)),
        text(over.map(|over| &results.systems[over].name)),
        Cell::ours(unit.name()),
        number(amount.value),
    ];
    line.extend(ends(amount.spread));
    line.extend(ends(amount.interval));
    line.push(amount.blocks.map(Cell::count).into());
    // The cells `printed` and `unavailable` are added only if they are not empty, because missing
    // cells at the end of a row are empty.
    match amount {
        Amount { why: Some(why), .. } => line.extend([Cell::Empty, Cell::ours(*why)]),
        Amount { printed, .. } => line.extend(printed.map(Cell::ours)),
    }
    line
}

/// Returns the results as a table for CSV, with a row for each measured or printed number.
pub fn csv(results: &LayoutResults, view: LayoutView) -> Table {
    let mut lines = Vec::new();
    for value in &results.values {
        if results.systems[value.system].is_published && !view.is_with_published {
            continue;
        }
        let (mut unit, mut amount) = (unit_of(value.figure), Amount::default());
        match &value.value {
            ShownValue::Measured(measured) => {
                amount.value = Some(measured.median);
                amount.spread = Some((measured.least, measured.greatest));
                amount.blocks = Some(measured.blocks);
            }
            ShownValue::Printed {
                printed,
                value,
                unit: of_printed,
            } => {
                amount.value = Some(*value);
                amount.printed = Some(printed);
                unit = *of_printed;
            }
            ShownValue::Missing { why } => amount.why = Some(why),
        }
        let (place, figure) = ((value.work, value.system), (value.figure, value.over));
        lines.push(line(results, place, figure, unit, &amount));
    }
    if matches!(results.layout, PaperLayout::Veritas | PaperLayout::Sessions) {
        lines.extend(improvements_of_study(results));
    }
    sheet(COLUMNS, lines)
}

/// Returns a row for each improvement of the study, with its confidence interval.
fn improvements_of_study(results: &LayoutResults) -> Vec<Vec<Cell>> {
    let own: Vec<usize> = results.own().collect();
    let mut lines = Vec::new();
    for work in 0..results.works.len() {
        for (system, over) in improvements(results, &own) {
            let (one, other) = ((work, system), (work, over));
            let rate = Figure::TransactionsRate;
            let Some(ratio) = results.ratio(rate, one, other, results.alpha) else {
                continue;
            };
            let amount = Amount {
                value: Some(percent(ratio.ratio)),
                interval: ratio.interval_percent(),
                blocks: Some(ratio.blocks),
                ..Amount::default()
            };
            let figure = (Figure::Improvement, Some(over));
            lines.push(line(results, one, figure, Unit::Percent, &amount));
        }
    }
    lines
}
