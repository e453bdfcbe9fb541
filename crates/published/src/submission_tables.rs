//! Submissions beside published columns, as tables.

use document::units::grouped;
use document::{Cell, Document, Format, Number, Table};
use record::Edition;
use serde::Serialize;

use crate::editions::told_of_converted;
use crate::shape::ConfigurationShape;
use crate::sheet::sheet;
use crate::show::told;
use crate::source::Figure;
use crate::submission::{Rates, Submission};
use crate::submissions::{Apart, Group, Numbered, PublishedColumn};

/// The version of the JSON that [`show`] writes.
pub const SCHEMA_VERSION: u32 = 1;

/// The tables in a format.
pub fn show(groups: &[Group], format: Format) -> String {
    #[derive(Serialize)]
    struct Tables<'a> {
        schema: u32,
        configurations: &'a [Group],
    }
    let shown = Tables {
        schema: SCHEMA_VERSION,
        configurations: groups,
    };
    format.answer(
        || blocks(groups),
        || document::csv(&flat(groups), "\n"),
        || document::json(&shown),
    )
}

fn blocks(groups: &[Group]) -> Document {
    let mut document = Document::default();
    if groups.is_empty() {
        document.words("No submissions (add some with postmark import FILE)");
    }
    for group in groups {
        if !document.is_empty() {
            document.gap();
        }
        let edition = group.edition();
        let edition = edition.map_or_else(String::new, |edition| format!(", edition {edition}"));
        document.title(format!("{}{edition}", group.label));
        document.words(format!("Fingerprint {}", told(&group.fingerprint)));
        let (others, published): (Vec<&PublishedColumn>, Vec<&PublishedColumn>) = group
            .published
            .iter()
            .partition(|column| is_of_another(group, column));
        let inside: Vec<&Numbered> = group.submissions.iter().collect();
        let items = inside.iter().map(|one| words(one)).collect();
        part(&mut document, group, &published, &inside, items);
        if !others.is_empty() {
            document.heading(format!(
                "{}, made by another edition or by none: other file sizes",
                group.label
            ));
            part(&mut document, group, &others, &[], Vec::new());
        }
        if !group.apart.is_empty() {
            document.heading(format!(
                "{}, with other fingerprints: not comparable with the runs above",
                group.label
            ));
            let items = group.apart.iter();
            let items =
                items.map(|Apart { submission, why }| format!("{}: {why}", words(submission)));
            let apart: Vec<&Numbered> = group.apart.iter().map(|apart| &apart.submission).collect();
            part(&mut document, group, &[], &apart, items.collect());
        }
    }
    document
}

/// Whether another edition than the group's made a column, for all that is known.
fn is_of_another(group: &Group, column: &PublishedColumn) -> bool {
    let made_by = |edition: &str| column.edition == edition;
    let others = Edition::ALL
        .iter()
        .filter(|other| group.edition() != Some(**other));
    made_by("neither") || others.map(|other| other.name()).any(made_by)
}

/// What columns are, and the table that they make.
fn part(
    document: &mut Document,
    group: &Group,
    published: &[&PublishedColumn],
    submissions: &[&Numbered],
    items: Vec<String>,
) {
    if published.is_empty() && submissions.is_empty() {
        return;
    }
    for column in published {
        document.item(format!("{} ({})", column.system, column.tables.join(", ")));
    }
    let wrong = published.iter().filter(|column| column.is_converted);
    let wrong: Vec<&str> = wrong.map(|column| column.column.as_str()).collect();
    document.items(told_of_converted(&wrong));
    document.items(items);
    document.gap();
    document.table(table(group, published, submissions));
}

/// What a submission's column stands for.
fn words(one: &Numbered) -> String {
    let submission = &one.submission;
    let Submission {
        system,
        engine,
        durability,
        tool,
        fingerprint,
        ..
    } = submission;
    let (name, tool, version) = (one.name(), &tool.name, &tool.version);
    format!(
        "{name}: {system}; storage {engine}, durability {durability}; {tool} {version}; \
         {fingerprint}"
    )
}

/// The layout of the page: a column for each system, a row for each figure.
fn table(group: &Group, published: &[&PublishedColumn], submissions: &[&Numbered]) -> Table {
    let processes = group.shape.map_or(1, |(shape, _)| shape.processes);
    let label = if group.shape.is_some() {
        group.label.as_str()
    } else {
        "mix"
    };
    let mut table = Table::new(1, &[label]).folding();
    let heads = published.iter().map(|column| column.column.clone());
    for head in heads.chain(submissions.iter().map(|one| one.head())) {
        table.column(head, false);
    }
    let each = if processes > 1 { " per process" } else { "" };
    for (name, figure, ours) in FIGURES {
        let is_published = published.iter().any(|one| one.figure(figure).is_some());
        // The page has no times: only where others have printed some are ours of interest.
        if !is_published && (figure == Figure::Elapsed || submissions.is_empty()) {
            continue;
        }
        let of_all = figure == Figure::Elapsed;
        let mut row = vec![format!("{name}{}", if of_all { "" } else { each }).into()];
        row.extend(published.iter().map(|column| {
            let printed = column.figure(figure).map(|one| without_unit(&one.printed));
            Cell::from(printed)
        }));
        let rates = submissions
            .iter()
            .map(|one| one.submission.rates.of_each(processes));
        row.extend(rates.map(|rates| Cell::from(rate(ours(rates)))));
        table.row(row);
    }
    let mut edition: Vec<Cell> = vec!["Edition".into()];
    edition.extend(published.iter().map(|column| Cell::ours(&column.edition)));
    let of = |one: &&Numbered| {
        ConfigurationShape::of(&one.submission.workload).map(|(_, edition)| edition.name())
    };
    edition.extend(submissions.iter().map(|one| Cell::from(of(one))));
    table.row(edition);
    if !submissions.is_empty() {
        let mut verdict: Vec<Cell> = vec!["Verdict".into()];
        verdict.extend(published.iter().map(|_| Cell::Missing));
        let ours = submissions.iter().map(|one| one.submission.verdict.name());
        verdict.extend(ours.map(Cell::ours));
        table.row(verdict);
    }
    table
}

