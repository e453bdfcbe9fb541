//! The page `docs/reference/commands.md`: all commands with their options, generated from the
//! definition of the command line and from `manual.toml`, like the manual pages.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::{Arg, Command};
use cli::args::{self, groups};
use serde::Deserialize;

use crate::{layout, texts};

/// Width of the page's text.
const WIDTH: usize = 98;

const MANUAL: &str = include_str!("../../src/commands/manual.toml");

/// The command whose exit statuses have a page of their own.
const EXIT_STATUS_ELSEWHERE: &str = "postmark run";

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Told {
    environment: Vec<(String, String)>,
    files: Vec<(String, String)>,
    exit_status: BTreeMap<String, Vec<(String, String)>>,
}

/// Text of the help as Markdown: characters that begin an element are escaped.
fn escaped(text: &str) -> String {
    text.replace('<', "&lt;").replace('*', "\\*")
}

/// Wraps a text, with `first` before its first line and `rest` before the others.
fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let (mut lines, mut line, mut is_empty) = (String::new(), first.to_owned(), true);
    for word in text.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines += &format!("{line}\n");
            (line, is_empty) = (rest.to_owned(), true);
        }
        if !is_empty {
            line.push(' ');
        }
        line += word;
        is_empty = false;
    }
    lines + &line + "\n"
}

/// A paragraph of the help. Its indented lines are an example or a list, and stay as they are.
fn paragraph(text: &str, first: &str, rest: &str) -> String {
    let mut found = String::new();
    let mut first = first;
    for lines in text
        .lines()
        .collect::<Vec<_>>()
        .chunk_by(|one, other| one.starts_with(' ') == other.starts_with(' '))
    {
        if !found.is_empty() {
            found.push('\n');
        }
        if lines[0].starts_with(' ') {
            for line in lines {
                writeln!(found, "{rest}    {}", line.trim_end()).unwrap();
            }
        } else {
            found += &wrapped(&escaped(&lines.join(" ")), first, rest);
        }
        first = rest;
    }
    found
}

/// The paragraphs of a help text; the first one follows `first`.
fn paragraphs(text: &str, first: &str, rest: &str) -> String {
    let all = text.split("\n\n").enumerate();
    let all = all.map(|(index, text)| paragraph(text, if index == 0 { first } else { rest }, rest));
    all.collect::<Vec<_>>().join("\n")
}

fn help_of(option: &Arg) -> String {
    let help = option.get_long_help().or_else(|| option.get_help());
    help.map(ToString::to_string).unwrap_or_default()
}

/// The names of an option, with its value.
fn names(option: &Arg, command: &Command) -> String {
    let values = option.get_value_names().unwrap_or_default();
    let takes_value = option.get_action().takes_values();
    let value = match values.first().filter(|_| takes_value) {
        Some(value) => format!(" <{value}>"),
        None => String::new(),
    };
    let Some(long) = option.get_long() else {
        return format!("`{}`", value.trim());
    };
    let mut names = format!("`--{long}{value}`");
    if let Some(short) = option.get_short() {
        names += &format!(", `-{short}`");
    }
    let negative = format!("no-{long}");
    if command
        .get_arguments()
        .any(|option| option.get_long() == Some(&negative))
    {
        names += &format!(", `--{negative}`");
    }
    names
}

/// The default and the possible values, as further paragraphs.
fn values(option: &Arg) -> String {
    let mut found = String::new();
    let possible = option.get_possible_values();
    let possible: Vec<_> = possible.iter().filter(|one| !one.is_hide_set()).collect();
    if option.get_action().takes_values() && possible.iter().any(|one| one.get_help().is_some()) {
        let words = possible.iter().map(|one| match one.get_help() {
            Some(help) => format!("`{}`: {}", one.get_name(), escaped(&help.to_string())),
            None => format!("`{}`", one.get_name()),
        });
        let words: Vec<String> = words.collect();
        found += &format!(
            "\n{}",
            wrapped(&format!("Values: {}.", words.join("; ")), "    ", "    ")
        );
    }
    let defaults = option.get_default_values();
    if option.get_action().takes_values()
        && let Some(default) = defaults.first().and_then(|value| value.to_str())
    {
        found += &format!("\n    Default: `{default}`.\n");
    }
    found
}

