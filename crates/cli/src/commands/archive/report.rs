//! `postmark report`: one HTML file about runs, a study, or sides that are compared.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use archive::{Archive, Remarks, RunName};
use campaign::archive::place_of_one;
use campaign::study::found;
use campaign::study::select::no_study;
use document::sanitize::path as shown;
use record::Record;
use report::figures::PaperFigure;
use report::page::{PageRun, fits, page};

use super::compared;
use super::opened::{number, open, remarks};
use super::page_run::{ArchivedRun, PageFiles};
use crate::args::ReportArguments;
use crate::ui::output::{Outputs, is_standard_output, unwritable};
use crate::ui::problem::{Problem, print};
use campaign::input::Input;
use campaign::record_source;

/// The file's own file system is waited for so long.
const WRITE_MAX: Duration = Duration::from_secs(60);

/// Refuses standard output for the page of a run or a study, which have reports of their own for
/// it.
///
/// # Errors
/// Where it is meant.
pub fn needs_file(path: Option<&Path>) -> Result<(), Problem> {
    match path.is_some_and(is_standard_output) {
        true => Err(Problem::refused(
            "--report needs a file ('postmark report --output -' writes to standard output)"
                .to_owned(),
        )),
        false => Ok(()),
    }
}

/// The page of a run that has just ended.
///
/// # Errors
/// Where our own published data are at fault, or the page could not be read again.
pub fn page_of(record: Record, remarks: &Remarks) -> Result<String, Problem> {
    let page = page(&[ArchivedRun::of(record, remarks).with_published()?.on_page()]);
    fits(&page)?;
    Ok(page)
}

/// Writes the page.
///
/// # Errors
/// Where there is no such run or study, one cannot be read, or the file cannot be written.
pub fn report(arguments: &ReportArguments) -> Result<u8, Problem> {
    let is_archived = arguments.compare || arguments.runs.iter().any(|run| !is_file(run));
    let archive_place = is_archived.then(|| place_of_one(arguments.archive.archive.as_deref()));
    let archive_place = archive_place.transpose()?;
    let files = arguments.runs.iter().filter(|run| is_file(run));
    let inputs: Vec<Input> = files.map(|run| Input::new("RUN", run)).collect();
    let mut outputs = Outputs::new(arguments.force, archive_place.as_ref(), &inputs)?;
    outputs.judge("--output", &arguments.output)?;
    let archive = is_archived.then(|| open(&arguments.archive)).transpose()?;
    let made = match &archive {
        Some(archive) => of_archive(archive, arguments)?,
        None => of_runs(None, arguments)?,
    };
    let directory = arguments.figures.as_deref();
    let figures =
        directory.map_or_else(Vec::new, |directory| figure_files(directory, &made.figures));
    for (path, _) in &figures {
        outputs.judge("--figures", path)?;
    }
    let output = outputs.open("--output", &arguments.output)?;
    // The page comes last: a directory that takes no figures is found before anything is written.
    let written = directory.map_or(Ok(()), |directory| {
        write_figures(&outputs, directory, &figures)
    });
    output.write_made(written.map(|()| Some(made.page)), WRITE_MAX)?;
    if !is_standard_output(&arguments.output) {
        print(&format!("Report: {}\n", shown(&arguments.output)))?;
    }
    Ok(0)
}

fn write_figures(
    outputs: &Outputs<'_>,
    directory: &Path,
    files: &[(PathBuf, &str)],
) -> Result<(), Problem> {
    std::fs::create_dir_all(directory)
        .map_err(|cause| unwritable("--figures", directory, &cause))?;
    for (path, text) in files {
        outputs.open("--figures", path)?.write(text, WRITE_MAX)?;
    }
    Ok(())
}

