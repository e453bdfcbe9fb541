//! Lists of runs as text, JSON, CSV and Markdown. Strings of records are made harmless.

use record::harmless::{self, harmless};
use record::headline::class_name;
use record::units::{microseconds, rate, utc};
use record::{Entry, State};

use crate::table::Table;

/// Longer words are cut in tables of text, in characters.
const WORD_MAX: usize = 10;

/// A table for people; times are of UTC.
pub fn text(entries: &[Entry]) -> String {
    if entries.is_empty() {
        return "No runs\n".to_owned();
    }
    let has_tags = entries.iter().any(|entry| !entry.tags.is_empty());
    let mut header = vec!["run", "begun (UTC)", "host", "on", "preset", "verdict"];
    if has_tags {
        header.push("tags");
    }
    let words = header.len();
    header.extend(["trans/s", "p99 µs"]);
    let mut table = Table::new(words, &header);
    for entry in entries {
        let headline = &entry.headline;
        let begun = utc(headline.begun_unix_ns);
        let mut row = vec![
            number(entry),
            // To the minute.
            begun[..begun.len() - 3].to_owned(),
            cut(&headline.host),
            cut(headline.file_system().as_deref().unwrap_or("-")),
            cut(headline.preset.as_deref().unwrap_or("-")),
            verdict(entry).to_owned(),
        ];
        if has_tags {
            row.push(harmless(&entry.tags.join(" ")).into_owned());
        }
        row.push(rate(headline.transactions_per_second));
        row.push(
            headline
                .p99_ns
                .map_or_else(|| "-".to_owned(), |ns| microseconds(ns as f64)),
        );
        table.row(row);
    }
    table.render()
}

/// The verdict of a run that came to its end, else how it ended.
fn verdict(entry: &Entry) -> &'static str {
    match entry.headline.state {
        State::Complete => entry.headline.verdict.name(),
        state => state.name(),
    }
}

fn number(entry: &Entry) -> String {
    entry.number.map_or_else(|| "-".to_owned(), |number| number.to_string())
}

fn cut(text: &str) -> String {
    let text = harmless(text);
    if text.chars().count() <= WORD_MAX {
        return text.into_owned();
    }
    let mut short: String = text.chars().take(WORD_MAX - 1).collect();
    short.push('…');
    short
}

/// An array of entries, one a line.
pub fn json(entries: &[Entry]) -> String {
    if entries.is_empty() {
        return "[]\n".to_owned();
    }
    // Maps have string keys and numbers are finite: writing to memory cannot fail.
    let lines = entries
        .iter()
        .map(|entry| serde_json::to_string(entry).unwrap_or_default());
    let lines: Vec<String> = lines.map(|line| harmless::json(&line).into_owned()).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

/// The names of [`columns`], which are those of the JSON.
const COLUMNS: [&str; 16] = [
    "number",
    "id",
    "state",
    "begun_utc",
    "host",
    "file_systems",
    "device_class",
    "preset",
    "storage",
    "workers",
    "transactions_per_second",
    "p99_ns",
    "verdict",
    "fingerprint",
    "tags",
    "note",
];

/// A table for spreadsheets (RFC 4180), with a header.
pub fn csv(entries: &[Entry]) -> String {
    let mut text = COLUMNS.join(",");
    text.push_str("\r\n");
    for entry in entries {
        text.push_str(&columns(entry).join(","));
        text.push_str("\r\n");
    }
    text
}

fn columns(entry: &Entry) -> [String; 16] {
    let headline = &entry.headline;
    let word = |text: &str| harmless::csv(text).into_owned();
    let or_empty = |text: Option<String>| text.map_or_else(String::new, |text| word(&text));
    [
        entry.number.map_or_else(String::new, |number| number.to_string()),
        headline.id.to_string(),
        headline.state.name().to_owned(),
        utc(headline.begun_unix_ns),
        word(&headline.host),
        or_empty(headline.file_system()),
        headline.device_class.map_or("", class_name).to_owned(),
        or_empty(headline.preset.clone()),
        word(&headline.storage),
        headline.workers.to_string(),
        headline
            .transactions_per_second
            .map_or_else(String::new, |rate| rate.to_string()),
        headline.p99_ns.map_or_else(String::new, |ns| ns.to_string()),
        headline.verdict.name().to_owned(),
        word(&headline.fingerprint),
        word(&entry.tags.join(" ")),
        or_empty(entry.note.clone()),
    ]
}

/// A table for documents (GitHub Flavored Markdown), a line for each run.
pub fn markdown(entries: &[Entry]) -> String {
    let mut text = String::from(
        "| run | begun (UTC) | host | file system | preset | storage | workers | transactions/s | p99 (µs) | verdict | tags | note |\n\
         |---|---|---|---|---|---|---:|---:|---:|---|---|---|\n",
    );
    for entry in entries {
        let headline = &entry.headline;
        let word = |text: &str| harmless::markdown(text).into_owned();
        let or_dash = |text: Option<String>| text.map_or_else(|| "-".to_owned(), |text| word(&text));
        let cells = [
            number(entry),
            utc(headline.begun_unix_ns),
            word(&headline.host),
            or_dash(headline.file_system()),
            or_dash(headline.preset.clone()),
            word(&headline.storage),
            headline.workers.to_string(),
            rate(headline.transactions_per_second),
            headline
                .p99_ns
                .map_or_else(|| "-".to_owned(), |ns| microseconds(ns as f64)),
            verdict(entry).to_owned(),
            word(&entry.tags.join(" ")),
            word(entry.note.as_deref().unwrap_or_default()),
        ];
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text
}
