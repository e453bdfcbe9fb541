//! The program `postmark`: parses the command line and performs the command.
//!
//! [`args`] defines the command line for clap. [`commands`] contains a module for each command, and
//! one for the classic prompt. [`ui`] handles the terminal: progress, signals, output and error
//! messages.

// Only `main.rs` imports this crate, so public items need no doc comments.
#![allow(missing_docs)]

pub mod args;
pub mod commands;
pub mod ui;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use campaign::ErrorForm;
use campaign::ranks::Launched;
use clap::error::ErrorKind;
use document::sanitize;

use args::{Command, CommandLine, Topic};
use commands::classic::{self, runner::PromptRunner};
use commands::{
    archive, check, clean, collect, compare, crash, engines, help, history, learn, manual, observe,
    plan, presets, published, run, site, study, verify_log,
};
use ui::problem::{Problem, print, tell, tell_problem};
use ui::watchdog_process::Side;
use ui::{limits, perform, problem, refused, signals, width};

/// The JSON schemas that `postmark schema` prints. A test of the crate `schema` compares the files
/// with the Rust types of a record and of a result of crash rounds.
const SCHEMA_OF_RUNS: &str = include_str!("../../../docs/schema/run-1.json");
const SCHEMA_OF_CRASHES: &str = include_str!("../../../docs/schema/crash-1.json");

pub fn main() -> ExitCode {
    if let Err(why) = limits::check() {
        tell(why);
        return ExitCode::from(problem::WRONG);
    }
    unlimited()
}

/// Performs the command, after [`limits::check`] has passed. The function is never inlined:
/// otherwise its stack frame could exceed a small stack limit before the check.
#[inline(never)]
fn unlimited() -> ExitCode {
    signals::outlive_size_limit();
    let side = Side::of_this_process();
    let code = program(&side);
    side.tell(code);
    ExitCode::from(code)
}

/// Whether a first argument is probably a mistyped command. It is then neither a command nor an
/// option, and it is the name of a directory or of no file. Without this check, the classic prompt
/// would start with the word as its configuration file.
fn is_mistyped(word: &Path) -> bool {
    let is_option = word.as_os_str().as_encoded_bytes().starts_with(b"-");
    let is_missing = |error: std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    !word.as_os_str().is_empty()
        && !is_option
        && args::command().find_subcommand(word).is_none()
        && (word.symlink_metadata().is_err_and(is_missing) || word.is_dir())
}

/// The command that a mistyped word probably means: the run of a preset, the help about a topic, or
/// the command whose name is most similar; `None` if no name is similar.
fn meant_command(word: &str) -> Option<String> {
    if presets::is_preset(word) {
        return Some(format!("run --preset {word}"));
    }
    if Topic::find(word).is_some() {
        return Some(format!("help {word}"));
    }
    let command = args::command();
    args::command_meant(word, command.get_subcommands().map(clap::Command::get_name))
}

fn refuse_mistyped(word: &Path) -> u8 {
    let word = sanitize::path(word);
    let mut command = args::command();
    let meant = meant_command(&word);
    let meant = meant.map_or_else(String::new, |meant| {
        format!(" (did you mean 'postmark {meant}'?)")
    });
    let told = format!("'{word}' is neither a command nor a classic configuration file{meant}");
    refused::refuse(command.error(ErrorKind::InvalidSubcommand, told))
}

/// Reports why clap rejected the command line. Returns the exit status.
fn refuse_unparsed(error: clap::Error) -> u8 {
    if let Some(launched) = Launched::here().filter(|launched| !launched.is_first()) {
        // Rank 0 reports the error for all ranks, so this rank prints nothing.
        return match error.use_stderr() {
            true => launched.refuse(Problem::refused("")).code,
            false => 0,
        };
    }
    // clap parses a mistyped command as the name of a configuration file, and then rejects the
    // options after it. The message must be about the mistyped command instead.
    let first = std::env::args_os().nth(1).map(PathBuf::from);
    let is_of_rest =
        [ErrorKind::UnknownArgument, ErrorKind::ArgumentConflict].contains(&error.kind());
    let mistyped = first.filter(|word| is_of_rest && is_mistyped(word));
    mistyped.map_or_else(|| refused::refuse(error), |word| refuse_mistyped(&word))
}

/// Refuses a configuration file whose name is that of a command or similar to one. Returns the exit
/// status, or `None` if the file is accepted.
fn refuse_file(file: Option<&Path>) -> Option<u8> {
    let file = file?;
    if let Some(command) = args::command().find_subcommand(file) {
        let name = command.get_name();
        let told = format!(
            "options of '{name}' must follow it: options before it are those of the classic \
             prompt (write ./{name} for a file with this name)"
        );
        let error = args::command().error(ErrorKind::ArgumentConflict, told);
        return Some(refused::refuse(error));
    }
    // The prompt ignores a missing configuration file, as the original PostMark does. So a missing
    // file is refused only if its name resembles a command. A directory is always refused.
    let resembles = |word: &str| !word.contains(['/', '.']) && meant_command(word).is_some();
    let is_misspelt = is_mistyped(file) && (file.is_dir() || resembles(&sanitize::path(file)));
    is_misspelt.then(|| refuse_mistyped(file))
}

