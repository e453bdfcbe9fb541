//! Pages: a page is one HTML file about runs, a study, or compared configurations. It also contains
//! their records.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use archive::{Archive, NoteText, Remarks};
use document::Document;
use record::Record;
use report::figures::{PaperFigure, comparison_figures, run_figures};
use report::page::{ComparedPage, PageRun, comparison_page, fits, page};
use study::{Comparisons, Design, MayDiffer, Metric, SideGroup};

use crate::error::Error;
use crate::publications::{beside_on_page, layout_on_page};
use crate::record_source::{self, is_record_file};
use crate::study::found::FoundStudy;
use crate::study::named_runs::is_number;
use crate::study::select::{Found, all_of_study, no_study, sides, study_called};

/// A page, and figures of the same runs that are written to separate files.
pub struct PageFiles {
    /// The HTML text, from which this program can read the records.
    pub page: String,
    /// Figures for a paper, to be written to one file each besides the page. Empty unless
    /// requested.
    pub figures: Vec<PaperFigure>,
}

impl PageFiles {
    fn new(
        page: String,
        with_figures: bool,
        figures: impl FnOnce() -> Vec<PaperFigure>,
    ) -> Result<Self, Error> {
        fits(&page)?;
        Ok(Self {
            page,
            figures: if with_figures { figures() } else { Vec::new() },
        })
    }
}

/// A request for a page: its subjects (runs, a study or configurations), and options for
/// comparisons.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest<'a> {
    /// Names of runs or of files, the name of a study, or the names of the configurations to
    /// compare.
    pub words: &'a [PathBuf],
    /// Whether each run counts as a separate configuration in the comparison.
    pub compare: bool,
    /// The metrics by which configurations are compared.
    pub metrics: &'a [Metric],
    /// The conditions in which compared configurations may differ, such as their workloads; `None`
    /// if the user named none.
    pub unlike: Option<&'a MayDiffer>,
    /// Whether figures are requested as files besides the page.
    pub figures: bool,
}

impl<'a> PageRequest<'a> {
    /// Returns the words that are paths of files.
    pub fn files(self) -> impl Iterator<Item = &'a PathBuf> {
        self.words.iter().filter(|word| is_file(word))
    }

    /// Whether an archive is needed to make the page.
    pub fn is_archived(self) -> bool {
        self.compare || self.words.iter().any(|word| !is_file(word))
    }

    /// Makes a page about one of these subjects:
    /// - a study, if the only word names a study or is a tag of its runs;
    /// - runs, if each word names a run and `compare` is not set;
    /// - compared configurations in all other cases.
    ///
    /// # Errors
    /// Returns an error if a word names nothing, if compared configurations are not alike, or if a
    /// record cannot be read.
    pub fn make(self, archive: Option<&Archive>) -> Result<PageFiles, Error> {
        let Some(archive) = archive else {
            return self.of_runs(None);
        };
        let words = self.words.iter().map(|word| word.to_string_lossy().into());
        let words: Vec<String> = words.collect();
        if let ([word], false) = (&words[..], self.compare) {
            let find = || study_called(archive, word);
            let study = (!is_number(word)).then(find).transpose()?;
            if let Some(study) = study.flatten() {
                let shares = self.unlike.is_some_and(|unlike| unlike.shares);
                return of_study(archive, &study, self.metrics, (shares, self.figures));
            }
        }
        let is_run = |word: &PathBuf| record_source::name(word).is_some() || is_file(word);
        match self.words {
            _ if self.compare => self.of_sides(archive, &words),
            words if words.iter().all(is_run) => self.of_runs(Some(archive)),
            [_] => Err(no_study(&words[0])),
            _ => self.of_sides(archive, &words),
        }
    }

    /// Makes a page that compares configurations; the first one is the baseline.
    fn of_sides(self, archive: &Archive, words: &[String]) -> Result<PageFiles, Error> {
        if let Some(file) = words.iter().find(|word| is_record_file(word)) {
            return Err(record_source::wrong(
                Path::new(file),
                "a page compares archived runs ('postmark import' adds those of a file)",
            ));
        }
        let none = MayDiffer::default();
        let unlike = self.unlike.unwrap_or(&none);
        let found = sides(Some(archive), words, self.metrics, unlike)?;
        let name = |group: &SideGroup| {
            let labels: Vec<&str> = group.sides.iter().map(|side| &*side.label).collect();
            let baseline = &group.baseline.side.label;
            format!("{} compared with {baseline}", labels.join(", "))
        };
        let name = found.groups.iter().map(name).collect::<Vec<_>>().join("; ");
        let mut more = Document::default();
        for note in &found.notes {
            more.words(note.clone());
        }
        compared(archive, name, &found, (None, more), self.figures)
    }

    fn of_runs(self, archive: Option<&Archive>) -> Result<PageFiles, Error> {
        if self.unlike.is_some() || !self.metrics.is_empty() {
            return Err(Error::refused(
                "--metric and --unlike need a comparison (name a study or sides, or add --compare)",
            ));
        }
        let mut all = Vec::new();
        for word in self.words {
            match (record_source::name(word), archive) {
                (Some(word), Some(archive)) => {
                    let entry = archive.called(word)?;
                    let record = archive.record(entry.number.unwrap_or_default())?;
                    all.push(RunOnPage::beside_published(record, &Remarks::from(&entry)));
                }
                _ => add_file(word, &mut all)?,
            }
        }
        let runs: Vec<PageRun<'_>> = all.iter().map(RunOnPage::on_page).collect();
        let begin = |number: usize| match all.len() {
            1 => String::new(),
            _ => format!("run-{number}-"),
        };
        PageFiles::new(page(&runs), self.figures, || {
            let each = all.iter().zip(1..);
            each.flat_map(|(run, number)| run.figures(&begin(number)))
                .collect()
        })
    }
}

