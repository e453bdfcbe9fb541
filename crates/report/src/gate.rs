//! Gates as documents: the decision, the number of blocks needed, a table, and a sentence for each
//! requirement.

use document::units::{bound, counted, percent};
use document::{Cell, Column, Document, Table, Tone};
use study::gate::FAIL_ALPHA;
use study::{Bound, Decision, Gate, Judged, Method};

use crate::comparison::{add_basis, doubts, probability, reservations};

/// The report of a gate, for example as text or as Markdown in a pull request.
pub fn document(gate: &Gate) -> Document {
    let mut document = Document::default();
    let word = gate.decision.name();
    document.title(format!("Gate {word}: {}", sides(gate)));
    document.paint(vec![(word.to_owned(), tone(gate.decision))]);
    if let Some(text) = doubtful(gate) {
        document.words(bound(text));
    }
    document.words(needs(gate));
    document.gap();
    document.table(table(gate));
    document.gap();
    for judged in &gate.requirements {
        document.item(sentence(judged));
    }
    document.gap();
    document.words(bound(
        "Passed: each requirement is met with 95 % confidence. Failed: at least one is not met, \
         with an error probability of 1 % for the whole gate (Holm's procedure), by Student's t \
         (p) and by the random order of the runs (order p). Undecided: neither is shown.",
    ));
    for comparisons in &gate.comparisons {
        for doubt in doubts(comparisons) {
            document.warning(doubt);
        }
        add_basis(&mut document, comparisons);
    }
    document
}

/// Explains a gate whose requirements are all met in a doubtful study: why the gate is undecided,
/// or why it passed nevertheless. `None` for all other gates.
fn doubtful(gate: &Gate) -> Option<&'static str> {
    let mut requirements = gate.requirements.iter();
    let is_met = requirements.all(|judged| judged.decision == Decision::Passed);
    match (gate.is_doubtful && is_met, gate.decision) {
        (false, _) => None,
        (true, Decision::Passed) => Some(
            "Each requirement is met, and the study is DOUBTFUL, which --allow-doubtful allows.",
        ),
        (true, _) => Some(
            "Undecided because the study is DOUBTFUL: each requirement is met, but the baseline \
             differs from itself, so that the result may not be of the systems (find out what \
             disturbs the machine and run the study again, or add --allow-doubtful).",
        ),
    }
}

fn sides(gate: &Gate) -> String {
    let requirements = &gate.requirements;
    let tables = requirements.chunk_by(|one, other| one.baseline == other.baseline);
    let of_table = |table: &[Judged]| {
        let mut sides: Vec<&str> = table.iter().map(|judged| &*judged.side).collect();
        sides.dedup();
        format!("{} against {}", sides.join(", "), table[0].baseline)
    };
    let tables: Vec<String> = tables.map(of_table).collect();
    tables.join("; ")
}

const fn tone(decision: Decision) -> Tone {
    match decision {
        Decision::Passed => Tone::Good,
        Decision::Failed => Tone::Bad,
        Decision::Undecided => Tone::Doubtful,
    }
}

/// A sentence with the number of blocks that the requirements need, and the number of blocks that
/// were run.
fn needs(gate: &Gate) -> String {
    let requirements = || gate.requirements.iter();
    let done = requirements().map(|judged| judged.count).min().unwrap_or(0);
    let is_in_blocks = requirements().all(|judged| judged.method != Method::NotInterleaved);
    let what = if is_in_blocks { "block" } else { "run" };
    let each = if is_in_blocks { "" } else { " of each side" };
    let done = counted(done.into(), what);
    let of = gate
        .confirmed_after
        .map_or_else(String::new, |after| format!(" after block {after}"));
    let text = match gate.blocks_needed {
        Some(needed) => format!(
            "At the standard deviation seen, which may be too low by chance, these requirements \
             need {}{each}, so that identical systems pass with a probability of 95 %; this gate \
             has {done}{each}{of}.",
            counted(needed.into(), what)
        ),
        None => format!(
            "How many {what}s{each} these requirements need is not known, or they are too many \
             (limit 10,000); this gate has {done}{each}{of}."
        ),
    };
    bound(&text)
}

