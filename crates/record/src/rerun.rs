//! The options that repeat the work of a run on another target.

use serde_json::Value;
use spec::{Options, Place, RunSpec};
use workload::contents::ContentKind;
use workload::{Classic, ContentSpec, Mix, Work, Workload};

/// Returns the options that resolve to the run spec `spec`, except for its targets, its
/// acknowledgement log and its reused pool. `postmark run --like` reads these options from a
/// record.
pub fn options_again(spec: &RunSpec) -> Options {
    Options {
        target: Vec::new(),
        ack_log: None,
        reuse: None,
        ..spec.to_options()
    }
}

/// Returns the options of [`options_again`] as arguments of `postmark run`.
pub fn words_again(spec: &RunSpec) -> Vec<String> {
    // Option files and the command line use the same names and values: numbers, texts and switches.
    let Ok(Value::Object(options)) = serde_json::to_value(options_again(spec)) else {
        return Vec::new();
    };
    let mut words = Vec::new();
    for (name, value) in options {
        match value {
            Value::Bool(true) => words.push(format!("--{name}")),
            Value::Bool(false) => words.push(format!("--no-{name}")),
            Value::String(text) => words.push(format!("--{name}={text}")),
            Value::Number(number) => words.push(format!("--{name}={number}")),
            Value::Null | Value::Array(_) | Value::Object(_) => {}
        }
    }
    words
}

/// Returns the options of a workload that differ from the defaults, as a user would type them.
pub fn workload_in_words(workload: &Workload) -> String {
    let words =
        |workload| words_again(&RunSpec::classic(workload, Vec::new(), Place::OwnDirectory));
    let plain = match &workload.work {
        Work::Classic(_) => Workload::from(Classic::default()),
        Work::Mix(_) => Workload {
            contents: Some(ContentSpec {
                kind: ContentKind::Incompressible,
                dedup: 1.0,
            }),
            ..Workload::from(Mix::default())
        },
    };
    let defaults = words(plain);
    let mut words = words(workload.clone());
    words.retain(|word| word.starts_with("--mix=") || !defaults.contains(word));
    words.join(" ")
}