/// Wraps help to the width of all screens.
fn sized(command: clap::Command) -> clap::Command {
    args::groups::of_width(command, width::of_screens())
}

/// If `error` is a request for help with `-h`, returns the short help of the command that the first
/// arguments name. Otherwise returns `error` unchanged.
fn short_help(error: clap::Error) -> clap::Error {
    let mut words = std::env::args_os();
    let is_long = std::env::args_os().any(|word| word == "--help");
    if error.kind() != ErrorKind::DisplayHelp || is_long {
        return error;
    }
    let command = sized(args::short::short(args::command()));
    let mut path = vec![words.next().unwrap_or_default()];
    let mut at = &command;
    while let Some((word, below)) = words.next().and_then(|word| {
        let below = at.find_subcommand(&word)?;
        Some((word, below))
    }) {
        path.push(word);
        at = below;
    }
    path.push("-h".into());
    let command = command.clone();
    command.try_get_matches_from(path).err().unwrap_or(error)
}

/// Parses the command line and performs the command. Returns the exit status.
fn program(side: &Side) -> u8 {
    let command = sized(args::command());
    let parsed = command.try_get_matches();
    let said = match parsed.and_then(|matches| CommandLine::read(&matches)) {
        Ok(said) => said,
        Err(error) => return refuse_unparsed(short_help(error)),
    };
    if let Some(code) = refuse_file(said.file.as_deref()) {
        return code;
    }
    let words: Vec<String> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let is_run = matches!(said.command, Some(Command::Run(_) | Command::Replay(_)));
    let is_for_ranks = is_run || matches!(said.command, Some(Command::Study(_)));
    if let Some(launched) = Launched::here() {
        let why = match is_for_ranks {
            true => ranks_mpi::CONNECT
                .is_none()
                .then(|| launched.refuse_without_mpi()),
            false => Some(launched.refuse_command()),
        };
        if let Some(why) = why {
            tell_problem(&why);
            return why.code;
        }
    }
    let Some(command) = said.command else {
        return prompt(&said, words, side);
    };
    let result = perform_command(command, words, side);
    match result {
        Ok(code) => code,
        // If standard output is a closed pipe, the report of a run is lost, which is an error.
        // Other commands can simply be repeated, so they exit with 0.
        Err(problem) if !is_run && problem.form == ErrorForm::ClosedPipe => 0,
        Err(problem) => {
            tell_problem(&problem);
            problem.code
        }
    }
}

/// Starts the classic prompt, or performs the commands of a configuration file.
fn prompt(said: &CommandLine, words: Vec<String>, side: &Side) -> u8 {
    // At a terminal the session stays in this process, because the user sees if the session hangs.
    // A second process would be in the background and could not read from the terminal.
    let apart = if std::io::stdin().is_terminal() {
        None
    } else {
        side.instead_of_session()
    };
    if let Some(code) = apart {
        return code;
    }
    let mut runner = PromptRunner::new(perform::perform, words);
    runner.room_check = !said.no_space_check;
    runner.trusts_others = said.allow_unsafe_target;
    classic::start(
        said.compat.unwrap_or_default(),
        said.file.as_deref(),
        &mut runner,
    )
}

fn perform_command(command: Command, words: Vec<String>, side: &Side) -> Result<u8, Problem> {
    match command {
        Command::Run(arguments) => run::run(arguments, words, side),
        Command::Replay(arguments) => run::run(arguments.into_run(), words, side),
        Command::Plan(arguments) => plan::plan(arguments),
        Command::Study(arguments) => study::study(arguments, words, side),
        Command::Presets(arguments) => presets::show(&arguments),
        Command::Engines(said) => engines::list(said.format),
        Command::List(arguments) => archive::list(&arguments),
        Command::Show(arguments) => archive::show(&arguments, &run::resolve),
        Command::Report(arguments) => archive::report(&arguments),
        Command::Tag(arguments) => archive::tag(&arguments),
        Command::Note(arguments) => archive::note(&arguments),
        Command::Delete(arguments) => archive::delete(&arguments),
        Command::Export(arguments) => archive::export(&arguments),
        Command::Import(arguments) => archive::import(&arguments, &run::resolve),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Gate(arguments) => compare::gate(&arguments),
        Command::History(arguments) => history::history(&arguments),
        Command::Schema { document } => {
            let is_of_crashes = document == "crash";
            let schema = if is_of_crashes {
                SCHEMA_OF_CRASHES
            } else {
                SCHEMA_OF_RUNS
            };
            print(schema).map(|()| 0)
        }
        Command::Published(arguments) => published::published(&arguments),
        Command::Site(arguments) => site::site(&arguments),
        Command::Clean(arguments) => clean::clean(&arguments.paths, side),
        Command::VerifyLog(arguments) => verify_log::verify_log(&arguments, side),
        Command::Crash(arguments) => crash::crash(&arguments, side),
        Command::Collect(arguments) => collect::collect(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Observe(arguments) => observe::observe(&arguments),
        Command::Learn(arguments) => learn::learn(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments),
        Command::Man(arguments) => manual::man(&arguments),
        Command::Help(arguments) => help::help(&arguments),
    }
}