fn table(gate: &Gate) -> Table {
    let columns: [Column<&Judged>; 9] = [
        ("", |of| of.side.as_str().into()),
        ("requirement", |of| Cell::ours(of.requirement.to_string())),
        ("ratio", |of| Cell::decimal(Some(of.ratio), 3)),
        ("95 % bound", |of| Cell::decimal(of.bound, 3)),
        ("p", |of| p(of.p)),
        ("order p", |of| p(of.order_p)),
        ("blocks", |of| Cell::count(of.count)),
        ("needed", |of| of.blocks_needed.map(Cell::count).into()),
        ("decision", |of| Cell::ours(of.decision.name())),
    ];
    Table::of(2, &columns, &gate.requirements).with_words(8)
}

fn p(p: Option<f64>) -> Cell {
    p.map(|p| Cell::ours(probability(p).trim_start_matches("= ")))
        .into()
}

pub fn sentence(judged: &Judged) -> String {
    let Judged {
        side,
        baseline,
        requirement,
        ratio,
        ..
    } = judged;
    let is_paired = judged.method != Method::NotInterleaved;
    let runs = counted(judged.count.into(), if is_paired { "block" } else { "run" });
    let runs = match judged.method {
        Method::Blocks => runs,
        Method::BlocksApart => format!("{runs}, not interleaved"),
        Method::NotInterleaved => format!("{runs} of each, not interleaved"),
    };
    let least = match requirement.bound() {
        Bound::AtLeast => "at least",
        Bound::AtMost => "at most",
    };
    let mut text = match (judged.decision, judged.bound) {
        (Decision::Passed, Some(bound)) => format!(
            "{side} meets {requirement}: {ratio:.3} of {baseline}, {least} {bound:.3} with 95 % \
             confidence ({runs})"
        ),
        (Decision::Failed, _) => format!(
            "{side} does not meet {requirement}: {ratio:.3} of {baseline} ({runs}, {})",
            judged
                .p_of_both()
                .map_or_else(String::new, |p| format!("p {}", probability(p)))
        ),
        (_, Some(bound)) => format!(
            "{side}, {requirement}: not shown; {ratio:.3} of {baseline}, {least} {bound:.3} with \
             95 % confidence ({runs})"
        ),
        (_, None) => format!(
            "{side}, {requirement}: not shown; {ratio:.3} of {baseline}, without a bound: that \
             needs 5 {} ({runs})",
            if is_paired { "blocks" } else { "runs of each" }
        ),
    };
    add_reservations(&mut text, judged);
    bound(&text)
}

/// Adds reservations to the sentence of a requirement: why the requirement does not fail despite a
/// low p-value, and in which conditions the configurations differ.
fn add_reservations(text: &mut String, judged: &Judged) {
    if let (Decision::Undecided, Some(order_p)) = (judged.decision, order_alone(judged)) {
        *text += &format!(
            "; Student's t alone would fail it, but the random order of the runs alone gives \
             identical systems such a ratio in {}",
            percent(order_p)
        );
        if judged.count < judged.blocks_to_fail {
            *text += &format!(
                ": a gate like this needs {} to fail",
                counted(judged.blocks_to_fail.into(), "block")
            );
        }
    }
    let (side, baseline) = (&judged.side, &judged.baseline);
    *text += &reservations(&judged.unlike, &judged.incomplete, side, baseline);
}

/// The p-value of the random order of the runs, if it is the only reason why a requirement does not
/// fail.
fn order_alone(judged: &Judged) -> Option<f64> {
    let is_low = |p: f64| p <= FAIL_ALPHA;
    let order_p = judged.order_p;
    order_p.filter(|order_p| judged.p.is_some_and(is_low) && !is_low(*order_p))
}
