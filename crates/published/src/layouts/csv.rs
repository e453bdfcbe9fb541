//! Results as a line for each number, for spreadsheets.

use document::{Cell, Number, Table};
use study::PaperLayout;

use super::arrangements::improvements;
use super::figures::unit_of;
use super::results::{LayoutResults, ShownValue, StudiedSystem, StudiedWork};
use super::rows::LayoutView;
use crate::cells::kebab;
use crate::number::Unit;
use crate::shape::ConfigurationShape;
use crate::source::Figure;

/// A number, and what it is of.
struct Line<'a> {
    results: &'a LayoutResults,
    work: &'a StudiedWork,
    system: &'a StudiedSystem,
    figure: Figure,
    over: Option<usize>,
    unit: Unit,
    value: Option<f64>,
    /// The least and the greatest block.
    spread: Option<(f64, f64)>,
    /// The ends of a 95 % interval.
    interval: Option<(f64, f64)>,
    blocks: Option<u32>,
    printed: &'a str,
    why: &'a str,
}

impl<'a> Line<'a> {
    /// One without a value.
    fn new(
        results: &'a LayoutResults,
        (work, system): (usize, usize),
        (figure, over): (Figure, Option<usize>),
        unit: Unit,
    ) -> Self {
        Self {
            results,
            work: &results.works[work],
            system: &results.systems[system],
            figure,
            over,
            unit,
            value: None,
            spread: None,
            interval: None,
            blocks: None,
            printed: "",
            why: "",
        }
    }

    fn shape(&self) -> Option<ConfigurationShape> {
        match self.system.is_published {
            true => self.work.published,
            false => self.work.shape,
        }
    }

    fn count(&self, of: fn(ConfigurationShape) -> u64) -> Cell {
        self.shape().map(|shape| Number::Count(of(shape))).into()
    }
}

fn text(text: Option<&String>) -> Cell {
    text.map_or(Cell::Empty, |text| Cell::from(text.as_str()))
}

fn shown(text: &str) -> Cell {
    match text {
        "" => Cell::Empty,
        text => Cell::ours(text),
    }
}

fn number(number: Option<f64>) -> Cell {
    number.map_or(Cell::Empty, |number| Number::Rate(number).into())
}

/// A column: its header, and its value in a line.
type Column = (&'static str, fn(&Line<'_>) -> Cell);

/// What a line has, in order.
const COLUMNS: [Column; 22] = [
    ("layout", |line| Cell::ours(line.results.layout.name())),
    ("work", |line| Cell::from(line.work.name.as_str())),
    ("files", |line| line.count(|shape| shape.files)),
    ("transactions", |line| {
        line.count(|shape| shape.transactions)
    }),
    ("subdirectories", |line| {
        line.count(|shape| shape.subdirectories.into())
    }),
    ("processes", |line| {
        line.count(|shape| shape.processes.into())
    }),
    ("system", |line| Cell::from(line.system.name.as_str())),
    ("source", |line| match line.system.is_published {
        true => Cell::ours(line.results.source.as_str()),
        false => Cell::ours("study"),
    }),
    ("variant", |line| text(line.system.variant.as_ref())),
    ("contributor", |line| text(line.system.contributor.known())),
    ("description", |line| text(line.system.description.known())),
    ("figure", |line| Cell::ours(kebab(line.figure))),
    ("over", |line| {
        text(line.over.map(|over| &line.results.systems[over].name))
    }),
    ("unit", |line| Cell::ours(line.unit.name())),
    ("value", |line| number(line.value)),
    ("least", |line| number(line.spread.map(|(least, _)| least))),
    ("greatest", |line| {
        number(line.spread.map(|(_, greatest)| greatest))
    }),
    ("low", |line| number(line.interval.map(|(low, _)| low))),
    ("high", |line| number(line.interval.map(|(_, high)| high))),
    ("blocks", |line| {
        let blocks = line.blocks.map(|blocks| Number::Count(blocks.into()));
        blocks.map_or(Cell::Empty, Cell::from)
    }),
    ("printed", |line| shown(line.printed)),
    ("unavailable", |line| shown(line.why)),
];

/// Columns up to the last that every line has.
const NUMBERS_END: usize = 20;

/// A line for each number.
pub fn csv(results: &LayoutResults, view: LayoutView) -> Table {
    let mut lines = Vec::new();
    for value in &results.values {
        if results.systems[value.system].is_published && !view.is_with_published {
            continue;
        }
        let figure = (value.figure, value.over);
        let line = |unit| Line::new(results, (value.work, value.system), figure, unit);
        let unit = unit_of(value.figure);
        lines.push(match &value.value {
            ShownValue::Measured(measured) => Line {
                value: Some(measured.median),
                spread: Some((measured.least, measured.greatest)),
                blocks: Some(measured.blocks),
                ..line(unit)
            },
            ShownValue::Printed {
                printed,
                value,
                unit,
            } => Line {
                value: Some(*value),
                printed,
                ..line(*unit)
            },
            ShownValue::Missing { why } => Line { why, ..line(unit) },
        });
    }
    if matches!(results.layout, PaperLayout::Veritas | PaperLayout::Sessions) {
        lines.extend(improvements_of_study(results));
    }
    let header: Vec<&str> = COLUMNS.iter().map(|(header, _)| *header).collect();
    let mut sheet = Table::new(0, &header);
    for line in lines {
        let mut row: Vec<Cell> = COLUMNS.iter().map(|(_, cell)| cell(&line)).collect();
        // A line ends with its last number, or with the reason why it has none.
        while row.len() > NUMBERS_END && row.last() == Some(&Cell::Empty) {
            row.pop();
        }
        sheet.row(row);
    }
    sheet
}

/// A line for each improvement of the study, with its 95 % interval.
fn improvements_of_study(results: &LayoutResults) -> Vec<Line<'_>> {
    let own: Vec<usize> = results.own().collect();
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let mut lines = Vec::new();
    for work in 0..results.works.len() {
        for (system, over) in improvements(results, &own) {
            let (one, other) = ((work, system), (work, over));
            let rate = Figure::TransactionsRate;
            let Some(ratio) = results.ratio(rate, one, other, results.alpha) else {
                continue;
            };
            let ends = ratio
                .interval
                .map(|ends| (percent(ends.low), percent(ends.high)));
            let figure = (Figure::Improvement, Some(over));
            lines.push(Line {
                value: Some(percent(ratio.ratio)),
                interval: ends,
                blocks: Some(ratio.blocks),
                ..Line::new(results, one, figure, Unit::Percent)
            });
        }
    }
    lines
}
