//! Tables of text: columns as wide as they need to be, words to the left, numbers to the right.

use std::borrow::Cow;

use record::harmless::harmless;

/// A table under construction.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
    /// How many columns, from the first, are words.
    words: usize,
}

impl Table {
    /// A table with this header, whose first `words` columns are words.
    pub fn new(words: usize, header: &[&str]) -> Self {
        Self {
            rows: vec![header.iter().map(|cell| (*cell).to_owned()).collect()],
            words,
        }
    }

    /// Adds a row, its cells made harmless.
    pub fn row(&mut self, cells: Vec<String>) {
        let shown = cells.into_iter().map(|cell| match harmless(&cell) {
            Cow::Borrowed(_) => cell,
            Cow::Owned(shown) => shown,
        });
        self.rows.push(shown.collect());
    }

    /// Whether there is nothing but the header.
    pub fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }

    /// The table's lines, each indented by two blanks.
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let all_blanks = " ".repeat(widths.iter().copied().max().unwrap_or(0));
        let mut text = String::new();
        // Lists have a row for each of very many runs: no cell has a string of its own.
        for row in &self.rows {
            let begins = text.len();
            for (column, cell) in row.iter().enumerate() {
                let blanks = widths[column] - cell.chars().count();
                let is_word = column < self.words;
                text.push_str("  ");
                if !is_word {
                    text.push_str(&all_blanks[..blanks]);
                }
                text.push_str(cell);
                if is_word {
                    text.push_str(&all_blanks[..blanks]);
                }
            }
            text.truncate(begins + text[begins..].trim_end().len());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(1, &["phase", "files"]);
        table.row(vec!["prepare".into(), "1,000".into()]);
        table.row(vec!["µ".into(), "5".into()]);
        assert_eq!(table.render(), "  phase    files\n  prepare  1,000\n  µ            5\n");
    }
    #[test]
    fn no_cell_is_obeyed_and_columns_line_up_all_the_same() {
        let mut table = Table::new(1, &["name", "ms"]);
        table.row(vec!["a\n\u{1b}[2J".into(), "1".into()]);
        assert_eq!(table.render(), "  name        ms\n  a\\n\\x1b[2J   1\n");
    }
}
