//! Arranges submissions in one table for each configuration, as on the mail administrator's page. A
//! table has a column for each system, with the contributor in brackets, beside the published
//! columns of the same configuration.
//!
//! All submissions in a table performed the same operations, because they have the configuration's
//! fingerprint. Submissions with another fingerprint are listed as not comparable, with the reason.

use document::units::counted;
use record::{Edition, Fact, workload_in_words};
use serde::Serialize;
use workload::presets;
use workload::{Workload, fingerprint};

use crate::editions::{Plans, converted, in_short, made_by, meant};
use crate::library::{Library, Row};
use crate::shape::{ConfigurationShape, differences};
use crate::show::described;
use crate::source::{Configuration, Figure};
use crate::submission::Submission;

/// The largest number of files, in all pools together, for which a fingerprint is checked. Planning
/// a larger pool would take too much memory, and submissions are not trusted.
const FILES_CHECKED_MAX: u64 = 4_000_000;
/// The largest number of workers for which a fingerprint is checked.
const WORKERS_CHECKED_MAX: u32 = 64;
/// The largest length of a word in a column's header, in characters. Contributors with longer words
/// are not part of the header.
const HEAD_WORD_MAX: usize = 20;

/// A submission with its number in tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Numbered {
    /// The number of the submission in the archive, or its position among files.
    pub number: u64,
    #[serde(flatten)]
    pub submission: Submission,
}

impl Numbered {
    /// Returns the number, with the contributor in brackets.
    pub(crate) fn name(&self) -> String {
        format!("S{} [{}]", self.number, self.submission.contributor)
    }

    /// Returns the header of the submission's column: the number with the contributor, or only the
    /// number if the contributor would make the column too wide.
    pub(crate) fn head(&self) -> String {
        let mut words = self.submission.contributor.split_whitespace();
        if words.all(|word| word.chars().count() <= HEAD_WORD_MAX) {
            self.name()
        } else {
            format!("S{}", self.number)
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublishedFigure {
    pub figure: Figure,
    /// The printed text with its unit.
    pub printed: String,
    /// The value that PostMark printed, without a wrong conversion by the source. Data is in
    /// kilobytes (of 1,024 bytes) or kilobytes per second, and other figures are in the printed
    /// unit.
    pub value: f64,
}

/// A published result with the same configuration as a group of submissions. It is a row of a table
/// in its source, and a column in the table of these submissions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublishedColumn {
    pub source: String,
    #[serde(skip)]
    pub year: Fact<u32>,
    /// The name of the table, and the names of other tables that repeat the row.
    pub tables: Vec<String>,
    /// The system's header in the source, and the build of its operating system if there are
    /// several.
    pub column: String,
    /// The system's description, with its contributor.
    pub system: String,
    /// The person or organisation that measured the row.
    pub contributor: Fact<String>,
    /// The PostMark edition that produced the row, according to the ratio of data read to data
    /// written. For rows without this ratio, the edition that the source names.
    pub edition: String,
    /// Whether the source converted the row's rates wrongly, so that the printed rates are too
    /// high.
    pub is_converted: bool,
    pub figures: Vec<PublishedFigure>,
}

impl PublishedColumn {
    pub(crate) fn figure(&self, figure: Figure) -> Option<&PublishedFigure> {
        self.figures.iter().find(|one| one.figure == figure)
    }
}

/// A submission that is not comparable with other submissions of the same configuration, with the
/// reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Apart {
    #[serde(flatten)]
    pub submission: Numbered,
    pub why: String,
}

/// The published columns and the submissions of one configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The configuration, as in the headers of published tables.
    pub label: String,
    /// The configuration's numbers and its PostMark edition; absent for mixes.
    pub shape: Option<(ConfigurationShape, Edition)>,
    pub workload: Workload,
    /// The fingerprint of `workload`; not available if computing it would take too long.
    pub fingerprint: Fact<String>,
    pub published: Vec<PublishedColumn>,
    /// Submissions with the fingerprint and the workload of the group.
    pub submissions: Vec<Numbered>,
    /// Submissions of this configuration with another fingerprint or workload.
    pub apart: Vec<Apart>,
}

impl Group {
    pub(crate) fn edition(&self) -> Option<Edition> {
        self.shape.map(|(_, edition)| edition)
    }
}

/// Groups submissions by configuration, in the order in which configurations first occur.
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

/// Returns the workload to which a submission's configuration refers: that of the named preset, or
/// else the submitted one. For classic work, only the numbers of the configuration are used. All
/// other parameters have the original PostMark's defaults.
fn promised(submission: &Submission) -> Workload {
    let preset = presets::find(&submission.configuration).map(|preset| preset.workload);
    // A submission names only presets of classic work. A mix is described by its options.
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

/// Computes the fingerprint of a submitted workload, unless this would take too much time or
/// memory.
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

/// Returns the reason why a submission is not comparable with its group, or `None` if its
/// fingerprint and its workload both equal the group's.
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

/// Returns all published rows with the configuration `shape`, without repetitions. Each row
/// contains the names of all tables that have it.
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

/// Returns the rows with the configuration `shape`, each with the names of its tables. A row with
/// the same numbers as an earlier row is omitted, and its table's name is added to the earlier row.
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
