//! `postmark man` and `postmark completions`: manual pages and completions of shells, made from the
//! table of options.
//!
//! A command is a page. The table has its name, synopsis and options; what the table does not have
//! stands here: examples, exit status, environment and files.

use std::fs;
use std::path::Path;
use std::time::Duration;

use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::aot::{self, generate};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use workload::presets;

use crate::args::{self, CompletionsArguments, ManArguments, Shell};
use crate::commands::run_spec::error::SpecError;
use crate::commands::run_spec::machine;
use crate::ui::output::Outputs;
use crate::ui::problem::{Problem, print};

/// How long a page's file system may take.
const WRITTEN_WITHIN: Duration = Duration::from_secs(60);

const SECTION: &str = "1";

/// Prints the completions of a shell.
///
/// # Errors
/// Where they cannot be delivered.
pub fn completions(arguments: &CompletionsArguments) -> Result<u8, Problem> {
    let mut command = args::command();
    for name in ["run", "plan"] {
        // Only here: a name that is wrong is refused with the nearest one.
        command = command.mut_subcommand(name, |command| {
            let names = presets::all(&machine())
                .into_iter()
                .map(|preset| preset.name);
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

/// Prints the manual page, or writes the pages of all commands.
///
/// # Errors
/// Where a page exists and is not to be written over, or cannot be written.
pub fn man(arguments: &ManArguments) -> Result<u8, Problem> {
    let mut pages = pages()?;
    let Some(directory) = &arguments.directory else {
        return print(&pages.swap_remove(0).text).map(|()| 0);
    };
    fs::create_dir_all(directory).map_err(|cause| failed(directory, cause))?;
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

/// What messages call a file of `man`.
const PAGE: &str = "manual page";

fn failed(path: &Path, cause: std::io::Error) -> SpecError {
    SpecError::Output {
        option: PAGE,
        path: path.to_owned(),
        cause,
    }
}

/// A manual page.
struct Page {
    file: String,
    text: String,
}

/// The page of the program, then those of its commands.
fn pages() -> Result<Vec<Page>, Problem> {
    let mut command = args::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    add(&command, &mut pages).map_err(|cause| Problem::Report {
        to: "manual page".to_owned(),
        cause,
    })?;
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
    // All options, also those that the short help leaves out.
    let table = Man::new(
        command
            .clone()
            .mut_args(|argument| argument.hide_short_help(false)),
    );
    let mut page = head(command, name).to_roff().into_bytes();
    table.render_options_section(&mut page)?;
    if command.has_subcommands() {
        table.render_subcommands_section(&mut page)?;
    }
    let mut rest = Roff::new();
    examples(&mut rest, name);
    tagged(&mut rest, "EXIT STATUS", exit_statuses(name));
    tagged(&mut rest, "ENVIRONMENT", &ENVIRONMENT);
    tagged(&mut rest, "FILES", &FILES);
    see_also(&mut rest, name);
    page.extend(rest.to_roff().into_bytes());
    Ok(format!("{TITLE_MACROS}{}", String::from_utf8_lossy(&page)))
}

/// What roff needs before the first text with an apostrophe, as the library writes it.
const TITLE_MACROS: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";

/// Title, name, synopsis and description.
fn head(command: &Command, name: &str) -> Roff {
    let mut page = Roff::new();
    let version = concat!("postmark ", env!("CARGO_PKG_VERSION"));
    let title = name.to_uppercase();
    // No date: the same program has the same pages.
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

/// A section of terms with a paragraph each.
fn tagged(page: &mut Roff, title: &str, items: &[(&str, &str)]) {
    page.control("SH", [title]);
    for (term, meaning) in items {
        page.control("TP", []);
        page.text([bold(*term)]);
        page.text([roman(*meaning)]);
    }
}

fn examples(page: &mut Roff, name: &str) {
    let Some((_, examples)) = EXAMPLES.iter().find(|(of, _)| *of == name) else {
        return;
    };
    page.control("SH", ["EXAMPLES"]);
    for (what, command) in *examples {
        page.control("PP", []);
        page.text([roman(*what)]);
        page.control("PP", []);
        page.control("EX", []);
        page.text([roman(*command)]);
        page.control("EE", []);
    }
}

fn see_also(page: &mut Roff, name: &str) {
    page.control("SH", ["SEE ALSO"]);
    let program = [bold("postmark"), roman("(1), ")];
    let program = program.into_iter().filter(|_| name != "postmark");
    let manuals = roman(
        "the guide and the specification, in /usr/share/doc/postmark-rs or in the directory docs \
         of the sources",
    );
    page.text(program.chain([manuals]).collect::<Vec<_>>());
}

/// What a command does in an example, and the command; by page.
const EXAMPLES: [(&str, &[(&str, &str)]); 12] = [
    (
        "postmark",
        &[
            (
                "Measure a mail server's workload for one minute:",
                "postmark run --preset mail --for 60s --target /mnt/disk",
            ),
            (
                "Show the last run with all its numbers:",
                "postmark show last --full",
            ),
            (
                "Run a script of the classic prompt:",
                "printf 'set location /mnt/disk\\nset number 20000\\nrun\\nquit\\n' | postmark",
            ),
        ],
    ),
    (
        "postmark-run",
        &[
            (
                "Measure a mail server's workload for one minute:",
                "postmark run --preset mail --for 60s --target /mnt/disk",
            ),
            (
                "Four workers with private pools:",
                "postmark run --files 20k --transactions 100k --workers 4 --target /mnt/disk",
            ),
            (
                "Find the highest rate with a 99th percentile below 10 ms:",
                "postmark run --preset mail --sweep auto --slo 'p99<10ms' --target /mnt/disk",
            ),
            (
                "Write the record as JSON, and fail if the verdict is INVALID:",
                "postmark run --preset varmail --for 30s --strict --format json --output \
                 result.json --target /mnt/disk",
            ),
            (
                "Measure an NFS server without a mount, with eight operations in flight:",
                "postmark run --preset mail --depth 8 --for 60s --target nfs://server/export",
            ),
            (
                "Repeat an archived run on another target:",
                "postmark run --like last --target /mnt/disk",
            ),
        ],
    ),
    (
        "postmark-plan",
        &[
            (
                "Show what a run would do, and how much room it needs:",
                "postmark plan --preset mail --target /mnt/disk",
            ),
            (
                "Write a configuration file:",
                "postmark plan --preset mail --workers 4 --format toml",
            ),
        ],
    ),
    (
        "postmark-list",
        &[(
            "List the runs of one preset in the last seven days:",
            "postmark list --preset mail --since 7d",
        )],
    ),
    (
        "postmark-show",
        &[(
            "Show the last run with all its numbers:",
            "postmark show last --full",
        )],
    ),
    (
        "postmark-tag",
        &[("Tag the last run:", "postmark tag last baseline")],
    ),
    (
        "postmark-note",
        &[(
            "Note what was special about the last run:",
            "postmark note last 'new disk, scheduler none'",
        )],
    ),
    (
        "postmark-export",
        &[(
            "Write the last run for another machine:",
            "postmark export last --output last.json",
        )],
    ),
    (
        "postmark-import",
        &[(
            "Add the runs of another machine:",
            "postmark import last.json",
        )],
    ),
    (
        "postmark-clean",
        &[
            ("Remove what a killed run left:", "postmark clean /mnt/disk"),
            (
                "The same on an NFS server without a mount:",
                "postmark clean nfs://server/export",
            ),
            (
                "Remove the file systems of a killed study, by the directory of their images:",
                "postmark clean /mnt/images",
            ),
        ],
    ),
    (
        "postmark-completions",
        &[
            (
                "Completions for bash, from the next session on:",
                "postmark completions bash > postmark.bash",
            ),
            (
                "Completions for fish:",
                "postmark completions fish > postmark.fish",
            ),
            (
                "Completions for zsh, in a directory of fpath:",
                "postmark completions zsh > _postmark",
            ),
        ],
    ),
    ("postmark-man", &[("Write all pages:", "postmark man man1")]),
];

const DONE: (&str, &str) = ("0", "The command did what it was asked to do.");
const REFUSED: (&str, &str) = (
    "2",
    "The options are invalid, or the command was refused. Nothing was touched.",
);
const SIGNAL: (&str, &str) = (
    "128 + n",
    "Signal n ended the run. What the run made is removed.",
);

/// The exit statuses of a command, each with its meaning.
fn exit_statuses(name: &str) -> &'static [(&'static str, &'static str)] {
    match name {
        "postmark" => &[
            ("0", "All runs of the session were performed to their end."),
            ("1", "A run failed, or standard input or output failed."),
            REFUSED,
            SIGNAL,
        ],
        "postmark-run" => &[
            (
                "0",
                "The run completed, with no more errors than --on-error allows.",
            ),
            (
                "1",
                "The run failed, files of the run are left, or the report, or the record for an \
                 archive that was requested, could not be written.",
            ),
            REFUSED,
            (
                "3",
                "With --strict: the run completed, and its verdict is INVALID.",
            ),
            SIGNAL,
        ],
        "postmark-clean" => &[
            (
                "0",
                "No file of a killed run and no file system of a killed study is left.",
            ),
            (
                "1",
                "A directory could not be cleaned, or something is left. A message names it.",
            ),
            ("2", "The options are invalid. Nothing was touched."),
        ],
        "postmark-verify-log" => &[
            ("0", "Every acknowledged operation is there."),
            (
                "1",
                "Something acknowledged is lost, or the answer could not be written.",
            ),
            (
                "2",
                "The options are invalid, or the acknowledgement log proves nothing. A message \
                 says why.",
            ),
        ],
        "postmark-import" => &[
            ("0", "Everything was imported or was there."),
            (
                "1",
                "Something could not be imported, or the answer could not be written.",
            ),
            REFUSED,
        ],
        _ => &[DONE, ("1", "The output could not be written."), REFUSED],
    }
}

const ENVIRONMENT: [(&str, &str); 8] = [
    (
        "POSTMARK_ARCHIVE",
        "The archive of runs, or none for no archive. The option --archive has precedence.",
    ),
    (
        "XDG_DATA_HOME",
        "The directory that has postmark/archive.db where no archive is named.",
    ),
    (
        "HOME",
        "The user's home directory, which has .local/share/postmark/archive.db where \
         XDG_DATA_HOME is not set. Where HOME is not set either, the home directory is that of \
         the user database.",
    ),
    (
        "SUDO_UID, SUDO_GID",
        "Under sudo, the archive is that of the user who called sudo.",
    ),
    (
        "NO_COLOR",
        "If it is not empty, help and reports have no colour.",
    ),
    (
        "TERM",
        "Where it is not set, or dumb, the prompt has no line editing, and nothing is drawn on \
         the terminal.",
    ),
    (
        "CLICOLOR_FORCE",
        "If it is set and not 0, help and reports have colour also in files and pipes.",
    ),
    (
        "COLUMNS",
        "The width of the terminal, in place of what the terminal reports.",
    ),
];

const FILES: [(&str, &str); 6] = [
    ("~/.local/share/postmark/archive.db", "The archive of runs."),
    (
        "~/.local/share/postmark/archive.db.pending-*.json",
        "A record that the archive did not take. The next command that writes to the archive adds \
         it.",
    ),
    (
        "postmark-SECOND-PROCESS-N",
        "The run directory below a target. A run makes it and removes it.",
    ),
    (
        ".postmark-manifest.json",
        "The manifest in a run directory: what postmark clean removes after a kill.",
    ),
    (
        "postmark-made-SECOND-PROCESS-N",
        "The directory of a file system that a study makes: manifest, images, saved states, mount.",
    ),
    (
        "/dev/shm/postmark-UID-PROCESS-TIME",
        "The run's last sign of life. It is removed with the manifest.",
    ),
];
