//! Renders blocks as text for terminals and mail.

use anstyle::{AnsiColor, Effects, Style};
use textwrap::core::{Fragment, display_width};
use textwrap::wrap_algorithms::wrap_first_fit;

use crate::block::{Block, Document, Tone};
use crate::sanitize::sanitize;
use crate::table::{Head, Table};
use crate::units::NO_BREAK;

/// The default length of a line in characters.
pub const WIDTH: usize = 100;
/// The width of the column for names of pairs, in characters.
const KEY_WIDTH: usize = 12;
/// Width in characters to which column headers are wrapped in tables with [`Table::folds`]. Headers
/// of a column with wider cells are wrapped to the width of its widest cell.
const HEADER_WIDTH: usize = 12;

/// The width of a terminal in characters, and whether the terminal supports colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    pub width: usize,
    pub colour: bool,
}

#[derive(Clone, Copy)]
struct Layout {
    width: usize,
    /// Whether texts that are too wide are also wrapped at no-break spaces. `true` for terminals: a
    /// terminal wraps lines that are too long even within words.
    breaks_all: bool,
    colour: bool,
}

/// Renders a document as text. Lines have at most `width` characters, unless a single word, or a
/// text with no-break spaces, is longer.
pub fn text(document: &Document, width: usize) -> String {
    laid_out(
        document,
        Layout {
            width,
            breaks_all: false,
            colour: false,
        },
    )
}

/// Renders a document for a terminal. Only single words, and columns of tables, may be wider than
/// the terminal. If a table is too wide, its further columns follow below its first columns.
pub fn on_terminal(document: &Document, terminal: Terminal) -> String {
    laid_out(
        document,
        Layout {
            width: terminal.width,
            breaks_all: true,
            colour: terminal.colour,
        },
    )
}

fn laid_out(document: &Document, layout: Layout) -> String {
    document
        .blocks()
        .iter()
        .map(|block| shown(block, layout))
        .collect()
}

fn shown(block: &Block, layout: Layout) -> String {
    let filled = |first: &str, others: &str, text: &str| self::filled(first, others, text, layout);
    match block {
        Block::Title(text) => filled("", "", text) + "\n",
        Block::Heading(text) => format!("\n{}", filled("", "", text)),
        Block::Head(text) | Block::Warning(text) => filled("", "", text),
        Block::Words { depth, text } => {
            let indent = blank(2 * depth);
            filled(&indent, &indent, text)
        }
        Block::Item { depth, text } => {
            let indent = blank(2 * depth);
            filled(&format!("{indent}- "), &format!("{indent}  "), text)
        }
        Block::Pair { depth, key, value } => {
            let key = format!("{}{}", blank(2 * depth), sanitize(key));
            filled(&format!("{key:<KEY_WIDTH$}"), &blank(KEY_WIDTH), value)
        }
        Block::Note { lead, text } => {
            let lead = format!("  ({lead}");
            filled(&lead, &blank(lead.len()), &format!("{text})"))
        }
        Block::Table(table) => self::table(table, layout),
        Block::Command(text) => filled("    ", "    ", &crate::block::kept(text)),
        Block::Picture(figure) => {
            filled("", "", &figure.title)
                + &filled("  ", "  ", &figure.caption)
                + &self::table(&figure.data, layout)
        }
        Block::Folded { title, inside } => filled("", "", title) + &laid_out(inside, layout),
        Block::Painted(block, words) => {
            let plain = shown(block, layout);
            match layout.colour {
                true => painted(plain, words),
                false => plain,
            }
        }
    }
}

/// Colours words in a text. Only the first occurrence of each word is coloured.
fn painted(mut text: String, words: &[(String, Tone)]) -> String {
    for (word, tone) in words {
        let colour = |colour: AnsiColor| colour.on_default().effects(Effects::BOLD);
        let style = match tone {
            Tone::Headline => Style::new().bold(),
            Tone::Good => colour(AnsiColor::Green),
            Tone::Doubtful => colour(AnsiColor::Yellow),
            Tone::Bad => colour(AnsiColor::Red),
        };
        text = text.replacen(word, &format!("{style}{word}{style:#}"), 1);
    }
    text
}

fn blank(width: usize) -> String {
    " ".repeat(width)
}

/// Returns the number of terminal columns that a text occupies.
fn wide(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        display_width(text)
    }
}

#[derive(Debug)]
struct Word<'a>(&'a str);

