//! Renders tables as comma-separated values (RFC 4180).

use std::borrow::Cow;

use crate::sanitize;
use crate::table::{Cell, Table};

/// Renders a table as CSV, with `end` after each line. Numbers have all of their digits; missing
/// values are empty fields.
pub fn csv(table: &Table, end: &str) -> String {
    let header = table
        .columns
        .iter()
        .map(|column| Cow::Borrowed(&*column.header));
    line(header, end) + &csv_rows(&table.rows, end)
}

/// Renders rows without a header.
pub fn csv_rows(rows: &[Vec<Cell>], end: &str) -> String {
    rows.iter()
        .map(|row| line(row.iter().map(field), end))
        .collect()
}

fn line<'a>(fields: impl Iterator<Item = Cow<'a, str>>, end: &str) -> String {
    let fields: Vec<Cow<'_, str>> = fields.collect();
    fields.join(",") + end
}

fn field(cell: &Cell) -> Cow<'_, str> {
    match cell {
        Cell::Empty | Cell::Missing | Cell::Unavailable(_) => Cow::Borrowed(""),
        Cell::Text(text) | Cell::Linked(text, _) => sanitize::csv(text),
        Cell::Ours(text) => sanitize::quoted(text),
        Cell::Number(number, _) => Cow::Owned(number.plain()),
    }
}
