//! Words and tables as text, Markdown and CSV. The walk over a table is written once; a format supplies header, divider and
//! row, and says which columns fit beside one another.

use std::borrow::Cow;
use std::str::FromStr;

use record::harmless::{csv, harmless, markdown};

/// How something published is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Tables for people.
    #[default]
    Text,
    /// A line for each number, for spreadsheets.
    Csv,
    /// Everything, for programs.
    Json,
    /// Tables for pages.
    Markdown,
}

/// The word given for a format is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("give text, csv, json or markdown")]
pub struct UnknownFormat;

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(word: &str) -> Result<Self, UnknownFormat> {
        match word {
            "text" => Ok(Self::Text),
            "csv" => Ok(Self::Csv),
            "json" => Ok(Self::Json),
            "markdown" => Ok(Self::Markdown),
            _ => Err(UnknownFormat),
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Markdown => "markdown",
        })
    }
}

/// A piece of what is shown.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    /// Words over much.
    Title(String),
    /// Words over little.
    Heading(String),
    /// A paragraph.
    Words(String),
    /// A paragraph of a list.
    Item(String),
    /// A table.
    Sheet(Sheet),
}

/// A table.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    /// The headers of its columns.
    pub header: Vec<String>,
    /// Its rows, each with a cell for every header.
    pub rows: Vec<Vec<String>>,
    /// How many columns, from the first, are words: they say what a row is.
    pub words: usize,
    /// Which columns hold numbers and texts of ours alone: a spreadsheet needs no protection from them.
    ours: Vec<bool>,
}

impl Sheet {
    /// A table without rows. Its cells are taken for texts of others, unless it is said that they are ours.
    pub fn new(words: usize, header: &[&str]) -> Self {
        Self {
            header: header.iter().map(|cell| (*cell).to_owned()).collect(),
            rows: Vec::new(),
            words,
            ours: Vec::new(),
        }
    }

    /// All of its columns hold nothing of others, but for these.
    #[must_use]
    pub fn ours_but(mut self, others: &[&str]) -> Self {
        let headers = self.header.iter().map(String::as_str);
        self.ours = headers.map(|header| !others.contains(&header)).collect();
        self
    }

    /// Characters that a column's cells take.
    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

/// One column of a table as a format meets it.
pub(crate) struct Cell<'a> {
    text: &'a str,
    is_word: bool,
    is_ours: bool,
    width: usize,
}

/// What a format supplies.
pub(crate) trait Markup {
    /// Words that are no table.
    fn words(&self, block: &Block) -> String;

    /// How wide a column is, in characters, for a header and its widest cell.
    fn width(&self, header: &str, widest: usize) -> usize {
        header.chars().count().max(widest)
    }

    /// How many characters fit beside one another.
    fn width_max(&self) -> usize {
        usize::MAX
    }

