//! Runs that were archived: where they are kept, how a run gets there, and the commands about them.

mod edit;
mod exchange;
mod keeper;
mod mark;
mod place;
mod show;

use archive::{Archive, ArchiveError, Name};
use record::{Entry, Record};

use crate::Problem;
use crate::meant::MeaningError;
use crate::said::ArchiveArgument;

pub use edit::{delete, note, tag};
pub use exchange::{documents, export, import, is_submission};
pub use keeper::Keeper;
pub use place::{Place, place};
pub use show::{list, show};

/// Opens the archive that a command is about.
fn open(said: &ArchiveArgument) -> Result<Archive, Problem> {
    Ok(place::place_of_one(said.archive.as_deref())?.open(false)?)
}

/// The run that a word names.
fn find(archive: &Archive, word: &str) -> Result<Entry, Problem> {
    let name = Name::parse(word).ok_or_else(|| not_a_name(word))?;
    Ok(archive.find(&name, &mark::is_alive)?)
}

fn not_a_name(word: &str) -> Problem {
    let told = format!(
        "'{word}' names no run: give its number, at least four hexadecimal digits of its identity, or last ('postmark list' shows \
         the numbers)"
    );
    MeaningError::Contradiction(told).into()
}

/// The number of a run in an archive. All that come out of one have it.
fn number(entry: &Entry) -> u64 {
    entry.number.unwrap_or_default()
}

/// The submissions that were imported; none where there is no archive yet.
///
/// # Errors
/// Where the archive cannot be read.
pub fn submissions(said: &ArchiveArgument) -> Result<Vec<String>, Problem> {
    match place::place_of_one(said.archive.as_deref())?.open(false) {
        Ok(archive) => Ok(archive.submissions()?),
        Err(ArchiveError::Missing { .. }) if said.archive.is_none() => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// The record of a run by its name in the user's own archive.
///
/// # Errors
/// Where there is no such archive or run, or it cannot be read.
pub fn record_called(word: &str) -> Result<Record, Problem> {
    record(&open(&ArchiveArgument { archive: None })?, word)
}

/// The record of a run in an archive.
fn record(archive: &Archive, word: &str) -> Result<Record, Problem> {
    Ok(archive.record(number(&find(archive, word)?))?)
}

impl From<ArchiveError> for Problem {
    fn from(error: ArchiveError) -> Self {
        Self::Archive(Box::new(error))
    }
}
