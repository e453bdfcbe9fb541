//! Converts command-line options to a study file, or applies them to an existing study file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use campaign::run_spec::{RunRequest, Specified, specify};
use campaign::similar::similar;
use clap::{Arg, Args as _};
use document::sanitize;
use engines::registry;
use spec::{Invocation, Options};
use study::DesignError;
use toml::{Table, Value};

use crate::args::StudyArguments;
use crate::ui::problem::{Problem, USER, refuse};

/// Returns the study file that is equivalent to command-line options, for a study without a file.
///
/// # Errors
/// Returns an error if an option is invalid, or the working directory is not available.
pub fn of_words(arguments: &StudyArguments) -> Result<String, Problem> {
    let mut axes = Table::new();
    for word in &arguments.axis {
        let (key, values) = axis(word)?;
        axes.insert(key.to_owned(), values);
    }
    let mut options = earlier_options(arguments)?;
    options.retain(|name, _| !axes.contains_key(name));
    options.extend(given_options(arguments)?);
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
    let time = |time: &Option<spec::Time>| {
        time.map(|time| Value::String(workload::quantity::duration_text(time.0)))
    };
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
    // If both are given, clap keeps the last one.
    let twin = match (arguments.twin, arguments.no_twin) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    };
    let said = [
        ("name", text(&arguments.name)),
        ("blocks", number(arguments.blocks.map(u64::from))),
        ("time-limit", time(&arguments.time_limit)),
        ("until", text(&arguments.until)),
        ("order-seed", number(arguments.order_seed)),
        ("twin", twin.map(Value::Boolean)),
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
    if let Some(ranks) = arguments.ranks {
        add_ranks(table, ranks);
    }
}

/// Adds the number of ranks to each workload that has none, unless it is an axis. A resumed study
/// thus uses the same number.
fn add_ranks(table: &mut Table, ranks: u32) {
    let axes = table.get("axes").and_then(Value::as_table);
    if axes.is_some_and(|axes| axes.contains_key("ranks")) {
        return;
    }
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

/// Refuses options of the runs if the design of the study already contains them. `origin` names the
/// option or file with the design, for the message.
pub fn refuse_options(arguments: &StudyArguments, origin: &str) -> Result<(), Problem> {
    match table(&arguments.options)?.keys().next() {
        None => Ok(()),
        Some(option) => refuse(format_args!(
            "--{option} cannot be used with {origin}, which contains the options of its runs \
             (remove it)"
        )),
    }
}

fn table(options: &Options) -> Result<Table, Problem> {
    Table::try_from(options)
        .map_err(|why| Problem::refused(format_args!("cannot make this study: {why}")))
}

/// The options of a configuration file or of an earlier run, without the targets.
fn earlier_options(arguments: &StudyArguments) -> Result<Table, Problem> {
    if arguments.config.is_none() && arguments.like.is_none() {
        return Ok(Table::new());
    }
    let request = RunRequest {
        preset: None,
        config: arguments.config.clone(),
        like: arguments.like.clone(),
        like_in: arguments.archive.clone(),
        invocation: Invocation::default(),
        options: Options::default(),
        locations: Ok(Vec::new()),
        has_weights: false,
    };
    let specified = specify(&request, USER)?;
    refuse_pipes(&specified, "study")?;
    table(&specified.spec.to_options().without_runs_alone())
}

/// Refuses standard input as a configuration file or an earlier run. If a target has a server, a
/// second process performs the study and reads the file again, but a pipe can be read only once.
/// `command` is the command or option that the user typed.
pub fn refuse_pipes(specified: &Specified, command: &str) -> Result<(), Problem> {
    match specified.inputs.iter().find(|input| !input.is_file()) {
        None => Ok(()),
        Some(input) => refuse(format_args!(
            "{} must name a file with {command}, not a pipe",
            input.option
        )),
    }
}

/// Refuses options on the command line that are for single runs only.
pub fn refuse_options_of_runs_alone(options: &Options) -> Result<(), Problem> {
    let given = table(options)?;
    let is_given = |option: &String| given.contains_key(option);
    match Options::of_runs_alone().into_iter().find(is_given) {
        None => Ok(()),
        Some(option) => refuse(format_args!(
            "--{option} is for a single run, not for the runs of a study and not for repeated \
             runs (remove it)"
        )),
    }
}

/// The options on the command line that apply to all workloads: options of the runs, age and
/// fullness.
fn given_options(arguments: &StudyArguments) -> Result<Table, Problem> {
    refuse_options_of_runs_alone(&arguments.options)?;
    let mut options = table(&arguments.options)?;
    for (key, number) in [("age", arguments.age), ("fullness", arguments.fullness)] {
        options.extend(number.map(|number| (key.to_owned(), Value::Integer(number.into()))));
    }
    Ok(options)
}

/// Parses `OPTION=VALUES` into the name of the option and its values.
fn axis(word: &str) -> Result<(&str, Value), Problem> {
    let Some((name, values)) = word.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        return refuse(format_args!(
            "invalid value '{word}' for --axis: expected OPTION=VALUE,VALUE, like workers=1,4"
        ));
    };
    let command = Options::augment_args(clap::Command::new("study"));
    let mut known: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).collect();
    known.retain(|known| Options::of_runs_alone().iter().all(|alone| alone != known));
    known.extend(["age", "fullness"]);
    if ["kernel", "kernels", "firmware"].contains(&name) {
        return refuse(format_args!(
            "--axis {name} is not possible, because a study runs on one {}: measure each in a side \
             of its own, with --side NAME --block N ('postmark help kernel')",
            name.trim_end_matches('s')
        ));
    }
    if !known.contains(&name) {
        let meant = similar(name, known);
        let meant = meant.map_or_else(
            || "'postmark study --help' lists all".to_owned(),
            |meant| {
                format!(
                    "did you mean '{meant}'? --axis {meant}={values} for several values, --{meant} \
                     VALUE for one"
                )
            },
        );
        return refuse(format_args!("unknown option '{name}' for --axis ({meant})"));
    }
    let values = values.split(',').map(value).collect();
    Ok((name, Value::Array(values)))
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

