//! Lines for spreadsheets.

use document::{Cell, Table};

/// A line for each of many things; `columns` says what it has, in order, with the headers.
pub(crate) fn sheet<T>(
    columns: &[(&str, impl Fn(&T) -> Cell)],
    lines: impl IntoIterator<Item = T>,
) -> Table {
    let header: Vec<&str> = columns.iter().map(|(header, _)| *header).collect();
    let mut table = Table::new(0, &header);
    for line in lines {
        table.row(columns.iter().map(|(_, cell)| cell(&line)).collect());
    }
    table
}
