//! The history of a metric: levels, changes and a chart as a document, and the formats of other
//! programs.

mod chart;
mod formats;
mod gate;
mod words;

use document::units::{counted, percent, utc};
use document::{Cell, Document, Number, Table, Tone};
use study::{History, HistoryChange, HistoryPoint, Shape};
use verdict::Level;

pub use self::chart::chart;
pub use self::formats::{bencher, csv, otava};
pub use self::gate::gate;
use self::words::{cause, change_words, is_worse};
use crate::comparison::{metric_name, value};

/// Maximum number of runs that are not VALID in the table; CSV and JSON contain all.
const SHOWN_MAX: usize = 20;

/// Text and Markdown. `chart` is the chart for a terminal, or empty.
pub fn document(history: &History, chart: Document) -> Document {
    let mut document = Document::default();
    summary(&mut document, history);
    document.append(chart);
    document.append(details(history));
    document
}

/// What the history is about, and what was found.
pub(crate) fn summary(document: &mut Document, history: &History) {
    document.sentence(
        "Metric",
        format!("{} by {}", metric_name(history.metric), history.by),
    );
    document.sentence("Series", history.series.one_line());
    document.sentence("Runs", runs(history));
    let steps = of_shape(history, Shape::Step).count() as u64;
    let drifts = of_shape(history, Shape::Drift).count() as u64;
    let mut found = match (history.levels.is_empty(), steps) {
        (true, _) => "not available (a search needs 5 runs with the metric)".to_owned(),
        (false, 0) => "no change".to_owned(),
        (false, steps) => counted(steps, "change"),
    };
    if drifts > 0 {
        found += &format!(", a drift in {}", counted(drifts, "place"));
    }
    document.sentence("Found", found.clone());
    if history
        .changes
        .iter()
        .any(|change| is_worse(history, change))
    {
        document.paint(vec![(found, Tone::Bad)]);
    }
    if let Some(deviation) = history.deviation {
        let mut words = format!(
            "standard deviation of a run {} (of the logarithms)",
            percent(deviation)
        );
        if history.correlation > 0.0 {
            let correlation = document::units::fixed(history.correlation, 2);
            // The estimate is not the sample's correlation: it compares differences of neighbours
            // without steps and outliers (`SeriesNoise`), and is never negative.
            words += &format!(
                "; limits and changes assume a correlation of {correlation} between successive \
                 runs, estimated from their differences"
            );
        }
        document.sentence("Noise", words);
    }
}

fn runs(history: &History) -> String {
    let of = |level: Level| {
        let runs = history.runs.iter().filter(move |run| run.verdict == level);
        runs.count() as u64
    };
    let mut parts = vec![format!("{} VALID", of(Level::Valid))];
    if of(Level::Doubtful) > 0 {
        parts.push(format!("{} DOUBTFUL", of(Level::Doubtful)));
    }
    if of(Level::Invalid) > 0 {
        parts.push(format!("{} INVALID (not counted)", of(Level::Invalid)));
    }
    let mut words = format!(
        "{}: {}",
        counted(history.runs.len() as u64, "run"),
        parts.join(", ")
    );
    let is_missing = |run: &&HistoryPoint| run.value.is_none();
    let missing = history.runs.iter().filter(is_missing).count() as u64;
    if missing > 0 {
        words += &format!("; {missing} without {}", metric_name(history.metric));
    }
    if history.without_label > 0 {
        words += &format!(
            "; {} left out, without {}",
            history.without_label, history.by
        );
    }
    words
}

fn of_shape(history: &History, shape: Shape) -> impl Iterator<Item = &HistoryChange> {
    let changes = history.changes.iter();
    changes.filter(move |change| change.shape == shape)
}

/// The changes, the levels, and the runs that are not VALID.
pub(crate) fn details(history: &History) -> Document {
    let mut document = Document::default();
    if !history.changes.is_empty() {
        document.gap();
    }
    for change in &history.changes {
        document.item(format!(
            "{} {}",
            change_words(history, change),
            cause(&change.cause)
        ));
    }
    if !history.levels.is_empty() {
        document.heading("Levels");
        document.table(levels(history));
    }
    let others: Vec<&HistoryPoint> = history
        .runs
        .iter()
        .filter(|run| run.verdict != Level::Valid)
        .collect();
    let shown = &others[others.len().saturating_sub(SHOWN_MAX)..];
    if !shown.is_empty() {
        document.heading("Runs that are not VALID");
        document.table(points(history, shown));
        let all = document::units::grouped(others.len() as u64);
        let last = match others.len() > SHOWN_MAX {
            true => format!("The last {SHOWN_MAX} of {all} runs; "),
            false => String::new(),
        };
        document.words(format!("{last}'postmark show RUN' has the reasons."));
    }
    document
}

fn levels(history: &History) -> Table {
    let header = [
        "level",
        "from run",
        "to run",
        "runs",
        "geometric mean",
        "change",
        "95 % interval",
    ];
    let mut table = Table::new(0, &header);
    for (number, level) in (1_u64..).zip(&history.levels) {
        let change = (number as usize)
            .checked_sub(2)
            .and_then(|index| history.changes.get(index));
        let interval = change.map(|change| {
            let ends = [change.low, change.high];
            let ends = ends.map(|end| document::units::signed_percent(end - 1.0));
            ends.join(" to ")
        });
        table.row(vec![
            Number::Ordinal(number).into(),
            Number::Ordinal(level.first).into(),
            Number::Ordinal(level.last).into(),
            Cell::count(level.runs as u64),
            value(history.metric, level.mean),
            change
                .map(|change| document::units::signed_percent(change.ratio - 1.0))
                .as_deref()
                .into(),
            interval.as_deref().into(),
        ]);
    }
    table
}

/// A table of runs.
pub(crate) fn points(history: &History, runs: &[&HistoryPoint]) -> Table {
    let name = metric_name(history.metric);
    let has_label = history.by != "time";
    let mut header = vec!["run", "begun (UTC)", "verdict", &*name];
    if has_label {
        header.push(&history.by);
    }
    let mut table = Table::new(0, &header).with_words(1).with_words(2);
    if has_label {
        table = table.with_words(4);
    }
    for run in runs {
        let mut row: Vec<Cell> = vec![
            Number::Ordinal(run.run).into(),
            Cell::ours(utc(run.begun_unix_ns)),
            Cell::ours(run.verdict.name()),
            match run.value {
                Some(found) => value(history.metric, found),
                None => "".into(),
            },
        ];
        if has_label {
            row.push(run.label.as_deref().into());
        }
        table.row(row);
    }
    table
}