/// The differences between two study files, such as `files: 100 there, 200 here`. The number of
/// blocks is ignored, because blocks can be added to a study.
pub fn differences(there: &str, here: &str) -> Vec<String> {
    let keys = |text: &str| {
        let table: Table = spec::read_toml(text).unwrap_or_default();
        let mut keys = BTreeMap::new();
        add_keys(&mut keys, "", &Value::Table(table));
        keys.remove("blocks");
        keys
    };
    let (there, here) = (keys(there), keys(here));
    let all: BTreeSet<&String> = there.keys().chain(here.keys()).collect();
    let value = |of: Option<&String>| of.map_or("not given", String::as_str).to_owned();
    all.into_iter()
        .map(|key| (key, there.get(key), here.get(key)))
        .filter(|(_, there, here)| there != here)
        .map(|(key, there, here)| format!("{key}: {} there, {} here", value(there), value(here)))
        .collect()
}

/// Adds the keys of a TOML value with their values as text. The keys of the only workload have no
/// prefix.
fn add_keys(keys: &mut BTreeMap<String, String>, path: &str, value: &Value) {
    let below = |key: &str| match path {
        "" | "workload" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                add_keys(keys, &below(key), value);
            }
        }
        Value::Array(values) => match &values[..] {
            [only] => add_keys(keys, path, only),
            values => {
                for (number, value) in (1..).zip(values) {
                    add_keys(keys, &format!("{path} {number}"), value);
                }
            }
        },
        Value::String(text) => drop(keys.insert(path.to_owned(), text.clone())),
        value => drop(keys.insert(path.to_owned(), value.to_string())),
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
        _ => absolute(Path::new(at))?,
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

/// Returns the absolute path of a directory as text.
///
/// # Errors
/// Returns an error if the working directory is not available, or the path is not UTF-8.
pub fn absolute(directory: &Path) -> Result<String, Problem> {
    let path = std::path::absolute(directory).map_err(|cause| {
        let directory = sanitize::path(directory);
        Problem::refused(format!("cannot find the target '{directory}': {cause}"))
    })?;
    path.into_os_string()
        .into_string()
        .map_err(|path| campaign::run_spec::no_text(Path::new(&path)))
}
