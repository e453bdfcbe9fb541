//! The binary `postmark`: reads options, performs the run and shows its report.
//!
//! [`args`] is what clap parses, [`commands`] has a file for each command and a folder for the
//! prompt of the original, [`ui`] is the terminal: progress, signals, printing and problems.

// Nobody imports it: a comment stands where it says more than the name.
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

use args::{Command, CommandLine};
use commands::classic::{self, runner::PromptRunner};
use commands::{
    archive, check, clean, collect, compare, engines, manual, observe, plan, presets, published,
    run, study, verify_log,
};
use ui::problem::{Problem, print, tell, tell_problem};
use ui::watchdog_process::Side;
use ui::{limits, perform, problem, refused, screen, signals};

/// What `postmark schema` prints. The crate `schema` tests that it is what the types say.
const SCHEMA: &str = include_str!("../../../docs/schema/run-1.json");

/// The whole program.
pub fn main() -> ExitCode {
    if let Err(why) = limits::check() {
        tell(why);
        return ExitCode::from(problem::WRONG);
    }
    unlimited()
}

/// What takes more of the stack than [`limits::check`] may.
#[inline(never)]
fn unlimited() -> ExitCode {
    signals::outlive_size_limit();
    let side = Side::of_this_process();
    let code = program(&side);
    side.tell(code);
    ExitCode::from(code)
}

/// Whether a word is neither a command, nor an option, nor a file: the prompt would take what
/// follows for its own commands.
fn is_mistyped(word: &Path) -> bool {
    let is_option = word.as_os_str().as_encoded_bytes().starts_with(b"-");
    let is_missing = |error: std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    !word.as_os_str().is_empty()
        && !is_option
        && args::command().find_subcommand(word).is_none()
        && (word.symlink_metadata().is_err_and(is_missing) || word.is_dir())
}

/// The command that a word was probably meant for.
fn meant_command(word: &str) -> Option<String> {
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

/// Says why the words are no command line.
fn refuse_unparsed(error: clap::Error) -> u8 {
    if let Some(launched) = Launched::here().filter(|launched| !launched.is_first()) {
        // The first one says it.
        return match error.use_stderr() {
            true => launched.refuse(Problem::refused("")).code,
            false => 0,
        };
    }
    // The library takes a mistyped command for the file, and refuses what stands behind it.
    let first = std::env::args_os().nth(1).map(PathBuf::from);
    let is_of_rest =
        [ErrorKind::UnknownArgument, ErrorKind::ArgumentConflict].contains(&error.kind());
    let mistyped = first.filter(|word| is_of_rest && is_mistyped(word));
    mistyped.map_or_else(|| refused::refuse(error), |word| refuse_mistyped(&word))
}

/// Refuses a file that is a command, or probably meant for one.
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
    // A file that is not there is passed over by the prompt, as by the original: only what is
    // certainly none is refused.
    let resembles = |word: &str| !word.contains(['/', '.']) && meant_command(word).is_some();
    let is_misspelt = is_mistyped(file) && (file.is_dir() || resembles(&sanitize::path(file)));
    is_misspelt.then(|| refuse_mistyped(file))
}

/// All that is done, and the exit status.
fn program(side: &Side) -> u8 {
    let columns = screen::width();
    // No wider than where there is no terminal.
    let command =
        args::command().term_width(columns.unwrap_or(document::WIDTH).min(document::WIDTH));
    let parsed = command.try_get_matches();
    let said = match parsed.and_then(|matches| CommandLine::read(&matches)) {
        Ok(said) => said,
        Err(error) => return refuse_unparsed(error),
    };
    if let Some(code) = refuse_file(said.file.as_deref()) {
        return code;
    }
    let words: Vec<String> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let is_run = matches!(said.command, Some(Command::Run(_)));
    let is_for_ranks = is_run || matches!(said.command, Some(Command::Study(_)));
    if let Some(launched) = Launched::here() {
        let why = match is_for_ranks {
            true => launched.not_built().map(|why| launched.refuse(why)),
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
        // The report of a run was to go somewhere; all else can be shown again.
        Err(problem) if !is_run && problem.form == ErrorForm::ClosedPipe => 0,
        Err(problem) => {
            tell_problem(&problem);
            problem.code
        }
    }
}

/// The classic prompt, or the commands in a file.
fn prompt(said: &CommandLine, words: Vec<String>, side: &Side) -> u8 {
    // At a terminal the user sees what goes on, and signals are for who reads from it.
    let apart = if std::io::stdin().is_terminal() {
        None
    } else {
        side.instead_of_session()
    };
    if let Some(code) = apart {
        return code;
    }
    let mut runner = PromptRunner::new(perform::perform, words);
    runner.room_check = !said.no_room_check;
    runner.trusts_others = said.allow_unsafe_target;
    classic::start(
        said.edition.unwrap_or_default(),
        said.file.as_deref(),
        &mut runner,
    )
}

fn perform_command(command: Command, words: Vec<String>, side: &Side) -> Result<u8, Problem> {
    match command {
        Command::Run(arguments) => run::run(arguments, words, side),
        Command::Plan(arguments) => plan::plan(arguments),
        Command::Study(arguments) => study::study(arguments, words, side),
        Command::Presets => presets::list(),
        Command::Engines(said) => engines::list(said.format),
        Command::List(arguments) => archive::list(&arguments),
        Command::Show(arguments) => archive::show(&arguments),
        Command::Report(arguments) => archive::report(&arguments),
        Command::Tag(arguments) => archive::tag(&arguments),
        Command::Note(arguments) => archive::note(&arguments),
        Command::Delete(arguments) => archive::delete(&arguments),
        Command::Export(arguments) => archive::export(&arguments),
        Command::Import(arguments) => archive::import(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Gate(arguments) => compare::gate(&arguments),
        Command::Schema => print(SCHEMA).map(|()| 0),
        Command::Published(arguments) => published::published(&arguments),
        Command::Clean(arguments) => clean::clean(&arguments.paths, side),
        Command::VerifyLog(arguments) => verify_log::verify_log(&arguments, side),
        Command::Collect(arguments) => collect::collect(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Observe(arguments) => observe::observe(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments),
        Command::Man(arguments) => manual::man(&arguments),
    }
}