/// Four files for each figure, with their texts.
fn figure_files<'a>(directory: &Path, figures: &'a [PaperFigure]) -> Vec<(PathBuf, &'a str)> {
    let of_one = |figure: &'a PaperFigure| {
        [
            ("-1col.svg", &figure.one_column),
            ("-2col.svg", &figure.two_columns),
            (".csv", &figure.data),
            (".txt", &figure.caption),
        ]
        .map(|(end, text)| {
            (
                directory.join(format!("{}{end}", figure.name)),
                text.as_str(),
            )
        })
    };
    figures.iter().flat_map(of_one).collect()
}

/// Whether a word is the path of a file, and nothing that an archive knows.
fn is_file(word: &Path) -> bool {
    // One that is missing is told as a file.
    let is_called_so = || {
        let ends = ["json", "jsonl", "html"].map(|end| Some(OsStr::new(end)));
        ends.contains(&word.extension()) || word.components().count() > 1
    };
    let is_there = || word.exists() && !word.is_dir();
    record_source::name(word).is_none()
        && (is_there() || is_standard_output(word) || is_called_so())
}

/// What the words stand for: runs, where each of them is one; else a study, or sides.
fn of_archive(archive: &Archive, arguments: &ReportArguments) -> Result<PageFiles, Problem> {
    let words: Vec<String> = arguments
        .runs
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    if let ([word], false) = (&words[..], arguments.compare) {
        let is_run = matches!(
            RunName::parse(word),
            Some(RunName::Last | RunName::Number(_))
        );
        if let Some(study) = (!is_run)
            .then(|| found::find(archive, word))
            .transpose()?
            .flatten()
        {
            return {
                let how = (arguments.unlike, arguments.figures.is_some());
                compared::study_page(archive, &study, &arguments.metric, how)
            };
        }
    }
    let is_run = |word: &PathBuf| record_source::name(word).is_some() || is_file(word);
    if arguments.compare || (words.len() > 1 && !arguments.runs.iter().all(is_run)) {
        return compared::sides_page(archive, &words, arguments);
    }
    if let ([word], [path]) = (&words[..], &arguments.runs[..]) {
        if !is_run(path) {
            return Err(no_study(word));
        }
    }
    of_runs(Some(archive), arguments)
}

fn of_runs(archive: Option<&Archive>, arguments: &ReportArguments) -> Result<PageFiles, Problem> {
    if arguments.unlike || !arguments.metric.is_empty() {
        return Err(Problem::refused(
            "--metric and --unlike need a comparison (name a study or sides, or add --compare)"
                .to_owned(),
        ));
    }
    let mut all = Vec::new();
    for run in &arguments.runs {
        match (record_source::name(run), archive) {
            (Some(word), Some(archive)) => all.push(archived(archive, word)?),
            _ => all.extend(in_file(run)?),
        }
    }
    let all = all
        .into_iter()
        .map(ArchivedRun::with_published)
        .collect::<Result<Vec<_>, _>>()?;
    let runs: Vec<PageRun<'_>> = all.iter().map(ArchivedRun::on_page).collect();
    let begin = |number: usize| match all.len() {
        1 => String::new(),
        _ => format!("run-{number}-"),
    };
    let figures = || {
        let each = all.iter().zip(1..);
        each.flat_map(|(run, number)| run.figures(&begin(number)))
            .collect()
    };
    PageFiles::of(page(&runs), arguments.figures.is_some().then_some(figures))
}

fn archived(archive: &Archive, word: &str) -> Result<ArchivedRun, Problem> {
    let entry = archive.called(word)?;
    Ok(ArchivedRun::of(
        archive.record(number(&entry))?,
        &remarks(&entry),
    ))
}

/// All runs of a file: an export or a page may have several.
fn in_file(path: &Path) -> Result<Vec<ArchivedRun>, Problem> {
    let mut all = Vec::new();
    for text in record_source::texts(path)? {
        let text = text?;
        let record = record_source::record(path, &text)?;
        let remarks =
            Remarks::of_document(&text).map_err(|error| record_source::wrong(path, error))?;
        all.push(ArchivedRun::of(record, &remarks));
    }
    Ok(all)
}