impl Fragment for Word<'_> {
    fn width(&self) -> f64 {
        wide(self.0) as f64
    }

    fn whitespace_width(&self) -> f64 {
        1.0
    }

    fn penalty_width(&self) -> f64 {
        0.0
    }
}

/// Wraps a text between words. A line exceeds its width only if it consists of one word that is too
/// long. `widths` contains the widths of the first lines; the last width applies to all further
/// lines.
fn broken(text: &str, widths: &[usize]) -> Vec<String> {
    let words: Vec<Word<'_>> = text
        .split(' ')
        .filter(|word| !word.is_empty())
        .map(Word)
        .collect();
    let widths: Vec<f64> = widths.iter().map(|width| *width as f64).collect();
    let lines = wrap_first_fit(&words, &widths).into_iter();
    let line = |words: &[Word<'_>]| {
        words
            .iter()
            .map(|word| word.0)
            .collect::<Vec<_>>()
            .join(" ")
    };
    lines
        .map(|words| line(words).replace(NO_BREAK, " "))
        .collect()
}

/// Replaces no-break spaces by spaces in words that are wider than a line.
fn loosened(text: &str, width: usize) -> String {
    let word = |word: &str| {
        if wide(word) > width {
            word.replace(NO_BREAK, " ")
        } else {
            word.to_owned()
        }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Escapes harmful characters in a text, and wraps it. The first line begins with `first`, all
/// other lines begin with `others`.
fn filled(first: &str, others: &str, text: &str, layout: Layout) -> String {
    let widths = [first, others].map(|lead| layout.width.saturating_sub(wide(lead)));
    let text = sanitize(text);
    let lines = match layout.breaks_all {
        true => broken(&loosened(&text, widths[0].min(widths[1])), &widths),
        false => broken(&text, &widths),
    };
    let lines = lines.iter().enumerate();
    lines
        .map(|(number, line)| {
            format!("{}{line}", if number == 0 { first } else { others })
                .trim_end()
                .to_owned()
                + "\n"
        })
        .collect()
}

/// Renders a table. Columns are as wide as necessary; words are aligned to the left, numbers to the
/// right.
fn table(table: &Table, layout: Layout) -> String {
    let shown = table.shown().into_iter();
    let cells: Vec<Vec<String>> = shown
        .map(|row| row.iter().map(|cell| sanitize(cell).into_owned()).collect())
        .collect();
    let (headers, widths) = columns(table, &cells);
    let mut text = String::new();
    let parts = match table.folds || layout.breaks_all {
        true => parts(table.leads, &widths, layout.width),
        false => vec![(0..widths.len()).collect()],
    };
    // A further part of a divided table is left out if all its cells are empty. The cells of the
    // leading columns do not count, because every part repeats these columns.
    let is_filled = |part: &Vec<usize>| {
        let own = part.iter().skip(table.leads);
        own.flat_map(|column| cells.iter().filter_map(move |row| row.get(*column)))
            .any(|cell| !cell.is_empty())
    };
    let first = parts.iter().take(1);
    let parts = first.chain(parts.iter().skip(1).filter(|part| is_filled(part)));
    for (number, part) in parts.enumerate() {
        if number > 0 {
            text.push('\n');
        }
        let heights = part.iter().map(|column| headers[*column].len());
        let height = heights.max().unwrap_or(0);
        for number in 0..height {
            // Headers are aligned at the bottom, directly above the rows.
            let of = |column: &usize| {
                let place = (number + headers[*column].len()).checked_sub(height);
                (*column, place.map_or("", |place| &*headers[*column][place]))
            };
            line(&mut text, table, &widths, part.iter().map(of));
        }
        for row in &cells {
            let of = |column: &usize| (*column, row.get(*column).map_or("", String::as_str));
            line(&mut text, table, &widths, part.iter().map(of));
        }
    }
    text
}

/// Returns the wrapped lines of each header, and the width of each column.
fn columns(table: &Table, cells: &[Vec<String>]) -> (Vec<Vec<String>>, Vec<usize>) {
    let column = |(index, column): (usize, &Head)| {
        let cells = cells.iter().filter_map(|row| row.get(index));
        let widest = cells.map(|cell| wide(cell)).max().unwrap_or(0);
        let header_max = match table.folds {
            true => HEADER_WIDTH.max(widest),
            false => usize::MAX,
        };
        let header = broken(&sanitize(&column.header), &[header_max]);
        let of_header = header.iter().map(|line| wide(line)).max();
        let width = of_header.unwrap_or(0).max(widest);
        (header, width)
    };
    table.columns.iter().enumerate().map(column).unzip()
}

fn line<'a>(
    text: &mut String,
    table: &Table,
    widths: &[usize],
    cells: impl Iterator<Item = (usize, &'a str)>,
) {
    let begins = text.len();
    for (column, cell) in cells {
        let blank = blank(widths[column] - wide(cell));
        let (before, behind) = match table.columns[column].is_words {
            true => ("", &*blank),
            false => (&*blank, ""),
        };
        text.extend(["  ", before, cell, behind]);
    }
    text.truncate(begins + text[begins..].trim_end().len());
    text.push('\n');
}

/// Divides the columns of a table into parts that fit into a line. Every part begins with the first
/// `leads` columns, which identify a row.
fn parts(leads: usize, widths: &[usize], width_max: usize) -> Vec<Vec<usize>> {
    let lead: Vec<usize> = (0..leads.min(widths.len())).collect();
    let lead_width: usize = lead.iter().map(|column| widths[*column] + 2).sum();
    let mut parts = vec![lead.clone()];
    let mut filled = lead_width;
    for (column, width) in widths.iter().enumerate().skip(leads) {
        let is_first = parts.last().is_none_or(|part| part.len() == leads);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::bound;
    use crate::{Cell, Number, csv, markdown};

    fn document() -> Document {
        let mut table = Table::new(1, &["what", "a system with a long name", "b"]).folding();
        table.row(vec![
            "rate".into(),
            Number::Count(1_234).into(),
            Cell::ours("-5"),
        ]);
        table.row(vec![
            "=SUM(A1)".into(),
            "x|y".into(),
            Cell::Unavailable("lost".to_owned()),
        ]);
        let mut document = Document::default();
        document.title("Results");
        document.item("<script>");
        document.table(table);
        document
    }

    #[test]
    fn part_of_a_divided_table_with_only_empty_cells_is_left_out() {
        let mut table = Table::new(1, &["level", "rate", "offered", "waiting"]).folding();
        table.row(vec!["first".into(), Number::Count(1_234).into()]);
        let mut document = Document::default();
        document.table(table);
        let narrow = Terminal {
            width: 14,
            colour: false,
        };
        assert_eq!(
            on_terminal(&document, narrow),
            "  level   rate\n  first  1,234\n"
        );
    }

    #[test]
    fn text_markdown_and_csv_contain_the_same_table() {
        assert_eq!(
            text(&document(), WIDTH),
            "Results\n\n- <script>\n               a system\n            with a long\n\
             \x20 what             name   b\n  rate            1,234  -5\n\
             \x20 =SUM(A1)          x|y   -\n"
        );
        assert_eq!(
            markdown(&document()),
            "# Results\n\n- &lt;script&gt;\n\n| what | a system with a long name | b |\n| --- | \
             --: | --: |\n| rate | 1,234 | \\-5 |\n| \\=SUM(A1) | x\\|y | - |\n"
        );
        let Some(Block::Table(table)) = document().blocks().last().cloned() else {
            panic!("it ends with its table");
        };
        assert_eq!(
            csv(&table, "\n"),
            "what,a system with a long name,b\nrate,1234,-5\n'=SUM(A1),x|y,\n"
        );
    }

    #[test]
    fn csv_escapes_formulas_in_untrusted_texts_only() {
        let mut table = Table::new(0, &["theirs", "ours"]);
        for text in ["-inf", "+1", "-88-(-77)%", "a,b"] {
            table.row(vec![text.into(), Cell::ours(text)]);
        }
        table.row(vec![Cell::Missing, Number::Rate(-0.125).into()]);
        assert_eq!(
            csv(&table, "\r\n"),
            "theirs,ours\r\n'-inf,-inf\r\n'+1,+1\r\n'-88-(-77)%,-88-(-77)%\r\n\"a,b\",\"a,b\"\r\n,\
             -0.125\r\n"
        );
    }

    #[test]
    fn wide_tables_are_continued_below() {
        let header: Vec<String> = (0..30).map(|number| format!("column{number}")).collect();
        let mut table = Table::new(1, &header).folding();
        table.row(header.iter().map(|_| Number::Count(1).into()).collect());
        let mut document = Document::default();
        document.table(table);
        for (width, parts) in [(WIDTH, 4), (60, 6), (1, 29)] {
            let text = text(&document, width);
            assert!(
                width == 1 || text.lines().all(|line| line.chars().count() <= width),
                "{text}"
            );
            let of_first = text.matches("column0\n").count() + text.matches("column0 ").count();
            assert_eq!(of_first, parts, "{text}");
            assert_eq!(text.matches("column29").count(), 1);
        }
    }

    #[test]
    fn numbers_of_a_column_have_the_same_number_of_decimals() {
        let mut table = Table::new(1, &["", "ops/s", "slow", "s"]);
        table.row(vec![
            "a".into(),
            Number::Rate(12_345.6).into(),
            Number::Rate(0.0).into(),
            Number::Seconds(1_500_000_000).into(),
        ]);
        table.row(vec![
            "b".into(),
            Number::Rate(7.25).into(),
            Number::Rate(1_000.0).into(),
            Number::Seconds(12_500_000_000).into(),
        ]);
        let mut document = Document::default();
        document.table(table);
        assert_eq!(
            text(&document, WIDTH),
            "         ops/s   slow          s\n  a  12,345.60      0   1.500000\n  b       7.25  \
             1,000  12.500000\n"
        );
        assert!(markdown(&document).contains("| a | 12,345.60 | 0 | 1.500000 |"));
    }

    #[test]
    fn on_terminals_all_lines_are_wrapped_and_words_are_coloured() {
        let mut document = Document::default();
        document
            .line("12 transactions/s and so on, in a line that is never broken elsewhere VALID");
        document.paint(vec![
            ("12".to_owned(), Tone::Headline),
            ("VALID".to_owned(), Tone::Good),
        ]);
        let mut table = Table::new(1, &["what", "first", "second"]);
        table.row(vec![
            "a".into(),
            "twelve chars".into(),
            "twelve chars".into(),
        ]);
        document.table(table);
        let shown = |colour| on_terminal(&document, Terminal { width: 24, colour });
        let plain = "12 transactions/s and so\non, in a line that is\nnever broken \
                     elsewhere\nVALID\n  what         first\n  a     twelve chars\n\n  what        \
                     second\n  a     twelve chars\n";
        assert_eq!(shown(false), plain);
        let painted = shown(true);
        assert!(
            painted.starts_with("\u{1b}[1m12\u{1b}[0m transactions"),
            "{painted:?}"
        );
        assert!(
            painted.contains("\u{1b}[1m\u{1b}[32mVALID\u{1b}[0m\n"),
            "{painted:?}"
        );
        assert!(!text(&document, 24).contains('\u{1b}'));
        assert!(
            !markdown(&document).contains('\u{1b}')
                && markdown(&document).contains("12 transactions/s")
        );
    }

    #[test]
    fn harmful_cells_are_escaped_and_columns_stay_aligned() {
        let mut table = Table::new(1, &["name", "ms"]);
        table.row(vec!["a\n\u{1b}[2J".into(), Number::Ordinal(1).into()]);
        // Each Japanese character occupies two columns of the terminal.
        table.row(vec!["日本".into(), "µ".into()]);
        table.row(vec!["alone".into()]);
        let mut document = Document::default();
        document.table(table);
        assert_eq!(
            text(&document, WIDTH),
            "  name        ms\n  a\\n\\x1b[2J   1\n  日本         µ\n  alone\n"
        );
        assert!(
            markdown(&document).ends_with("| alone |  |\n"),
            "{}",
            markdown(&document)
        );
    }

    #[test]
    fn lines_are_broken_between_words_at_any_width() {
        let mut document = Document::default();
        document.list("Work", "", &["2 files", "seed 7", "blocks of 512 bytes"]);
        document.sentence("", "and more");
        document.list("None", "", &[""; 0]);
        document.push(Block::Item {
            depth: 1,
            text: bound("It took 5.0 % of 12 s."),
        });
        document.line("a line that has a path is never broken");
        document.below("(neither is \u{1b}this)");
        document.push(Block::Note {
            lead: "each: ",
            text: format!(
                "{} {}",
                crate::block::kept("1 read;"),
                crate::block::kept("2 writes")
            ),
        });
        assert_eq!(
            text(&document, 28),
            "Work        2 files, seed 7,\n            blocks of 512 bytes\n            and \
             more\n  - It took 5.0 % of 12 s.\na line that has a path is never broken\n  (neither \
             is \\x1bthis)\n  (each: 1 read; 2 writes)\n"
        );
        assert_eq!(
            text(&document, 20),
            "Work        2 files,\n            seed 7,\n            blocks of 512 bytes\n\
             \x20           and more\n  - It took 5.0 % of\n    12 s.\na line that has a path is \
             never broken\n  (neither is \\x1bthis)\n  (each: 1 read;\n         2 writes)\n"
        );
        assert!(!markdown(&document).contains(NO_BREAK));
    }
}
