//! The decision of `gate --against history`.

use document::units::{counted, percent};
use document::{Document, Tone};
use study::history_gate::{GATE_ALPHA, LEVEL_RUNS_MIN};
use study::{Better, Decision, HistoryGate};

use crate::comparison::{metric_name, value};

/// The decision, with the numbers that it depends on.
pub fn gate(gate: &HistoryGate) -> Document {
    let mut document = Document::default();
    let name = metric_name(gate.metric);
    let head = format!("Gate {}", gate.decision.name());
    document.line(format!("{head}: {name} of {}", runs(&gate.runs)));
    document.paint(vec![(
        head,
        match gate.decision {
            Decision::Passed => Tone::Good,
            Decision::Failed => Tone::Bad,
            Decision::Undecided => Tone::Doubtful,
        },
    )]);
    let shown = |number: f64| value(gate.metric, number).short();
    let since = gate.level_first.map_or_else(String::new, |first| {
        format!(", the last level, from run {first}")
    });
    let level = counted(gate.level_runs as u64, "earlier run");
    document.sentence("Result", shown(gate.mean));
    document.sentence("History", format!("{level}{since}"));
    let (Some(expected), Some(limit)) = (gate.expected, gate.limit) else {
        document.words(format!(
            "The noise of the history is not known: a decision needs {LEVEL_RUNS_MIN} counted runs \
             since the last change. Repeat the run, or add runs of the same configuration."
        ));
        return document;
    };
    let (side, end) = match gate.metric.better() {
        Better::Higher => ("below", "loss"),
        Better::Lower => ("above", "increase"),
    };
    let loss = percent((limit / expected - 1.0).abs());
    document.sentence("Predicted", shown(expected));
    document.sentence("Limit", format!("{} (a {end} of {loss})", shown(limit)));
    if gate.drifts {
        document.words("The last level drifts; the prediction continues the drift.");
    }
    document.words(match gate.decision {
        Decision::Failed => format!(
            "The result is {side} the limit, so the noise of the history does not explain it. \
             Without a change, {} of all results are {side} the limit.",
            percent(GATE_ALPHA)
        ),
        _ => format!(
            "The noise of the history explains the result. A {end} of less than {loss} cannot be \
             told from the noise: more runs find smaller changes, and 'postmark history' searches \
             them."
        ),
    });
    document
}

fn runs(numbers: &[u64]) -> String {
    let words: Vec<String> = numbers.iter().map(u64::to_string).collect();
    match words.as_slice() {
        [only] => format!("run {only}"),
        all => format!("runs {}", all.join(", ")),
    }
}
