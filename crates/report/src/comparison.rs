//! Comparisons of configurations as a document: what is compared, a table with means, ratios and
//! findings, the A/A control, and reasons to doubt the results.

mod basis;
mod notes;
mod sentence;
mod sides;
mod spreadsheet;
mod table;
mod verdicts;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use document::units::{bound, counted, percent};
use document::{Block, Document};
use study::{Comparisons, Drift};

pub(crate) use self::basis::add_limits;
pub(crate) use self::notes::{
    aa_control_in_words, add_gate_notes, add_notes, deviates, effort, forecast_source, ratio_note,
};
use self::notes::{joint_confidence, more_blocks};
use self::sentence::doubt;
pub(crate) use self::sentence::{
    confidence, finding, no_interval, probability, ratio_of, reservations, runs,
};
pub use self::sentence::{incomplete_words, sentence, unlike_words};
pub use self::spreadsheet::as_csv;
pub(crate) use self::table::{linked_table, table};
use self::verdicts::are_doubtful;
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
        for runs in doubtful_sides(found) {
            document.push(Block::Warning(runs));
        }
        if number == 0 {
            add_remedies(&mut document, tables);
        }
        document.table(table(found));
        if explained == Some(number) {
            document.words(ratio_note(found).unwrap_or_default());
        }
        add_notes(&mut document, found);
    }
    add_limits(&mut document, tables);
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
    let all = match found.blocks_planned.filter(|_| found.is_unfinished()) {
        Some(planned) => format!("{} of {}", found.blocks, counted(planned.into(), "block")),
        None => counted(found.blocks.into(), "block"),
    };
    let compared = found.rows.iter().map(|row| row.count).max();
    let compared = compared.filter(|compared| *compared < found.blocks);
    let compared = compared.map_or_else(String::new, |compared| format!(" ({compared} compared)"));
    let blocks = match (found.is_in_blocks(), found.is_apart()) {
        (true, false) => format!("{all}, "),
        (true, true) => format!("{all}{compared}, order not random, "),
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
    let mut doubts: Vec<String> = doubtful
        .filter(|control| control.is_doubtful)
        .map(|control| doubt(control, &found.baseline))
        .collect();
    if found.is_doubtful && doubts.is_empty() {
        doubts.push(
            "DOUBTFUL: the A/A control of another baseline of this study differs from its \
             baseline."
                .to_owned(),
        );
    }
    if !found.is_in_blocks() {
        doubts.push(
            "Not interleaved: a drift of the machine between the configurations would look the \
             same as a difference between them."
                .to_owned(),
        );
    }
    doubts.extend(sides::doubts(found).iter().map(|doubt| bound(doubt)));
    let drifts = found.drifts().filter(|(.., drift)| drift.is_seen);
    doubts.extend(drifts.map(|(side, metric, drift)| {
        let mean = format!("the mean {} of {}", noun(metric), side.name);
        bound(&drift_seen(&mean, &drift))
    }));
    doubts
}

/// A sentence for each configuration most of whose runs are DOUBTFUL; empty if the line above has
/// the same content, because no run of any configuration is VALID.
fn doubtful_sides(found: &Comparisons) -> Vec<String> {
    if found.verdicts.valid == 0 && found.verdicts.invalid == 0 {
        return Vec::new();
    }
    let sides = found.sides.iter().filter(|side| are_doubtful(side));
    let words = sides.filter_map(|side| {
        let runs = doubtful_runs(&side.verdicts)?;
        Some(bound(&format!(
            "{}: {runs} ('postmark show' has the reasons).",
            side.name
        )))
    });
    words.collect()
}

/// Adds what the user can do about the reasons of DOUBTFUL and INVALID runs.
pub(crate) fn add_remedies(document: &mut Document, tables: &[Comparisons]) {
    let is_study = tables.iter().any(|found| found.study.is_some());
    remedies(document, tables.iter().map(|found| &found.advice), is_study);
}

/// Adds what the user can do, by the names of rules. The options of a study's runs do not change.
pub(crate) fn remedies<'a>(
    document: &mut Document,
    advice: impl Iterator<Item = &'a BTreeMap<String, String>>,
    is_study: bool,
) {
    let remedies: BTreeSet<String> = advice
        .flatten()
        .map(|(rule, advice)| format!("{rule}: {advice}"))
        .collect();
    let remedies: Vec<String> = remedies.into_iter().collect();
    if remedies.is_empty() {
        return;
    }
    let has_option = remedies.iter().any(|remedy| remedy.contains("--"));
    let anew = match has_option && is_study {
        true => " Options of the runs need a new study: --resume keeps those of this one.",
        false => "",
    };
    document.words(bound(&format!(
        "What to do: {}.{anew}",
        remedies.join("; ")
    )));
}

/// A drift of repeated runs in words. `mean` names the mean that changes.
pub(crate) fn drift_seen(mean: &str, drift: &Drift) -> String {
    let direction = if drift.change < 0.0 {
        "lower"
    } else {
        "higher"
    };
    format!(
        "DRIFT: {mean} is {} {direction} in the second half of the runs ({}). The interval assumes \
         runs without a drift, so it may be too narrow.",
        percent(drift.change.abs()),
        drift_test(drift)
    )
}

/// The test for a drift, with its p-value.
pub(crate) fn drift_test(drift: &Drift) -> String {
    format!(
        "Mann's test of the order of the runs, p {}",
        probability(drift.p)
    )
}

pub(crate) fn add_doubts(document: &mut Document, found: &Comparisons) {
    for doubt in doubts(found) {
        document.push(Block::Warning(doubt));
    }
}
