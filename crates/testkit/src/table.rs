//! Tables of test cases as text.

/// Parses a table with one row per line and columns separated by ` | `. A line that starts with `|`
/// continues the previous row. Empty lines and lines that start with `#` are skipped.
pub fn rows(text: &str) -> Vec<Vec<&str>> {
    let mut rows: Vec<Vec<&str>> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (goes_on, line) = line
            .strip_prefix('|')
            .map_or((false, line), |rest| (true, rest));
        let columns = line.split('|').map(str::trim);
        match rows.last_mut() {
            Some(row) if goes_on => row.extend(columns),
            _ => rows.push(columns.collect()),
        }
    }
    rows
}

/// Parses a table with this number of columns; the last columns of a row may be missing.
///
/// # Panics
/// Panics if a row has more columns.
pub fn table<const COLUMNS: usize>(text: &str) -> Vec<[&str; COLUMNS]> {
    let mut table = Vec::new();
    for row in rows(text) {
        assert!(row.len() <= COLUMNS, "{row:?}");
        table.push(std::array::from_fn(|column| {
            row.get(column).copied().unwrap_or_default()
        }));
    }
    table
}
