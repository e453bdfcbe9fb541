//! The spec against the one that the words of its command line come to.

use serde_json::Value;
use spec::RunSpec;

use super::{Findings, Rule};
use record::run::Record;

/// What the words do not say alone.
const OF_OTHERS: [&str; 1] = ["command_line"];

pub(super) fn check(record: &Record, resolved: Result<RunSpec, String>, found: &mut Findings) {
    let place = "record.spec.command_line";
    let resolved = match resolved {
        Ok(resolved) => resolved,
        Err(why) => return found.broken(Rule::CommandLine, place, why),
    };
    let values = [&record.spec, &resolved].map(serde_json::to_value);
    let [Ok(recorded), Ok(resolved)] = values else {
        return;
    };
    if let Some((path, recorded, resolved)) = difference(&recorded, &resolved, "record.spec") {
        let why = format!("{recorded}, and by the command line {resolved}");
        found.broken(Rule::CommandLine, &path, why);
    }
}

/// The first place in which two values differ.
fn difference(one: &Value, other: &Value, path: &str) -> Option<(String, String, String)> {
    let (Value::Object(fields), Value::Object(others)) = (one, other) else {
        return (one != other).then(|| (path.to_owned(), one.to_string(), other.to_string()));
    };
    let names = fields
        .keys()
        .chain(others.keys().filter(|name| !fields.contains_key(*name)));
    let mut names = names.filter(|name| !OF_OTHERS.contains(&name.as_str()));
    names.find_map(|name| {
        let of = |fields: &serde_json::Map<String, Value>| {
            fields.get(name).cloned().unwrap_or(Value::Null)
        };
        difference(&of(fields), &of(others), &format!("{path}.{name}"))
    })
}
