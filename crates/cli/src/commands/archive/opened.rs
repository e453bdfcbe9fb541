//! Opens the archive that a command uses.

use archive::{Archive, Filter};
use campaign::archive::place_of_one;
use campaign::study::found::tag_in_archive;
use verdict::ListedRun;

use crate::args::{ArchiveArgument, Filters};
use crate::ui::problem::{Problem, USER};

/// Opens the archive of `--archive`, or the default archive of the user.
///
/// # Errors
/// Returns an error if the archive does not exist or cannot be opened.
pub fn open(said: &ArchiveArgument) -> Result<Archive, Problem> {
    Ok(place_of_one(said.archive.as_deref())?.open(false, USER)?)
}

/// The filter of the conditions. Tags of studies are given by the names of the studies, as `list`
/// shows them.
///
/// # Errors
/// Returns an error if the archive cannot be read, or several studies have a name.
pub fn filter(archive: &Archive, filters: &Filters) -> Result<Filter, Problem> {
    let mut filter = filters.filter();
    for tag in &mut filter.tags {
        *tag = tag_in_archive(archive, tag)?;
    }
    Ok(filter)
}

/// The number of a run in its archive. Entries from an archive always have a number; only records
/// in files have none.
pub(super) fn number(entry: &ListedRun) -> u64 {
    entry.number.unwrap_or_default()
}
