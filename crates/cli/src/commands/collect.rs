//! `postmark collect`: makes one record of the parts that the ranks of a run left on disk
//! ([`campaign::parts`]).

use archive::{Imported, Remarks};
use campaign::archive::{ArchivePlace, Chosen, chosen_for_run};
use campaign::parts::{JoinedParts, join};
use document::sanitize;
use record::Record;

use crate::args::CollectArguments;
use crate::commands::run::delivery::{WRITTEN_WITHIN, deliver, render};
use crate::ui::output::Outputs;
use crate::ui::problem::{Problem, USER, tell};

/// Exit status if a part is missing, unreadable or incomplete.
const NOT_ALL: u8 = 1;

/// Joins the parts into one record, reports it and archives it. Returns the exit status.
///
/// # Errors
/// Returns an error if the directories contain no part or parts of several runs, or the report
/// cannot be written.
pub fn collect(arguments: &CollectArguments) -> Result<u8, Problem> {
    let chosen = chosen_for_run(arguments.archive.as_deref())?;
    let place = chosen.place();
    let mut outputs = Outputs::new(arguments.force, place, &[])?;
    if let Some(path) = &arguments.output {
        outputs.judge("--output", path)?;
    }
    let JoinedParts {
        record,
        is_complete,
    } = join(&arguments.directories, USER)?;
    let output = arguments.output.as_deref();
    let output = output
        .map(|path| outputs.open("--output", path))
        .transpose()?;
    let report = render(&record, arguments.format, arguments.full, output.is_none());
    deliver(WRITTEN_WITHIN, output, &report, arguments.format)?;
    match place {
        Some(place) => keep(place, &record, &arguments.remarks.remarks())?,
        None => {
            if let Chosen::Unknown(why) = &chosen {
                tell(format_args!("warning: {why}; the record is not archived"));
            }
        }
    }
    Ok(if is_complete { 0 } else { NOT_ALL })
}

/// Adds the record to the archive. If the archive contains the incomplete entry that rank 0 left
/// there, the record replaces this entry.
fn keep(place: &ArchivePlace, record: &Record, remarks: &Remarks) -> Result<(), Problem> {
    let mut archive = place.open_for_run(USER)?;
    let path = sanitize::path(place.path()).into_owned();
    for imported in archive.import_all(&[(record, remarks)])? {
        tell(match imported {
            Imported::New(number) | Imported::Completed(number) => {
                format!("archived as run {number} in {path} (postmark show {number} --full)")
            }
            Imported::There(number) => format!("archived already: run {number} in {path}"),
            Imported::Conflict(number) | Imported::Unreadable(number) => format!(
                "not archived: run {number} in {path} has the same identity and another record \
                 (delete it with 'postmark delete {number}', then collect again)"
            ),
        });
    }
    Ok(())
}