    /// The line or lines of headers.
    fn header(&self, cells: &[Cell<'_>]) -> String;

    /// What parts headers and rows.
    fn divider(&self, cells: &[Cell<'_>]) -> String;

    /// A row.
    fn row(&self, cells: &[Cell<'_>]) -> String;
}

/// Everything, in a format.
pub(crate) fn render(blocks: &[Block], markup: &dyn Markup) -> String {
    let mut text = String::new();
    for block in blocks {
        match block {
            Block::Sheet(sheet) => walk(&mut text, sheet, markup),
            words => text.push_str(&markup.words(words)),
        }
    }
    text
}

/// The walk over a table: where it is too wide, in parts that each begin with the columns of words.
fn walk(text: &mut String, sheet: &Sheet, markup: &dyn Markup) {
    let columns = 0..sheet.header.len();
    let widths: Vec<usize> = columns
        .map(|column| markup.width(&sheet.header[column], sheet.width(column)))
        .collect();
    for (number, part) in parts(sheet.words, &widths, markup.width_max()).iter().enumerate() {
        let cells = |of: &'_ [String]| -> Vec<(usize, String)> {
            part.iter()
                .filter_map(|column| Some((*column, of.get(*column)?.clone())))
                .collect()
        };
        let line = |of: &[String], write: &dyn Fn(&[Cell<'_>]) -> String| {
            let owned = cells(of);
            let cells: Vec<Cell<'_>> = owned
                .iter()
                .map(|(column, text)| Cell {
                    text,
                    is_word: *column < sheet.words,
                    is_ours: sheet.ours.get(*column) == Some(&true),
                    width: widths[*column],
                })
                .collect();
            write(&cells)
        };
        if number > 0 {
            text.push('\n');
        }
        text.push_str(&line(&sheet.header, &|cells| markup.header(cells)));
        text.push_str(&line(&sheet.header, &|cells| markup.divider(cells)));
        for row in &sheet.rows {
            text.push_str(&line(row, &|cells| markup.row(cells)));
        }
    }
}

/// Which columns stand together.
fn parts(words: usize, widths: &[usize], width_max: usize) -> Vec<Vec<usize>> {
    let lead: Vec<usize> = (0..words).collect();
    let lead_width: usize = widths.iter().take(words).map(|width| width + 2).sum();
    let mut parts = vec![lead.clone()];
    let mut filled = lead_width;
    for (column, width) in widths.iter().enumerate().skip(words) {
        let is_first = parts.last().is_none_or(|part| part.len() == words);
        if filled.saturating_add(width + 2) > width_max && !is_first {
            parts.push(lead.clone());
            filled = lead_width;
        }
        if let Some(part) = parts.last_mut() {
            part.push(column);
        }
        filled += width + 2;
    }
    parts
}

/// Words in lines that are no longer than that, where their words allow it.
pub(crate) fn lines(words: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words.split_whitespace() {
        let Some(line) = lines.last_mut() else { continue };
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Tables for people.
pub(crate) struct Text;

impl Text {
    /// Lines are broken before they become longer, in characters.
    const WIDTH_MAX: usize = 100;
    /// A column's header is broken before it becomes longer, in characters, unless its cells do.
    const HEADER_MAX: usize = 12;
}

impl Markup for Text {
    fn words(&self, block: &Block) -> String {
        let indented = |words: &str, first: &str, others: &str| -> String {
            let lines = lines(&harmless(words), Self::WIDTH_MAX - others.len());
            let lines = lines.iter().enumerate();
            lines
                .map(|(number, line)| format!("{}{line}\n", if number == 0 { first } else { others }))
                .collect()
        };
        match block {
            Block::Title(words) => format!("{}\n", indented(words, "", "")),
            Block::Heading(words) => format!("\n{}", indented(words, "", "")),
            Block::Words(words) => indented(words, "", ""),
            Block::Item(words) => indented(words, "- ", "  "),
            Block::Sheet(_) => String::new(),
        }
    }

    fn width(&self, header: &str, widest: usize) -> usize {
        let lines = lines(header, Self::HEADER_MAX.max(widest));
        let widths = lines.iter().map(|line| line.chars().count());
        widths.max().unwrap_or(0).max(widest)
    }

    fn width_max(&self) -> usize {
        Self::WIDTH_MAX
    }

    fn header(&self, cells: &[Cell<'_>]) -> String {
        let broken: Vec<Vec<String>> = cells.iter().map(|cell| lines(cell.text, cell.width)).collect();
        let height = broken.iter().map(Vec::len).max().unwrap_or(0);
        let mut text = String::new();
        for number in 0..height {
            let line: Vec<Cell<'_>> = cells
                .iter()
                .zip(&broken)
                .map(|(cell, lines)| Cell {
                    // The last line of every header stands on the rows.
                    text: (number + lines.len())
                        .checked_sub(height)
                        .map_or("", |number| lines[number].as_str()),
                    ..*cell
                })
                .collect();
            text.push_str(&self.row(&line));
        }
        text
    }

    fn divider(&self, _: &[Cell<'_>]) -> String {
        String::new()
    }

    fn row(&self, cells: &[Cell<'_>]) -> String {
        let mut line = String::new();
        for Cell {
            text, is_word, width, ..
        } in cells
        {
            let (text, width) = (harmless(text), *width);
            line.push_str(&if *is_word {
                format!("  {text:<width$}")
            } else {
                format!("  {text:>width$}")
            });
        }
        format!("{}\n", line.trim_end())
    }
}

/// Tables for pages.
pub(crate) struct Markdown;

impl Markdown {
    fn line(cells: impl Iterator<Item = String>) -> String {
        let cells: Vec<String> = cells.collect();
        format!("| {} |\n", cells.join(" | "))
    }
}

impl Markup for Markdown {
    fn words(&self, block: &Block) -> String {
        match block {
            Block::Title(words) => format!("# {}\n\n", markdown(words)),
            Block::Heading(words) => format!("\n## {}\n\n", markdown(words)),
            Block::Words(words) => format!("\n{}\n\n", markdown(words)),
            Block::Item(words) => format!("- {}\n", markdown(words)),
            Block::Sheet(_) => String::new(),
        }
    }

    fn header(&self, cells: &[Cell<'_>]) -> String {
        // Without an empty line before it a table belongs to what is above.
        format!("\n{}", self.row(cells))
    }

    fn divider(&self, cells: &[Cell<'_>]) -> String {
        Self::line(
            cells
                .iter()
                .map(|cell| if cell.is_word { "---" } else { "--:" }.to_owned()),
        )
    }

    fn row(&self, cells: &[Cell<'_>]) -> String {
        Self::line(cells.iter().map(|cell| markdown(cell.text).into_owned()))
    }
}

/// Fields with commas between them, by RFC 4180 but for the end of lines.
pub(crate) struct Csv;

impl Csv {
    /// A text of others is kept from being a formula; ours is as it is, so that what begins with a minus stays so.
    fn field<'a>(cell: &Cell<'a>) -> Cow<'a, str> {
        if !cell.is_ours {
            return csv(cell.text);
        }
        if cell.text.contains([',', '"', ';']) {
            return Cow::Owned(format!("\"{}\"", cell.text.replace('"', "\"\"")));
        }
        Cow::Borrowed(cell.text)
    }
}

impl Markup for Csv {
    fn words(&self, _: &Block) -> String {
        String::new()
    }

    fn header(&self, cells: &[Cell<'_>]) -> String {
        self.row(cells)
    }

    fn divider(&self, _: &[Cell<'_>]) -> String {
        String::new()
    }

    fn row(&self, cells: &[Cell<'_>]) -> String {
        let fields: Vec<Cow<'_, str>> = cells.iter().map(Self::field).collect();
        format!("{}\n", fields.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks() -> Vec<Block> {
        let mut sheet =
            Sheet::new(1, &["what", "a system with a long name", "b"]).ours_but(&["what", "a system with a long name"]);
        sheet.rows.push(vec!["rate".into(), "1,234".into(), "-5".into()]);
        sheet.rows.push(vec!["=SUM(A1)".into(), "x|y".into(), "?".into()]);
        vec![
            Block::Title("Results".into()),
            Block::Item("<script>".into()),
            Block::Sheet(sheet),
        ]
    }

    #[test]
    fn every_format_walks_the_same_table() {
        assert_eq!(
            render(&blocks(), &Text),
            "Results\n\n- <script>\n               a system\n            with a long\n  what             name   b\n  rate            1,234  -5\n  =SUM(A1)          x|y   ?\n"
        );
        assert_eq!(
            render(&blocks(), &Markdown),
            "# Results\n\n- &lt;script&gt;\n\n| what | a system with a long name | b |\n| --- | --: | --: |\n| rate | 1,234 | \\-5 |\n| \\=SUM(A1) | x\\|y | ? |\n"
        );
        assert_eq!(
            render(&blocks(), &Csv),
            "what,a system with a long name,b\nrate,\"1,234\",-5\n'=SUM(A1),x|y,?\n"
        );
    }

    #[test]
    fn texts_of_others_are_no_formulas_and_ours_are_as_they_are() {
        let mut sheet = Sheet::new(0, &["theirs", "ours"]).ours_but(&["theirs"]);
        for text in ["-inf", "+1", "-88-(-77)%", "-5", "a,b"] {
            sheet.rows.push(vec![text.to_owned(), text.to_owned()]);
        }
        assert_eq!(
            render(&[Block::Sheet(sheet)], &Csv),
            "theirs,ours\n'-inf,-inf\n'+1,+1\n'-88-(-77)%,-88-(-77)%\n'-5,-5\n\"a,b\",\"a,b\"\n"
        );
    }

    #[test]
    fn a_table_that_is_too_wide_goes_on_below() {
        let header: Vec<String> = (0..30).map(|number| format!("column{number}")).collect();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let mut sheet = Sheet::new(1, &header);
        sheet.rows.push(header.iter().map(|_| "1".to_owned()).collect());
        let text = render(&[Block::Sheet(sheet)], &Text);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert_eq!(
            text.matches("column0\n").count() + text.matches("column0 ").count(),
            4,
            "{text}"
        );
        assert_eq!(text.matches("column29").count(), 1);
    }
}
