//! The end of the run, and advice about its targets.

use document::Document;
use record::{Class, End, Note, Outcome, Record};

/// Adds all hints of the record, and advice about the targets.
pub(crate) fn notes(document: &mut Document, record: &Record) {
    notes_about(document, record, &|_| true);
}

/// Adds hints of the record, and advice about the targets. The note that the archive is on a
/// target's device is left out, because the command prints this note once for each archive.
pub(super) fn notes_of_run(document: &mut Document, record: &Record) {
    notes_about(document, record, &|note| {
        !matches!(note, Note::ArchiveOnTarget { .. })
    });
}

fn notes_about(document: &mut Document, record: &Record, is_shown: &dyn Fn(&Note) -> bool) {
    let hints = record.hints.iter().filter(|note| is_shown(note));
    let mut notes: Vec<String> = hints.map(ToString::to_string).collect();
    for target in record.targets() {
        let advice = match target.class.known() {
            Some(Class::Memory) => {
                "the target lies in memory, so the result does not describe a disk (use a --target \
                 on the file system to be measured)"
            }
            Some(Class::Overlay) => {
                "the target is an overlay, so the result describes two file systems at once (use a \
                 --target on a volume)"
            }
            _ => continue,
        };
        if !notes.iter().any(|known| known == advice) {
            notes.push(advice.to_owned());
        }
    }
    for note in notes {
        document.words(format!("Note: {note}"));
    }
}

/// Adds a warning about the end of the run, unless the run is complete.
pub(crate) fn outcome(document: &mut Document, record: &Record) {
    match &record.actual.outcome {
        Outcome::Complete => {}
        Outcome::Interrupted { signal } => document.warning(format!(
            "PARTIAL: interrupted by signal {signal}. All numbers below cover only the part \
             before."
        )),
        Outcome::Unfinished => document.warning(
            "UNFINISHED: the program was killed before the run ended, or is still running. All \
             numbers below cover only the completed phases.",
        ),
        Outcome::Failed { why } | Outcome::PlaceGone { why } => {
            document.warning(format!("FAILED: {why}"));
            document.warning("PARTIAL: all numbers below cover only the part before.");
        }
    }
    match record.actual.end.known() {
        None | Some(End::Complete) => {}
        Some(End::OutOfFiles) => document.line(
            "The pool ran dry before the last transaction: use more files or fewer transactions.",
        ),
        Some(End::NothingPossible) => document.line(
            "The transactions ended early: a worker could perform none of its operations any more \
             (see Skipped). Use more files, or a mix that also truncates, replaces or deletes \
             files.",
        ),
        Some(End::OutOfReach) => document.line(
            "The transactions ended early: this edition's generator can reach none of the \
             remaining files (the original would search for ever). Use fewer files, or --compat \
             1.5.",
        ),
    }
}
