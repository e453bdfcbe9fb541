//! Lists of runs as text, JSON, CSV and Markdown. The content of each column is defined once, and
//! each format chooses its columns.

use std::collections::BTreeMap;

use document::sanitize::{self, sanitize};
use document::units::{shortened, utc};
use document::{Cell, Document, Number, Table};
use verdict::list_row::{WorkKind, class_name};
use verdict::{ListedRun, State};

/// Maximum number of characters of a word in text tables. Longer words are cut.
const WORD_MAX: usize = 9;
/// The cell of a study that a run belongs to, and its block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellOfRun {
    pub cell: String,
    pub block: u32,
}

/// Maximum number of characters of a cell's name in text tables.
const CELL_MAX: usize = 24;

/// Headers of the columns that contain numbers in text and Markdown tables. The numbers are
/// right-aligned; all other columns contain words.
const NUMBERS: [&str; 6] = [
    "workers",
    "trans/s",
    "transactions/s",
    "p99",
    "p99 (µs)",
    "block",
];

fn table(runs: &[ListedRun], columns: &str, cell: impl Fn(&ListedRun, &str) -> Cell) -> Table {
    let mut table = Table::new(0, &[""; 0]);
    for column in columns.split(", ") {
        table.column(column, !NUMBERS.contains(&column));
    }
    for run in runs {
        let columns = columns.split(", ");
        table.row(columns.map(|column| cell(run, column)).collect());
    }
    table
}

fn cell(run: &ListedRun, column: &str) -> Cell {
    let of = &run.headline;
    match column {
        "run" | "number" => run.number.map(Number::Ordinal).into(),
        "id" => Cell::ours(of.id.to_string()),
        "state" => Cell::ours(of.state.name()),
        "begun (UTC)" | "begun_utc" => Cell::ours(utc(of.begun_unix_ns)),
        "host" => of.host.as_str().into(),
        "on" | "file system" | "file_systems" => of.file_system().into(),
        "device_class" => Cell::ours(of.device_class.map_or("", class_name)),
        "preset" => of.preset.as_deref().into(),
        "workload" if of.is_sweep => format!("{} (sweep)", of.workload().unwrap_or("-")).into(),
        "workload" => of.workload().into(),
        "engine" => of.engine.as_str().into(),
        "workers" => Number::Ordinal(of.workers.into()).into(),
        "trans/s" | "transactions/s" | "transactions_per_second" => {
            Cell::rate(of.transactions_per_second)
        }
        "p99" => Cell::latency(of.p99_ns),
        "p99 (µs)" | "p99_ns" => of.p99_ns.map(|ns| Number::Microseconds(ns as f64)).into(),
        "verdict" if of.crash.is_some() => {
            format!("crash: {}", of.crash.as_deref().unwrap_or_default()).into()
        }
        "crash" => of.crash.as_deref().into(),
        // The verdict of a complete run, or the state of any other run.
        "verdict" if of.state == State::Complete => Cell::ours(of.verdict.name()),
        "verdict" if of.state == State::Going => Cell::ours("running"),
        "verdict" => Cell::ours(of.state.name()),
        "fingerprint" => of.fingerprint.as_str().into(),
        "tags" => run.tags.join(" ").into(),
        "note" => run.note.as_deref().unwrap_or_default().into(),
        other => unreachable!("there is no column {other}"),
    }
}

/// A cell in a table for readers: words are cut, times have no seconds, and load sweeps are marked.
fn short(run: &ListedRun, column: &str) -> Cell {
    match (column, cell(run, column)) {
        ("workload", _) if run.headline.is_sweep => {
            let workload = sanitize(run.headline.workload().unwrap_or("-"));
            format!("{}*", shortened(&workload, WORD_MAX)).into()
        }
        ("begun (UTC)", Cell::Ours(begun)) => Cell::ours(&begun[..begun.len() - 3]),
        ("host" | "on" | "workload", Cell::Text(text)) => {
            shortened(&sanitize(&text), WORD_MAX).into()
        }
        (_, cell) => cell,
    }
}

/// A cell of the list as CSV, which programs read. The column `workload` contains only the kind of
/// the workload, and the column `verdict` never contains the state of the run.
fn for_programs(run: &ListedRun, column: &str) -> Cell {
    match column {
        "workload" => Cell::ours(run.headline.work.map_or("", WorkKind::name)),
        "verdict" => Cell::ours(run.headline.verdict.name()),
        _ => cell(run, column),
    }
}

/// The list of runs as a table. Times are in UTC. `cells` are the cells and blocks of runs of
/// studies, by number of the run.
pub fn document(entries: &[ListedRun], cells: &BTreeMap<u64, CellOfRun>) -> Document {
    let mut document = Document::default();
    if entries.is_empty() {
        document.line("No runs");
        return document;
    }
    let has_tags = entries.iter().any(|entry| !entry.tags.is_empty());
    let columns = format!(
        "run, begun (UTC), host, on, workload, verdict, {}{}trans/s, p99",
        if has_tags { "tags, " } else { "" },
        if cells.is_empty() {
            ""
        } else {
            "cell, block, "
        }
    );
    let of_study = |run: &ListedRun| cells.get(&run.number?);
    let value = |run: &ListedRun, column: &str| match column {
        "cell" => of_study(run)
            .map(|of| shortened(&sanitize(&of.cell), CELL_MAX))
            .into(),
        "block" => of_study(run)
            .map(|of| Number::Ordinal(of.block.into()))
            .into(),
        _ => short(run, column),
    };
    document.table(table(entries, &columns, value).leading(1));
    if entries.iter().any(|entry| entry.headline.is_sweep) {
        document.words("* load sweep: trans/s and p99 at its highest sustained rate");
    }
    document
}

/// A JSON array with one run per line.
pub fn json(entries: &[ListedRun]) -> String {
    if entries.is_empty() {
        return "[]\n".to_owned();
    }
    // Keys are strings and numbers are finite, so writing to memory cannot fail.
    let lines = entries
        .iter()
        .map(|entry| serde_json::to_string(entry).unwrap_or_default());
    let lines: Vec<String> = lines
        .map(|line| sanitize::json(&line).into_owned())
        .collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

/// A CSV table (RFC 4180) with a header, whose names are the keys of the JSON.
pub fn csv(entries: &[ListedRun]) -> String {
    let columns = "number, id, state, begun_utc, host, file_systems, device_class, preset, \
                   workload, engine, workers, transactions_per_second, p99_ns, verdict, \
                   fingerprint, tags, note, crash";
    document::csv(&table(entries, columns, for_programs), "\r\n")
}

/// A Markdown table (GitHub Flavored Markdown) with a row for each run.
pub fn markdown(entries: &[ListedRun]) -> String {
    let columns = "run, begun (UTC), host, file system, workload, engine, workers, \
                   transactions/s, p99 (µs), verdict, tags, note";
    let mut document = Document::default();
    document.table(table(entries, columns, cell));
    document::markdown(&document)
}
