//! `postmark published`: what was published, and what others have submitted.

use std::path::PathBuf;

use document::sanitize::{path as path_shown, sanitize};
use document::{Document, Format, WIDTH};
use published::submissions::Numbered;
use published::{Library, Submission, beside, show, submission, submission_tables, submissions};
use record::Record;
use record::documents::Documents;

use crate::args::{ArchiveArgument, PublishedArguments, PublishedCommand};
use crate::ui::problem::{Problem, USER, print, tell};
use crate::ui::screen;
use campaign::record_source;

/// Shows what was asked for.
///
/// # Errors
/// Where a name or a file is none, or the answer cannot be delivered.
pub fn published(arguments: &PublishedArguments) -> Result<u8, Problem> {
    print(&text(&arguments.command)?)?;
    Ok(0)
}

fn text(command: &PublishedCommand) -> Result<String, Problem> {
    let library = Library::read().map_err(Problem::refused)?;
    let shown = match command {
        PublishedCommand::List => Ok(screen::text(&show::list(&library), WIDTH)),
        PublishedCommand::Show { name, format } => show::show(&library, name.as_deref(), *format),
        PublishedCommand::Submissions {
            delete: Some(number),
            archive,
            ..
        } => return delete(archive, *number),
        PublishedCommand::Submissions {
            files,
            archive,
            format,
            ..
        } => {
            let all = if files.is_empty() {
                archived(archive)?
            } else {
                submitted(files)?
            };
            submissions::groups(&library, &all)
                .map(|groups| submission_tables::show(&groups, *format))
        }
        PublishedCommand::Beside {
            run,
            archive,
            format,
        } => {
            let record = record_source::find(run, archive.archive.as_deref(), USER)?;
            beside(&library, &record).map(|beside| {
                if let (Format::Csv, Some(none)) = (format, &beside.none) {
                    // A header alone does not say it.
                    tell(format_args!("no published row: {none}"));
                }
                beside.show(*format)
            })
        }
    };
    shown.map_err(Problem::refused)
}

/// A run beside the published rows of the same configuration, for people.
///
/// # Errors
/// Where our own data are at fault.
pub fn beside_document(record: &Record) -> Result<Document, Problem> {
    let library = Library::read().map_err(Problem::refused)?;
    let beside = beside(&library, record).map_err(Problem::refused)?;
    Ok(beside.document())
}

/// The same for a page, with pictures; nothing of a run of other work than was published.
///
/// # Errors
/// Where our own data are at fault.
pub fn beside_on_page(record: &Record) -> Result<Document, Problem> {
    if record.spec.workload.classic().is_none() {
        return Ok(Document::default());
    }
    let library = Library::read().map_err(Problem::refused)?;
    let beside = beside(&library, record).map_err(Problem::refused)?;
    let mut document = beside.document();
    if beside.none.is_none() {
        for graph in beside.graphs() {
            document.figure(report::page::dots(&graph));
        }
    }
    Ok(document)
}

/// The submissions of an archive.
fn archived(said: &ArchiveArgument) -> Result<Vec<Numbered>, Problem> {
    let read = |(number, text): &(u64, String)| {
        let submission = Submission::from_json(text).map_err(|problem| {
            Problem::refused(format_args!(
                "submission {number} in the archive: {problem}"
            ))
        })?;
        Ok::<_, Problem>(Numbered {
            number: *number,
            submission,
        })
    };
    let texts = crate::commands::archive::submissions(said)?;
    texts.iter().map(read).collect()
}

/// Removes one of them, and says whose it was.
fn delete(said: &ArchiveArgument, number: u64) -> Result<String, Problem> {
    let text = crate::commands::archive::delete_submission(said, number)?.ok_or_else(|| {
        Problem::refused(format_args!(
            "there is no submission {number} in the archive ('postmark published submissions' \
                 shows the numbers; S3 is number 3)"
        ))
    })?;
    let by =
        Submission::from_json(&text).map(|submission| format!(" of {}", submission.contributor));
    let by = by.unwrap_or_default();
    Ok(format!("Removed submission {number}{}\n", sanitize(&by)))
}

/// The submissions of files, in order: a later one of the same run stands in the place of an
/// earlier.
fn submitted(files: &[PathBuf]) -> Result<Vec<Numbered>, Problem> {
    let mut all: Vec<Numbered> = Vec::new();
    for path in files {
        let shown = path_shown(path);
        let source = record_source::source(path)
            .map_err(|cause| Problem::refused(format_args!("cannot read {shown}: {cause}")))?;
        for (place, document) in Documents::up_to(source, submission::BYTES_MAX).enumerate() {
            let text = document.map_err(|problem| {
                let place = place + 1;
                Problem::refused(format_args!("{shown}: JSON document {place}: {problem}"))
            })?;
            let submission = Submission::from_json(&text)
                .map_err(|problem| Problem::refused(format_args!("{shown}: {problem}")))?;
            let number = all.len() as u64 + 1;
            match all
                .iter_mut()
                .find(|former| former.submission.is_of_same_run(&submission))
            {
                Some(former) => former.submission = submission,
                None => all.push(Numbered { number, submission }),
            }
        }
    }
    Ok(all)
}