/// Makes the page of a run that has just ended.
///
/// # Errors
/// Returns an error if the page is too long to be read.
pub fn of_run(record: Record, remarks: &Remarks) -> Result<String, Error> {
    let page = page(&[RunOnPage::beside_published(record, remarks).on_page()]);
    fits(&page)?;
    Ok(page)
}

/// Makes the page of a study. `shares` permits comparisons of configurations whose shares of
/// incomplete operations differ. `figures` requests figures as files besides the page.
///
/// # Errors
/// Returns an error if the design has no configurations, or a record cannot be read.
pub fn of_study(
    archive: &Archive,
    study: &FoundStudy,
    metrics: &[Metric],
    (shares, figures): (bool, bool),
) -> Result<PageFiles, Error> {
    let mut found = all_of_study(archive, study, metrics)?;
    if !shares {
        let tables = found.tables.into_iter();
        found.tables = tables.map(Comparisons::without_unlike_shares).collect();
    }
    let name = format!("study {} ({})", study.design.name, study.id);
    let more = match study.design.layout {
        Some(layout) => layout_on_page(archive, &study.design, &study.runs, layout)?,
        None => study
            .repeats()
            .map_or_else(Document::default, |found| report::repeats::document(&found)),
    };
    compared(archive, name, &found, (Some(&study.design), more), figures)
}

fn compared(
    archive: &Archive,
    name: String,
    found: &Found,
    (design, more): (Option<&Design>, Document),
    with_figures: bool,
) -> Result<PageFiles, Error> {
    let mut numbers = BTreeSet::new();
    for group in &found.groups {
        let baseline = std::iter::once(&group.baseline.side).chain(&group.baseline.twin);
        let all = baseline.chain(&group.sides);
        numbers.extend(all.flat_map(|side| &side.runs).filter_map(|run| run.run));
    }
    let mut kept = Vec::new();
    for number in numbers {
        let remarks = Remarks::from(&archive.called(&number.to_string())?);
        let run = RunOnPage::new(archive.record(number)?, &remarks, Document::default());
        kept.push((number, run));
    }
    let runs = kept.iter().map(|(number, run)| (*number, run.on_page()));
    let page = ComparedPage {
        name,
        groups: &found.groups,
        tables: &found.tables,
        metrics: &found.metrics,
        design,
        more,
        runs: runs.collect(),
    };
    PageFiles::new(comparison_page(&page), with_figures, || {
        comparison_figures(&page)
    })
}

/// The tags and the note that users have added to an entry of an archive.
pub fn remarks_in_words(remarks: &Remarks) -> Document {
    let mut said = Document::default();
    if !remarks.tags.is_empty() {
        let tags: Vec<String> = remarks.tags.iter().map(ToString::to_string).collect();
        said.words(format!("Tags: {}", tags.join(" ")));
    }
    if let Some(note) = remarks.note.as_ref().and_then(NoteText::text) {
        said.words(format!("Note: {note}"));
    }
    said
}

/// A run on a page: its record, the user's remarks, the JSON document with both, and published
/// results of the same work.
struct RunOnPage {
    record: Record,
    remarks: Document,
    json: String,
    more: Document,
}

impl RunOnPage {
    fn new(record: Record, remarks: &Remarks, more: Document) -> Self {
        Self {
            json: remarks.document(&record),
            record,
            remarks: remarks_in_words(remarks),
            more,
        }
    }

    fn beside_published(record: Record, remarks: &Remarks) -> Self {
        let more = beside_on_page(&record);
        Self::new(record, remarks, more)
    }

    /// Returns the run's figures, with the prefix `begin` before each name.
    fn figures(&self, begin: &str) -> Vec<PaperFigure> {
        let mut figures = run_figures(&self.record, &self.more);
        for figure in &mut figures {
            figure.name.insert_str(0, begin);
        }
        figures
    }

    fn on_page(&self) -> PageRun<'_> {
        PageRun {
            record: &self.record,
            json: &self.json,
            remarks: self.remarks.clone(),
            more: self.more.clone(),
        }
    }
}

/// Whether a word is the path of a file instead of a name in an archive.
fn is_file(word: &Path) -> bool {
    // A word that looks like a path counts as a path even if no file exists there. The error
    // message then reports the missing file.
    let is_called_so = || {
        let ends = ["json", "jsonl", "html"].map(|end| Some(OsStr::new(end)));
        ends.contains(&word.extension()) || word.components().count() > 1
    };
    let is_there = || word.exists() && !word.is_dir();
    record_source::name(word).is_none() && (is_there() || word == Path::new("-") || is_called_so())
}

/// Adds all runs in a file. An export or a page may contain several runs.
fn add_file(path: &Path, all: &mut Vec<RunOnPage>) -> Result<(), Error> {
    for text in record_source::texts(path)? {
        let text = text?;
        let record = record_source::record(path, &text)?;
        let remarks =
            Remarks::of_document(&text).map_err(|error| record_source::wrong(path, error))?;
        all.push(RunOnPage::beside_published(record, &remarks));
    }
    Ok(())
}
