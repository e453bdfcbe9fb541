//! Error messages for rejected command lines: what is wrong, and the correct form. Arguments are
//! sanitized, so the message contains no terminal escape sequences from them.

use std::error::Error;
use std::path::PathBuf;

use crate::commands::presets;
use clap::Args as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use document::sanitize::sanitize;
use spec::Options;

use crate::args::similar::called_here;
use crate::ui::problem::complain;

/// Prints the error of clap, or the help or version that the user requested. Returns the exit
/// status.
pub fn refuse(mut error: clap::Error) -> u8 {
    if !error.use_stderr() {
        // Help and version contain no text from the command line, so they need no sanitizing.
        error.exit();
    }
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let way_out = way_out(&error, &words);
    let said: Vec<(ContextKind, ContextValue)> = error
        .context()
        .filter_map(|(kind, value)| Some((kind, shown(value)?)))
        .collect();
    for (kind, value) in said {
        error.insert(kind, value);
    }
    let mut told = what(&error);
    if let Some(way_out) = way_out {
        told.push_str(&format!(" ({})", sanitize(&way_out)));
    }
    complain(&told);
    u8::try_from(error.exit_code()).unwrap_or(2)
}

/// The cause of the error, worded as in all error messages of this program, for example `invalid
/// value 'x' for --files: …`.
fn what(error: &clap::Error) -> String {
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    // clap reports an option together with its placeholder, as in `--target <PATH>`. The message
    // needs only the name.
    let option = of(ContextKind::InvalidArg).unwrap_or_default();
    let name = option.split(' ').next().unwrap_or_default();
    let value = of(ContextKind::InvalidValue).unwrap_or_default();
    match (error.kind(), error.source()) {
        (ErrorKind::ValueValidation, Some(cause)) => {
            let cause = sanitize(&cause.to_string()).into_owned();
            let cause = cause.replacen(&format!(" in '{value}'"), "", 1);
            let range = cause.split_once(" is not in ");
            let limits = range.and_then(|(_, range)| range.split_once("..="));
            let cause = limits.map_or(cause.clone(), |(least, most)| {
                format!("expected a whole number from {least} to {most}")
            });
            return format!("invalid value '{value}' for {name}: {cause}");
        }
        (ErrorKind::InvalidValue, _) if !value.is_empty() => {
            if let Some(ContextValue::Strings(valid)) = error.get(ContextKind::ValidValue) {
                return format!(
                    "invalid value '{value}' for {name}: expected {}",
                    alternatives(valid)
                );
            }
        }
        (ErrorKind::UnknownArgument, _) if name.starts_with('-') => {
            return format!("unknown option '{name}'");
        }
        (ErrorKind::UnknownArgument, _) => return format!("unexpected argument '{option}'"),
        _ => {}
    }
    let mut told = plain(&error.render().ansi().to_string());
    if let Some(cause) = error.source().map(ToString::to_string) {
        // The error of the value parser quotes the rejected word. So the text of this error must be
        // sanitized.
        told = told.replace(&cause, &sanitize(&cause));
    }
    let told = told.strip_prefix("error: ").unwrap_or(&told);
    let first = told.split("\n\n").next().unwrap_or_default();
    let line = first.split_whitespace().collect::<Vec<_>>().join(" ");
    match option {
        "" => line,
        option => line.replacen(&format!("'{option}'"), name, 1),
    }
}

fn alternatives(valid: &[String]) -> String {
    match valid {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => valid.concat(),
    }
}

