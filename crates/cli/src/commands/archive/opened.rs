//! An archive that is open.

use archive::Archive;
use campaign::archive::place_of_one;
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
