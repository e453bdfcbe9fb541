//! Tables of submissions and published columns.

use document::units::grouped;
use document::{Cell, Document, Format, Number, Table};
use record::Edition;
use serde::Serialize;

use crate::cells::sheet;
use crate::editions::told_of_converted;
use crate::layouts::label;
use crate::shape::ConfigurationShape;
use crate::show::told;
use crate::source::Figure;
use crate::submission::Submission;
use crate::submissions::{Apart, Group, Numbered, PublishedColumn};

/// The version of the JSON that [`show`] writes.
pub const SCHEMA_VERSION: u32 = 1;

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
        || document(groups),
        || document::csv(&flat(groups), "\n"),
        || document::json(&shown),
    )
}

/// Returns the tables of [`show`] as a document.
pub fn document(groups: &[Group]) -> Document {
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

/// Returns whether a PostMark edition other than the group's produced the column, or whether the
/// column fits no edition.
fn is_of_another(group: &Group, column: &PublishedColumn) -> bool {
    let made_by = |edition: &str| column.edition == edition;
    let others = Edition::ALL
        .iter()
        .filter(|other| group.edition() != Some(**other));
    made_by("neither") || others.map(|other| other.name()).any(made_by)
}

/// Adds a table of published columns and of submissions, below the descriptions of its columns.
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
    document.items(told_of_converted(wrong.map(|column| &column.column)));
    document.items(items);
    document.gap();
    document.table(table(group, published, submissions));
}

/// Describes a submission: system, engine, durability, tool and fingerprint.
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
        "{name}: {system}; engine {engine}, durability {durability}; {tool} {version}; \
         {fingerprint}"
    )
}

/// Returns a table in the layout of the mail administrator's page: a column for each system, a row
/// for each figure.
fn table(group: &Group, published: &[&PublishedColumn], submissions: &[&Numbered]) -> Table {
    let processes = group.shape.map_or(1, |(shape, _)| shape.processes);
    let work = match group.shape {
        Some(_) => group.label.as_str(),
        None => "mix",
    };
    let mut table = Table::new(1, &[work]).folding();
    let heads = published.iter().map(|column| column.column.clone());
    for head in heads.chain(submissions.iter().map(|one| one.head())) {
        table.column(head, false);
    }
    let each = if processes > 1 { " per process" } else { "" };
    let rates = |one: &&Numbered| one.submission.rates.of_each(processes).all();
    let rates: Vec<[(Figure, f64); 4]> = submissions.iter().map(rates).collect();
    for (at, figure) in FIGURES.into_iter().enumerate() {
        let is_published = published.iter().any(|one| one.figure(figure).is_some());
        // The web page that printed most of these tables contains no durations, so a table has
        // durations only if another source printed them.
        if !is_published && (figure == Figure::Elapsed || submissions.is_empty()) {
            continue;
        }
        let of_all = figure == Figure::Elapsed;
        let each = if of_all { "" } else { each };
        let mut row = vec![format!("{}{each}", label(figure)).into()];
        row.extend(published.iter().map(|column| {
            let printed = column.figure(figure).map(|one| without_unit(&one.printed));
            Cell::from(printed)
        }));
        row.extend(rates.iter().map(|rates| Cell::from(rate(rates[at].1))));
        table.row(row);
    }
    let mut edition: Vec<Cell> = vec!["Edition".into()];
    edition.extend(published.iter().map(|column| Cell::ours(&column.edition)));
    edition.extend(submissions.iter().map(|one| edition_of(&one.submission)));
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

/// The figures that a table can contain, in the order of its rows.
const FIGURES: [Figure; 4] = [
    Figure::TransactionsRate,
    Figure::DataReadRate,
    Figure::DataWrittenRate,
    Figure::Elapsed,
];

/// Removes a unit that the row's label already contains.
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

/// Returns a table with a row for each submission and each published column, for CSV.
fn flat(groups: &[Group]) -> Table {
    let mut lines = Vec::new();
    for group in groups {
        let published = group.published.iter();
        lines.extend(published.map(|column| published_line(group, column)));
        let inside = group.submissions.iter();
        lines.extend(inside.map(|one| submitted_line(group, one, "")));
        let apart = group.apart.iter();
        lines.extend(apart.map(|one| submitted_line(group, &one.submission, &one.why)));
    }
    sheet(
        "configuration edition number contributor system engine durability \
         transactions_per_second kilobytes_read_per_second kilobytes_written_per_second elapsed_s \
         verdict fingerprint tool when_unix_ns published_in apart",
        lines,
    )
}

fn published_line(group: &Group, column: &PublishedColumn) -> Vec<Cell> {
    let mut line = vec![
        group.label.as_str().into(),
        Cell::ours(&column.edition),
        Cell::Empty,
        column.contributor.known().map(String::as_str).into(),
        column.system.as_str().into(),
        Cell::Empty,
        Cell::Empty,
    ];
    let figure = |figure| column.figure(figure).map(|one| Number::Rate(one.value));
    line.extend(FIGURES.map(|of| Cell::from(figure(of))));
    // Verdict, fingerprint, tool and time exist only for submissions.
    line.extend([const { Cell::Empty }; 4]);
    line.extend([Cell::ours(column.tables.join(" ")), Cell::Empty]);
    line
}

/// `apart` is the reason why the submission is not comparable with its group, or empty.
fn submitted_line(group: &Group, numbered: &Numbered, apart: &str) -> Vec<Cell> {
    let one = &numbered.submission;
    let mut line = vec![
        group.label.as_str().into(),
        edition_of(one),
        Number::Ordinal(numbered.number).into(),
        one.contributor.as_str().into(),
        one.system.as_str().into(),
        one.engine.as_str().into(),
        one.durability.as_str().into(),
    ];
    line.extend(one.rates.all().map(|(_, rate)| Number::Rate(rate).into()));
    line.extend([
        Cell::ours(one.verdict.name()),
        Cell::ours(one.fingerprint.as_str()),
        format!("{} {}", one.tool.name, one.tool.version).into(),
        Number::Ordinal(one.when_unix_ns).into(),
        Cell::Empty,
        apart.into(),
    ]);
    line
}

/// Returns the PostMark edition of a submission's work; the cell is missing for mixes.
fn edition_of(submission: &Submission) -> Cell {
    let shape = ConfigurationShape::of(&submission.workload);
    shape.map(|(_, edition)| Cell::ours(edition.name())).into()
}
