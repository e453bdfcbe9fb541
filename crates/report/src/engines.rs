//! The list of I/O engines, with the properties of each engine.

use document::{Cell, Document, Table};
use engine::{Cached, EngineFacts, Targets};
use serde_json::{Map, Value};

/// The listed properties of an engine: the name of the property in JSON and CSV, and a description
/// for readers.
const COLUMNS: [(&str, &str); 11] = [
    ("name", "--engine"),
    ("targets", "targets"),
    ("protocol", "protocol of its own"),
    ("depth_max", "greatest queue depth"),
    ("capabilities", "capabilities"),
    ("cache", "cache that may answer reads"),
    ("direct", "direct I/O"),
    ("durability", "durability"),
    ("identity", "knows files by identity"),
    ("birth", "knows when files were made"),
    ("locks", "locks its directories"),
];

/// The values of an engine in the order of [`COLUMNS`]; null if a property does not apply.
fn values(facts: &EngineFacts) -> [Value; COLUMNS.len()] {
    let namespace = facts.namespace;
    [
        facts.name.into(),
        match facts.targets {
            Targets::None => Value::Null,
            Targets::Directories => "directories".into(),
            Targets::Urls(syntax) => syntax.form.into(),
        },
        facts.protocol.into(),
        facts.depth_max.into(),
        facts.capabilities.iter().map(|one| one.name()).collect(),
        match facts.cache {
            Cached::PageCache => "page cache".into(),
            Cached::None => Value::Null,
        },
        facts.direct.into(),
        facts.durability.iter().map(|one| one.policy()).collect(),
        namespace.map(|known| known.identity).into(),
        namespace.map(|known| known.birth).into(),
        namespace.map(|known| known.locks).into(),
    ]
}

/// A value in words; `None` for null.
fn words(value: Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Bool(true) => Some("yes".to_owned()),
        Value::Bool(false) => Some("no".to_owned()),
        Value::String(text) => Some(text),
        Value::Array(all) => {
            let all: Vec<String> = all.into_iter().filter_map(words).collect();
            Some(all.join(", "))
        }
        other => Some(other.to_string()),
    }
}

pub fn csv<'a>(engines: impl IntoIterator<Item = &'a EngineFacts>) -> String {
    let mut table = Table::new(COLUMNS.len(), &COLUMNS.map(|(name, _)| name));
    for facts in engines {
        let cells = values(facts).map(|value| words(value).map_or(Cell::Empty, Cell::ours));
        table.row(cells.into());
    }
    document::csv(&table, "\n")
}

/// A JSON array with an object for each engine.
pub fn json<'a>(engines: impl IntoIterator<Item = &'a EngineFacts>) -> String {
    let named = |facts: &EngineFacts| -> Map<String, Value> {
        let names = COLUMNS.iter().map(|(name, _)| (*name).to_owned());
        names.zip(values(facts)).collect()
    };
    document::json(&engines.into_iter().map(named).collect::<Vec<_>>())
}

pub fn document<'a>(engines: impl IntoIterator<Item = &'a EngineFacts>) -> Document {
    let mut document = Document::default();
    document.line("I/O engines, for postmark run --engine NAME:");
    for facts in engines {
        document.gap();
        document.head(facts.name);
        document.below(facts.help);
        for ((_, about), value) in COLUMNS.into_iter().zip(values(facts)).skip(1) {
            let value = words(value).unwrap_or_else(|| "none".to_owned());
            document.below(format!("{about}: {value}"));
        }
    }
    document
}
