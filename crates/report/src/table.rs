//! Tables of text: columns as wide as they need to be, words to the left, numbers to the right.

use record::harmless::harmless;

/// A table under construction. Lists have a row for each of very many runs, so cells lie in one text, one behind the other.
#[derive(Clone, Debug)]
pub struct Table {
    cells: String,
    /// Where each cell ends, and how many characters it has.
    ends: Vec<(usize, usize)>,
    /// Where each row ends among the cells.
    rows: Vec<usize>,
    /// The most characters of each column.
    widths: Vec<usize>,
    /// How many columns, from the first, are words.
    words: usize,
}

impl Table {
    /// A table with this header, whose first `words` columns are words.
    pub fn new(words: usize, header: &[&str]) -> Self {
        let mut table = Self {
            cells: String::new(),
            ends: Vec::new(),
            rows: Vec::new(),
            widths: Vec::new(),
            words,
        };
        table.add(header.iter().copied());
        table
    }

    /// Adds a row, its cells made harmless.
    pub fn row(&mut self, cells: Vec<String>) {
        self.add(cells.iter().map(String::as_str));
    }

    fn add<'a>(&mut self, cells: impl Iterator<Item = &'a str>) {
        for (column, cell) in cells.enumerate() {
            let cell = harmless(cell);
            let width = cell.chars().count();
            self.cells.push_str(&cell);
            self.ends.push((self.cells.len(), width));
            if column == self.widths.len() {
                self.widths.push(0);
            }
            self.widths[column] = self.widths[column].max(width);
        }
        self.rows.push(self.ends.len());
    }

    /// Whether there is nothing but the header.
    pub fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }

    /// The table's lines, each indented by two blanks.
    pub fn render(&self) -> String {
        let all_blanks = " ".repeat(self.widths.iter().copied().max().unwrap_or(0));
        let mut text = String::new();
        let (mut first, mut begins) = (0, 0);
        for row in &self.rows {
            let line = text.len();
            for (column, (ends, width)) in self.ends[first..*row].iter().enumerate() {
                let blanks = &all_blanks[..self.widths[column] - width];
                let (before, behind) = if column < self.words {
                    ("", blanks)
                } else {
                    (blanks, "")
                };
                for part in ["  ", before, &self.cells[begins..*ends], behind] {
                    text.push_str(part);
                }
                begins = *ends;
            }
            text.truncate(line + text[line..].trim_end().len());
            text.push('\n');
            first = *row;
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
