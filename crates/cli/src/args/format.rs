//! The formats of each command, with their help.

use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use document::Format;

/// Formats of a command, each with its help.
type Formats = [(Format, &'static str)];

/// Formats of a run's report: those that render a document, and the others.
pub static REPORT: LazyLock<Vec<(Format, &str)>> = LazyLock::new(|| {
    let others = [
        (
            Format::Json,
            "The complete record with its summary, as JSON",
        ),
        (
            Format::Classic,
            "The verbose report of the original PostMark, in whole seconds",
        ),
        (
            Format::Terse,
            "The terse report of the original PostMark: 13 numbers on one line",
        ),
    ];
    [Format::DOCUMENTS, &others].concat()
});

/// Formats of `run`: those of a report, and one for repeated runs.
pub static RUN: LazyLock<Vec<(Format, &str)>> = LazyLock::new(|| {
    let of_repeated = (
        Format::Csv,
        "With --repeat: the means and their intervals, as CSV",
    );
    [REPORT.as_slice(), &[of_repeated]].concat()
});

pub const PLAN: &Formats = &[
    (Format::Text, "Tables to read"),
    (Format::Json, "The complete plan, as JSON"),
    (
        Format::Toml,
        "The complete workload, as a configuration file",
    ),
];

pub const ANSWER: &Formats = &[
    (Format::Text, "Lines to read"),
    (Format::Json, "The complete answer, as JSON"),
];

pub const LEARN: &Formats = &[
    (Format::Text, "Tables to read"),
    (Format::Markdown, "The same tables, as Markdown"),
    (
        Format::Json,
        "Everything that was observed, the workload and distances, as JSON",
    ),
];

pub const CRASH: &Formats = &[
    (Format::Text, "Lines to read"),
    (Format::Markdown, "The same, as Markdown"),
    (
        Format::Json,
        "The complete result with every round, as JSON; 'gate' and 'show' read it",
    ),
];

pub const LIST: &Formats = &[
    (Format::Text, "A table to read"),
    (Format::Json, "An array, as JSON"),
    (Format::Csv, "A table, as CSV"),
];

pub const EXPORT: &Formats = &[
    (
        Format::Json,
        "Complete records with their summaries, one run on each line; 'import' reads them",
    ),
    (
        Format::Csv,
        "A table with a row for each operation in each phase of each run",
    ),
    (Format::Markdown, "A table with a row for each run"),
];

pub const COMPARISON: &Formats = &[
    (Format::Text, "A table, and a sentence for each comparison"),
    (Format::Markdown, "The same, as Markdown"),
    (Format::Csv, "The table, as CSV"),
    (Format::Json, "The tables with all their numbers, as JSON"),
];

pub const HISTORY: &Formats = &[
    (Format::Text, "A chart, the changes and a table of levels"),
    (Format::Markdown, "The same without the chart, as Markdown"),
    (Format::Html, "A page with a chart, as one HTML file"),
    (Format::Csv, "A table of the runs, as CSV"),
    (Format::Json, "Runs, levels and changes, as JSON"),
    (Format::Otava, "The counted runs, as CSV for Apache Otava"),
    (
        Format::Bencher,
        "The newest result, as JSON in Bencher Metric Format",
    ),
];

pub const GATE: &Formats = &[
    (
        Format::Text,
        "The decision, a table, and a sentence for each requirement",
    ),
    (Format::Markdown, "The same, as Markdown for a pull request"),
    (Format::Json, "The decision with all its numbers, as JSON"),
];

/// Parses the name of one of these formats.
pub fn one_of(formats: &Formats) -> impl TypedValueParser<Value = Format> {
    let values = formats
        .iter()
        .map(|(format, about)| PossibleValue::new(format.name()).help(*about));
    PossibleValuesParser::new(values).try_map(|name| name.parse::<Format>())
}

/// Parses a format of published results. The help lists these formats in a sentence.
pub fn published(name: &str) -> Result<Format, &'static str> {
    let format = name.parse().ok().filter(|format| {
        matches!(
            format,
            Format::Text | Format::Csv | Format::Json | Format::Markdown
        )
    });
    format.ok_or("expected text, csv, json or markdown")
}
