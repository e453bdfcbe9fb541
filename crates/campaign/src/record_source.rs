//! Earlier runs: from what a user calls one by to its record.

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

use crate::archive::record_called;
use crate::{Error, User};

/// The record of the run that is called so: what the archive that is said, or else the user's,
/// calls it (its number, the beginning of its identity, `last`), or the path of a file that was
/// written with `--format json`, or `-` for standard input.
///
/// # Errors
/// Where there is none, it cannot be read, or it is no record.
pub fn find(run: &Path, archive: Option<&Path>, user: User) -> Result<Record, Error> {
    match name(run) {
        Some(word) => record_called(word, archive, user).map_err(|problem| wrong(run, problem)),
        None => read(run),
    }
}

/// The word, where it is a run's name in an archive and no path (`./12` is a file called 12).
pub fn name(run: &Path) -> Option<&str> {
    run.to_str().filter(|word| RunName::parse(word).is_some())
}

/// The record in a file, or on standard input where that is `-`.
///
/// # Errors
/// Where it cannot be read, is no record, or has several.
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

/// The records in a file as JSON, one after another; of an export or a page there may be several.
///
/// # Errors
/// Where it cannot be read, or has something else.
pub fn texts(run: &Path) -> Result<impl Iterator<Item = Result<String, Error>>, Error> {
    let source = source(run).map_err(|cause| cannot_read(run, cause))?;
    Ok(Documents::of(source).map(move |text| text.map_err(|error| no_record(run, error))))
}

/// The record of such a text.
///
/// # Errors
/// Where it is none.
pub fn record(run: &Path, text: &str) -> Result<Record, Error> {
    Record::from_json(text).map_err(|error| match error {
        ReadError::NoRecord { .. } => wrong(run, format_args!("{error} {REMEDY}")),
        error => wrong(run, error),
    })
}

const REMEDY: &str = "(use a file that a run wrote with --format json)";

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

/// What is read of a file, or of standard input where that is `-`; of an HTML file that `report`
/// wrote, the records in it.
///
/// # Errors
/// What the system answered, or that an HTML file holds no records.
pub fn source(path: &Path) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return unpacked(io::stdin());
    }
    unpacked(File::open(path)?)
}

fn unpacked(mut source: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    /// Enough to tell a page from JSON.
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
    // A byte more than there may be, so that what is too long is told and not cut.
    whole
        .take(page::PAGE_BYTES_MAX as u64 + 1)
        .read_to_end(&mut text)?;
    let records =
        page::records(&text).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
    Ok(records)
}

/// The run that is called so cannot be used. What is wrong may quote it.
pub fn wrong(run: &Path, problem: impl fmt::Display) -> Error {
    let problem = sanitize::shown(problem);
    Error::refused(format_args!(
        "cannot use the run {}: {problem}",
        Called(run)
    ))
}

/// A run as it is spoken of.
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
