//! The results of checking a record, as lines of text.

use std::fmt::Write as _;

use document::sanitize::sanitize;
use record::Tool;
use verdict::{BrokenRule, CheckedRecord, Difference};

/// Returns one line for the record, followed by one line for each problem. Lines are not wrapped,
/// so that users can search them.
pub fn text(name: &str, checked: &CheckedRecord) -> String {
    let mut found = Vec::new();
    if !checked.differences.is_empty() {
        found.push("differs");
    }
    if checked.breaks_a_rule() {
        found.push("breaks a rule");
    }
    if found.is_empty() {
        found.push("agrees: summary and verdict follow from its data");
    }
    let mut text = format!("{}: {}", sanitize(name), found.join(", "));
    if let Some(level) = checked.level {
        text += &format!("; {}", level.name());
    }
    if !checked.reasons.is_empty() {
        text += &format!(" ({})", checked.reasons.join(", "));
    }
    text.push('\n');
    let mut below = |line: String| {
        // Writing to memory cannot fail.
        let _ = writeln!(text, "  {}", sanitize(&line));
    };
    for broken in &checked.broken {
        below(rule(broken));
    }
    let differences = &checked.differences.first;
    differences.iter().map(difference).for_each(&mut below);
    if checked.differences.more > 0 {
        below(format!("and {} more differences", checked.differences.more));
    }
    for unchecked in &checked.unchecked {
        below(format!("not checked: {}", rule(unchecked)));
    }
    let this = Tool::this();
    let other = checked.tool.as_ref();
    let other = other.filter(|tool| tool.version != this.version);
    if let Some(Tool { name, version, .. }) = other.filter(|_| !checked.differences.is_empty()) {
        below(format!(
            "{name} {version} wrote the record, and this is {} {}: another version may derive \
             other numbers",
            this.name, this.version
        ));
    }
    text
}

fn rule(BrokenRule { rule, field, why }: &BrokenRule) -> String {
    format!("{rule}: {field}: {why}")
}

fn difference(difference: &Difference) -> String {
    let said = |value: &Option<String>, missing: &str, has: &str| match value {
        Some(value) => format!("{value} {has}"),
        None => missing.to_owned(),
    };
    format!(
        "{}: {}, {}",
        difference.path,
        said(&difference.file, "not in the file", "in the file"),
        said(&difference.derived, "not derived", "derived")
    )
}
