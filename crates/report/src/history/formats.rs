//! A history for other programs: CSV, the CSV of Apache Otava, and the JSON of Bencher.

use std::collections::BTreeMap;

use document::{Cell, Number, Table, sanitize};
use study::{History, HistoryPoint};

/// All runs as CSV (RFC 4180), with the level of each counted run.
pub fn csv(history: &History) -> String {
    let metric = history.metric.to_string();
    let header = [
        "run",
        "id",
        "begun_utc",
        "label",
        "verdict",
        &metric,
        "level",
        "control",
    ];
    let mut table = Table::new(header.len(), &header);
    let mut level = 0;
    for run in &history.runs {
        let next = history.changes.get(level);
        level += usize::from(next.is_some_and(|change| change.first_after == run.run));
        let is_counted = run.counted().is_some() && !history.levels.is_empty();
        table.row(vec![
            Number::Ordinal(run.run).into(),
            Cell::ours(&*run.id),
            Cell::ours(document::units::utc(run.begun_unix_ns)),
            run.label.as_deref().unwrap_or_default().into(),
            Cell::ours(run.verdict.name()),
            exact(run.value),
            Cell::ours(match is_counted {
                true => (level + 1).to_string(),
                false => String::new(),
            }),
            exact(run.control),
        ]);
    }
    document::csv(&table, "\r\n")
}

/// A number with all of its digits.
fn exact(value: Option<f64>) -> Cell {
    Cell::ours(value.map_or_else(String::new, |value| value.to_string()))
}

/// The counted runs as CSV for Apache Otava: the column `time` is the time column, the column with
/// the name of the metric is the metric, and all others are attributes.
pub fn otava(history: &History) -> String {
    let metric = history.metric.to_string();
    let label = history.by.strip_prefix("tag:").unwrap_or("note");
    let has_label = history.by != "time";
    let mut header = vec!["time", "run", "verdict"];
    if has_label {
        header.push(label);
    }
    header.push(&metric);
    let mut table = Table::new(header.len(), &header);
    let counted = history.runs.iter().filter(|run| run.counted().is_some());
    for run in counted {
        let utc = document::units::utc(run.begun_unix_ns);
        let mut row = vec![
            Cell::ours(format!("{utc} +0000")),
            Number::Ordinal(run.run).into(),
            Cell::ours(run.verdict.name()),
        ];
        if has_label {
            row.push(run.label.as_deref().unwrap_or_default().into());
        }
        row.push(exact(run.value));
        table.row(row);
    }
    document::csv(&table, "\n")
}

/// The newest result as JSON in Bencher Metric Format, which describes one state of a system: the
/// geometric mean of the runs with the newest label, with their minimum and maximum. By time it is
/// the newest run.
pub fn bencher(history: &History) -> String {
    /// Maximum length of a benchmark's name in Bencher, in characters.
    const NAME_MAX: usize = 1_024;
    let counted = || history.runs.iter().filter(|run| run.counted().is_some());
    let Some(last) = counted().next_back() else {
        return "{}\n".to_owned();
    };
    let is_newest = |run: &&HistoryPoint| match &last.label {
        Some(label) => run.label.as_ref() == Some(label),
        None => run.run == last.run,
    };
    let values: Vec<f64> = counted()
        .filter(is_newest)
        .filter_map(HistoryPoint::counted)
        .collect();
    let logs = values.iter().map(|value| value.ln());
    let several = values.len() > 1;
    let mean = (logs.sum::<f64>() / values.len() as f64).exp();
    let mut metric = BTreeMap::from([("value", if several { mean } else { values[0] })]);
    if several {
        let (least, most) = (f64::INFINITY, 0.0);
        metric.insert("lower_value", values.iter().copied().fold(least, f64::min));
        metric.insert("upper_value", values.iter().copied().fold(most, f64::max));
    }
    let series = &history.series;
    let name = format!("{} {} {}", series.workload, series.engine, series.target);
    let name: String = sanitize::sanitize(&name).chars().take(NAME_MAX).collect();
    let of_metric = BTreeMap::from([(history.metric.to_string(), metric)]);
    document::json(&BTreeMap::from([(name, of_metric)]))
}
