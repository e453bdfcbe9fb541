//! Opens the archive that a command uses.

use archive::Archive;
use campaign::archive::place_of_one;
use verdict::ListedRun;

use crate::args::ArchiveArgument;
use crate::ui::problem::{Problem, USER};

/// Opens the archive of `--archive`, or the default archive of the user.
///
/// # Errors
/// Returns an error if the archive does not exist or cannot be opened.
pub fn open(said: &ArchiveArgument) -> Result<Archive, Problem> {
    Ok(place_of_one(said.archive.as_deref())?.open(false, USER)?)
}

/// The number of a run in its archive. Entries from an archive always have a number; only records
/// in files have none.
pub(super) fn number(entry: &ListedRun) -> u64 {
    entry.number.unwrap_or_default()
}
