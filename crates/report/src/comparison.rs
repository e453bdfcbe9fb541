//! Comparisons of configurations as a document: a table, a sentence for each comparison, and
//! reasons to doubt the results.

mod sentence;
mod spreadsheet;
mod words;

use document::units::{counted, grouped};
use document::{Cell, Document, Number, Table};
use study::{Comparisons, InvalidRun, Method, VerdictCounts};
use verdict::Level;

pub(crate) use self::sentence::{confidence, noun, probability, reservations};
use self::sentence::{digits, doubt, noise_sentence};
pub use self::sentence::{incomplete_words, sentence, unlike_words};
pub use self::spreadsheet::as_csv;
pub(crate) use self::words::{reasons, result};

/// The documents of several tables of comparisons, one after another.
pub fn documents(tables: &[Comparisons]) -> Document {
    let mut document = Document::default();
    for (number, table) in tables.iter().enumerate() {
        if number > 0 {
            document.gap();
        }
        document.append(self::document(table));
    }
    document
}

pub fn document(found: &Comparisons) -> Document {
    let mut document = Document::default();
    document.title(format!("Comparison with {}", found.baseline));
    for doubt in doubts(found) {
        document.warning(doubt);
    }
    document.table(table(found, |side| side.into()));
    document.gap();
    add_sentences(&mut document, found);
    add_basis(&mut document, found);
    document
}

/// Adds a sentence for each comparison, and the joint confidence of all intervals.
pub(crate) fn add_sentences(document: &mut Document, found: &Comparisons) {
    for row in &found.rows {
        document.item(sentence(row, found.confidence));
    }
    document.gap();
    let rows = found.rows.iter();
    let intervals = rows.filter(|row| row.interval().is_some()).count();
    if intervals > 1 {
        let confidence = confidence(found.confidence);
        document.words(document::units::bound(&format!(
            "The {intervals} intervals hold together with {confidence} confidence (Bonferroni \
             correction)."
        )));
    }
    if let Some(text) = more_blocks(found) {
        document.words(document::units::bound(&text));
    }
}

fn has_blocks(found: &Comparisons) -> bool {
    let mut rows = found.rows.iter();
    rows.all(|row| row.method != Method::NotInterleaved)
}

/// A sentence with the number of additional blocks that would decide the undecided comparisons.
/// `None` if all comparisons are decided, or if the number is not available.
fn more_blocks(found: &Comparisons) -> Option<String> {
    let done = found.rows.iter().map(|row| row.count).max()?;
    let more = found.blocks_needed()?.checked_sub(done);
    let more = more.filter(|more| *more > 0 && has_blocks(found))?;
    Some(format!(
        "{} would decide what is undecided, if the ratios seen are the true ones (probability 80 \
         %).",
        counted(more.into(), "more block")
    ))
}

/// Reasons to doubt all comparisons of a table; empty if there is no such reason.
pub(crate) fn doubts(found: &Comparisons) -> Vec<String> {
    let doubtful = found.noise.iter().filter(|noise| noise.is_doubtful);
    let doubts: Vec<String> = doubtful
        .map(|noise| doubt(noise, &found.baseline))
        .collect();
    match found.is_doubtful && doubts.is_empty() {
        true => vec![
            "DOUBTFUL: another baseline of this study and its twin, the same system, differ."
                .to_owned(),
        ],
        false => doubts,
    }
}

/// Adds the A/A noise, the verdicts of the runs, and the excluded runs.
pub(crate) fn add_basis(document: &mut Document, found: &Comparisons) {
    for noise in &found.noise {
        document.words(noise_sentence(noise, &found.baseline));
    }
    document.words(document::units::bound(&format!(
        "Verdicts of the runs: {}.",
        verdicts(&found.verdicts)
    )));
    if !found.invalid.is_empty() {
        let runs: Vec<String> = found.invalid.iter().map(invalid).collect();
        document.words(format!("INVALID, not counted: {}.", runs.join(", ")));
    }
}

/// The number of runs with each verdict.
pub(crate) fn levels(counts: &VerdictCounts) -> Vec<(Level, String)> {
    let levels = [Level::Valid, Level::Doubtful, Level::Invalid];
    let words = |level: Level| {
        let runs = grouped(counts.runs(level).into());
        (level, format!("{runs} {}", level.name()))
    };
    let levels = levels.into_iter().filter(|level| counts.runs(*level) > 0);
    levels.map(words).collect()
}

/// The number of runs with each verdict, and the rules that led to the verdicts, in words. Each
/// rule is followed by the number of runs that broke it; the most frequent rule comes first.
pub(crate) fn verdicts(counts: &VerdictCounts) -> String {
    let levels: Vec<String> = levels(counts).into_iter().map(|(_, words)| words).collect();
    if levels.is_empty() {
        return "not available (there are no runs)".to_owned();
    }
    let mut text = levels.join(", ");
    if counts.invalid > 0 {
        text += " (not counted)";
    }
    if !counts.reasons.is_empty() {
        text += &format!("; reasons: {}", reasons(counts));
    }
    text
}

/// The table of the comparisons. `side` returns the cell for the name of a configuration.
pub(crate) fn table(found: &Comparisons, side: impl Fn(&str) -> Cell) -> Table {
    let mut table = Table::new(2, &["", "metric", "ratio", "from", "to"]);
    let counted = if has_blocks(found) { "blocks" } else { "runs" };
    table.column(counted, false);
    table.column("result", true);
    for row in &found.rows {
        let estimate = row.estimate();
        let digits = estimate.map_or(2, digits);
        let number =
            |value: Option<f64>| Cell::from(value.map(|value| Number::Decimal(value, digits)));
        let interval = row.interval();
        table.row(vec![
            side(&row.side),
            Cell::ours(row.metric.to_string()),
            number(estimate.map(|estimate| estimate.ratio)),
            number(interval.map(|interval| interval.low)),
            number(interval.map(|interval| interval.high)),
            match row.method {
                Method::Blocks | Method::BlocksApart => Number::Count(row.count.into()).into(),
                Method::NotInterleaved => {
                    Cell::ours(format!("{}+{}", row.count, row.baseline_count))
                }
            },
            Cell::ours(result(row)),
        ]);
    }
    table
}

fn invalid(run: &InvalidRun) -> String {
    let name = run
        .run
        .map_or("a run".to_owned(), |run| format!("run {run}"));
    let block = run.block.as_ref().map_or_else(String::new, |of| {
        format!(", block {}, attempt {}", of.number, of.attempt)
    });
    format!("{name} ({}{block})", run.side)
}
