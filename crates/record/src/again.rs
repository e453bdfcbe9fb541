//! The options with which the work of a run is done again elsewhere.

use serde_json::Value;
use spec::{Options, RunSpec};

/// The options that come to a run spec, but for its targets and what lies at them: what `postmark run --like` takes of its record.
pub fn options_again(spec: &RunSpec) -> Options {
    Options {
        target: Vec::new(),
        ack_log: None,
        reuse: None,
        ..Options::of(spec)
    }
}

/// The same as words of a command line, which follow `postmark run`.
pub fn words_again(spec: &RunSpec) -> Vec<String> {
    // Files and the command line have the same names and texts: numbers, texts and switches.
    let Ok(Value::Object(options)) = serde_json::to_value(options_again(spec)) else {
        return Vec::new();
    };
    let mut words = Vec::new();
    for (name, value) in options {
        match value {
            Value::Bool(true) => words.push(format!("--{name}")),
            Value::String(text) => words.push(format!("--{name}={text}")),
            Value::Number(number) => words.push(format!("--{name}={number}")),
            Value::Bool(false) | Value::Null | Value::Array(_) | Value::Object(_) => {}
        }
    }
    words
}
