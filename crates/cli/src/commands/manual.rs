//! `postmark man` and `postmark completions`: manual pages and shell completions, generated from
//! the command line's definition.
//!
//! Each command has a manual page. Name, synopsis and options come from the definition of the
//! command line; examples, exit status, environment and files come from `manual.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::io::IsTerminal as _;
use std::time::Duration;

use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::aot::{self, generate};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use serde::Deserialize;
use workload::presets;

use crate::args::{self, CompletionsArguments, ManArguments, Shell, Topic};
use crate::ui::output::{Outputs, unwritable};
use crate::ui::problem::{Problem, print, refuse, tell};

/// Time limit for writing a page, because its file system may hang.
const WRITTEN_WITHIN: Duration = Duration::from_secs(60);

const SECTION: &str = "1";

/// Prints the completion script for a shell. It also completes the names of presets.
///
/// # Errors
/// Returns an error if the completions cannot be written.
pub fn completions(arguments: &CompletionsArguments) -> Result<u8, Problem> {
    let mut command = args::command();
    for name in ["run", "plan"] {
        // Only completions list the preset names. If clap checked preset names elsewhere, its error
        // would replace the message that suggests the most similar preset.
        command = command.mut_subcommand(name, |command| {
            let names = presets::all().into_iter().map(|preset| preset.name);
            command.mut_arg("preset", |preset| {
                preset.value_parser(PossibleValuesParser::new(names))
            })
        });
    }
    let mut script = Vec::new();
    let name = command.get_name().to_owned();
    let shell = match arguments.shell {
        Shell::Bash => aot::Shell::Bash,
        Shell::Fish => aot::Shell::Fish,
        Shell::Zsh => aot::Shell::Zsh,
    };
    generate(shell, &mut command, name, &mut script);
    print(&String::from_utf8_lossy(&script)).map(|()| 0)
}

/// Prints the manual page of a command, or writes the pages of all commands to a directory.
///
/// # Errors
/// Returns an error if there is no such command, if a page cannot be written, or if a page exists
/// and `--force` is missing.
pub fn man(arguments: &ManArguments) -> Result<u8, Problem> {
    let pages = pages()?;
    let Some(directory) = &arguments.output else {
        return show(&pages, &arguments.words).map(|()| 0);
    };
    fs::create_dir_all(directory).map_err(|cause| unwritable(PAGE, directory, &cause))?;
    let mut outputs = Outputs::new(arguments.force, None, &[])?;
    for page in &pages {
        outputs.judge(PAGE, &directory.join(&page.file))?;
    }
    for page in pages {
        let output = outputs.open(PAGE, &directory.join(page.file))?;
        output.write(&page.text, WRITTEN_WITHIN)?;
    }
    Ok(0)
}

/// Prints the page of a command, in the format that man(1) reads. If standard output is a terminal,
/// a note names the program that displays the page.
fn show(pages: &[Page], words: &[String]) -> Result<(), Problem> {
    let name: Vec<&str> = ["postmark"]
        .into_iter()
        .chain(words.iter().map(String::as_str))
        .collect();
    let file = format!("{}.{SECTION}", name.join("-"));
    let Some(page) = pages.iter().find(|page| page.file == file) else {
        return no_command(&words.join(" "));
    };
    print(&page.text)?;
    if std::io::stdout().is_terminal() {
        let words = [&["postmark", "man"], &name[1..]].concat().join(" ");
        tell(format_args!(
            "this is the source of a manual page ({words} | man -l - shows it)"
        ));
    }
    Ok(())
}

fn no_command(words: &str) -> Result<(), Problem> {
    if Topic::find(words).is_some() {
        return refuse(format_args!(
            "'{words}' is a topic of the help, without a manual page (use postmark help {words})"
        ));
    }
    refuse(format_args!(
        "cannot print the manual page of '{words}': there is no such command (commands: {}; to \
         write all pages to a directory, use postmark man --output DIR)",
        args::command_names()
    ))
}

/// Error messages about an output file contain this text in place of the name of an option.
const PAGE: &str = "manual page";

/// A term and its explanation, or the purpose of an example and its command.
type Item = (String, String);

/// The contents of `manual.toml`: the sections of the manual page that cannot be derived from the
/// definition of the command line.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Told {
    environment: Vec<Item>,
    files: Vec<Item>,
    exit_status: BTreeMap<String, Vec<Item>>,
    examples: BTreeMap<String, Vec<Item>>,
}

