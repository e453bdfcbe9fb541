//! Opens the archive that a command uses.

use std::path::Path;

use archive::{Archive, Filter, Tag};
use campaign::archive::place_of_one;
use campaign::study::found::tag_in_archive;
use campaign::study::named_runs::named_runs;
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

/// The filter of the conditions, which also selects results of crash rounds. Tags of studies are
/// given by the names of the studies, as `list` shows them.
///
/// # Errors
/// Returns an error if the archive cannot be read, or several studies have a name.
pub fn filter(archive: &Archive, filters: &Filters) -> Result<Filter, Problem> {
    let mut filter = filters.filter();
    filter.crashes = true;
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

/// If the argument is a tag, returns the newest run with this tag, and the number of runs with it.
/// Returns `None` if the argument is the name of a file or of a study, or if no run has the tag.
pub(super) fn newest_tagged(
    run: &Path,
    archive: &ArchiveArgument,
) -> Option<(Archive, ListedRun, usize)> {
    let word = run.to_str()?;
    if run.exists() || word.parse::<Tag>().is_err() {
        return None;
    }
    let archive = open(archive).ok()?;
    let tagged = named_runs(&archive, word).ok()?;
    let newest = tagged.last()?.clone();
    let is_tag = newest.tags.iter().any(|tag| tag == word);
    is_tag.then_some((archive, newest, tagged.len()))
}