type FigureOfRates = fn(Rates) -> f64;

/// The rows of a table, as the page calls them, and the study.
const FIGURES: [(&str, Figure, FigureOfRates); 4] = [
    (
        "Transactions per second",
        Figure::TransactionsRate,
        |rates| rates.transactions_per_second,
    ),
    ("Data read (Kbytes/sec)", Figure::DataReadRate, |rates| {
        rates.kilobytes_read_per_second
    }),
    (
        "Data written (Kbytes/sec)",
        Figure::DataWrittenRate,
        |rates| rates.kilobytes_written_per_second,
    ),
    ("Completion time (s)", Figure::Elapsed, |rates| {
        rates.elapsed_s
    }),
];

/// The row's name has it, if it is the same.
fn without_unit(printed: &str) -> String {
    let mut units = [" /s", " kB/s", " s"].into_iter();
    let bare = units.find_map(|unit| printed.strip_suffix(unit));
    bare.unwrap_or(printed).to_owned()
}

fn rate(rate: f64) -> String {
    if rate >= 1_000.0 {
        grouped(rate.round() as u64)
    } else {
        format!("{rate:.2}")
    }
}

/// A line for spreadsheets.
enum Line<'a> {
    Published(&'a Group, &'a PublishedColumn),
    /// With the reason why it is apart.
    Submitted(&'a Group, &'a Numbered, &'a str),
}

impl Line<'_> {
    /// What only one of the two has.
    fn published(&self, cell: impl Fn(&PublishedColumn) -> Cell) -> Cell {
        match self {
            Self::Published(_, column) => cell(column),
            Self::Submitted(..) => Cell::Empty,
        }
    }

    fn submitted(&self, cell: impl Fn(&Submission) -> Cell) -> Cell {
        match self {
            Self::Published(..) => Cell::Empty,
            Self::Submitted(_, one, _) => cell(&one.submission),
        }
    }

    fn rate(&self, (_, figure, ours): &(&str, Figure, FigureOfRates)) -> Cell {
        let rate = match self {
            Self::Published(_, column) => column.figure(*figure).map(|one| one.value),
            Self::Submitted(_, one, _) => Some(ours(one.submission.rates)),
        };
        rate.map(Number::Rate).into()
    }
}

/// A column: its header, and its value in a line.
type Column = (&'static str, fn(&Line<'_>) -> Cell);

/// What a line has, in order.
const COLUMNS: [Column; 17] = [
    ("configuration", |line| match line {
        Line::Published(group, _) | Line::Submitted(group, ..) => group.label.as_str().into(),
    }),
    ("edition", |line| match line {
        Line::Published(_, column) => Cell::ours(&column.edition),
        Line::Submitted(_, one, _) => ConfigurationShape::of(&one.submission.workload)
            .map(|(_, edition)| Cell::ours(edition.name()))
            .into(),
    }),
    ("number", |line| match line {
        Line::Published(..) => Cell::Empty,
        Line::Submitted(_, one, _) => Number::Ordinal(one.number).into(),
    }),
    ("contributor", |line| match line {
        Line::Published(_, column) => column.contributor.known().map(String::as_str).into(),
        Line::Submitted(_, one, _) => one.submission.contributor.as_str().into(),
    }),
    ("system", |line| match line {
        Line::Published(_, column) => column.system.as_str().into(),
        Line::Submitted(_, one, _) => one.submission.system.as_str().into(),
    }),
    ("storage", |line| {
        line.submitted(|one| one.engine.as_str().into())
    }),
    ("durability", |line| {
        line.submitted(|one| one.durability.as_str().into())
    }),
    ("transactions_per_second", |line| line.rate(&FIGURES[0])),
    ("kilobytes_read_per_second", |line| line.rate(&FIGURES[1])),
    ("kilobytes_written_per_second", |line| {
        line.rate(&FIGURES[2])
    }),
    ("elapsed_s", |line| line.rate(&FIGURES[3])),
    ("verdict", |line| {
        line.submitted(|one| Cell::ours(one.verdict.name()))
    }),
    ("fingerprint", |line| {
        line.submitted(|one| Cell::ours(one.fingerprint.as_str()))
    }),
    ("tool", |line| {
        line.submitted(|one| format!("{} {}", one.tool.name, one.tool.version).into())
    }),
    ("when_unix_ns", |line| {
        line.submitted(|one| Number::Ordinal(one.when_unix_ns).into())
    }),
    ("published_in", |line| {
        line.published(|column| Cell::ours(column.tables.join(" ")))
    }),
    ("apart", |line| match line {
        Line::Published(..) => Cell::Empty,
        Line::Submitted(_, _, why) => (*why).into(),
    }),
];

/// A line for each submission and each published column.
fn flat(groups: &[Group]) -> Table {
    let mut lines = Vec::new();
    for group in groups {
        let published = group.published.iter();
        lines.extend(published.map(|column| Line::Published(group, column)));
        let inside = group.submissions.iter();
        lines.extend(inside.map(|one| Line::Submitted(group, one, "")));
        let apart = group.apart.iter();
        lines.extend(apart.map(|one| Line::Submitted(group, &one.submission, &one.why)));
    }
    sheet(&COLUMNS, lines)
}
