//! Words that are refused: told with what would be right, and without anything that a terminal obeys.

use std::error::Error;
use std::io::Write;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use document::harmless::{harmless, lines};

use super::similar::called_here;

/// Tells why, or gives the help or version that was asked for, and the exit status.
pub fn refuse(mut error: clap::Error) -> u8 {
    if !error.use_stderr() {
        // Help and version are ours alone.
        error.exit();
    }
    // Only they have the options that a tip names.
    let is_work = std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == "run" || word == "plan");
    let tip = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if is_work && error.kind() == ErrorKind::UnknownArgument => called_here(word),
        _ => None,
    };
    if tip.is_some() {
        // What the library would guess: the option whose letters are most alike.
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
    }
    let said: Vec<(ContextKind, ContextValue)> = error
        .context()
        .filter_map(|(kind, value)| Some((kind, shown(value)?)))
        .collect();
    for (kind, value) in said {
        error.insert(kind, value);
    }
    let mut told = error.render().ansi().to_string();
    if let Some(cause) = error.source().map(ToString::to_string) {
        // It names the word again, in its own way.
        told = told.replace(&cause, &harmless(&cause));
    }
    if let Some(tip) = tip {
        told = told.replacen("\n", &format!("\n\n  tip: {}\n", harmless(&tip)), 1);
    }
    // A closed standard error is no reason to stop.
    let _ = write!(std::io::stderr(), "{}", lines(&plain(&told)));
    u8::try_from(error.exit_code()).unwrap_or(2)
}

/// A word in one line, where it is none as it is.
fn shown(value: &ContextValue) -> Option<ContextValue> {
    let changed = |text: &String| harmless(text) != *text;
    match value {
        ContextValue::String(text) if changed(text) => Some(ContextValue::String(harmless(text).into_owned())),
        ContextValue::Strings(all) if all.iter().any(changed) => Some(ContextValue::Strings(
            all.iter().map(|text| harmless(text).into_owned()).collect(),
        )),
        _ => None,
    }
}

/// Without the colours of the library, which are all that is left of sequences that a terminal obeys.
fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| {
        plain + part.split_once('m').map_or(part, |(_, behind)| behind)
    })
}
