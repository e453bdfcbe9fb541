//! Tables of cases as text.

/// The rows of a table: a line each, whose columns are separated by ` | `. Lines that begin with
/// `|` go on with the row above; empty lines and those that begin with `#` are left out.
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

/// The same of a table whose rows have so many columns. The last ones may be left out.
///
/// # Panics
/// Where a row has more.
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
