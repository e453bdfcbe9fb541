//! Reads `submission.toml`: who measured which system, what was tuned, and the licence of the data.

use std::io::Read;

use document::sanitize::{is_harmful, sanitize};
use report::site::Disclosure;
use serde::Deserialize;
use study::ResultClass;
use toml::Spanned;

use super::sources::SourceFile;

/// Largest size of the file in bytes.
const BYTES_MAX: u64 = 64 << 10;
/// Largest length of a field in characters.
const FIELD_MAX: usize = 2_000;

/// A problem with a line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineProblem {
    /// The line, from 1.
    pub line: usize,
    pub why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SubmissionFile {
    contributor: Spanned<String>,
    system: Spanned<String>,
    tuned: Spanned<String>,
    licence: Spanned<String>,
    class: Option<Spanned<String>>,
}

/// Reads the submission in a file.
///
/// # Errors
/// Returns all problems, each with its line.
pub fn read(file: &SourceFile) -> Result<Disclosure, Vec<LineProblem>> {
    let first = |why: String| vec![LineProblem { line: 1, why }];
    let mut text = String::new();
    let read = file
        .open()
        .and_then(|file| file.take(BYTES_MAX + 1).read_to_string(&mut text));
    read.map_err(|cause| first(format!("cannot read it: {cause} (write it again)")))?;
    if text.len() as u64 > BYTES_MAX {
        return Err(first(format!("it is too long (at most {BYTES_MAX} bytes)")));
    }
    parse(&text, &file.name)
}

/// Parses the text of a submission; `name` is its path in the site.
///
/// # Errors
/// Returns all problems, each with its line.
pub fn parse(text: &str, name: &str) -> Result<Disclosure, Vec<LineProblem>> {
    let line_of = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    let parsed: SubmissionFile = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(span.start));
        let why = sanitize(error.message()).into_owned();
        let why = format!(
            "{why} (it needs contributor, system, tuned and licence, each as a text; class is \
             optional)"
        );
        vec![LineProblem { line, why }]
    })?;
    let mut problems = Vec::new();
    let mut field = |name: &str, value: &Spanned<String>| {
        if let Some(why) = wrong(value.get_ref()) {
            let line = line_of(value.span().start);
            let why = format!("{name}: {why}");
            problems.push(LineProblem { line, why });
        }
    };
    field("contributor", &parsed.contributor);
    field("system", &parsed.system);
    field("tuned", &parsed.tuned);
    field("licence", &parsed.licence);
    let class = match &parsed.class {
        None => ResultClass::Open,
        Some(word) => match word.get_ref().as_str() {
            "strict" => ResultClass::Strict,
            "open" => ResultClass::Open,
            other => {
                let why = format!(
                    "class: '{}' is no class (use strict or open)",
                    sanitize(other)
                );
                let line = line_of(word.span().start);
                problems.push(LineProblem { line, why });
                ResultClass::Open
            }
        },
    };
    if !problems.is_empty() {
        return Err(problems);
    }
    let words = |value: Spanned<String>| value.into_inner().trim().to_owned();
    Ok(Disclosure {
        file: name.to_owned(),
        contributor: words(parsed.contributor),
        system: words(parsed.system),
        tuned: words(parsed.tuned),
        licence: words(parsed.licence),
        class,
    })
}

/// Why a field is not accepted.
fn wrong(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return Some("it is empty (write a few words; 'nothing' if nothing was tuned)".to_owned());
    }
    let length = text.chars().count();
    if length > FIELD_MAX {
        return Some(format!("it has {length} characters (at most {FIELD_MAX})"));
    }
    let harmful = text
        .chars()
        .find(|letter| *letter != '\n' && is_harmful(*letter))?;
    Some(format!(
        "it contains the invisible or control character U+{:04X} (remove it)",
        u32::from(harmful)
    ))
}
