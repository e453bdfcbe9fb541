//! Many submissions in one table for each configuration, as the mail administrator's page has it: a
//! column for each system, contributors in brackets, beside the published columns of the same
//! configuration.
//!
//! Rows of a table intend the same operations: that is what the configuration's fingerprint says,
//! and whose fingerprint is another stands apart, with the reason.

use document::units::counted;
use record::{Edition, Fact, workload_in_words};
use serde::Serialize;
use workload::presets::{self, Machine};
use workload::{Workload, fingerprint};

use crate::editions::{Plans, converted, in_short, made_by, meant};
use crate::library::{Library, Row};
use crate::shape::{ConfigurationShape, differences};
use crate::show::described;
use crate::source::{Configuration, Figure};
use crate::submission::Submission;

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
    pub(crate) fn name(&self) -> String {
        format!("S{} [{}]", self.number, self.submission.contributor)
    }

    /// What stands over its column: the same, but for contributors that would make the column too
    /// wide.
    pub(crate) fn head(&self) -> String {
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
    /// When it was published.
    #[serde(skip)]
    pub year: Fact<u32>,
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
    pub(crate) fn figure(&self, figure: Figure) -> Option<&PublishedFigure> {
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
    pub(crate) fn edition(&self) -> Option<Edition> {
        self.shape.map(|(_, edition)| edition)
    }
}

/// Submissions by configuration, in the order in which configurations come first.
pub fn groups(library: &Library, submissions: &[Numbered]) -> Vec<Group> {
    let mut plans = Plans::default();
    let mut groups: Vec<Group> = Vec::new();
    for submission in submissions {
        let workload = promised(&submission.submission);
        let is_same = |group: &Group| group.workload.canonical() == workload.canonical();
        let at = match groups.iter().position(is_same) {
            Some(at) => at,
            None => {
                groups.push(group(library, workload, &mut plans));
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
    groups
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

fn group(library: &Library, workload: Workload, plans: &mut Plans) -> Group {
    let shape = ConfigurationShape::of(&workload);
    Group {
        label: shape.map_or_else(|| workload_in_words(&workload), |(shape, _)| shape.label()),
        shape,
        fingerprint: checked_fingerprint(&workload),
        published: shape.map_or_else(Vec::new, |(shape, _)| published(library, &shape, plans)),
        submissions: Vec::new(),
        apart: Vec::new(),
        workload,
    }
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
pub(crate) fn published(
    library: &Library,
    shape: &ConfigurationShape,
    plans: &mut Plans,
) -> Vec<PublishedColumn> {
    let column = |(row, tables): (Row<'_>, Vec<String>)| {
        let made = made_by(&row, plans);
        let figure = |figure: &Figure| {
            let (number, unit) = row.figure(*figure)?;
            Some(PublishedFigure {
                figure: *figure,
                printed: format!("{} {}", number.printed, unit.name()),
                value: meant(number, unit, made.as_ref()),
            })
        };
        PublishedColumn {
            source: row.source.name.clone(),
            year: row.source.year.clone(),
            tables,
            column: row.column(),
            system: described(row.system),
            contributor: row.system.contributor.clone(),
            edition: in_short(made.as_ref()),
            is_converted: !converted(&row, made.as_ref()).is_empty(),
            figures: row.figures.keys().filter_map(figure).collect(),
        }
    };
    distinct(library, shape).into_iter().map(column).collect()
}

/// The rows of a shape; those that repeat an earlier one, number for number, only name their table
/// there.
fn distinct<'a>(library: &'a Library, shape: &ConfigurationShape) -> Vec<(Row<'a>, Vec<String>)> {
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
