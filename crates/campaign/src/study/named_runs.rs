//! Resolves the words by which users name archived runs: numbers, ranges, tags and identities.

use std::collections::BTreeSet;

use archive::{Archive, Filter, RunName};
use verdict::ListedRun;

use super::found;
use crate::error::Error;

/// Maximum number of runs that one argument may name; a larger number is probably a mistake.
const RUNS_MAX: u64 = 10_000;

/// Resolves a word to archived runs and results of crash rounds in the order of their numbers. The
/// word is numbers (`3,5,7`, `3..9`, `last`), a tag (also the tag of a study, as `list` shows it),
/// or an identity.
///
/// # Errors
/// Returns an error if the word names no run, or the archive cannot be read.
pub fn named_runs(archive: &Archive, word: &str) -> Result<Vec<ListedRun>, Error> {
    if let Some(runs) = numbered(archive, word, true)? {
        return Ok(runs);
    }
    let tagged = tagged(archive, word, true)?;
    match (tagged.is_empty(), RunName::parse(word)) {
        (false, _) => Ok(tagged),
        (true, Some(_)) => Ok(vec![archive.called(word)?]),
        (true, None) => Err(Error::refused(format_args!(
            "invalid run '{word}': expected numbers like 3,5,7 or 3..9, a tag, at least four \
             hexadecimal digits of an identity, or last ('postmark list' shows numbers and tags)"
        ))),
    }
}

/// Returns the runs with a tag, in the order of their numbers; with `crashes` also results of crash
/// rounds.
pub(super) fn tagged(
    archive: &Archive,
    word: &str,
    crashes: bool,
) -> Result<Vec<ListedRun>, Error> {
    let filter = Filter {
        crashes,
        tags: vec![found::tag_in_archive(archive, word)?],
        ..Filter::default()
    };
    let mut tagged = archive.list(&filter)?;
    tagged.sort_by_key(|run| run.number);
    Ok(tagged)
}

/// Whether an argument is a run number or the word for the newest run.
pub(crate) fn is_number(word: &str) -> bool {
    let name = RunName::parse(word);
    matches!(name, Some(RunName::Last | RunName::Number(_)))
}

/// Resolves run numbers, such as `3,5,7`, `3..9` or `last`. Returns `None` for other arguments.
/// With `crashes`, a range includes results of crash rounds.
pub(super) fn numbered(
    archive: &Archive,
    word: &str,
    crashes: bool,
) -> Result<Option<Vec<ListedRun>>, Error> {
    let mut runs: Vec<ListedRun> = Vec::new();
    for part in word.split(',').map(str::trim) {
        if is_number(part) {
            runs.push(archive.called(part)?);
            continue;
        }
        let ends = part.split_once("..");
        let are_numbers = |ends: &(&str, &str)| is_number(ends.0) && is_number(ends.1);
        let Some((first, last)) = ends.filter(are_numbers) else {
            return Ok(None);
        };
        let range = find_number(archive, first)?..=find_number(archive, last)?;
        let mut listed = archive.list(&Filter {
            crashes,
            ..Filter::default()
        })?;
        // Numbers of deleted runs within the range are ignored.
        listed.retain(|run| run.number.is_some_and(|run| range.contains(&run)));
        let before = runs.len();
        runs.extend(listed);
        if runs.len() == before || runs.len() as u64 > RUNS_MAX {
            return Err(Error::refused(format_args!(
                "invalid runs '{word}': expected numbers like 3,5,7 or 3..9, at most {RUNS_MAX} \
                 of them"
            )));
        }
    }
    let mut seen = BTreeSet::new();
    runs.retain(|run| seen.insert(run.number));
    Ok(Some(runs))
}

/// Returns the run number at one end of a range. The number is accepted even if no run has it.
fn find_number(archive: &Archive, word: &str) -> Result<u64, Error> {
    match RunName::parse(word) {
        Some(RunName::Number(number)) => Ok(number),
        _ => Ok(archive.called(word)?.number.unwrap_or_default()),
    }
}
