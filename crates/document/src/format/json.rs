//! Values as JSON.

use serde::Serialize;

use crate::sanitize;

/// A value as JSON of several lines, made harmless.
pub fn json(value: &impl Serialize) -> String {
    // Numbers are finite and keys are strings: writing to memory cannot fail.
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    sanitize::json(&text).into_owned() + "\n"
}

/// A value as JSON in one line, made harmless.
pub fn json_line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    sanitize::json(&text).into_owned() + "\n"
}
