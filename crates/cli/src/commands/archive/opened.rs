//! An archive that is open, and what commands ask of it.

use archive::{Archive, ArchiveErrorKind, Remarks};
use campaign::archive::place_of_one;
use record::Record;
use verdict::ListedRun;

use crate::args::ArchiveArgument;
use crate::ui::problem::{Problem, USER};

/// Opens the archive that a command is about.
///
/// # Errors
/// Where there is none, or it cannot be opened.
pub fn open(said: &ArchiveArgument) -> Result<Archive, Problem> {
    Ok(place_of_one(said.archive.as_deref())?.open(false, USER)?)
}

/// The number of a run in an archive. All that come out of one have it.
pub(super) fn number(entry: &ListedRun) -> u64 {
    entry.number.unwrap_or_default()
}

/// The tags and the note of an archived run.
pub(super) fn remarks(entry: &ListedRun) -> Remarks {
    // The file may have been changed by another program: what no run can have stays there.
    Remarks {
        tags: entry
            .tags
            .iter()
            .filter_map(|tag| tag.parse().ok())
            .collect(),
        note: entry.note.as_ref().and_then(|note| note.parse().ok()),
    }
}

/// The submissions that were imported; none where there is no archive yet.
///
/// # Errors
/// Where the archive cannot be read.
pub fn submissions(said: &ArchiveArgument) -> Result<Vec<(u64, String)>, Problem> {
    match place_of_one(said.archive.as_deref())?.open(false, USER) {
        Ok(archive) => Ok(archive.submissions()?),
        Err(error) if error.kind == ArchiveErrorKind::Missing && said.archive.is_none() => {
            Ok(Vec::new())
        }
        Err(error) => Err(error.into()),
    }
}

/// The record of a run in an archive.
pub(super) fn record(archive: &Archive, word: &str) -> Result<Record, Problem> {
    Ok(archive.record(number(&archive.called(word)?))?)
}

/// Removes a submission from the archive, and gives its text; nothing where there is none with this
/// number.
///
/// # Errors
/// Where there is no archive, or nothing could be written.
pub fn delete_submission(said: &ArchiveArgument, number: u64) -> Result<Option<String>, Problem> {
    Ok(open(said)?.delete_submission(number)?)
}