/// The same option of `postmark run`, whose text is not repeated.
fn is_of_run(option: &Arg, run: &Command) -> bool {
    option.get_long().is_some()
        && run.get_arguments().any(|other| {
            other.get_long() == option.get_long()
                && help_of(other) == help_of(option)
                && values(other) == values(option)
        })
}

/// The options of a command by their headings, and the names of those that `run` has, too.
fn options(command: &Command, run: &Command) -> (Vec<(String, String)>, Vec<String>) {
    let mut shared = Vec::new();
    let mut headings: Vec<(String, String)> = Vec::new();
    for option in command.get_arguments() {
        let is_negative = option
            .get_long()
            .is_some_and(|long| groups::positive(long, command).is_some());
        if option.is_hide_set() || is_negative || option.get_long() == Some("help") {
            continue;
        }
        if command.get_name() != "run" && is_of_run(option, run) {
            shared.push(names(option, command));
            continue;
        }
        let heading = option.get_help_heading().unwrap_or("Arguments");
        let first = format!("- {}: ", names(option, command));
        let text = paragraphs(&help_of(option), &first, "    ") + &values(option);
        match headings.iter_mut().find(|(found, _)| found == heading) {
            Some((_, found)) => *found += &text,
            None => headings.push((heading.to_owned(), text)),
        }
    }
    headings.sort_by_key(|(heading, _)| groups::HEADINGS.iter().position(|one| one == heading));
    shared.sort_unstable();
    (headings, shared)
}

/// The section of a command, whose words are in `name`, and those of the commands below it.
fn section(command: &Command, name: &str, run: &Command, told: &Told, page: &mut String) {
    writeln!(page, "\n## {name}\n").unwrap();
    let about = command.get_long_about().or_else(|| command.get_about());
    *page += &paragraphs(&about.map(ToString::to_string).unwrap_or_default(), "", "");
    let usage = command.clone().render_usage().to_string();
    page.push('\n');
    for line in usage.trim_start_matches("Usage:").lines() {
        writeln!(page, "    {}", line.trim()).unwrap();
    }
    let (headings, shared) = options(command, run);
    for (heading, text) in headings {
        writeln!(page, "\n**{heading}**\n\n{}", text.trim_end()).unwrap();
    }
    if !shared.is_empty() {
        let list = shared.join(", ");
        let list = format!("As for [postmark run](#postmark-run): {list}.");
        writeln!(page, "\n{}", wrapped(&list, "", "").trim_end()).unwrap();
    }
    let statuses = told.exit_status.get(&name.replace(' ', "-"));
    if let Some(statuses) = statuses.filter(|_| name != EXIT_STATUS_ELSEWHERE) {
        *page += &table("exit status", "meaning", statuses);
    }
    for below in command.get_subcommands() {
        let name = format!("{name} {}", below.get_name());
        section(below, &name, run, told, page);
    }
}

fn table(term: &str, meaning: &str, rows: &[(String, String)]) -> String {
    let rows = rows
        .iter()
        .map(|(term, meaning)| format!("| `{term}` | {} |\n", escaped(meaning)));
    format!(
        "\n| {term} | {meaning} |\n|---|---|\n{}",
        rows.collect::<String>()
    )
}

#[test]
fn page_of_commands_equals_the_command_line() {
    let mut command = args::command().disable_help_subcommand(true);
    command.build();
    let run = command.find_subcommand("run").unwrap().clone();
    let told: Told = toml::from_str(MANUAL).unwrap();
    let mut page = "# Commands and options\n\n<!-- From the definition of the command line: \
                    POSTMARK_WRITE_GOLDEN=1 cargo test -p cli --test all commands_page -->\n\n\
                    `postmark COMMAND --help` prints these texts, and `postmark man` makes manual \
                    pages of them.\n"
        .to_owned();
    section(&command, "postmark", &run, &told, &mut page);
    page += "\n## Environment\n";
    page += &table("variable", "meaning", &told.environment);
    page += "\n## Files\n";
    page += &table("file", "meaning", &told.files);
    texts::assert_kept(&layout::root().join("docs/reference/commands.md"), &page);
}

#[test]
fn examples_in_the_help_stay_as_they_are() {
    let text = paragraph(
        "RUN is one of\nthese:\n  12   its number",
        "- `--like`: ",
        "    ",
    );
    assert_eq!(
        text,
        "- `--like`: RUN is one of these:\n\n          12   its number\n"
    );
}
