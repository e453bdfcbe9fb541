//! Gates as documents: the decision, the number of blocks that an undecided gate needs, a table,
//! and a sentence for each requirement.

mod basis;
mod doubts;
mod reach;

use document::units::{bound, counted, percent};
use document::{Cell, Document, Table, Tone};
use study::gate::FAIL_ALPHA;
use study::{Bound, Comparisons, Decision, Gate, Judged, Method, RatioInterval, VerdictCounts};

use self::basis::{basis, blocks_needed, comparisons, needs_blocks, row};
use crate::comparison::{
    self, add_doubts, add_gate_notes, add_limits, add_remedies, confidence, contest, doubtful_runs,
    finding, is_worse, no_interval, probability, ratio_note, reservations, size, value,
};

/// The report of a gate, for example as text or as Markdown in a pull request.
pub fn document(gate: &Gate) -> Document {
    let mut document = Document::default();
    add_title(&mut document, gate);
    doubts::add(&mut document, gate);
    document.words(bound(&basis(gate)));
    document.gap();
    document.table(table(gate));
    if let Some(note) = gate.comparisons.iter().find_map(ratio_note) {
        document.words(note);
    }
    if gate
        .requirements
        .iter()
        .any(|judged| judged.bound.is_some())
    {
        document.words(bound(
            "Baseline and candidate: geometric means. Bound: one-sided. The true ratio is at \
             least, or at most, this number with 95 % confidence.",
        ));
    }
    document.gap();
    for judged in &gate.requirements {
        document.item(sentence(gate, judged));
    }
    document.gap();
    reach::add(&mut document, gate);
    document.words(bound(&meaning_of_decisions(gate)));
    for comparisons in &gate.comparisons {
        add_doubts(&mut document, comparisons);
        document.words(size(comparisons));
        add_gate_notes(&mut document, comparisons);
    }
    add_remedies(&mut document, &gate.comparisons);
    add_limits(&mut document, &gate.comparisons);
    document
}

/// Adds the decision with what decides it, and requirements that only doubts keep from failing.
fn add_title(document: &mut Document, gate: &Gate) {
    let word = gate.decision.name();
    let mut painted = vec![(word.to_owned(), tone(gate.decision))];
    // The number of DOUBTFUL runs follows the decision directly, so that readers do not miss it.
    let tables = gate.comparisons.iter().map(|table| &table.verdicts);
    let runs = match doubtful_runs(&VerdictCounts::sum(tables)) {
        None => String::new(),
        Some(runs) => {
            painted.push(("DOUBTFUL".to_owned(), Tone::Doubtful));
            format!(" ({runs})")
        }
    };
    let mut why = doubts::cause(gate).to_owned();
    for (place, judged) in doubts::doubted_failures(gate).enumerate() {
        let found = row(gate, judged).map(|row| finding(row, Some(&judged.side)));
        let found = found.unwrap_or_else(|| format!("{} is worse", judged.side));
        why += if place == 0 { ", although " } else { ", " };
        why += &found;
        painted.push((found, Tone::Bad));
    }
    document.title(format!("Gate {word}{why}{runs}: {}", subjects(gate)));
    document.paint(painted);
    document.items(doubts::doubted_failures(gate).map(doubted_failure));
}

/// A requirement that is shown not to be met, by runs that are to be doubted.
fn doubted_failure(judged: &Judged) -> String {
    bound(&format!(
        "{} does not meet {}: {:.3} of {}, p {}. Only the doubts keep the gate from failing.",
        judged.side,
        judged.requirement,
        judged.ratio,
        judged.baseline,
        probability(judged.p_of_both().unwrap_or_default()),
    ))
}

/// What the decisions of a gate mean. Only interleaved runs have a random order.
fn meaning_of_decisions(gate: &Gate) -> String {
    let mut requirements = gate.requirements.iter();
    let order = match requirements.all(|judged| judged.method == Method::Blocks) {
        true => " and by the random order of the runs",
        false => "",
    };
    format!(
        "Passed: each requirement is met with 95 % confidence. Failed: at least one is not met, \
         with an error probability of 1 % for the whole gate (Holm's procedure), by Student's \
         t{order}. Undecided: neither is shown."
    )
}

/// What the gate compares, for each baseline.
fn subjects(gate: &Gate) -> String {
    let tables = gate.comparisons.iter();
    let words = |of: &Comparisons| match of.common.is_empty() {
        true => contest(of),
        false => format!("{}, {}", contest(of), of.common.join(", ")),
    };
    tables.map(words).collect::<Vec<_>>().join("; ")
}

