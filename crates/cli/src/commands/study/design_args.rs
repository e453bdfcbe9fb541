//! Converts command-line options to a study file, or applies them to an existing study file.

use std::path::Path;

use engines::registry;
use study::DesignError;
use toml::{Table, Value};

use crate::args::StudyArguments;
use crate::ui::problem::Problem;

/// Returns the study file that is equivalent to command-line options, for a study without a file.
///
/// # Errors
/// Returns an error if an option is invalid, or the working directory is not available.
pub fn of_words(arguments: &StudyArguments) -> Result<String, Problem> {
    let mut options = Table::new();
    for word in &arguments.set {
        let (key, text) = pair("--set", word)?;
        options.insert(key.to_owned(), value(text));
    }
    let mut axes = Table::new();
    for word in &arguments.axis {
        let (key, text) = pair("--axis", word)?;
        axes.insert(
            key.to_owned(),
            Value::Array(text.split(',').map(value).collect()),
        );
    }
    let workload = |preset: Option<&String>| {
        let mut workload = Table::new();
        if let Some(preset) = preset {
            workload.insert("preset".to_owned(), Value::String(preset.clone()));
        }
        workload.extend(options.clone());
        Value::Table(workload)
    };
    let mut workloads: Vec<Value> = arguments
        .preset
        .iter()
        .map(|preset| workload(Some(preset)))
        .collect();
    if workloads.is_empty() {
        workloads.push(workload(None));
    }
    let targets = targets(arguments)?;
    let mut table = Table::new();
    if !targets.is_empty() {
        table.insert("targets".to_owned(), Value::Array(targets));
    }
    table.insert("workload".to_owned(), Value::Array(workloads));
    if !axes.is_empty() {
        table.insert("axes".to_owned(), Value::Table(axes));
    }
    change(&mut table, arguments);
    Ok(table.to_string())
}

/// Returns a study file with the command-line options applied and the targets added.
///
/// # Errors
/// Returns an error if the study file is not TOML.
pub fn changed(
    text: &str,
    arguments: &StudyArguments,
    targets: Vec<Value>,
) -> Result<String, DesignError> {
    let mut table: Table =
        spec::read_toml(text).map_err(|error| DesignError::of_toml(text, &error))?;
    let before = table.clone();
    if !targets.is_empty() {
        let all = table
            .entry("targets")
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(all) = all {
            all.extend(targets);
        }
    }
    change(&mut table, arguments);
    // If the options change nothing, the original text is returned, so that error messages contain
    // its line numbers.
    Ok(if table == before {
        text.to_owned()
    } else {
        table.to_string()
    })
}

/// Applies the command-line options to the study file. An option replaces the value in the file.
fn change(table: &mut Table, arguments: &StudyArguments) {
    let text = |text: &Option<String>| text.clone().map(Value::String);
    let time = |time: &Option<spec::Time>| time.map(|time| Value::String(format!("{}ns", time.0)));
    let number = |number: Option<u64>| {
        number.map(|number| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX)))
    };
    let metrics = || {
        Value::Array(
            arguments
                .metric
                .iter()
                .cloned()
                .map(Value::String)
                .collect(),
        )
    };
    let said = [
        ("name", text(&arguments.name)),
        ("blocks", number(arguments.blocks.map(u64::from))),
        ("for", time(&arguments.run_for)),
        ("until", text(&arguments.until)),
        ("seed", number(arguments.seed)),
        ("twin", arguments.no_twin.then_some(Value::Boolean(false))),
        ("baseline", text(&arguments.baseline)),
        ("quiet-time", time(&arguments.quiet_time)),
        (
            "layout",
            arguments
                .layout
                .map(|layout| Value::String(layout.to_string())),
        ),
        ("metrics", (!arguments.metric.is_empty()).then(metrics)),
    ];
    for (key, value) in said {
        if let Some(value) = value {
            table.insert(key.to_owned(), value);
        }
    }
    let axes = table.get("axes").and_then(Value::as_table);
    let is_axis = axes.is_some_and(|axes| axes.contains_key("ranks"));
    if let (Some(ranks), false) = (arguments.ranks, is_axis) {
        // The number of ranks is stored in the workload, so that a resumed study uses the same
        // number.
        let workloads = table.get_mut("workload").and_then(Value::as_array_mut);
        for workload in workloads
            .into_iter()
            .flatten()
            .filter_map(Value::as_table_mut)
        {
            workload
                .entry("ranks")
                .or_insert(Value::Integer(ranks.into()));
        }
    }
}

fn pair<'a>(option: &str, word: &'a str) -> Result<(&'a str, &'a str), Problem> {
    word.split_once('=')
        .filter(|(key, _)| !key.is_empty())
        .ok_or_else(|| {
            Problem::refused(format!(
                "invalid value '{word}' for {option}: expected OPTION=VALUE, like files=2000"
            ))
        })
}

/// Parses a value as a number, a Boolean or a string of TOML. Any other text becomes a string.
fn value(word: &str) -> Value {
    let read: Option<Table> = spec::read_toml(&format!("value = {word}")).ok();
    let plain = read.and_then(|mut table| table.remove("value"));
    match plain {
        Some(
            value @ (Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::String(_)),
        ) => value,
        _ => Value::String(word.to_owned()),
    }
}

/// Converts the targets of the command line to TOML.
///
/// # Errors
/// Returns an error if the working directory is not available.
pub fn targets(arguments: &StudyArguments) -> Result<Vec<Value>, Problem> {
    arguments.target.iter().map(|word| target(word)).collect()
}

/// Converts a target, with its optional name (`NAME=TARGET`), to TOML. Paths become absolute, so
/// that a study can be resumed from any directory.
fn target(word: &str) -> Result<Value, Problem> {
    let (name, at) = match word.split_once('=') {
        Some((name, at)) if is_name(name) => (Some(name), at),
        // A text before a URL can only be a name, not the start of a path, so any characters are
        // allowed in it.
        Some((name, at)) if registry::is_url(Path::new(at)) => (Some(name), at),
        _ => (None, word),
    };
    let at = match at.split_once(':') {
        _ if registry::is_url(Path::new(at)) => at.to_owned(),
        Some((scheme, _)) if is_name(scheme) && !Path::new(at).exists() => at.to_owned(),
        _ => absolute(at)?,
    };
    Ok(match name {
        None => Value::String(at),
        Some(name) => Value::Table(Table::from_iter([
            ("name".to_owned(), Value::String(name.to_owned())),
            ("at".to_owned(), Value::String(at)),
        ])),
    })
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter))
}

fn absolute(directory: &str) -> Result<String, Problem> {
    let path = std::path::absolute(directory).map_err(|cause| {
        Problem::refused(format!("cannot find the target '{directory}': {cause}"))
    })?;
    path.into_os_string()
        .into_string()
        .map_err(|path| campaign::run_spec::no_text(Path::new(&path)))
}
