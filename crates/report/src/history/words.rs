//! Sentences about changes.

use document::units::{fixed, signed_percent};
use study::{Better, Cause, History, HistoryChange, RatioWithInterval, Shape};

/// Whether the change is for the worse.
pub(super) fn is_worse(history: &History, change: &HistoryChange) -> bool {
    match history.metric.better() {
        Better::Higher => change.ratio < 1.0,
        Better::Lower => change.ratio > 1.0,
    }
}

/// Where the change is, and how large.
pub(super) fn change_words(history: &History, change: &HistoryChange) -> String {
    let what = match (change.shape, is_worse(history, change)) {
        (Shape::Drift, _) => "drift",
        (Shape::Step, true) => "change for the worse",
        (Shape::Step, false) => "change for the better",
    };
    let label = |number: u64| {
        let run = history.runs.iter().find(|run| run.run == number);
        let label = run.and_then(|run| run.label.as_deref());
        label.map_or_else(String::new, |label| format!(" ({label})"))
    };
    let mut words = format!(
        "Between run {}{} and run {}{}: {} ({} to {}, 95 % interval), {what}, p = {}.",
        change.last_before,
        label(change.last_before),
        change.first_after,
        label(change.first_after),
        signed_percent(change.ratio - 1.0),
        signed_percent(change.low - 1.0),
        signed_percent(change.high - 1.0),
        fixed(change.p, 4),
    );
    let labels = [change.last_before, change.first_after].map(label);
    if !labels[0].is_empty() && labels[0] == labels[1] {
        words += " Both runs have the same label, so the label does not explain the change.";
    }
    words
}

/// Describes the cause of a change, with the change of the A/A control.
pub(super) fn cause(cause: &Cause) -> String {
    let (what, control) = match cause {
        Cause::NotAvailable => {
            return "Host or system: not available (no A/A control in 5 runs on each side)."
                .to_owned();
        }
        Cause::Host { control } => ("The host changed", control),
        Cause::System { control } => ("The system changed", control),
        Cause::Both { control } => ("The host changed, and the system as well", control),
        Cause::Unclear { control } => ("Host or system: not shown", control),
    };
    let RatioWithInterval { ratio, low, high } = control;
    format!(
        "{what}: the A/A control changed by {} ({} to {}).",
        signed_percent(ratio - 1.0),
        signed_percent(low - 1.0),
        signed_percent(high - 1.0)
    )
}
