//! Renders blocks as Markdown (CommonMark, with GitHub's tables).

use crate::block::{Block, Document};
use crate::sanitize;
use crate::table::{Cell, Table};
use crate::units::NO_BREAK;

pub fn markdown(document: &Document) -> String {
    let mut all = String::new();
    for block in document.blocks() {
        let block = match block {
            Block::Painted(block, _) => block,
            block => block,
        };
        let next = match block {
            Block::Title(text) => format!("# {}\n\n", marked(text)),
            Block::Heading(text) => format!("\n## {}\n\n", marked(text)),
            Block::Head(text) => format!("\n### {}\n\n", marked(text)),
            Block::Words { text, .. } => format!("\n{}\n\n", marked(text)),
            Block::Item { text, .. } => format!("- {}\n", marked(text)),
            Block::Pair { key, value, .. } if key.is_empty() => format!("  - {}\n", marked(value)),
            Block::Pair { key, value, .. } => format!("- **{}** {}\n", marked(key), marked(value)),
            Block::Note { lead, text } => format!("\n*({}{})*\n\n", marked(lead), marked(text)),
            Block::Warning(text) => format!("\n> **{}**\n\n", marked(text)),
            Block::Table(table) => self::table(table, all.is_empty()),
            Block::Command(text) => format!("\n{}\n\n", marked(text)),
            Block::Picture(figure) => format!(
                "\n### {}\n\n{}\n{}",
                marked(&figure.title),
                marked(&figure.caption),
                self::table(&figure.data, false)
            ),
            Block::Folded { title, inside } => {
                format!("\n### {}\n\n{}", marked(title), markdown(inside))
            }
            // Painted blocks are never nested.
            Block::Painted(..) => String::new(),
        };
        all.push_str(&next);
    }
    all
}

fn marked(text: &str) -> String {
    sanitize::markdown(text).replace(NO_BREAK, " ")
}

fn table(table: &Table, is_first: bool) -> String {
    // Without an empty line before it, Markdown treats a table as part of the previous paragraph.
    let mut text = String::from(if is_first { "" } else { "\n" });
    let columns = &table.columns;
    text.push_str(&line(columns.iter().map(|column| marked(&column.header))));
    let sides = columns
        .iter()
        .map(|column| if column.is_words { "---" } else { "--:" });
    text.push_str(&line(sides.map(str::to_owned)));
    for (row, shown) in table.rows.iter().zip(table.shown()) {
        let cells = row.iter().zip(shown).map(|(cell, shown)| match cell {
            Cell::Text(text) | Cell::Ours(text) | Cell::Linked(text, _) => marked(text),
            _ => shown,
        });
        let missing = std::iter::repeat_n(String::new(), columns.len().saturating_sub(row.len()));
        text.push_str(&line(cells.chain(missing)));
    }
    text
}

fn line(cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.collect();
    format!("| {} |\n", cells.join(" | "))
}
