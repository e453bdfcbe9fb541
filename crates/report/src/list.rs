//! Lists of runs as text, JSON, CSV and Markdown: what columns show, once, and which of them a
//! format has.

use document::sanitize::{self, sanitize};
use document::units::utc;
use document::{Cell, Document, Number, Table};
use verdict::list_row::{WorkKind, class_name};
use verdict::{ListedRun, State};

/// Longer words are cut in tables of text, in characters.
const WORD_MAX: usize = 9;

/// A column: what stands over it, whether it is words, and what it shows of an entry.
type Column = (&'static str, bool, fn(&ListedRun) -> Cell);

fn table(entries: &[ListedRun], columns: &[Column]) -> Table {
    let mut table = Table::new(0, &[""; 0]);
    for (header, is_words, _) in columns {
        table.column(*header, *is_words);
    }
    for entry in entries {
        table.row(columns.iter().map(|(_, _, cell)| cell(entry)).collect());
    }
    table
}

fn number(entry: &ListedRun) -> Cell {
    entry.number.map(Number::Ordinal).into()
}

fn begun(entry: &ListedRun) -> Cell {
    Cell::ours(utc(entry.headline.begun_unix_ns))
}

fn host(entry: &ListedRun) -> Cell {
    entry.headline.host.as_str().into()
}

fn file_systems(entry: &ListedRun) -> Cell {
    entry.headline.file_system().into()
}

fn preset(entry: &ListedRun) -> Cell {
    entry.headline.preset.as_deref().into()
}

fn workload(entry: &ListedRun) -> Cell {
    entry.headline.workload().into()
}

fn engine(entry: &ListedRun) -> Cell {
    entry.headline.engine.as_str().into()
}

fn workers(entry: &ListedRun) -> Cell {
    Number::Ordinal(entry.headline.workers.into()).into()
}

fn rate(entry: &ListedRun) -> Cell {
    Cell::rate(entry.headline.transactions_per_second)
}

fn p99(entry: &ListedRun) -> Cell {
    let ns = entry.headline.p99_ns;
    ns.map(|ns| Number::Microseconds(ns as f64)).into()
}

/// The verdict of a run that came to its end, else how it ended.
fn verdict(entry: &ListedRun) -> Cell {
    Cell::ours(match entry.headline.state {
        State::Complete => entry.headline.verdict.name(),
        state => state.name(),
    })
}

fn tags(entry: &ListedRun) -> Cell {
    entry.tags.join(" ").into()
}

fn note(entry: &ListedRun) -> Cell {
    entry.note.as_deref().unwrap_or_default().into()
}

/// Of a longer word the beginning.
fn cut(cell: Cell) -> Cell {
    let Cell::Text(text) = cell else {
        return cell;
    };
    let text = sanitize(&text);
    if text.chars().count() <= WORD_MAX {
        return text.into_owned().into();
    }
    let mut short: String = text.chars().take(WORD_MAX - 1).collect();
    short.push('…');
    short.into()
}

/// The table for people; times are of UTC.
pub fn document(entries: &[ListedRun]) -> Document {
    let mut document = Document::default();
    if entries.is_empty() {
        document.line("No runs");
        return document;
    }
    let to_the_minute = |entry: &ListedRun| {
        let begun = utc(entry.headline.begun_unix_ns);
        Cell::ours(&begun[..begun.len() - 3])
    };
    let mut columns: Vec<Column> = vec![
        ("run", true, number),
        ("begun (UTC)", true, to_the_minute),
        ("host", true, |entry| cut(host(entry))),
        ("on", true, |entry| cut(file_systems(entry))),
        ("workload", true, |entry| cut(workload(entry))),
        ("verdict", true, verdict),
        ("tags", true, tags),
        ("trans/s", false, rate),
        ("p99", false, |entry| Cell::latency(entry.headline.p99_ns)),
    ];
    let has_tags = entries.iter().any(|entry| !entry.tags.is_empty());
    columns.retain(|(header, ..)| has_tags || *header != "tags");
    document.table(table(entries, &columns).leading(1));
    document
}

/// An array of entries, one a line.
pub fn json(entries: &[ListedRun]) -> String {
    if entries.is_empty() {
        return "[]\n".to_owned();
    }
    // Maps have string keys and numbers are finite: writing to memory cannot fail.
    let lines = entries
        .iter()
        .map(|entry| serde_json::to_string(entry).unwrap_or_default());
    let lines: Vec<String> = lines
        .map(|line| sanitize::json(&line).into_owned())
        .collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

/// A table for spreadsheets (RFC 4180), with a header, whose names are those of the JSON.
pub fn csv(entries: &[ListedRun]) -> String {
    let columns: [Column; 17] = [
        ("number", false, number),
        ("id", true, |of| Cell::ours(of.headline.id.to_string())),
        ("state", true, |of| Cell::ours(of.headline.state.name())),
        ("begun_utc", true, begun),
        ("host", true, host),
        ("file_systems", true, file_systems),
        ("device_class", true, |of| {
            Cell::ours(of.headline.device_class.map_or("", class_name))
        }),
        ("preset", true, preset),
        ("workload", true, |of| {
            Cell::ours(of.headline.work.map_or("", WorkKind::name))
        }),
        ("storage", true, engine),
        ("workers", false, workers),
        ("transactions_per_second", false, rate),
        ("p99_ns", false, p99),
        ("verdict", true, |of| Cell::ours(of.headline.verdict.name())),
        ("fingerprint", true, |of| {
            of.headline.fingerprint.as_str().into()
        }),
        ("tags", true, tags),
        ("note", true, note),
    ];
    document::csv(&table(entries, &columns), "\r\n")
}

/// A table for documents (GitHub Flavored Markdown), a line for each run.
pub fn markdown(entries: &[ListedRun]) -> String {
    let columns: [Column; 12] = [
        ("run", true, number),
        ("begun (UTC)", true, begun),
        ("host", true, host),
        ("file system", true, file_systems),
        ("workload", true, workload),
        ("storage", true, engine),
        ("workers", false, workers),
        ("transactions/s", false, rate),
        ("p99 (µs)", false, p99),
        ("verdict", true, verdict),
        ("tags", true, tags),
        ("note", true, note),
    ];
    let mut document = Document::default();
    document.table(table(entries, &columns));
    document::markdown(&document)
}
