//! Renders blocks as a part of an HTML page: headings, lists, tables and charts with classes, which
//! the page's style sheet formats. This module escapes all strings except charts, whose texts are
//! already escaped.

use crate::block::{Block, Document, Picture, Tone};
use crate::sanitize;
use crate::table::{Cell, Table};
use crate::units::NO_BREAK;

/// Renders a document as a sequence of elements. Titles of the document are `<h2>`, because `<h1>`
/// is the title of the page.
pub fn html(document: &Document) -> String {
    let mut all = String::new();
    let mut open = List::None;
    let mut heading = "";
    for block in document.blocks() {
        let (block, words) = match block {
            Block::Painted(block, words) => (&**block, &words[..]),
            block => (block, &[][..]),
        };
        let list = List::of(block);
        if list != open {
            all.push_str(open.end());
            all.push_str(list.begin());
            open = list;
        }
        if let Block::Title(text) | Block::Heading(text) | Block::Head(text) = block {
            heading = text;
        }
        element(&mut all, block, (heading, words));
    }
    all.push_str(open.end());
    all
}

/// The element that encloses consecutive blocks of one kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    None,
    Items,
    Pairs,
    Figures,
}

impl List {
    fn of(block: &Block) -> Self {
        match block {
            Block::Item { .. } => Self::Items,
            Block::Pair { .. } => Self::Pairs,
            Block::Picture(_) => Self::Figures,
            _ => Self::None,
        }
    }

    fn begin(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Items => "<ul>\n",
            Self::Pairs => "<dl>\n",
            Self::Figures => "<div class=\"figures\">\n",
        }
    }

    fn end(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Items => "</ul>\n",
            Self::Pairs => "</dl>\n",
            Self::Figures => "</div>\n",
        }
    }
}

/// Appends the element of a block below this heading, with highlighted words.
fn element(all: &mut String, block: &Block, (heading, words): (&str, &[(String, Tone)])) {
    let next = match block {
        Block::Title(text) => format!("<h2>{}</h2>\n", marked(text)),
        Block::Heading(text) => format!("<h3>{}</h3>\n", marked(text)),
        Block::Head(text) => format!("<h4>{}</h4>\n", marked(text)),
        // Empty lines are omitted, because the style sheet defines vertical space.
        Block::Words { text, .. } if text.is_empty() => String::new(),
        Block::Words { text, .. } => format!("<p>{}</p>\n", painted(text, words)),
        Block::Item { text, .. } => format!("<li>{}</li>\n", painted(text, words)),
        // A pair without a name continues the previous pair.
        Block::Pair { key, value, .. } if key.is_empty() && all.ends_with("</dd></div>\n") => {
            all.truncate(all.len() - "</div>\n".len());
            format!("<dd>{}</dd></div>\n", painted(value, words))
        }
        Block::Pair { key, value, .. } => {
            format!(
                "<div><dt>{}</dt><dd>{}</dd></div>\n",
                marked(key),
                painted(value, words)
            )
        }
        Block::Note { lead, text } => {
            format!("<p class=\"note\">{}{}</p>\n", marked(lead), marked(text))
        }
        Block::Warning(text) => format!(
            "<p class=\"warning\"><strong>{}</strong></p>\n",
            marked(text)
        ),
        Block::Table(table) => self::table(table, &label(heading, table)),
        Block::Command(text) => format!("<pre tabindex=\"0\">{}</pre>\n", marked(text)),
        Block::Picture(figure) => self::figure(figure),
        Block::Folded { title, inside } => format!(
            "<details><summary>{}</summary>\n{}</details>\n",
            marked(title),
            html(inside)
        ),
        // Painted blocks are never nested.
        Block::Painted(..) => String::new(),
    };
    all.push_str(&next);
}

fn marked(text: &str) -> String {
    sanitize::html(text).replace(NO_BREAK, " ")
}

/// Highlights words in a text. Only the first occurrence of each word is highlighted.
fn painted(text: &str, words: &[(String, Tone)]) -> String {
    let mut text = marked(text);
    for (word, tone) in words {
        let class = match tone {
            Tone::Headline => "headline",
            Tone::Good => "good",
            Tone::Doubtful => "doubtful",
            Tone::Bad => "bad",
        };
        let word = marked(word);
        text = text.replacen(
            &word,
            &format!("<strong class=\"{class}\">{word}</strong>"),
            1,
        );
    }
    text
}

/// A name that tells the tables of a page apart: the heading above it, and its columns.
fn label(heading: &str, table: &Table) -> String {
    let columns = table.columns.iter().map(|column| column.header.as_str());
    let columns: Vec<&str> = columns.filter(|header| !header.is_empty()).collect();
    let parts = [heading.to_owned(), columns.join(", ")];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    match parts.is_empty() {
        true => "Table".to_owned(),
        false => format!("Table: {}", parts.join(": ")),
    }
}

fn table(table: &Table, name: &str) -> String {
    let leads = table
        .columns
        .iter()
        .take_while(|column| column.is_words)
        .count();
    // A table that is wider than the page scrolls within this element, also by keyboard
    // (`tabindex`).
    let mut text = format!(
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{}\"><table>\n<thead><tr>",
        marked(name)
    );
    for column in &table.columns {
        let class = if column.is_words { "" } else { " class=\"n\"" };
        text.push_str(&match column.header.is_empty() {
            true => format!("<td{class}></td>"),
            false => format!("<th scope=\"col\"{class}>{}</th>", marked(&column.header)),
        });
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for (row, shown) in table.rows.iter().zip(table.shown()) {
        text.push_str("<tr>");
        for (place, (cell, shown)) in row.iter().zip(&shown).enumerate() {
            let is_words = table
                .columns
                .get(place)
                .is_none_or(|column| column.is_words);
            let class = if is_words { "" } else { " class=\"n\"" };
            let facts = match cell {
                Cell::Unavailable(why) => format!(" title=\"not available ({})\"", marked(why)),
                // A script in the page sorts rows by this value, because the displayed units may
                // differ between numbers.
                Cell::Number(number, _) => format!(" data-value=\"{}\"", number.plain()),
                _ => String::new(),
            };
            let shown = match cell {
                Cell::Linked(_, to) => {
                    format!("<a href=\"#{}\">{}</a>", sanitize::html(to), marked(shown))
                }
                _ => marked(shown),
            };
            text.push_str(&match place < leads.min(1) && !shown.is_empty() {
                true => format!("<th scope=\"row\"{facts}>{shown}</th>"),
                false => format!("<td{class}{facts}>{shown}</td>"),
            });
        }
        for _ in row.len()..table.columns.len() {
            text.push_str("<td></td>");
        }
        text.push_str("</tr>\n");
    }
    text + "</tbody></table></div>\n"
}

fn figure(figure: &Picture) -> String {
    let Picture {
        title,
        caption,
        svg,
        narrow: _,
        data,
    } = figure;
    let data = match data.is_empty() {
        true => String::new(),
        false => format!(
            "<details class=\"data\"><summary>Numbers of this chart</summary>\n{}</details>\n",
            table(data, &format!("Numbers of {title}"))
        ),
    };
    let title = marked(title);
    format!(
        "<figure>\n<p class=\"title\">{title}</p>\n<div class=\"picture\" role=\"region\" \
         tabindex=\"0\" aria-label=\"{title}\">{svg}</div>\n\
         <figcaption>{}</figcaption>\n{data}</figure>\n",
        marked(caption)
    )
}
