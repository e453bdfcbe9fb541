//! Comparisons as CSV, for spreadsheets.

use document::{Cell, Number, Table, csv};
use study::{AaControl, Comparison, Comparisons, Estimate, Method, MetricUnit, SideSummary};

use super::sentence::{incomplete_words, unlike_words};
use super::verdicts::reasons;
use super::words::result;

type Value = fn(&Comparison, &Comparisons) -> Cell;

/// The columns: the name, and a function that returns the cell of a comparison.
const COLUMNS: [(&str, Value); 35] = [
    ("workload", |row, table| {
        side(table, &row.side, |of| of.workloads.join("; "))
    }),
    ("side", |row, _| row.side.as_str().into()),
    ("target", |row, table| {
        side(table, &row.side, |of| of.targets.join("; "))
    }),
    ("baseline", |row, _| row.baseline.as_str().into()),
    ("baseline_target", |row, table| {
        side(table, &row.baseline, |of| of.targets.join("; "))
    }),
    ("metric", |row, _| Cell::ours(row.metric.to_string())),
    ("unit", |row, _| Cell::ours(unit(row.metric.unit()))),
    ("mean", |row, table| mean(table, &row.side, row)),
    ("baseline_mean", |row, table| {
        mean(table, &row.baseline, row)
    }),
    ("method", |row, _| Cell::ours(method(row.method))),
    ("count", |row, _| count(Some(row.count))),
    ("baseline_count", |row, _| count(Some(row.baseline_count))),
    ("invalid", |row, _| count(Some(row.invalid))),
    ("without", |row, _| count(Some(row.without))),
    ("ratio", |row, _| estimated(row, |of| Some(of.ratio))),
    ("low", |row, _| estimated(row, |of| Some(of.interval?.low))),
    ("high", |row, _| {
        estimated(row, |of| Some(of.interval?.high))
    }),
    ("confidence", |_, table| number(Some(table.confidence))),
    ("standard_deviation", |row, _| {
        estimated(row, |of| of.standard_deviation)
    }),
    ("aa_low", |row, table| {
        control(table, row, |of| Some(of.interval?.low))
    }),
    ("aa_high", |row, table| {
        control(table, row, |of| Some(of.interval?.high))
    }),
    ("aa_noise", |row, table| control(table, row, |of| of.noise)),
    ("is_shown", |row, _| {
        row.estimate().map_or(Cell::Empty, shown)
    }),
    ("is_doubtful", |_, table| truth(table.is_doubtful)),
    ("smallest_detectable", |row, _| {
        estimated(row, |of| of.smallest_detectable)
    }),
    ("blocks_needed_to_show", |row, _| {
        count(row.estimate().and_then(|of| of.blocks_needed_to_show))
    }),
    ("result", |row, _| Cell::ours(result(row))),
    ("unlike", |row, _| {
        let unlike: Vec<String> = row.unlike.iter().map(unlike_words).collect();
        unlike.join(", ").into()
    }),
    ("incomplete", |row, _| {
        incomplete_words(&row.incomplete, &row.side, &row.baseline).into()
    }),
    ("runs_valid", |row, _| count(Some(row.verdicts.valid))),
    ("runs_doubtful", |row, _| count(Some(row.verdicts.doubtful))),
    ("runs_invalid", |row, _| count(Some(row.verdicts.invalid))),
    ("doubtful_reasons", |row, _| {
        Cell::ours(reasons(&row.verdicts.doubtful_reasons))
    }),
    ("invalid_reasons", |row, _| {
        Cell::ours(reasons(&row.verdicts.invalid_reasons))
    }),
    ("blocks", |_, table| count(Some(table.blocks))),
];

fn side(table: &Comparisons, label: &str, value: fn(&SideSummary) -> String) -> Cell {
    table.side(label).map(value).unwrap_or_default().into()
}

fn mean(table: &Comparisons, label: &str, row: &Comparison) -> Cell {
    let side = table.side(label);
    number(side.and_then(|side| side.means.get(&row.metric).copied()))
}

/// A value of the A/A control in the metric of a row.
fn control(table: &Comparisons, row: &Comparison, value: fn(&AaControl) -> Option<f64>) -> Cell {
    let mut controls = table.aa_controls.iter();
    let control = controls.find(|control| control.metric == row.metric);
    number(control.and_then(value))
}

fn unit(unit: MetricUnit) -> &'static str {
    match unit {
        MetricUnit::PerSecond => "1/s",
        MetricUnit::BytesPerSecond => "B/s",
        MetricUnit::Nanoseconds => "ns",
        MetricUnit::PerTransaction => "1/transaction",
    }
}

fn method(method: Method) -> &'static str {
    match method {
        Method::Blocks => "blocks",
        Method::BlocksApart => "blocks-apart",
        Method::NotInterleaved => "not-interleaved",
    }
}

fn number(value: Option<f64>) -> Cell {
    Cell::decimal(value, 6)
}

fn count(value: Option<u32>) -> Cell {
    value.map(|value| Number::Ordinal(value.into())).into()
}

fn estimated(row: &Comparison, value: fn(&Estimate) -> Option<f64>) -> Cell {
    number(row.estimate().and_then(value))
}

fn shown(of: &Estimate) -> Cell {
    truth(of.is_shown)
}

fn truth(is_so: bool) -> Cell {
    Cell::ours(if is_so { "true" } else { "false" })
}

/// A row for each comparison, as CSV (RFC 4180).
pub fn as_csv(tables: &[Comparisons]) -> String {
    let mut table = Table::new(4, &COLUMNS.map(|(name, _)| name));
    for of in tables {
        for row in &of.rows {
            table.row(COLUMNS.map(|(_, cell)| cell(row, of)).to_vec());
        }
    }
    csv(&table, "\r\n")
}
