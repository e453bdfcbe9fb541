//! The decision of `gate --against history`.

use document::units::{counted, percent};
use document::{Document, Tone};
use study::history_gate::{GATE_ALPHA, LEVEL_RUNS_MIN, LOSS_MAX};
use study::{Better, Decision, HistoryDoubt, HistoryGate};

use crate::comparison::{metric_name, value};

/// The decision, with the numbers that it depends on.
pub fn gate(gate: &HistoryGate) -> Document {
    let mut document = Document::default();
    add_decision(&mut document, gate);
    add_doubts(&mut document, gate);
    let shown = |number: f64| value(gate.metric, number).short();
    let since = gate.level_first.map_or_else(String::new, |first| {
        format!(", the last level, from run {first}")
    });
    let level = match gate.level_first {
        Some(_) => gate.level_runs,
        None => gate.earlier_runs,
    };
    let level = counted(level as u64, "earlier run");
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
    document.words(match gate.is_worse {
        true => format!(
            "The result is {side} the limit, so the noise of the history does not explain it. \
             Without a change, {} of all results are {side} the limit.",
            percent(GATE_ALPHA)
        ),
        false => format!(
            "The noise of the history explains the result. A {end} of less than {loss} cannot be \
             told from the noise: more runs find smaller changes, and 'postmark history' searches \
             them."
        ),
    });
    document
}

/// Adds the decision, and what keeps the gate from being decided.
fn add_decision(document: &mut Document, gate: &HistoryGate) {
    let name = metric_name(gate.metric);
    let head = format!("Gate {}", gate.decision.name());
    let why = match (gate.decision, gate.is_worse) {
        (Decision::Undecided, true) => " by doubts, although the result is worse than the limit",
        (Decision::Undecided, false) if gate.limit.is_none() => " by too few earlier runs",
        (Decision::Undecided, false) => " by doubts",
        (Decision::Passed | Decision::Failed, _) if gate.doubts.is_empty() => "",
        (Decision::Passed | Decision::Failed, _) => " despite doubts",
    };
    document.words(format!("{head}{why}: {name} of {}", runs(&gate.runs)));
    let mut painted = vec![(
        head,
        match gate.decision {
            Decision::Passed => Tone::Good,
            Decision::Failed => Tone::Bad,
            Decision::Undecided => Tone::Doubtful,
        },
    )];
    if gate.decision == Decision::Undecided && gate.is_worse {
        painted.push(("worse than the limit".to_owned(), Tone::Bad));
    }
    document.paint(painted);
}

/// Adds the doubts, and what to do about those that decide.
fn add_doubts(document: &mut Document, gate: &HistoryGate) {
    if gate.doubts.is_empty() {
        return;
    }
    if gate.allows_doubtful {
        document.words("Doubts, which --allow-doubtful ignores:");
    }
    document.items(gate.doubts.iter().map(|doubt| doubt_words(gate, doubt)));
    if gate.decision != Decision::Undecided {
        return;
    }
    let wide = gate.doubts.iter().find_map(|doubt| match doubt {
        HistoryDoubt::WideLimit { distance } if !gate.is_worse => Some(percent(*distance)),
        _ => None,
    });
    let decided = match wide {
        _ if gate.is_worse => "fails".to_owned(),
        None => "passes".to_owned(),
        Some(hidden) => format!("passes, and excludes only a change of more than {hidden}"),
    };
    document.words(format!(
        "Measure again, longer and without other programs, or add --allow-doubtful: the gate then \
         {decided}."
    ));
}

fn doubt_words(gate: &HistoryGate, doubt: &HistoryDoubt) -> String {
    let of = |doubtful: usize, runs: usize| match doubtful == runs {
        true if runs == 1 => "it is DOUBTFUL".to_owned(),
        true => format!("all {runs} are DOUBTFUL"),
        false => format!("{doubtful} of {runs} are DOUBTFUL"),
    };
    match doubt {
        HistoryDoubt::NewRuns { doubtful, runs } => {
            let what = if *runs == 1 { "new run" } else { "new runs" };
            format!(
                "{what}: {} ('postmark show' has the reasons)",
                of(*doubtful, *runs)
            )
        }
        HistoryDoubt::LevelRuns { doubtful, runs } => {
            format!(
                "earlier runs: {} ('postmark history' lists them)",
                of(*doubtful, *runs)
            )
        }
        HistoryDoubt::WideLimit { distance } => {
            let end = match gate.metric.better() {
                Better::Higher => "loss",
                Better::Lower => "increase",
            };
            format!(
                "the noise of the history hides a {end} of up to {}: a pass needs a limit of at \
                 most {}",
                percent(*distance),
                percent(LOSS_MAX)
            )
        }
    }
}

fn runs(numbers: &[u64]) -> String {
    let words: Vec<String> = numbers.iter().map(u64::to_string).collect();
    match words.as_slice() {
        [only] => format!("run {only}"),
        all => format!("runs {}", all.join(", ")),
    }
}
