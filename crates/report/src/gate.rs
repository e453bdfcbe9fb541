//! Gates as documents: the decision, the number of blocks needed if it is undecided, a table, and a
//! sentence for each requirement.

use document::units::{bound, counted, grouped, percent};
use document::{Cell, Document, Table, Tone};
use study::gate::FAIL_ALPHA;
use study::{Bound, Comparisons, Decision, Gate, Judged, Method, VerdictCounts};

use crate::comparison::{
    add_doubts, add_gate_notes, contest, doubtful_runs, probability, ratio_note, reservations,
    size, value,
};

/// The report of a gate, for example as text or as Markdown in a pull request.
pub fn document(gate: &Gate) -> Document {
    let mut document = Document::default();
    let word = gate.decision.name();
    let mut painted = vec![(word.to_owned(), tone(gate.decision))];
    // A decision on DOUBTFUL runs must not be read without this reservation.
    let tables = gate.comparisons.iter().map(|table| &table.verdicts);
    let runs = match doubtful_runs(&VerdictCounts::sum(tables)) {
        None => String::new(),
        Some(runs) => {
            painted.push(("DOUBTFUL".to_owned(), Tone::Doubtful));
            format!(" ({runs})")
        }
    };
    document.title(format!("Gate {word}{runs}: {}", subjects(gate)));
    document.paint(painted);
    if let Some(text) = doubtful(gate) {
        document.words(bound(text));
    }
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
            "Bound: one-sided. The true ratio is at least, or at most, this number with 95 % \
             confidence.",
        ));
    }
    document.gap();
    for judged in &gate.requirements {
        document.item(sentence(judged));
    }
    document.gap();
    document.words(bound(
        "Passed: each requirement is met with 95 % confidence. Failed: at least one is not met, \
         with an error probability of 1 % for the whole gate (Holm's procedure), by Student's t \
         and by the random order of the runs. Undecided: neither is shown.",
    ));
    for comparisons in &gate.comparisons {
        add_doubts(&mut document, comparisons);
        document.words(size(comparisons));
        add_gate_notes(&mut document, comparisons);
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

/// A sentence with the blocks that were run and their standard deviation. If a requirement is
/// undecided, the sentence includes the number of blocks that the gate needs.
fn basis(gate: &Gate) -> String {
    let requirements = || gate.requirements.iter();
    let least = requirements().map(|judged| judged.count).min().unwrap_or(0);
    let is_in_blocks = requirements().all(|judged| judged.method != Method::NotInterleaved);
    let (what, each) = match is_in_blocks {
        true => ("block", ""),
        false => ("run", " of each configuration"),
    };
    let after = gate
        .confirmed_after
        .map_or_else(String::new, |after| format!(" after block {after}"));
    let done = format!("{}{each}{after}", counted(least.into(), what));
    let begin = match gate.decision {
        Decision::Undecided => format!("Undecided with {done}"),
        Decision::Passed | Decision::Failed => format!("Decided on {done}"),
    };
    let needed = gate.blocks_needed.and_then(|needed| {
        let mut requirements = requirements();
        let judged = requirements.find(|judged| judged.blocks_needed == Some(needed))?;
        Some((needed, deviation(gate, judged)))
    });
    match (needs_blocks(gate), needed) {
        (false, None) => format!("{begin}."),
        (false, Some((_, deviation))) => format!("{begin} at {deviation}."),
        (true, None) => {
            let mut lacking = requirements().filter(|judged| judged.blocks_needed.is_none());
            match lacking.find(|judged| judged.standard_deviation.is_some()) {
                Some(judged) => format!(
                    "{begin}: more than 10,000 are needed at {} (use longer runs, or stop other \
                     programs).",
                    deviation(gate, judged)
                ),
                None => format!(
                    "{begin}: how many it takes is not known, because a standard deviation needs 2 \
                     {what}s (add {what}s)."
                ),
            }
        }
        (true, Some((needed, deviation))) => {
            let rest = match least >= needed && !gate.is_doubtful {
                true => format!(
                    ", but a ratio is too close to its threshold (add {what}s, or widen the margin)"
                ),
                false => String::new(),
            };
            format!(
                "{begin}: it takes {} at {deviation} to pass identical systems with a probability \
                 of 95 %{rest}.",
                grouped(needed.into())
            )
        }
    }
}

/// Whether more blocks could decide the gate: it is undecided, and so is one of its requirements.
fn needs_blocks(gate: &Gate) -> bool {
    let mut requirements = gate.requirements.iter();
    gate.decision == Decision::Undecided
        && requirements.any(|judged| judged.decision == Decision::Undecided)
}

/// The standard deviation of a requirement, and the A/A noise of its baseline for comparison.
fn deviation(gate: &Gate, judged: &Judged) -> String {
    let deviation = judged
        .standard_deviation
        .map_or_else(|| "not available".to_owned(), percent);
    let mut beside = Vec::new();
    if gate.requirements.len() > 1 {
        beside.push(format!("{} of {}", judged.requirement, judged.side));
    }
    let noise = comparisons(gate, judged).and_then(|of| {
        let mut controls = of.aa_controls.iter();
        let control = controls.find(|control| control.metric == judged.requirement.metric())?;
        control.noise
    });
    beside.extend(noise.map(|noise| format!("A/A noise {}", percent(noise))));
    match beside.is_empty() {
        true => format!("a standard deviation of {deviation}"),
        false => format!(
            "a standard deviation of {deviation} ({})",
            beside.join("; ")
        ),
    }
}

/// The table of comparisons whose baseline is that of the requirement.
fn comparisons<'a>(gate: &'a Gate, judged: &Judged) -> Option<&'a Comparisons> {
    let mut tables = gate.comparisons.iter();
    tables.find(|of| of.baseline == judged.baseline)
}

fn table(gate: &Gate) -> Table {
    let header = [
        "",
        "requirement",
        "baseline",
        "candidate",
        "ratio",
        "95 % bound",
        "blocks",
    ];
    let needs_blocks = needs_blocks(gate);
    let mut table = Table::new(2, &header);
    if needs_blocks {
        table.column("needed", false);
    }
    table.column("decision", true);
    for judged in &gate.requirements {
        let metric = judged.requirement.metric();
        let of = comparisons(gate, judged);
        let median = |label: &str| -> Cell {
            let median = of.and_then(|of| of.side(label)?.medians.get(&metric).copied());
            median.map(|median| value(metric, median)).into()
        };
        let name = of.and_then(|of| of.side(&judged.side));
        let direction = direction(judged.requirement.bound());
        let bound = judged
            .bound
            .map(|bound| Cell::ours(format!("{direction} {bound:.3}")));
        let mut cells: Vec<Cell> = vec![
            name.map_or(&judged.side, |side| &side.name).as_str().into(),
            Cell::ours(judged.requirement.to_string()),
            median(&judged.baseline),
            median(&judged.side),
            Cell::decimal(Some(judged.ratio), 3),
            bound.into(),
            Cell::count(judged.count),
        ];
        if needs_blocks {
            cells.push(match judged.decision {
                Decision::Undecided => judged.blocks_needed.map(Cell::count).into(),
                Decision::Passed | Decision::Failed => Cell::Empty,
            });
        }
        cells.push(Cell::ours(judged.decision.name()));
        table.row(cells);
    }
    table
}

/// On which side of a one-sided confidence bound the true ratio is.
const fn direction(bound: Bound) -> &'static str {
    match bound {
        Bound::AtLeast => "at least",
        Bound::AtMost => "at most",
    }
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
