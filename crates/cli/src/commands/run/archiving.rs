//! Archives the record of a run, and prints its number and the comparison with earlier runs.

use campaign::archive::{Archiving, Earlier, Keeper};
use document::units::bound;
use document::{Document, sanitize};
use record::{Note, Record};

use crate::ui::problem::{Problem, tell};
use crate::ui::screen;

/// Number of the first run in an archive. Only after this run, the note about the archive's
/// location is printed.
const FIRST: u64 = 1;

/// The note that the archive is on a target's device. It is printed once for each archive. The full
/// report of each run contains the note.
fn note_of_archive(record: &Record) -> Option<String> {
    let mut notes = record.hints.iter();
    notes
        .find(|note| matches!(note, Note::ArchiveOnTarget { .. }))
        .map(|note| format!("Note: {note}"))
}

/// Prints lines after the report if the report is on the terminal, otherwise on standard error.
fn say_after(lines: &[String], is_seen: bool, quiet: bool) -> Result<(), Problem> {
    if is_seen {
        let mut document = Document::default();
        lines.iter().for_each(|line| document.words(bound(line)));
        return screen::print(&screen::text(&document));
    }
    if !quiet {
        lines.iter().for_each(tell);
    }
    Ok(())
}

/// Archives the record. Prints the number of the run after the report if the report is on the
/// terminal, otherwise on standard error. If the record is not archived, prints the reason on
/// standard error. Returns whether archiving was requested and failed.
pub fn keep(keeper: Keeper, record: &Record, is_seen: bool, quiet: bool) -> Result<bool, Problem> {
    let archive = sanitize::path(keeper.path()).into_owned();
    let (archiving, earlier) = keeper.finish_and_compare(record);
    let (told, is_missed) = match archiving {
        Archiving::Archived(number) => {
            let mut lines: Vec<String> = earlier.iter().map(Earlier::to_string).collect();
            lines.push(format!(
                "archived as run {number} in {archive} (postmark show {number} --full)"
            ));
            if number == FIRST {
                lines.extend(note_of_archive(record));
            }
            say_after(&lines, is_seen, quiet)?;
            return Ok(false);
        }
        Archiving::Beside {
            path,
            why,
            is_asked,
        } => {
            let why = why.map_or_else(String::new, |why| {
                format!("the run is not in the archive yet: {why}; ")
            });
            let path = sanitize::path(&path);
            let told = format!(
                "{why}its record is in {path}; the next command that opens {archive} adds it"
            );
            (told, is_asked)
        }
        Archiving::Lost { why, is_asked } => (format!("the run was not archived: {why}"), is_asked),
    };
    tell(told);
    Ok(is_missed)
}
