//! Earlier runs: from what a user calls one by to its record.

use std::fmt;
use std::fs::File;
use std::io::{Cursor, ErrorKind, Read};
use std::path::Path;

use archive::RunName;
use document::harmless;
use record::Record;
use record::read::{BYTES_MAX, ReadError};
use report::page;

use crate::run_spec::error::SpecError;

/// The record of the run that is called so: what the archive that is said, or else the user's, calls it (its number, the beginning
/// of its identity, `last`), or the path of a file that was written with `--format json`, or `-` for standard input.
///
/// # Errors
/// Where there is none, it cannot be read, or it is no record.
pub fn find(run: &Path, archive: Option<&Path>) -> Result<Record, SpecError> {
    match name(run) {
        Some(word) => crate::archive::record_called(word, archive).map_err(|problem| wrong(run, problem)),
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
/// Where it cannot be read, or is no record.
pub fn read(run: &Path) -> Result<Record, SpecError> {
    let cannot = |cause| SpecError::CannotReadRun {
        run: Called(run).to_string(),
        cause,
    };
    let mut text = String::new();
    // A byte more shows that there are more.
    let mut some = source(run).map_err(cannot)?.take(BYTES_MAX as u64 + 1);
    some.read_to_string(&mut text).map_err(cannot)?;
    Record::from_json(&text).map_err(|error| match error {
        ReadError::NoRecord { .. } => wrong(
            run,
            format_args!("{error} (use a file that a run wrote with --format json)"),
        ),
        error => wrong(run, error),
    })
}

/// What is read of a file, or of standard input where that is `-`; of an HTML file that `report` wrote, the records in it.
///
/// # Errors
/// What the system answered, or that an HTML file holds no records.
pub fn source(path: &Path) -> std::io::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return unpacked(std::io::stdin());
    }
    unpacked(File::open(path)?)
}

fn unpacked(mut source: impl Read + 'static) -> std::io::Result<Box<dyn Read>> {
    /// Enough to tell a page from JSON.
    const BEGINNING: u64 = 64;
    let mut beginning = Vec::new();
    source.by_ref().take(BEGINNING).read_to_end(&mut beginning)?;
    let is_page = page::is_page(&beginning);
    let whole = Cursor::new(beginning).chain(source);
    if !is_page {
        return Ok(Box::new(whole));
    }
    let mut text = Vec::new();
    whole.take(page::PAGE_BYTES_MAX as u64).read_to_end(&mut text)?;
    let records = page::records(&text).map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error))?;
    Ok(Box::new(records))
}

/// The run that is called so cannot be used. What is wrong may quote it.
pub fn wrong(run: &Path, problem: impl fmt::Display) -> SpecError {
    SpecError::Run {
        run: Called(run).to_string(),
        problem: harmless::shown(problem).to_string(),
    }
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
