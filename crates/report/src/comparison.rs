//! Comparisons of configurations as a document: what is compared, a table with medians, ratios and
//! findings, the A/A control, and reasons to doubt the results.

mod notes;
mod sentence;
mod spreadsheet;
mod table;
mod verdicts;
mod words;

use document::units::{bound, counted};
use document::{Block, Document};
use study::Comparisons;

pub(crate) use self::notes::{aa_controls, add_gate_notes, add_notes, effort, ratio_note};
use self::notes::{joint_confidence, more_blocks};
use self::sentence::doubt;
pub(crate) use self::sentence::{
    confidence, finding, no_interval, probability, ratio_of, reservations,
};
pub use self::sentence::{incomplete_words, sentence, unlike_words};
pub use self::spreadsheet::as_csv;
pub(crate) use self::table::{linked_table, table};
pub(crate) use self::verdicts::{all_reasons, doubtful_runs, invalid_runs, levels, verdicts};
pub(crate) use self::words::{is_worse, metric_name, noun, result, value};

pub fn documents(tables: &[Comparisons]) -> Document {
    let explained = first_with_ratio_note(tables);
    let mut document = Document::default();
    for (number, found) in tables.iter().enumerate() {
        if number > 0 {
            document.gap();
        }
        document.push(Block::Head(title(found)));
        add_doubts(&mut document, found);
        document.table(table(found));
        if explained == Some(number) {
            document.words(ratio_note(found).unwrap_or_default());
        }
        add_notes(&mut document, found);
    }
    document
}

pub fn document(found: &Comparisons) -> Document {
    documents(std::slice::from_ref(found))
}

/// The index of the first table that needs a note about its ratios. Only this table shows the note.
pub(crate) fn first_with_ratio_note(tables: &[Comparisons]) -> Option<usize> {
    tables.iter().position(|found| ratio_note(found).is_some())
}

/// What a table compares, and its blocks, runs and verdicts, as one line.
pub(crate) fn title(found: &Comparisons) -> String {
    // The line can break only at the ordinary space. After a break, the no-break spaces indent the
    // size.
    format!("{} \u{a0}\u{a0}{}", subject(found), size(found))
}

/// What a table compares: `mail: xfs against ext4 (baseline)`.
pub(crate) fn subject(found: &Comparisons) -> String {
    match found.common.is_empty() {
        true => contest(found),
        false => format!("{}: {}", found.common.join(", "), contest(found)),
    }
}

/// The compared configurations: `xfs against ext4 (baseline)`, or only the baseline if no candidate
/// has been measured yet.
pub(crate) fn contest(found: &Comparisons) -> String {
    let mut names = found.sides.iter().map(|side| side.name.as_str());
    let baseline = names.next().unwrap_or(&found.baseline);
    let candidates: Vec<&str> = names.collect();
    let candidates = match candidates.split_last() {
        None => return format!("{baseline} (baseline)"),
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    };
    format!("{candidates} against {baseline} (baseline)")
}

/// The numbers of blocks and runs of a table, and the verdicts of the runs.
pub(crate) fn size(found: &Comparisons) -> String {
    let blocks = match (found.is_in_blocks(), found.is_apart()) {
        (true, false) => format!("{}, ", counted(found.blocks.into(), "block")),
        (true, true) => format!(
            "{}, not interleaved, ",
            counted(found.blocks.into(), "block")
        ),
        (false, _) => String::new(),
    };
    let runs = counted(found.verdicts.all().into(), "run");
    bound(&format!("{blocks}{runs}: {}", verdicts(&found.verdicts)))
}

/// Adds a sentence for each comparison, and the joint confidence of all intervals.
pub(crate) fn add_sentences(document: &mut Document, found: &Comparisons) {
    for row in &found.rows {
        document.item(sentence(row, found.confidence));
    }
    document.gap();
    for text in [joint_confidence(found), more_blocks(found)]
        .into_iter()
        .flatten()
    {
        document.words(bound(&text));
    }
}

/// Reasons to doubt all comparisons of a table; empty if there is no such reason.
pub(crate) fn doubts(found: &Comparisons) -> Vec<String> {
    let doubtful = found.aa_controls.iter();
    let doubts: Vec<String> = doubtful
        .filter(|control| control.is_doubtful)
        .map(|control| doubt(control, &found.baseline))
        .collect();
    match found.is_doubtful && doubts.is_empty() {
        true => vec![
            "DOUBTFUL: the A/A control of another baseline of this study differs from its \
             baseline."
                .to_owned(),
        ],
        false => doubts,
    }
}

pub(crate) fn add_doubts(document: &mut Document, found: &Comparisons) {
    for doubt in doubts(found) {
        document.push(Block::Warning(doubt));
    }
}
