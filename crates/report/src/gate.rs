//! Gates as documents: the decision, what it needs, a table, and a sentence for each requirement.

use document::units::{bound, counted};
use document::{Cell, Document, Number, Table, Tone};
use study::{Bound, Decision, Gate, Judged, Method};

use crate::comparison::{add_noise, doubts, unlike_words};

/// The whole document, for people and for a pull request.
pub fn document(gate: &Gate) -> Document {
    let mut document = Document::default();
    let word = gate.decision.name();
    document.title(format!("Gate {word}: {}", sides(gate)));
    document.paint(vec![(word.to_owned(), tone(gate.decision))]);
    document.words(needs(gate));
    document.gap();
    document.table(table(gate));
    document.gap();
    for judged in &gate.requirements {
        document.item(sentence(judged));
    }
    document.gap();
    document.words(bound(
        "Passed: each requirement is met with 95 % confidence. Failed: at least one is not met, with an error probability of 1 % for the \
         whole gate (Holm's procedure). Undecided: neither is shown.",
    ));
    for comparisons in &gate.comparisons {
        for doubt in doubts(comparisons) {
            document.warning(doubt);
        }
        add_noise(&mut document, comparisons);
    }
    document
}

fn sides(gate: &Gate) -> String {
    let tables = gate.requirements.chunk_by(|one, other| one.baseline == other.baseline);
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

/// How many blocks the requirements need, and how many there are.
fn needs(gate: &Gate) -> String {
    let done = gate.requirements.iter().map(|judged| judged.count).min().unwrap_or(0);
    let is_in_blocks = gate
        .requirements
        .iter()
        .all(|judged| judged.method != Method::NotInterleaved);
    let what = if is_in_blocks { "block" } else { "run" };
    let each = if is_in_blocks { "" } else { " of each side" };
    let done = counted(done.into(), what);
    let of = gate
        .confirmed_after
        .map_or_else(String::new, |after| format!(" after block {after}"));
    let text = match gate.blocks_needed {
        Some(needed) => format!(
            "At the noise seen, these requirements need {}{each}, so that identical systems pass with a probability of 95 %; this gate \
             has {done}{each}{of}.",
            counted(needed.into(), what)
        ),
        None => format!(
            "How many {what}s{each} these requirements need is not known, or they are too many (limit 10,000); this gate has \
             {done}{each}{of}."
        ),
    };
    bound(&text)
}

fn table(gate: &Gate) -> Table {
    let mut table = Table::new(2, &["", "requirement", "ratio", "95 % bound", "p", "blocks", "needed"]);
    table.column("decision", true);
    for judged in &gate.requirements {
        let number = |value: Option<f64>, digits| Cell::from(value.map(|value| Number::Decimal(value, digits)));
        table.row(vec![
            judged.side.as_str().into(),
            Cell::ours(judged.requirement.to_string()),
            number(Some(judged.ratio), 3),
            number(judged.bound, 3),
            judged.p.map(|p| Cell::ours(probability(p))).unwrap_or(Cell::Missing),
            Number::Count(judged.count.into()).into(),
            judged.blocks_needed.map(|blocks| Number::Count(blocks.into())).into(),
            Cell::ours(judged.decision.name()),
        ]);
    }
    table
}

/// A requirement in one sentence.
pub fn sentence(judged: &Judged) -> String {
    let Judged {
        side,
        baseline,
        requirement,
        ratio,
        count,
        ..
    } = judged;
    let (runs, is_paired) = match judged.method {
        Method::Blocks => (counted((*count).into(), "block"), true),
        Method::BlocksApart => (format!("{}, not interleaved", counted((*count).into(), "block")), true),
        Method::NotInterleaved => (
            format!("{} of each, not interleaved", counted((*count).into(), "run")),
            false,
        ),
    };
    let least = match requirement.bound() {
        Bound::AtLeast => "at least",
        Bound::AtMost => "at most",
    };
    let mut text = match (judged.decision, judged.bound) {
        (Decision::Passed, Some(bound)) => format!(
            "{side} meets {requirement}: {ratio:.3} of {baseline}, {least} {bound:.3} with 95 % confidence ({runs})"
        ),
        (Decision::Failed, _) => format!(
            "{side} does not meet {requirement}: {ratio:.3} of {baseline} ({runs}, {})",
            judged.p.map_or_else(String::new, |p| format!(
                "p {}",
                if p < 0.000_1 {
                    probability(p)
                } else {
                    format!("= {}", probability(p))
                }
            ))
        ),
        (_, Some(bound)) => format!(
            "{side}, {requirement}: not shown; {ratio:.3} of {baseline}, {least} {bound:.3} with 95 % confidence ({runs})"
        ),
        (_, None) => format!(
            "{side}, {requirement}: not shown; {ratio:.3} of {baseline}, without a bound: that needs 5 {} ({runs})",
            if is_paired { "blocks" } else { "runs of each" }
        ),
    };
    if !judged.unlike.is_empty() {
        let unlike: Vec<String> = judged.unlike.iter().map(unlike_words).collect();
        text += &format!("; the sides differ in {}", unlike.join(", and in "));
    }
    bound(&text)
}

fn probability(p: f64) -> String {
    if p < 0.000_1 {
        "< 0.0001".to_owned()
    } else {
        format!("{p:.4}")
    }
}
