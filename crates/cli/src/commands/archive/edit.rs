//! `postmark tag`, `note` and `delete`: change entries of the archive.

use archive::Archive;
use campaign::study::named_runs::named_runs;
use document::sanitize::sanitize;

use super::opened::{number, open};
use crate::args::{DeleteArguments, NoteArguments, TagArguments};
use crate::ui::problem::{Problem, print, tell};

/// Adds tags to runs, or removes tags from them.
///
/// # Errors
/// Returns an error if a run does not exist, or the archive cannot be written.
pub fn tag(arguments: &TagArguments) -> Result<u8, Problem> {
    let mut archive = open(&arguments.archive)?;
    for run in named_runs(&archive, &arguments.run)? {
        tag_run(&mut archive, number(&run), arguments)?;
    }
    Ok(0)
}

fn tag_run(archive: &mut Archive, number: u64, arguments: &TagArguments) -> Result<(), Problem> {
    if arguments.remove {
        for missing in archive.remove_tags(number, &arguments.tags)? {
            tell(format_args!(
                "run {number} does not have the tag '{missing}'"
            ));
        }
    } else {
        archive.add_tags(number, &arguments.tags)?;
    }
    let tags = archive.called(&number.to_string())?.tags;
    let tags: Vec<_> = tags.iter().map(|tag| sanitize(tag)).collect();
    let all = if tags.is_empty() {
        "no tags".to_owned()
    } else {
        tags.join(" ")
    };
    print(&format!("Run {number}: {all}\n"))
}

/// Sets or removes the note of a run.
///
/// # Errors
/// Returns an error if the run does not exist, or the archive cannot be written.
pub fn note(arguments: &NoteArguments) -> Result<u8, Problem> {
    let mut archive = open(&arguments.archive)?;
    let number = number(&archive.called(&arguments.run)?);
    let note = arguments.text.text();
    archive.set_note(number, note)?;
    print(&match note {
        Some(note) => format!("Run {number}: {}\n", sanitize(note)),
        None => format!("Run {number}: no note\n"),
    })?;
    Ok(0)
}

/// Deletes the named runs from the archive: all of them, or none if one cannot be deleted.
///
/// # Errors
/// Returns an error if a run does not exist or is still running, or the archive cannot be written.
pub fn delete(arguments: &DeleteArguments) -> Result<u8, Problem> {
    let mut archive = open(&arguments.archive)?;
    let mut numbers = Vec::new();
    for word in &arguments.runs {
        for run in named_runs(&archive, word)? {
            let number = number(&run);
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
    }
    archive.delete(&numbers)?;
    let removed: String = numbers
        .iter()
        .map(|number| format!("Removed run {number}\n"))
        .collect();
    print(&removed)?;
    Ok(0)
}
