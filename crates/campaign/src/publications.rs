//! Compares the archive's runs and studies with published results and with submissions.

use std::path::{Path, PathBuf};

use archive::{Archive, ArchiveErrorKind};
use document::{Document, sanitize};
use published::layouts::{self, LayoutResults, LayoutView, PaperRun};
use published::submissions::Numbered;
use published::{Beside, Library, Submission, beside, submission};
use record::Record;
use record::documents::Documents;
use study::{Design, PaperLayout, StudyComparisons, StudyRun};

use crate::archive::place_of_one;
use crate::error::Error;
use crate::record_source;
use crate::user::User;

/// Compares a run with the published results of the same configuration.
pub fn beside_run(record: &Record) -> Beside {
    beside(&Library::read(), record)
}

/// Compares a run with the published results, for a page with graphs. Returns an empty document if
/// the run's workload is not classic.
pub fn beside_on_page(record: &Record) -> Document {
    if record.spec.workload.classic().is_none() {
        return Document::default();
    }
    let beside = beside_run(record);
    let mut document = beside.document();
    if beside.none.is_none() {
        for graph in beside.graphs() {
            document.figure(report::page::dots(&graph));
        }
    }
    document
}

/// Refuses a design for a paper's layout if the paper lacks results for one of the design's
/// configurations.
///
/// # Errors
/// Returns the first problem as an error.
pub fn check_layout(design: &Design) -> Result<(), Error> {
    design.layout.map_or(Ok(()), |layout| {
        layouts::check(layout, design, &Library::read()).map_err(Error::refused)
    })
}

/// Arranges the results of a study in the tables of a paper.
///
/// # Errors
/// Returns an error if a record cannot be read.
pub fn layout(
    archive: &Archive,
    design: &Design,
    runs: &[StudyRun],
    layout: PaperLayout,
) -> Result<LayoutResults, Error> {
    let mut of_paper = Vec::new();
    for number in runs.iter().filter_map(|run| run.observed.run) {
        of_paper.extend(PaperRun::of(&archive.record(number)?));
    }
    let cells = design.cells().unwrap_or_default();
    let compared = StudyComparisons::of(design, &cells, runs, &design.metrics);
    LayoutResults::of(layout, design, &of_paper, &compared, &Library::read())
        .map_err(Error::refused)
}

/// Returns the tables and graphs of a paper's layout for a page, together with the published
/// results.
///
/// # Errors
/// Returns an error if a record cannot be read.
pub fn layout_on_page(
    archive: &Archive,
    design: &Design,
    runs: &[StudyRun],
    layout: PaperLayout,
) -> Result<Document, Error> {
    let results = self::layout(archive, design, runs, layout)?;
    let view = LayoutView {
        is_with_published: true,
    };
    let mut document = layouts::document(&results, view);
    for graph in layouts::graphs(&results) {
        document.figure(report::page::dots(&graph));
    }
    Ok(document)
}

/// Returns the submissions in an archive. Returns an empty list if no archive was named and the
/// default archive does not exist.
///
/// # Errors
/// Returns an error if the archive or a submission cannot be read.
pub fn archived_submissions(asked: Option<&Path>, user: User) -> Result<Vec<Numbered>, Error> {
    let texts = match place_of_one(asked)?.open(false, user) {
        Ok(archive) => archive.submissions()?,
        Err(error) if error.kind == ArchiveErrorKind::Missing && asked.is_none() => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let read = |(number, text): (u64, String)| match Submission::from_json(&text) {
        Ok(submission) => Ok(Numbered { number, submission }),
        Err(problem) => Err(Error::refused(format_args!(
            "submission {number} in the archive: {problem}"
        ))),
    };
    texts.into_iter().map(read).collect()
}

/// Reads the submissions in files, in the order of the files. A later submission of a run replaces
/// an earlier one of the same run.
///
/// # Errors
/// Returns an error if a file cannot be read, or contains another kind of document.
pub fn submissions_in(files: &[PathBuf]) -> Result<Vec<Numbered>, Error> {
    let mut all: Vec<Numbered> = Vec::new();
    for path in files {
        let shown = sanitize::path(path);
        let source = record_source::source(path)
            .map_err(|cause| Error::refused(format_args!("cannot read {shown}: {cause}")))?;
        for (place, document) in (1..).zip(Documents::up_to(source, submission::BYTES_MAX)) {
            let text = document.map_err(|problem| {
                Error::refused(format_args!("{shown}: JSON document {place}: {problem}"))
            })?;
            let submission = Submission::from_json(&text)
                .map_err(|problem| Error::refused(format_args!("{shown}: {problem}")))?;
            let number = all.len() as u64 + 1;
            let mut former = all.iter_mut();
            match former.find(|former| former.submission.is_of_same_run(&submission)) {
                Some(former) => former.submission = submission,
                None => all.push(Numbered { number, submission }),
            }
        }
    }
    Ok(all)
}
