//! `postmark published`: shows published results and submissions, and deletes submissions.

use campaign::publications::{archived_submissions, beside_run, submissions_in};
use campaign::record_source;
use document::Format;
use document::sanitize::sanitize;
use published::{Library, Submission, show, submission_tables, submissions};

use crate::args::{ArchiveArgument, PublishedArguments, PublishedCommand};
use crate::commands::archive::open;
use crate::ui::problem::{Problem, USER, print, tell};
use crate::ui::screen;

/// Shows published results and submissions, or deletes a submission.
///
/// # Errors
/// Returns an error if a name or a file is not found, or the answer cannot be written.
pub fn published(arguments: &PublishedArguments) -> Result<u8, Problem> {
    print(&text(&arguments.command)?)?;
    Ok(0)
}

fn text(command: &PublishedCommand) -> Result<String, Problem> {
    let library = Library::read();
    match command {
        PublishedCommand::List => Ok(screen::text(&show::list(&library))),
        PublishedCommand::Show { name, format } => {
            let name = name.as_deref();
            let shown = match format {
                Format::Text => show::document(&library, name).map(|shown| screen::text(&shown)),
                format => show::show(&library, name, *format),
            };
            shown.map_err(Problem::refused)
        }
        PublishedCommand::Submissions {
            delete: Some(number),
            archive,
            ..
        } => delete(archive, *number),
        PublishedCommand::Submissions {
            files,
            archive,
            format,
            ..
        } => {
            let all = if files.is_empty() {
                archived_submissions(archive.archive.as_deref(), USER)?
            } else {
                submissions_in(files)?
            };
            let groups = submissions::groups(&library, &all);
            Ok(match format {
                Format::Text => screen::text(&submission_tables::document(&groups)),
                format => submission_tables::show(&groups, *format),
            })
        }
        PublishedCommand::Beside {
            run,
            archive,
            format,
        } => {
            let record = record_source::find(run, archive.archive.as_deref(), USER)?;
            let beside = beside_run(&record);
            if let (Format::Csv, Some(none)) = (format, &beside.none) {
                // The text format contains the reason why no published row is comparable. A CSV
                // answer is only a header, so the reason is printed on standard error.
                tell(format_args!("no published row: {none}"));
            }
            Ok(match format {
                Format::Text => screen::text(&beside.document()),
                format => beside.show(*format),
            })
        }
    }
}

/// Deletes a submission from the archive. Returns a message that names its contributor.
fn delete(said: &ArchiveArgument, number: u64) -> Result<String, Problem> {
    let text = open(said)?.delete_submission(number)?.ok_or_else(|| {
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
