//! Finds earlier runs by the names that users type, and reads their records.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::Path;

use archive::RunName;
use document::sanitize;
use record::Record;
use record::documents::{DocumentError, Documents};
use record::read::ReadError;
use report::page;
use serde::Deserialize;

use crate::archive::record_called;
use crate::{Error, User};

/// Returns the record of a run. `run` is one of:
/// - a name in the archive: a number, the beginning of an ID, or `last`;
/// - the path of a file written with `--format json`;
/// - `-` for standard input.
///
/// If no archive is given, the user's archive is used.
///
/// # Errors
/// Returns an error if the run does not exist, or if it cannot be read as a record.
pub fn find(run: &Path, archive: Option<&Path>, user: User) -> Result<Record, Error> {
    match name(run) {
        Some(word) => record_called(word, archive, user).map_err(|problem| wrong(run, problem)),
        None => read(run),
    }
}

/// Returns the name of a run in an archive; `None` for a path (`./12` is a file with the name 12).
pub fn name(run: &Path) -> Option<&str> {
    run.to_str().filter(|word| RunName::parse(word).is_some())
}

/// Reads a file that contains one record, or standard input for `-`.
///
/// # Errors
/// Returns an error if the file cannot be read, is not a record, or contains several records.
pub fn read(run: &Path) -> Result<Record, Error> {
    let mut texts = texts(run)?;
    let Some(first) = texts.next().transpose()? else {
        return Err(no_record(run, DocumentError::Nothing));
    };
    let record = record(run, &first)?;
    let runs = texts.try_fold(1_u64, |runs, text| text.map(|_| runs + 1))?;
    match runs {
        1 => Ok(record),
        _ => Err(wrong(
            run,
            format_args!(
                "it holds {runs} runs ('postmark import' adds them to the archive; use the number \
                 of one there)"
            ),
        )),
    }
}

/// Reads the records in a file as JSON texts, one after the other. An export or a page may contain
/// several records.
///
/// # Errors
/// Returns an error if the file cannot be read, or if it contains another kind of document.
pub fn texts(run: &Path) -> Result<impl Iterator<Item = Result<String, Error>>, Error> {
    let source = source(run).map_err(|cause| cannot_read(run, cause))?;
    Ok(Documents::of(source).map(move |text| text.map_err(|error| no_record(run, error))))
}

/// Parses a record; `run` names the record in the error message.
///
/// # Errors
/// Returns an error if the text is not a record.
pub fn record(run: &Path, text: &str) -> Result<Record, Error> {
    Record::from_json(text).map_err(|error| wrong(run, explained(text, error)))
}

/// Explains why a text is not a record, and what to use instead. The results of `run --repeat` are
/// JSON too, but contain no records.
pub fn explained(text: &str, error: ReadError) -> String {
    match (error, Results::study_of(text)) {
        (ReadError::NoRecord { .. }, Some(study)) => format!(
            "it has the results of the repeated runs {study}, not their records (use {study} if \
             the runs are in this archive; otherwise write their records where they are, with \
             'postmark export --tag study:{study} -o FILE')"
        ),
        (error @ ReadError::NoRecord { .. }, None) => format!("{error} {REMEDY}"),
        (error, _) => error.to_string(),
    }
}

/// The fields by which the output of `run --repeat --format json` is recognized.
#[derive(Deserialize)]
struct Results {
    study: String,
    #[serde(rename = "has_too_many_invalid")]
    _is_of_repeated_runs: bool,
}

impl Results {
    /// Returns the ID of the study of repeated runs whose results are in the text; `None` for
    /// another text.
    fn study_of(text: &str) -> Option<String> {
        let Self { study, .. } = serde_json::from_str(text).ok()?;
        let is_identity = study.len() <= 32 && study.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_identity.then_some(study)
    }
}

const REMEDY: &str =
    "(use a file of 'run --format json' without --repeat, of 'export' or of 'report')";

fn no_record(run: &Path, error: DocumentError) -> Error {
    match error {
        DocumentError::Read(cause) => cannot_read(run, cause),
        DocumentError::NoText => cannot_read(run, io::Error::new(ErrorKind::InvalidData, error)),
        error => wrong(
            run,
            format_args!("this is not a record of a PostMark run: {error} {REMEDY}"),
        ),
    }
}

fn cannot_read(run: &Path, cause: io::Error) -> Error {
    Error::refused(format_args!(
        "cannot read the run {}: {cause} (use a run's number from 'postmark list', or a file \
         written by run --format json)",
        Called(run)
    ))
}

/// Opens a file, or standard input for `-`. For an HTML page that `report` wrote, returns the
/// records in the page.
///
/// # Errors
/// Returns the system's error, or an error if an HTML file contains no records.
pub fn source(path: &Path) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return unpacked(io::stdin());
    }
    unpacked(File::open(path)?)
}

pub(crate) fn unpacked(mut source: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    /// Number of bytes that suffice to distinguish a page from JSON.
    const BEGINNING: u64 = 64;
    let mut beginning = Vec::new();
    source
        .by_ref()
        .take(BEGINNING)
        .read_to_end(&mut beginning)?;
    let is_page = page::is_page(&beginning);
    let whole = Cursor::new(beginning).chain(source);
    if !is_page {
        return Ok(Box::new(whole));
    }
    let mut text = Vec::new();
    // Reads one byte more than allowed, so that a page that is too long is rejected instead of
    // truncated.
    whole
        .take(page::PAGE_BYTES_MAX as u64 + 1)
        .read_to_end(&mut text)?;
    let records =
        page::records(&text).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
    Ok(records)
}

/// Whether a word names a file with records: standard input or an existing file. The word must end
/// like the name of an export or a page, or contain a directory.
pub fn is_record_file(word: &str) -> bool {
    let path = Path::new(word);
    let is_called_so = || {
        let ends = ["json", "jsonl", "html"].map(|end| Some(OsStr::new(end)));
        ends.contains(&path.extension()) || path.components().count() > 1
    };
    word == "-" || (is_called_so() && path.is_file())
}

/// Returns the error for a run that cannot be used. The problem may quote untrusted text, so it is
/// sanitized.
pub fn wrong(run: &Path, problem: impl fmt::Display) -> Error {
    let problem = sanitize::shown(problem);
    Error::refused(format_args!(
        "cannot use the run {}: {problem}",
        Called(run)
    ))
}

/// Displays the name or file of a run in messages, with `-` as "standard input".
pub struct Called<'a>(pub &'a Path);

impl fmt::Display for Called<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == Path::new("-") {
            f.write_str("standard input")
        } else {
            self.0.display().fmt(f)
        }
    }
}
