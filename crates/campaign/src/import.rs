//! Imports records from other machines, and submissions, into an archive.

use std::path::Path;

use archive::{Archive, Imported, Remarks, SubmissionOutcome};
use document::sanitize::sanitize;
use published::Submission;
use record::Record;
use record::documents::Documents;
use rundir::CrashReport;
use serde::Deserialize;
use serde::de::IgnoredAny;
use verdict::check::ResolveCommandLine;

use crate::archive::crashes;
use crate::error::Error;
use crate::record_source::{self, Called};

/// Number of records in one transaction. Batches are faster than single imports, because a
/// transaction itself takes about as long as adding one record.
const AT_ONCE: usize = 64;
/// A batch ends earlier if the texts of its records reach this number of bytes.
const BYTES_AT_ONCE: usize = 16 << 20;

/// Receives the result for each document: a line of text about an imported document, or the reason
/// why the document was not imported.
pub type Tell<'t> = dyn FnMut(Result<String, String>) -> Result<(), Error> + 't;

/// A record to import, and whether its summary and verdict follow from its data.
struct Read {
    run: (Record, Remarks),
    is_right: bool,
}

/// Imports the documents in a file. `resolve` derives the run spec from the command line in a
/// record. A complete record in the archive is not changed; an unfinished
/// one is completed. A submission replaces an earlier one of the same run.
///
/// # Errors
/// Returns an error if the archive cannot be written, or `tell` fails.
pub fn import(
    archive: &mut Archive,
    path: &Path,
    resolve: &ResolveCommandLine<'_>,
    tell: &mut Tell<'_>,
) -> Result<(), Error> {
    let source = match record_source::source(path) {
        Ok(source) => source,
        Err(error) => return tell(Err(format!("cannot read it: {error}"))),
    };
    let mut waiting = Vec::new();
    let mut waiting_bytes = 0;
    for (place, document) in (1..).zip(Documents::of(source)) {
        let read = match document {
            Ok(text) if is_submission(&text) => match Submission::from_json(&text) {
                Ok(submission) => {
                    tell(Ok(add_submission(archive, &submission)?))?;
                    continue;
                }
                Err(error) => Err(error.to_string()),
            },
            Ok(text) if CrashReport::is_begun_by(text.as_bytes()) => match read_crash(&text) {
                Ok((report, remarks)) => {
                    tell(Ok(add_crash(archive, &report, &remarks)?))?;
                    continue;
                }
                Err(error) => Err(error),
            },
            Ok(text) => {
                waiting_bytes += text.len();
                read(&text, resolve)
            }
            Err(error) => Err(error.to_string()),
        };
        match read {
            Ok(run) => waiting.push(run),
            Err(why) => tell(Err(format!("document {place}: {}", sanitize(&why))))?,
        }
        if waiting.len() == AT_ONCE || waiting_bytes >= BYTES_AT_ONCE {
            write(archive, std::mem::take(&mut waiting), path, tell)?;
            waiting_bytes = 0;
        }
    }
    write(archive, waiting, path, tell)
}

fn read(text: &str, resolve: &ResolveCommandLine<'_>) -> Result<Read, String> {
    let record = Record::from_json(text).map_err(|error| record_source::explained(text, error))?;
    let checked = verdict::check::check(text, resolve);
    Ok(Read {
        run: (record, Remarks::of_document(text)?),
        is_right: checked.is_ok_and(|checked| checked.differences.is_empty()),
    })
}

fn read_crash(text: &str) -> Result<(CrashReport, Remarks), String> {
    Ok((CrashReport::from_json(text)?, Remarks::of_document(text)?))
}

fn add_crash(
    archive: &mut Archive,
    report: &CrashReport,
    remarks: &Remarks,
) -> Result<String, Error> {
    let number = crashes::put(archive, report, remarks)?;
    let summary = report.summary();
    Ok(format!("Crash rounds {number}: {summary}\n"))
}

fn add_submission(archive: &mut Archive, submission: &Submission) -> Result<String, Error> {
    let when = submission.when_unix_ns.to_string();
    let is_of_same_run = |other: &str| {
        // Searching for the time is faster than parsing, and excludes most submissions.
        other.contains(&when)
            && Submission::from_json(other).is_ok_and(|other| other.is_of_same_run(submission))
    };
    let became = match archive.add_submission(&submission.to_json(), &is_of_same_run)? {
        SubmissionOutcome::New => "new",
        SubmissionOutcome::There => "there already",
        SubmissionOutcome::Replaced => "new, replaces an earlier one of the same run",
    };
    let contributor = sanitize(&submission.contributor);
    Ok(format!("Submission of {contributor}: {became}\n"))
}

fn write(
    archive: &mut Archive,
    read: Vec<Read>,
    path: &Path,
    tell: &mut Tell<'_>,
) -> Result<(), Error> {
    let (runs, are_right): (Vec<_>, Vec<_>) = read
        .into_iter()
        .map(|read| (read.run, read.is_right))
        .unzip();
    let imported = archive.import_all(&runs)?.into_iter();
    for (((record, _), is_right), imported) in runs.iter().zip(are_right).zip(imported) {
        let id = &record.id;
        let changed = match is_right {
            true => String::new(),
            false => format!(
                "; its summary or verdict does not follow from its data ('postmark check {}' \
                 shows where)",
                Called(path)
            ),
        };
        let there = |number: u64, became: &str| {
            let when = document::units::utc(record.origin.begun_unix_ns());
            let host = sanitize(&record.host.hostname);
            Ok(format!(
                "Run {number}: {became}, {when} of {host}{changed}\n"
            ))
        };
        tell(match imported {
            Imported::New(number) => there(number, "new"),
            Imported::There(number) => there(number, "there already"),
            Imported::Completed(number) => there(number, "completed"),
            Imported::Unreadable(number) => Err(format!(
                "run {number} of the archive has the same identity, {id}, but its record cannot \
                 be read ('postmark show {number}' shows the problem; delete that run, then \
                 import this one again)"
            )),
            Imported::Conflict(number) => Err(format!(
                "CONFLICT: run {number} of the archive has the same identity, {id}, but another \
                 record (compare them with 'postmark show', and delete the wrong one)"
            )),
        })?;
    }
    Ok(())
}

/// Whether a document has the field `submission`. Its other fields are not checked.
pub fn is_submission(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Named {
        #[expect(dead_code, reason = "that it is there is all that is asked")]
        submission: IgnoredAny,
    }
    serde_json::from_str::<Named>(text).is_ok()
}
