//! `postmark run`: performs a run, reports and archives it.

mod archiving;
pub mod delivery;
mod in_ranks;
mod preparation;
mod ready;
mod repeat;

use std::ops::ControlFlow;
use std::path::PathBuf;

use document::Format;
use record::Record;
use runner::RunSpec;

use crate::args::{self, Command, CommandLine, RunArguments};
use crate::commands::run::ready::{Ready, understand};
use crate::ui::output::is_standard_output;
use crate::ui::perform::Signals;
use crate::ui::problem::{Problem, refuse};
use crate::ui::watchdog_process::Side;
use campaign::input::Input;
use campaign::ranks::Launched;
use campaign::run_spec::{self};

/// Performs and reports the run. Returns the exit status.
///
/// # Errors
/// Returns an error if the options are invalid, the run is refused, or the report cannot be
/// written.
pub fn run(mut arguments: RunArguments, words: Vec<String>, side: &Side) -> Result<u8, Problem> {
    arguments.work.like_in.clone_from(&arguments.archive);
    arguments.work.invocation = arguments.invocation(words);
    if arguments.repetition.is_given() {
        let words = std::mem::take(&mut arguments.work.invocation.command_line);
        return repeat::repeat(arguments, words, side);
    }
    let needs_repeat = [
        ("--quiet-time", arguments.repetition.quiet_time.is_some()),
        ("--format csv", arguments.format == Format::Csv),
    ];
    if let Some((option, _)) = needs_repeat.iter().find(|(_, is_given)| *is_given) {
        return refuse(format_args!(
            "{option} needs --repeat or --until (add --repeat 10, or remove it)"
        ));
    }
    match Launched::here() {
        Some(launched) => in_ranks::together(&launched, arguments, side, alone),
        None => alone(&arguments, side),
    }
}

/// Performs a run of one process, which neither mpirun nor srun started.
fn alone(arguments: &RunArguments, side: &Side) -> Result<u8, Problem> {
    for (option, is_given) in [
        ("--parts", arguments.parts.is_some()),
        ("--monitor-host", !arguments.monitor_host.is_empty()),
    ] {
        if is_given {
            return refuse(format_args!(
                "{option} is for the processes that mpirun or srun starts (remove it, or start \
                 several)"
            ));
        }
    }
    let specified = understand(arguments)?;
    // If a target has a server, a second process performs the run and reads all inputs again. A
    // pipe can be read only once. So if an input is a pipe, no second process is started.
    if !arguments.dry_run && specified.inputs.iter().all(Input::is_file) {
        let targets = specified.spec.targets.iter().map(PathBuf::as_path);
        let beside = [
            &arguments.output,
            &arguments.live,
            &arguments.report,
            &specified.spec.ack_log,
        ];
        let is_file = |path: &&PathBuf| !is_standard_output(path);
        let beside = beside.into_iter().flatten().filter(is_file);
        let beside = beside.map(PathBuf::as_path);
        if let Some(code) = side.instead(targets.chain(beside)) {
            return Ok(code);
        }
    }
    let mut ready = match Ready::of(arguments, specified)? {
        ControlFlow::Continue(ready) => ready,
        ControlFlow::Break(status) => return Ok(status),
    };
    // Signals are handled until everything is written: a signal after the end of the run must not
    // lose its report.
    let mut signals = Signals::default();
    ready.calibrate()?;
    ready.wait(&signals);
    let record = ready.perform(&mut signals)?;
    ready.deliver(arguments, record)
}

/// Resolves the command line in a record into a run spec. Returns `None` unless the command line is
/// a single `run` in one process. Also returns `None` if the run spec depends on a file, an earlier
/// run or a working set.
pub fn resolve(record: &Record) -> Option<Result<RunSpec, String>> {
    let words = &record.spec.command_line;
    let is_run = words.get(1).is_some_and(|word| word == "run");
    if !is_run || record.cluster.is_some() {
        return None;
    }
    let parsed = args::command().try_get_matches_from(words);
    let said = match parsed.and_then(|matches| CommandLine::read(&matches)) {
        Ok(said) => said,
        Err(error) => return Some(Err(format!("no such command: {}", error.kind()))),
    };
    let Some(Command::Run(mut arguments)) = said.command else {
        return None;
    };
    if arguments.repetition.is_given() {
        return None;
    }
    arguments.work.invocation = arguments.invocation(words.clone());
    let specified = run_spec::specify_anywhere(&arguments.work.request())?;
    Some(specified.map_err(|error| error.to_string()))
}
