//! Many submissions in one table for each configuration, as the mail administrator's page has it: a column for each system,
//! contributors in brackets, beside the published columns of the same configuration.
//!
//! Rows of a table intend the same operations: that is what the configuration's fingerprint says, and whose fingerprint is
//! another stands apart, with the reason.

use record::harmless;
use record::units::{counted, grouped};
use record::{Edition, Fact};
use serde::Serialize;
use workload::presets::{self, Machine};
use workload::{Workload, fingerprint};

use crate::editions::{Plans, edition_in_short};
use crate::library::{HistoryError, Library, Row};
use crate::markup::{Block, Csv, Format, Markdown, Sheet, Text, render};
use crate::shape::{Shape, differences};
use crate::show::{described, told};
use crate::source::{Configuration, Figure};
use crate::submission::{Rates, Submission};

/// The version of the JSON that [`show`] writes.
pub const SCHEMA_VERSION: u32 = 1;
/// Pools of so many files, of all workers together, are planned to check a fingerprint; larger ones would take the memory that
/// somebody else asked for.
const FILES_CHECKED_MAX: u64 = 4_000_000;
/// The same of workers.
const WORKERS_CHECKED_MAX: u32 = 64;

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
    /// The edition that made it, as its ratio or its source says.
    pub edition: String,
    /// What was printed, with units.
    pub figures: Vec<(Figure, String)>,
}

/// A submission that is not comparable with those of its configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Apart {
    /// Which one.
    pub submission: Submission,
    /// Why.
    pub why: String,
}

/// Everything that is known of one configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The configuration, as heads of tables have it.
    pub label: String,
    /// The numbers that make it, and the edition; nothing of mixes.
    pub shape: Option<(Shape, Edition)>,
    /// The work that a result of this configuration is of.
    pub workload: Workload,
    /// Its fingerprint.
    pub fingerprint: Fact<String>,
    /// What was published.
    pub published: Vec<PublishedColumn>,
    /// Submissions with this fingerprint.
    pub submissions: Vec<Submission>,
    /// Submissions of this configuration with another.
    pub apart: Vec<Apart>,
}

/// Submissions by configuration, in the order in which configurations come first.
///
/// # Errors
/// Where a published configuration cannot be planned, which a test excludes.
pub fn groups(library: &Library, submissions: &[Submission]) -> Result<Vec<Group>, HistoryError> {
    let mut plans = Plans::default();
    let mut groups: Vec<Group> = Vec::new();
    for submission in submissions {
        let workload = promised(submission);
        let is_same = |group: &Group| group.workload.canonical() == workload.canonical();
        let at = match groups.iter().position(is_same) {
            Some(at) => at,
            None => {
                groups.push(group(library, workload, &mut plans)?);
                groups.len() - 1
            }
        };
        match why_apart(&groups[at], submission) {
            None => groups[at].submissions.push(submission.clone()),
            Some(why) => groups[at].apart.push(Apart {
                submission: submission.clone(),
                why,
            }),
        }
    }
    Ok(groups)
}

/// The work of a submission's configuration: what its name promises, and of classic work what has the same shape and nothing
/// of its own besides.
fn promised(submission: &Submission) -> Workload {
    let preset = presets::find(&submission.configuration, &Machine::SMALL).map(|preset| preset.workload);
    // Presets of mixes depend on the machine, so their names promise nothing.
    let named = preset.filter(|workload| workload.classic().is_some());
    let workload = named.as_ref().unwrap_or(&submission.workload);
    match Shape::of(workload) {
        Some((shape, edition)) => shape.workload(edition),
        None => workload.clone(),
    }
}

