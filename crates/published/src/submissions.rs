//! Many submissions in one table for each configuration, as the mail administrator's page has it: a
//! column for each system, contributors in brackets, beside the published columns of the same
//! configuration.
//!
//! Rows of a table intend the same operations: that is what the configuration's fingerprint says,
//! and whose fingerprint is another stands apart, with the reason.

use document::units::{counted, grouped};
use document::{Cell, Document, Format, Number, Table};
use record::{Edition, Fact, workload_in_words};
use serde::Serialize;
use workload::presets::{self, Machine};
use workload::{Workload, fingerprint};

use crate::editions::{Plans, converted, in_short, made_by, meant, told_of_converted};
use crate::library::{Library, PublishedError, Row};
use crate::shape::{ConfigurationShape, differences};
use crate::sheet::sheet;
use crate::show::{described, told};
use crate::source::{Configuration, Figure};
use crate::submission::{Rates, Submission};

/// The version of the JSON that [`show`] writes.
pub const SCHEMA_VERSION: u32 = 1;
/// Pools of so many files, of all workers together, are planned to check a fingerprint; larger ones
/// would take the memory that somebody else asked for.
const FILES_CHECKED_MAX: u64 = 4_000_000;
/// The same of workers.
const WORKERS_CHECKED_MAX: u32 = 64;
/// A word of a contributor's name that is longer, in characters, is no head of a column.
const HEAD_WORD_MAX: usize = 20;

/// A submission with the number that it goes by.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Numbered {
    /// Its number in the archive; of files: their order.
    pub number: u64,
    /// What was submitted.
    #[serde(flatten)]
    pub submission: Submission,
}

impl Numbered {
    /// What items call it: with who contributed it in brackets.
    fn name(&self) -> String {
        format!("S{} [{}]", self.number, self.submission.contributor)
    }

    /// What stands over its column: the same, but for contributors that would make the column too
    /// wide.
    fn head(&self) -> String {
        let mut words = self.submission.contributor.split_whitespace();
        if words.all(|word| word.chars().count() <= HEAD_WORD_MAX) {
            self.name()
        } else {
            format!("S{}", self.number)
        }
    }
}

/// A published figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublishedFigure {
    /// Which one.
    pub figure: Figure,
    /// As printed, with its unit.
    pub printed: String,
    /// As the program meant it: data in kilobytes of 1,024 bytes (a second), everything else in
    /// the printed unit.
    pub value: f64,
}

/// A published row beside others of its configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublishedColumn {
    /// The source's name.
    pub source: String,
    /// The table's name, and those of others that repeat the row.
    pub tables: Vec<String>,
    /// The column's header.
    pub column: String,
    /// What was measured, and by whom.
    pub system: String,
    /// Who measured it.
    pub contributor: Fact<String>,
    /// The edition that made it, as its ratio or its source says.
    pub edition: String,
    /// Whether rates of it were converted wrongly in the source, so that what is printed is too
    /// high.
    pub is_converted: bool,
    /// What was printed.
    pub figures: Vec<PublishedFigure>,
}

impl PublishedColumn {
    fn figure(&self, figure: Figure) -> Option<&PublishedFigure> {
        self.figures.iter().find(|one| one.figure == figure)
    }
}

/// A submission that is not comparable with those of its configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Apart {
    /// Which one.
    #[serde(flatten)]
    pub submission: Numbered,
    /// Why.
    pub why: String,
}

/// Everything that is known of one configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The configuration, as heads of tables have it.
    pub label: String,
    /// The numbers that make it, and the edition; nothing of mixes.
    pub shape: Option<(ConfigurationShape, Edition)>,
    /// The work that a result of this configuration is of.
    pub workload: Workload,
    /// Its fingerprint.
    pub fingerprint: Fact<String>,
    /// What was published.
    pub published: Vec<PublishedColumn>,
    /// Submissions with this fingerprint.
    pub submissions: Vec<Numbered>,
    /// Submissions of this configuration with another.
    pub apart: Vec<Apart>,
}

impl Group {
    fn edition(&self) -> Option<Edition> {
        self.shape.map(|(_, edition)| edition)
    }
}

/// Submissions by configuration, in the order in which configurations come first.
///
/// # Errors
/// Where a published configuration cannot be planned, which a test excludes.
pub fn groups(library: &Library, submissions: &[Numbered]) -> Result<Vec<Group>, PublishedError> {
    let mut plans = Plans::default();
    let mut groups: Vec<Group> = Vec::new();
    for submission in submissions {
        let workload = promised(&submission.submission);
        let is_same = |group: &Group| group.workload.canonical() == workload.canonical();
        let at = match groups.iter().position(is_same) {
            Some(at) => at,
            None => {
                groups.push(group(library, workload, &mut plans)?);
                groups.len() - 1
            }
        };
        match why_apart(&groups[at], &submission.submission) {
            None => groups[at].submissions.push(submission.clone()),
            Some(why) => groups[at].apart.push(Apart {
                submission: submission.clone(),
                why,
            }),
        }
    }
    Ok(groups)
}

