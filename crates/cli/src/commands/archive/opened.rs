//! Opens the archive that a command uses.

use archive::Archive;
use campaign::archive::place_of_one;
use verdict::ListedRun;

use crate::args::ArchiveArgument;
use crate::ui::problem::{Problem, USER};

/// Opens the archive that the command names, or the user's own.
///
/// # Errors
/// Returns an error if it does not exist or cannot be opened.
pub fn open(said: &ArchiveArgument) -> Result<Archive, Problem> {
    Ok(place_of_one(said.archive.as_deref())?.open(false, USER)?)
}

/// The number of a run in its archive. Every entry read from an archive has one.
pub(super) fn number(entry: &ListedRun) -> u64 {
    entry.number.unwrap_or_default()
}
