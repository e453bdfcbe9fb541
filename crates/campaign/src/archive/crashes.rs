//! Results of crash rounds in the archive and in files.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use archive::{Archive, ArchiveError, Remarks};
use document::sanitize;
use rundir::CrashReport;
use rundir::crash_rounds::REPORT_BYTES_MAX;
use verdict::list_row::WorkKind;
use verdict::{Headline, Level, State};

use crate::error::Error;

/// Number of bytes that suffice to recognize a result.
const BEGINNING: u64 = 256;

/// Adds a result, or replaces an earlier result of the same rounds. Returns its number.
///
/// # Errors
/// Returns an error if the archive cannot be written.
pub fn put(
    archive: &mut Archive,
    report: &CrashReport,
    remarks: &Remarks,
) -> Result<u64, ArchiveError> {
    archive.put_crash(&headline(report), &compact(report), remarks)
}

/// Reads the result with this number.
///
/// # Errors
/// Returns an error if the entry does not exist, is a run, or cannot be read.
pub fn get(archive: &Archive, number: u64) -> Result<CrashReport, Error> {
    CrashReport::from_json(&archive.crash(number)?).map_err(|why| {
        Error::refused(format_args!(
            "cannot use the crash rounds {number} of the archive: {}",
            sanitize::sanitize(&why)
        ))
    })
}

/// The result as one line of JSON, as the archive contains it.
pub fn compact(report: &CrashReport) -> String {
    // Writing cannot fail: numbers are finite, and the destination is memory.
    serde_json::to_string(report).unwrap_or_default()
}

/// Reads a file that `crash --format json` or `export` wrote. Returns `None` if the file is not
/// such a file, so that another reader may read it.
///
/// # Errors
/// Returns an error if the file is a result that cannot be used.
pub fn in_file(path: &Path) -> Result<Option<CrashReport>, Error> {
    let Ok(mut file) = File::open(path) else {
        return Ok(None);
    };
    if !file.metadata().is_ok_and(|facts| facts.is_file()) {
        return Ok(None);
    }
    let mut text = Vec::new();
    let begun = file.by_ref().take(BEGINNING).read_to_end(&mut text);
    if begun.is_err() || !CrashReport::is_begun_by(&text) {
        return Ok(None);
    }
    let wrong = |why: &dyn std::fmt::Display| {
        Error::refused(format_args!(
            "cannot use the crash rounds {}: {} (use a file with one result of 'crash --format \
             json')",
            sanitize::path(path),
            sanitize::sanitize(&why.to_string())
        ))
    };
    let mut rest = file.take(REPORT_BYTES_MAX as u64 + 1);
    rest.read_to_end(&mut text).map_err(|cause| wrong(&cause))?;
    let text = String::from_utf8(text).map_err(|cause| wrong(&cause))?;
    let report = CrashReport::from_json(&text).map_err(|why| wrong(&why))?;
    Ok(Some(report))
}

/// The row of a result in lists.
fn headline(report: &CrashReport) -> Headline {
    let subject = &report.subject;
    let shows_something = report.crashes_system && report.crashes > 0;
    Headline {
        id: subject.id,
        state: match report.rounds_performed == report.rounds_planned {
            true => State::Complete,
            false => State::Interrupted,
        },
        begun_unix_ns: subject.begun_unix_ns,
        host: subject.host.clone(),
        file_systems: subject.file_systems.clone(),
        device_class: None,
        preset: subject.preset.clone(),
        work: [WorkKind::Classic, WorkKind::Mix]
            .into_iter()
            .find(|kind| subject.workload.as_deref() == Some(kind.name())),
        engine: subject.engine.clone(),
        workers: subject.workers,
        is_sweep: false,
        transactions_per_second: None,
        p99_ns: None,
        verdict: match shows_something {
            true => Level::Valid,
            false => Level::Doubtful,
        },
        fingerprint: subject.fingerprint.clone(),
        crash: Some(report.summary()),
    }
}