const fn tone(decision: Decision) -> Tone {
    match decision {
        Decision::Passed => Tone::Good,
        Decision::Failed => Tone::Bad,
        Decision::Undecided => Tone::Doubtful,
    }
}

fn table(gate: &Gate) -> Table {
    let header = [
        "",
        "requirement",
        "baseline",
        "candidate",
        "ratio",
        "95 % bound",
        if basis::is_in_blocks(gate) {
            "blocks"
        } else {
            "runs"
        },
    ];
    let needs_blocks = needs_blocks(gate);
    let mut table = Table::new(2, &header);
    if needs_blocks {
        table.column("needed", true);
    }
    table.column("decision", true);
    for judged in &gate.requirements {
        let metric = judged.requirement.metric();
        let of = comparisons(gate, judged);
        let mean = |label: &str| -> Cell {
            let mean = of.and_then(|of| of.side(label)?.means.get(&metric).copied());
            mean.map(|mean| value(metric, mean)).into()
        };
        let name = of.and_then(|of| of.side(&judged.side));
        let direction = direction(judged.requirement.bound());
        let bound = judged
            .bound
            .map(|bound| Cell::ours(format!("{direction} {bound:.3}")));
        // The bound of a failed requirement is on the other side.
        let bound = bound.filter(|_| judged.decision != Decision::Failed);
        let mut cells: Vec<Cell> = vec![
            name.map_or(&judged.side, |side| &side.name).as_str().into(),
            Cell::ours(judged.requirement.to_string()),
            mean(&judged.baseline),
            mean(&judged.side),
            Cell::decimal(Some(judged.ratio), 3),
            bound.into(),
            match row(gate, judged).filter(|row| row.count != row.baseline_count) {
                Some(row) => format!("{} and {}", row.count, row.baseline_count).into(),
                None => Cell::count(judged.count),
            },
        ];
        if needs_blocks {
            cells.push(match judged.decision {
                Decision::Undecided => Cell::ours(blocks_needed(judged)),
                Decision::Passed | Decision::Failed => Cell::Empty,
            });
        }
        cells.push(Cell::ours(doubts::decision(gate, judged)));
        table.row(cells);
    }
    table
}

/// The words for a one-sided confidence bound: whether the true ratio is above or below the bound.
const fn direction(bound: Bound) -> &'static str {
    match bound {
        Bound::AtLeast => "at least",
        Bound::AtMost => "at most",
    }
}

fn sentence(gate: &Gate, judged: &Judged) -> String {
    let Judged {
        side,
        baseline,
        requirement,
        ratio,
        ..
    } = judged;
    let runs = row(gate, judged).map_or_else(
        || counted(judged.count.into(), judged.unit()),
        comparison::runs,
    );
    let least = direction(requirement.bound());
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
            "{side}, {requirement}: not shown; {ratio:.3} of {baseline}, without a bound ({runs})"
        ),
    };
    text += &compared(gate, judged);
    add_reservations(&mut text, judged);
    bound(&text)
}

/// The result of `compare` for the same blocks, and why the gate decides differently.
fn compared(gate: &Gate, judged: &Judged) -> String {
    let table = comparisons(gate, judged);
    let Some((table, row)) = table.zip(row(gate, judged)) else {
        return String::new();
    };
    let Some(RatioInterval { low, high }) = row.interval() else {
        return format!("; {}", no_interval(row));
    };
    let is_worse = is_worse(row);
    let why = match judged.decision {
        // If the order test prevented the failure, `add_reservations` explains the decision
        // instead.
        Decision::Undecided if is_worse && order_alone(judged).is_none() => format!(
            ": it is shown to be worse than the baseline with an error of 5 %, but not to be \
             beyond {} with an error of 1 %, as a failure requires",
            judged.requirement.threshold()
        ),
        Decision::Passed if is_worse => ", which is less than the requirement allows".to_owned(),
        _ => String::new(),
    };
    format!(
        "; comparison: {} ({} interval {low:.3} to {high:.3}){why}",
        finding(row, None),
        confidence(table.confidence)
    )
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
        if judged.count < judged.blocks_to_fail_min {
            *text += &format!(
                ": a gate like this needs {} to fail",
                counted(judged.blocks_to_fail_min.into(), "block")
            );
        }
    }
    let (side, baseline) = (&judged.side, &judged.baseline);
    *text += &reservations(&judged.unlike, &judged.incomplete, side, baseline);
}

/// The p-value of the test over all orders of the runs, if only this test prevents a failure of the
/// requirement.
fn order_alone(judged: &Judged) -> Option<f64> {
    let is_low = |p: f64| p <= FAIL_ALPHA;
    let order_p = judged.order_p;
    order_p.filter(|order_p| judged.p.is_some_and(is_low) && !is_low(*order_p))
}