impl Told {
    fn read() -> Self {
        toml::from_str(include_str!("manual.toml")).expect("our own file is read by a test")
    }
}

struct Page {
    file: String,
    text: String,
}

/// The manual page of `postmark`, followed by the pages of its commands.
fn pages() -> Result<Vec<Page>, Problem> {
    let mut command = args::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    add(&command, &mut pages).map_err(|cause| Problem::undelivered(PAGE, &cause))?;
    Ok(pages)
}

fn add(command: &Command, pages: &mut Vec<Page>) -> std::io::Result<()> {
    let name = command
        .get_display_name()
        .unwrap_or_else(|| command.get_name())
        .to_owned();
    pages.push(Page {
        file: format!("{name}.{SECTION}"),
        text: text(command, &name)?,
    });
    for command in command.get_subcommands() {
        add(command, pages)?;
    }
    Ok(())
}

fn text(command: &Command, name: &str) -> std::io::Result<String> {
    // Removes the headings of the help, so that the manual page has a single section of options.
    let table = Man::new(
        command
            .clone()
            .mut_args(|argument| argument.help_heading(None::<&'static str>)),
    );
    let mut page = head(command, name).to_roff().into_bytes();
    table.render_options_section(&mut page)?;
    if command.has_subcommands() {
        table.render_subcommands_section(&mut page)?;
    }
    let mut rest = Roff::new();
    let told = Told::read();
    examples(&mut rest, told.examples.get(name));
    let statuses = told.exit_status.get(name);
    let statuses = statuses.unwrap_or(&told.exit_status["default"]);
    tagged(&mut rest, "EXIT STATUS", statuses);
    tagged(&mut rest, "ENVIRONMENT", &told.environment);
    tagged(&mut rest, "FILES", &told.files);
    see_also(&mut rest, name);
    page.extend(rest.to_roff().into_bytes());
    Ok(format!("{TITLE_MACROS}{}", String::from_utf8_lossy(&page)))
}

/// Defines the apostrophe for roff. clap_mangen also writes this definition, but only with the
/// title section, which `head` replaces.
const TITLE_MACROS: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";

/// The first sections of a page: title, name, synopsis and description.
fn head(command: &Command, name: &str) -> Roff {
    let mut page = Roff::new();
    let version = concat!("postmark ", env!("CARGO_PKG_VERSION"));
    let title = name.to_uppercase();
    // The title contains no date, so that the same sources always result in the same pages.
    page.control(
        "TH",
        [title.as_str(), SECTION, " ", version, "User Commands"],
    );
    let about = command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    page.control("SH", ["NAME"]);
    page.text([roman(format!("{name} - {about}"))]);
    page.control("SH", ["SYNOPSIS"]);
    let usage = command.clone().render_usage().to_string();
    for line in usage.trim_start_matches("Usage:").lines() {
        page.text([bold(line.trim())]);
        page.control("br", []);
    }
    page.control("SH", ["DESCRIPTION"]);
    let description = command.get_long_about().map_or(about, ToString::to_string);
    page.text([roman(format!("{}.", description.trim_end_matches('.')))]);
    if let Some(more) = command.get_after_long_help().or(command.get_after_help()) {
        page.control("PP", []);
        page.text([roman(more.to_string())]);
    }
    page
}

/// A section that lists terms, each with a paragraph of explanation.
fn tagged(page: &mut Roff, title: &str, items: &[Item]) {
    page.control("SH", [title]);
    for (term, meaning) in items {
        page.control("TP", []);
        page.text([bold(term)]);
        page.text([roman(meaning)]);
    }
}

fn examples(page: &mut Roff, examples: Option<&Vec<Item>>) {
    let Some(examples) = examples else {
        return;
    };
    page.control("SH", ["EXAMPLES"]);
    for (what, command) in examples {
        page.control("PP", []);
        page.text([roman(what)]);
        page.control("PP", []);
        page.control("EX", []);
        page.text([roman(command)]);
        page.control("EE", []);
    }
}

fn see_also(page: &mut Roff, name: &str) {
    page.control("SH", ["SEE ALSO"]);
    let program = [bold("postmark"), roman("(1), ")];
    let program = program.into_iter().filter(|_| name != "postmark");
    let manuals = roman(
        "the book, in /usr/share/doc/postmark-rs/book or in the directory docs of the sources",
    );
    page.text(program.chain([manuals]).collect::<Vec<_>>());
}