fn group(library: &Library, workload: Workload, plans: &mut Plans) -> Result<Group, HistoryError> {
    let shape = Shape::of(&workload);
    Ok(Group {
        label: shape.map_or_else(|| workload.canonical(), |(shape, _)| shape.label()),
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
    let workers = workload.crew.workers();
    if files > FILES_CHECKED_MAX || workers > WORKERS_CHECKED_MAX {
        return Fact::Unavailable(format!(
            "{} of {} are more than are planned here: fingerprints were not checked",
            counted(files, "file"),
            counted(workers.into(), "worker")
        ));
    }
    fingerprint::fingerprint(workload)
        .map(|fingerprint| fingerprint.as_str().to_owned())
        .into()
}

/// Why a submission is not comparable with what has its configuration's fingerprint; nothing where it has that, and is what it
/// says.
fn why_apart(group: &Group, submission: &Submission) -> Option<String> {
    if let Some(why) = group.fingerprint.why() {
        return Some(why.to_owned());
    }
    let has_fingerprint = group.fingerprint.known().map(String::as_str) == Some(submission.fingerprint.as_str());
    let has_work = submission.workload.canonical() == group.workload.canonical();
    match (has_fingerprint, has_work) {
        (true, true) => None,
        (true, false) => Some("its workload is another than its fingerprint's".to_owned()),
        (false, true) => Some(
            "its fingerprint is not that of its workload: it was changed, or made by a program with other generators"
                .to_owned(),
        ),
        (false, false) if Shape::of(&submission.workload) == group.shape => {
            Some(differences(&submission.workload).join(", "))
        }
        (false, false) => Some(format!(
            "it is called {}, and its workload is another: {}",
            submission.configuration,
            submission.workload.canonical()
        )),
    }
}

/// Every published row of a shape, once: with the tables that repeat it.
///
/// # Errors
/// Where a published configuration cannot be planned, which a test excludes.
fn published(library: &Library, shape: &Shape, plans: &mut Plans) -> Result<Vec<PublishedColumn>, HistoryError> {
    let column = |(row, tables): (Row<'_>, Vec<String>)| -> Result<PublishedColumn, HistoryError> {
        let figure = |figure: &Figure| {
            let (number, unit) = row.figure(*figure)?;
            Some((*figure, format!("{} {}", number.printed, unit.name())))
        };
        Ok(PublishedColumn {
            source: row.source.name.clone(),
            tables,
            column: row.column(),
            system: described(row.system),
            edition: edition_in_short(&row, plans)?,
            figures: row.figures.keys().filter_map(figure).collect(),
        })
    };
    distinct(library, shape).into_iter().map(column).collect()
}

/// The rows of a shape; those that repeat an earlier one, number for number, only name their table there.
pub(crate) fn distinct<'a>(library: &'a Library, shape: &Shape) -> Vec<(Row<'a>, Vec<String>)> {
    let mut found: Vec<(Row<'a>, Vec<String>)> = Vec::new();
    let is_of = |configuration: &Configuration| Shape::of_configuration(configuration) == *shape;
    for row in library.rows().into_iter().filter(|row| is_of(row.configuration)) {
        let repeats = |(other, _): &&mut (Row<'_>, Vec<String>)| {
            other.system.column == row.system.column && other.variant == row.variant && other.figures == row.figures
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
    struct Shown<'a> {
        schema: u32,
        configurations: &'a [Group],
    }
    match format {
        Format::Json => {
            // Numbers are finite and keys are strings: writing to memory cannot fail.
            let shown = Shown {
                schema: SCHEMA_VERSION,
                configurations: groups,
            };
            let text = serde_json::to_string_pretty(&shown).unwrap_or_default();
            let mut text = harmless::json(&text).into_owned();
            text.push('\n');
            text
        }
        Format::Csv => render(&[Block::Sheet(flat(groups))], &Csv),
        Format::Text => render(&blocks(groups), &Text),
        Format::Markdown => render(&blocks(groups), &Markdown),
    }
}

fn blocks(groups: &[Group]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut number = 0;
    let mut numbered = |submission: &Submission| {
        number += 1;
        (format!("S{number} [{}]", submission.contributor), submission.clone())
    };
    for group in groups {
        let edition = group
            .shape
            .map_or_else(String::new, |(_, edition)| format!(", edition {edition}"));
        blocks.push(Block::Title(format!("{}{edition}", group.label)));
        blocks.push(Block::Words(format!("Fingerprint {}", told(&group.fingerprint))));
        let inside: Vec<(String, Submission)> = group.submissions.iter().map(&mut numbered).collect();
        for column in &group.published {
            blocks.push(Block::Item(format!("{} ({})", column.system, column.tables.join(", "))));
        }
        blocks.extend(
            inside
                .iter()
                .map(|(name, submission)| Block::Item(words(name, submission))),
        );
        blocks.push(Block::Words(String::new()));
        blocks.push(Block::Sheet(sheet(group, &inside)));
        if group.apart.is_empty() {
            continue;
        }
        let apart: Vec<(String, Submission)> = group.apart.iter().map(|apart| numbered(&apart.submission)).collect();
        blocks.push(Block::Heading(format!(
            "{}, with other fingerprints: not comparable with those above",
            group.label
        )));
        for ((name, submission), Apart { why, .. }) in apart.iter().zip(&group.apart) {
            blocks.push(Block::Item(format!("{}: {why}", words(name, submission))));
        }
        blocks.push(Block::Words(String::new()));
        let bare = Group {
            published: Vec::new(),
            ..group.clone()
        };
        blocks.push(Block::Sheet(sheet(&bare, &apart)));
    }
    blocks
}

/// What a column stands for; who contributed it stands in its header already.
fn words(name: &str, submission: &Submission) -> String {
    format!(
        "{name}: {}; storage {}, durability {}; {} {}; {}",
        submission.system,
        submission.storage,
        submission.durability,
        submission.tool.name,
        submission.tool.version,
        submission.fingerprint
    )
}

/// The layout of the page: a column for each system, a row for each rate.
fn sheet(group: &Group, submissions: &[(String, Submission)]) -> Sheet {
    let processes = group.shape.map_or(1, |(shape, _)| shape.processes);
    let label = if group.shape.is_some() {
        group.label.as_str()
    } else {
        "mix"
    };
    let mut sheet = Sheet::new(1, &[label]);
    sheet
        .header
        .extend(group.published.iter().map(|column| column.column.clone()));
    sheet.header.extend(submissions.iter().map(|(name, _)| name.clone()));
    let each = if processes > 1 { ", of each process" } else { "" };
    for (name, figure, ours) in RATES {
        let mut row = vec![format!("{name}{each}")];
        row.extend(group.published.iter().map(|column| {
            let printed = column.figures.iter().find(|(other, _)| *other == figure);
            printed.map_or_else(|| "-".to_owned(), |(_, printed)| without_unit(printed))
        }));
        row.extend(
            submissions
                .iter()
                .map(|(_, submission)| rate(ours(submission.rates.of_each(processes)))),
        );
        sheet.rows.push(row);
    }
    let mut edition = vec!["Edition".to_owned()];
    edition.extend(group.published.iter().map(|column| column.edition.clone()));
    let mut verdict = vec!["Verdict".to_owned()];
    verdict.extend(group.published.iter().map(|_| "-".to_owned()));
    for (_, submission) in submissions {
        let of = Shape::of(&submission.workload).map_or("-", |(_, edition)| edition.name());
        edition.push(of.to_owned());
        verdict.push(submission.verdict.name().to_owned());
    }
    sheet.rows.extend([edition, verdict]);
    sheet
}

type OfRates = fn(Rates) -> f64;

/// The rows of a table, as the page calls them.
const RATES: [(&str, Figure, OfRates); 3] = [
    ("Transactions per second", Figure::TransactionsRate, |rates| {
        rates.transactions_per_second
    }),
    ("Data read (Kbytes/sec)", Figure::DataReadRate, |rates| {
        rates.kilobytes_read_per_second
    }),
    ("Data written (Kbytes/sec)", Figure::DataWrittenRate, |rates| {
        rates.kilobytes_written_per_second
    }),
];

/// The row's name has it, if it is the same.
fn without_unit(printed: &str) -> String {
    let bare = printed.strip_suffix(" /s").or_else(|| printed.strip_suffix(" kB/s"));
    bare.unwrap_or(printed).to_owned()
}

fn rate(rate: f64) -> String {
    if rate >= 1_000.0 {
        grouped(rate.round() as u64)
    } else {
        format!("{rate:.2}")
    }
}

/// A line for each submission.
fn flat(groups: &[Group]) -> Sheet {
    let mut sheet = Sheet::new(
        0,
        &[
            "configuration",
            "edition",
            "contributor",
            "system",
            "storage",
            "durability",
            "transactions_per_second",
            "kilobytes_read_per_second",
            "kilobytes_written_per_second",
            "elapsed_s",
            "verdict",
            "fingerprint",
            "tool",
            "when_unix_ns",
            "apart",
        ],
    );
    for group in groups {
        let inside = group.submissions.iter().map(|submission| (submission, ""));
        let apart = group.apart.iter().map(|apart| (&apart.submission, apart.why.as_str()));
        for (submission, why) in inside.chain(apart) {
            sheet.rows.push(vec![
                group.label.clone(),
                Shape::of(&submission.workload).map_or_else(String::new, |(_, edition)| edition.to_string()),
                submission.contributor.clone(),
                submission.system.clone(),
                submission.storage.clone(),
                submission.durability.clone(),
                submission.rates.transactions_per_second.to_string(),
                submission.rates.kilobytes_read_per_second.to_string(),
                submission.rates.kilobytes_written_per_second.to_string(),
                submission.rates.elapsed_s.to_string(),
                submission.verdict.name().to_owned(),
                submission.fingerprint.as_str().to_owned(),
                format!("{} {}", submission.tool.name, submission.tool.version),
                submission.when_unix_ns.to_string(),
                why.to_owned(),
            ]);
        }
    }
    sheet
}