/// The work of a submission's configuration: what its name promises, and of classic work what has
/// the same shape and nothing of its own besides.
fn promised(submission: &Submission) -> Workload {
    let preset =
        presets::find(&submission.configuration, &Machine::SMALL).map(|preset| preset.workload);
    // Presets of mixes depend on the machine, so their names promise nothing.
    let named = preset.filter(|workload| workload.classic().is_some());
    let workload = named.as_ref().unwrap_or(&submission.workload);
    match ConfigurationShape::of(workload) {
        Some((shape, edition)) => shape.workload(edition),
        None => workload.clone(),
    }
}

fn group(
    library: &Library,
    workload: Workload,
    plans: &mut Plans,
) -> Result<Group, PublishedError> {
    let shape = ConfigurationShape::of(&workload);
    Ok(Group {
        label: shape.map_or_else(|| workload_in_words(&workload), |(shape, _)| shape.label()),
        shape,
        fingerprint: checked_fingerprint(&workload),
        published: match shape {
            Some((shape, _)) => published(library, &shape, plans)?,
            None => Vec::new(),
        },
        submissions: Vec::new(),
        apart: Vec::new(),
        workload,
    })
}

/// The fingerprint of a workload that somebody else has written, if that costs little.
fn checked_fingerprint(workload: &Workload) -> Fact<String> {
    let files = workload.files().saturating_mul(workload.streams().into());
    let workers = workload.workers.count();
    if files > FILES_CHECKED_MAX || workers > WORKERS_CHECKED_MAX {
        return Fact::Unavailable(format!(
            "{} of {} are too many to plan here, so fingerprints were not checked",
            counted(files, "file"),
            counted(workers.into(), "worker")
        ));
    }
    fingerprint::fingerprint(workload)
        .map(|fingerprint| fingerprint.as_str().to_owned())
        .into()
}

/// Why a submission is not comparable with what has its configuration's fingerprint; nothing where
/// it has that, and is what it says.
fn why_apart(group: &Group, submission: &Submission) -> Option<String> {
    if let Some(why) = group.fingerprint.why() {
        return Some(why.to_owned());
    }
    let has_fingerprint =
        group.fingerprint.known().map(String::as_str) == Some(submission.fingerprint.as_str());
    let has_work = submission.workload.canonical() == group.workload.canonical();
    match (has_fingerprint, has_work) {
        (true, true) => None,
        (true, false) => Some("its workload does not match its fingerprint".to_owned()),
        (false, true) => Some(
            "its fingerprint does not match its workload: it was changed, or a program with other \
             generators made it"
                .to_owned(),
        ),
        (false, false) if ConfigurationShape::of(&submission.workload) == group.shape => {
            Some(differences(&submission.workload).join(", "))
        }
        (false, false) => Some(format!(
            "its name is {}, but its workload differs: {}",
            submission.configuration,
            workload_in_words(&submission.workload)
        )),
    }
}

/// Every published row of a shape, once: with the tables that repeat it.
///
/// # Errors
/// Where a published configuration cannot be planned, which a test excludes.
fn published(
    library: &Library,
    shape: &ConfigurationShape,
    plans: &mut Plans,
) -> Result<Vec<PublishedColumn>, PublishedError> {
    let column =
        |(row, tables): (Row<'_>, Vec<String>)| -> Result<PublishedColumn, PublishedError> {
            let made = made_by(&row, plans)?;
            let figure = |figure: &Figure| {
                let (number, unit) = row.figure(*figure)?;
                Some(PublishedFigure {
                    figure: *figure,
                    printed: format!("{} {}", number.printed, unit.name()),
                    value: meant(number, unit, made.as_ref()),
                })
            };
            Ok(PublishedColumn {
                source: row.source.name.clone(),
                tables,
                column: row.column(),
                system: described(row.system),
                contributor: row.system.contributor.clone(),
                edition: in_short(made.as_ref()),
                is_converted: !converted(&row, made.as_ref()).is_empty(),
                figures: row.figures.keys().filter_map(figure).collect(),
            })
        };
    distinct(library, shape).into_iter().map(column).collect()
}

/// The rows of a shape; those that repeat an earlier one, number for number, only name their table
/// there.
pub(crate) fn distinct<'a>(
    library: &'a Library,
    shape: &ConfigurationShape,
) -> Vec<(Row<'a>, Vec<String>)> {
    let mut found: Vec<(Row<'a>, Vec<String>)> = Vec::new();
    let is_of = |configuration: &Configuration| {
        ConfigurationShape::of_configuration(configuration) == *shape
    };
    for row in library
        .rows()
        .into_iter()
        .filter(|row| is_of(row.configuration))
    {
        let repeats = |(other, _): &&mut (Row<'_>, Vec<String>)| {
            other.system.column == row.system.column
                && other.variant == row.variant
                && other.figures == row.figures
        };
        match found.iter_mut().find(repeats) {
            Some((_, tables)) => tables.push(row.table.name.clone()),
            None => {
                let table = row.table.name.clone();
                found.push((row, vec![table]));
            }
        }
    }
    found
}

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
    format!(
        "{}: {}; storage {}, durability {}; {} {}; {}",
        one.name(),
        submission.system,
        submission.storage,
        submission.durability,
        submission.tool.name,
        submission.tool.version,
        submission.fingerprint
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
        let is_published = published
            .iter()
            .any(|column| column.figure(figure).is_some());
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
        verdict.extend(
            submissions
                .iter()
                .map(|one| Cell::ours(one.submission.verdict.name())),
        );
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
        line.submitted(|one| one.storage.as_str().into())
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