/// Returns how to correct the command line, if that is known.
fn way_out(error: &clap::Error, words: &[String]) -> Option<String> {
    let first = words.first().map_or("", String::as_str);
    match error.kind() {
        ErrorKind::UnknownArgument => {}
        ErrorKind::ValueValidation | ErrorKind::InvalidValue if first == "study" => {
            return several_values(error);
        }
        ErrorKind::ArgumentConflict if first == "study" && is_about_study_file(error) => {
            return study_file(words).map(|file| format!("for a target, use --target {file}"));
        }
        ErrorKind::MissingRequiredArgument => {
            return Some(format!("see 'postmark {first} --help'"));
        }
        _ => return None,
    }
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let mut command = crate::args::command();
    command.build();
    let has = |subcommand: &str, name: &str| {
        let subcommand = command.find_subcommand(subcommand);
        let mut options = subcommand
            .into_iter()
            .flat_map(clap::Command::get_arguments);
        options.any(|option| option.get_long() == Some(name))
    };
    if first.starts_with('-') {
        return Some(match called_here(unknown) {
            _ if has("run", unknown.trim_start_matches('-')) => {
                format!("use 'postmark run {}'", words.join(" "))
            }
            Some(here) if here.starts_with("--") => format!("use 'postmark run {here}'"),
            _ => "see 'postmark --help'".to_owned(),
        });
    }
    let here = match presets::is_preset(unknown) {
        true => Some(format!("--preset {unknown}")),
        false => called_here(unknown),
    };
    if let Some(here) = here {
        match here.strip_prefix("--").map(|here| here.split(' ').next()) {
            Some(Some(name)) if has(first, name) => return Some(format!("use {here}")),
            None if has(first, "preset") => return Some(here),
            _ => {}
        }
    }
    if first == "study" && !unknown.starts_with('-') {
        return Some(format!("for a target, use --target {unknown}"));
    }
    Some(suggestion(error, first))
}

/// Returns the option that a wrong word resembles, or where all options are listed.
fn suggestion(error: &clap::Error, command: &str) -> String {
    match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(alike)) => {
            let name = alike.trim_start_matches('-');
            let several = match command == "study" && is_of_runs(name) {
                true => format!(" For several values: --axis {name}=A,B"),
                false => String::new(),
            };
            format!("did you mean '{alike}'?{several}")
        }
        _ => format!("see 'postmark {command} --help'"),
    }
}

/// Whether a conflict is one between an option and the study file.
fn is_about_study_file(error: &clap::Error) -> bool {
    let is_file = |name: &String| name == "[FILE]";
    [ContextKind::InvalidArg, ContextKind::PriorArg]
        .into_iter()
        .any(|kind| match error.get(kind) {
            Some(ContextValue::String(name)) => is_file(name),
            Some(ContextValue::Strings(names)) => names.iter().any(is_file),
            _ => false,
        })
}

/// The word of a command line that clap takes for the study file; `None` with `--resume`, which
/// needs no target.
fn study_file(words: &[String]) -> Option<String> {
    let program = std::iter::once("postmark").chain(words.iter().map(String::as_str));
    let command = crate::args::command().ignore_errors(true);
    let matches = command.try_get_matches_from(program).ok()?;
    let study = matches.subcommand_matches("study")?;
    if study.contains_id("resume") {
        return None;
    }
    let file = study.try_get_one::<PathBuf>("file").ok().flatten()?;
    Some(file.display().to_string())
}

/// How to give an option several values in a study; `None` if the rejected value has no comma.
fn several_values(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let value = text(ContextKind::InvalidValue).filter(|value| value.contains(','))?;
    let option = text(ContextKind::InvalidArg)?
        .split([' ', '=', '['])
        .next()?;
    let name = option.trim_start_matches('-');
    is_of_runs(name).then(|| format!("for several values: --axis {name}={value}"))
}

/// Whether a name is that of an option of runs, so that a study may give it several values.
fn is_of_runs(name: &str) -> bool {
    let of_runs = Options::augment_args(clap::Command::new("run"));
    of_runs
        .get_arguments()
        .any(|arg| arg.get_long() == Some(name))
}

/// The sanitized form of a value, or `None` if the value contains nothing to sanitize.
fn shown(value: &ContextValue) -> Option<ContextValue> {
    let changed = |text: &String| sanitize(text) != *text;
    match value {
        ContextValue::String(text) if changed(text) => {
            Some(ContextValue::String(sanitize(text).into_owned()))
        }
        ContextValue::Strings(all) if all.iter().any(changed) => Some(ContextValue::Strings(
            all.iter().map(|text| sanitize(text).into_owned()).collect(),
        )),
        _ => None,
    }
}

/// Removes clap's colours. No other escape sequences occur, because the values in the message are
/// sanitized.
fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| {
        plain + part.split_once('m').map_or(part, |(_, behind)| behind)
    })
}
