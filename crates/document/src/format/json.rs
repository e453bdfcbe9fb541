//! Renders values as JSON.

use serde::Serialize;

use crate::sanitize;

/// Renders a value as JSON of several lines, with harmful characters escaped.
pub fn json(value: &impl Serialize) -> String {
    // All numbers are finite and all keys are strings, so writing to memory cannot fail.
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    sanitize::json(&text).into_owned() + "\n"
}

/// Renders a value as JSON in one line, with harmful characters escaped.
pub fn json_line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    sanitize::json(&text).into_owned() + "\n"
}
