//! Tables of a site, whose cells may contain links to other pages.

use std::fmt::Write as _;

use document::sanitize::html;
use document::units::{latency, rate, utc};

use super::model::{SiteRun, record_path};

#[derive(Clone, Debug)]
pub(super) enum SiteCell {
    Missing,
    Text(String),
    /// A text with a class of the style sheet.
    Toned(String, &'static str),
    Link {
        text: String,
        to: String,
    },
    /// A number as text, its exact value, and the record that contains it.
    Number {
        text: String,
        value: f64,
        to: Option<String>,
    },
}

impl SiteCell {
    pub(super) fn link(text: impl Into<String>, to: impl Into<String>) -> Self {
        Self::Link {
            text: text.into(),
            to: to.into(),
        }
    }

    pub(super) fn count(number: usize) -> Self {
        Self::Number {
            text: document::units::grouped(number as u64),
            value: number as f64,
            to: None,
        }
    }

    /// A rate in transactions per second, with a link to its record.
    pub(super) fn rate(run: &SiteRun, up: &str) -> Self {
        let to = Some(format!("{up}{}", record_path(&run.id)));
        run.transactions_per_second
            .map_or(Self::Missing, |value| Self::Number {
                text: rate(Some(value)),
                value,
                to,
            })
    }

    /// The 99th percentile of the latencies, with a link to its record.
    pub(super) fn p99(run: &SiteRun, up: &str) -> Self {
        let to = Some(format!("{up}{}", record_path(&run.id)));
        run.p99_ns.map_or(Self::Missing, |ns| Self::Number {
            text: latency(ns as f64),
            value: ns as f64,
            to,
        })
    }

    /// The verdict, or how an incomplete run ended.
    pub(super) fn outcome(run: &SiteRun) -> Self {
        let class = match run.outcome() {
            "VALID" => "good",
            "DOUBTFUL" => "doubtful",
            _ => "bad",
        };
        Self::Toned(run.outcome().to_owned(), class)
    }

    fn html(&self) -> String {
        let linked = |text: &str, to: &str| format!("<a href=\"{}\">{}</a>", html(to), html(text));
        match self {
            Self::Missing => "-".to_owned(),
            Self::Text(text) => html(text).into_owned(),
            Self::Toned(text, class) => format!("<b class=\"{class}\">{}</b>", html(text)),
            Self::Link { text, to } => linked(text, to),
            Self::Number { text, to: None, .. } => html(text).into_owned(),
            Self::Number {
                text, to: Some(to), ..
            } => linked(text, to),
        }
    }
}

/// The moment at which a run began, to the second.
pub(super) fn moment(unix_ns: u64) -> String {
    utc(unix_ns)
}

/// A column of a table.
pub(super) struct SiteColumn {
    pub header: &'static str,
    pub is_number: bool,
    /// Whether the script offers a choice of the column's values.
    pub is_facet: bool,
    /// The page with the same rows in the order of this column.
    pub sorted: Option<String>,
}

impl SiteColumn {
    pub(super) fn words(header: &'static str) -> Self {
        Self {
            header,
            is_number: false,
            is_facet: false,
            sorted: None,
        }
    }

    pub(super) fn number(header: &'static str) -> Self {
        Self {
            is_number: true,
            ..Self::words(header)
        }
    }

    pub(super) fn facet(header: &'static str) -> Self {
        Self {
            is_facet: true,
            ..Self::words(header)
        }
    }
}

/// A row: the classes by which it is filtered, and its cells.
pub(super) struct SiteRow {
    pub classes: String,
    pub cells: Vec<SiteCell>,
}

impl From<Vec<SiteCell>> for SiteRow {
    fn from(cells: Vec<SiteCell>) -> Self {
        let classes = String::new();
        Self { classes, cells }
    }
}

/// Renders a table. The first cell of a row is its header. `list` marks a table that the script
/// filters and sorts.
pub(super) fn table(name: &str, columns: &[SiteColumn], rows: &[SiteRow], list: bool) -> String {
    let mut text = format!(
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" \
         aria-label=\"{}\"><table{}>\n<thead><tr>",
        html(name),
        if list { " class=\"list\"" } else { "" }
    );
    for column in columns {
        let class = if column.is_number { " class=\"n\"" } else { "" };
        let facet = if column.is_facet { " data-facet" } else { "" };
        let header = match &column.sorted {
            Some(to) => format!("<a href=\"{}\">{}</a>", html(to), html(column.header)),
            None => html(column.header).into_owned(),
        };
        let _ = write!(text, "<th scope=\"col\"{class}{facet}>{header}</th>");
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        match row.classes.is_empty() {
            true => text.push_str("<tr>"),
            false => {
                let _ = write!(text, "<tr class=\"{}\">", html(&row.classes));
            }
        }
        for (place, (cell, column)) in row.cells.iter().zip(columns).enumerate() {
            let value = match cell {
                SiteCell::Number { value, .. } => format!(" data-value=\"{value}\""),
                _ => String::new(),
            };
            let class = if column.is_number { " class=\"n\"" } else { "" };
            let shown = cell.html();
            let _ = match place {
                0 => write!(text, "<th scope=\"row\"{class}{value}>{shown}</th>"),
                _ => write!(text, "<td{class}{value}>{shown}</td>"),
            };
        }
        text.push_str("</tr>\n");
    }
    text + "</tbody></table></div>\n"
}

/// A list of names and values, whose values are HTML.
pub(super) fn pairs(rows: &[(&str, String)]) -> String {
    let mut text = String::from("<dl>\n");
    for (name, value) in rows {
        let _ = writeln!(text, "<div><dt>{}</dt><dd>{value}</dd></div>", html(name));
    }
    text + "</dl>\n"
}

pub(super) fn anchor(text: &str, to: &str) -> String {
    format!("<a href=\"{}\">{}</a>", html(to), html(text))
}
