//! `postmark crash`: crashes a target in rounds, and verifies acknowledged operations.

mod archiving;
mod subject;

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{SystemTime, UNIX_EPOCH};

use campaign::archive::{Chosen, directory_of_runs};
use campaign::crash::{
    self, Aim, Crash, CrashPlan, Device, DeviceKind, Performed, Surroundings, Survivors,
};
use campaign::run_spec::{RunRequest, Specified, specify, to_config};
use document::sanitize;
use engines::registry;
use faultfs::forget::Bug;
use spec::{Options, RunSpec, Time};

use crate::args::CrashArguments;
use crate::commands::namespace;
use crate::ui::output::is_standard_output;
use crate::ui::problem::{Problem, USER, refuse, tell, tell_problem};
use crate::ui::screen;
use crate::ui::signals::InRun;
use crate::ui::watchdog_process::{self, Side};

/// Exit status if a round lost an acknowledged operation.
const LOST: u8 = 1;
const ROUNDS_DEFAULT: u32 = 20;
const SECOND_NS: u64 = 1_000_000_000;
const RESTORE_TIMEOUT_DEFAULT: Time = Time(60 * SECOND_NS);
const WITHIN_DEFAULT: Time = Time(2 * SECOND_NS);

/// How long a run measures if the user gives no limit: longer than any round.
const RUN_FOR: Time = Time(24 * 3600 * SECOND_NS);

/// Performs or continues the rounds, and prints the result. Returns exit status 0 if no
/// acknowledged operation is lost.
///
/// # Errors
/// Returns an error if the options are invalid, a state file cannot be used, or the result cannot
/// be written.
pub fn crash(arguments: &CrashArguments, side: &Side) -> Result<u8, Problem> {
    let found = arguments.resume.as_deref().map(|path| {
        refuse_options(&arguments.work.options)?;
        crash::read_state(path)
    });
    let found = found.transpose()?;
    let plan = match &found {
        Some(found) => found.plan.clone(),
        None => plan(arguments)?,
    };
    let is_forgetful = matches!(plan.crash, Crash::Forget(_));
    // A file system of this program over the target is served by this process.
    let target = (!is_forgetful).then_some(plan.target.as_path());
    if let Some(code) = side.instead(target.into_iter().chain([plan.ack_log.as_path()])) {
        return Ok(code);
    }
    let archive = archiving::check(arguments)?;
    // A signal ends the rounds after the current one has restored the target.
    let signals = InRun::begin().ok();
    let surroundings = Surroundings {
        start: &start,
        namespace: &|path| namespace::of(path),
        forgetful: crash::mount(&plan)?,
        user: USER,
        quiet: arguments.quiet,
    };
    let performed = match found {
        Some(found) => crash::resume(found, &surroundings)?,
        None => crash::perform(&plan, &surroundings)?,
    };
    let signal = signals.map(|signals| {
        let caught = signals.caught();
        caught.load(std::sync::atomic::Ordering::SeqCst)
    });
    show(arguments, performed, (&archive, signal.unwrap_or(0)))
}

/// Refuses options of runs beside --resume.
fn refuse_options(options: &Options) -> Result<(), Problem> {
    // Options cannot be compared; their debug forms contain all values.
    match format!("{options:?}") == format!("{:?}", Options::default()) {
        true => Ok(()),
        false => refuse(
            "--resume cannot be used with options of the runs: they are those of the earlier \
             command (remove them)",
        ),
    }
}

fn show(
    arguments: &CrashArguments,
    performed: Performed,
    (archive, signal): (&Chosen, usize),
) -> Result<u8, Problem> {
    let Performed { report, failed } = performed;
    // Without a complete round there is only the failure to report.
    if let (Some(problem), 0) = (&failed, report.rounds_performed) {
        tell_problem(problem);
        return Ok(problem.code);
    }
    screen::answer(
        arguments.format,
        || report::crash::document(&report),
        String::new,
        || document::json(&report),
    )?;
    let is_archived = archiving::put(archive, &report, arguments);
    if let Some(problem) = &failed {
        tell_problem(problem);
        return Ok(problem.code);
    }
    if report.interrupted {
        tell(format_args!(
            "interrupted after {} of {} rounds (postmark crash --resume {} continues)",
            report.rounds_performed, report.rounds_planned, report.state
        ));
        return Ok(128 + u8::try_from(signal).unwrap_or(0));
    }
    match report.crashes_with_loss {
        0 => Ok(u8::from(!is_archived)),
        _ => Ok(LOST),
    }
}

/// Starts a run of this program.
fn start(words: &[OsString], messages: File) -> std::io::Result<Child> {
    watchdog_process::start_bound(words, messages)
}

fn plan(arguments: &CrashArguments) -> Result<CrashPlan, Problem> {
    let mut request = arguments.work.request();
    let options = &mut request.options;
    if options.run_for.is_none() && options.transactions.is_none() {
        options.run_for = Some(RUN_FOR);
    }
    let ack_log = match options.ack_log.take() {
        Some(path) if is_standard_output(&path) => {
            return refuse(
                "crash cannot use --ack-log -: it reads the logs of its runs (use --ack-log FILE; \
                 run --ack-log - is for a log on another host)",
            );
        }
        Some(path) => path,
        None => default_log()?,
    };
    let specified = specify(&request, USER)?;
    let target = target(&specified.spec)?;
    let crash = way(arguments, &target)?;
    let aim = moment(arguments, &crash)?;
    let survivors = arguments.survivors.unwrap_or_default();
    if survivors == Survivors::Continue {
        can_continue(&request, &specified.spec)?;
    }
    let specified = checked(specified, &ack_log, &crash)?;
    let spec = &specified.spec;
    let pools = match spec.workload.workers.pool_of(0) {
        Some(_) => spec.workload.workers.count(),
        None => 1,
    };
    let given = |is_given: bool, word: &str| is_given.then(|| word.to_owned());
    let unsafe_target = given(arguments.allow_unsafe_target, "--allow-unsafe-target");
    Ok(CrashPlan {
        subject: subject::subject(spec)?,
        tool: format!("postmark {}", env!("CARGO_PKG_VERSION")),
        rounds: arguments.rounds.unwrap_or(ROUNDS_DEFAULT),
        seed: spec.workload.seed(),
        within_ns: arguments.crash_within.unwrap_or(WITHIN_DEFAULT).0,
        crash,
        aim,
        survivors,
        restore: arguments.restore.clone(),
        restore_timeout_ns: arguments
            .restore_timeout
            .unwrap_or(RESTORE_TIMEOUT_DEFAULT)
            .0,
        target,
        ack_log: absolute(&ack_log)?,
        durability: spec.durability.to_string(),
        prepared_files: spec.workload.files() * u64::from(pools),
        config: config(&specified)?,
        arguments: given(arguments.no_space_check, "--no-space-check")
            .into_iter()
            .chain(unsafe_target)
            .collect(),
    })
}

fn way(arguments: &CrashArguments, target: &Path) -> Result<Crash, Problem> {
    let word = arguments.crash.as_deref().unwrap_or("kill");
    let crash = match (&arguments.kill_server, word.split_once(':')) {
        (Some(path), _) => Crash::KillServer(path.clone()),
        (None, None) if word == "kill" => Crash::Kill,
        (None, None) if word == "forget" => Crash::Forget(None),
        (None, Some(("forget", bug))) => Crash::Forget(Some(planted(bug)?)),
        (None, Some(("flakey", name))) => {
            Crash::Flakey(Device::find(DeviceKind::Flakey, name, target)?)
        }
        (None, Some(("log-writes", name))) => {
            Crash::LogWrites(Device::find(DeviceKind::LogWrites, name, target)?)
        }
        (None, None) if ["flakey", "log-writes"].contains(&word) => return unknown_way(word),
        (None, Some((name, _))) if is_name(name) && !word.contains(char::is_whitespace) => {
            return unknown_way(word);
        }
        (None, _) => Crash::Command(word.to_owned()),
    };
    match (&crash, &arguments.restore) {
        (Crash::Forget(_) | Crash::Flakey(_) | Crash::LogWrites(_), Some(_)) => {
            refuse(format_args!(
                "--crash {} restores the target by itself (remove --restore)",
                sanitize::sanitize(word)
            ))
        }
        _ => Ok(crash),
    }
}

/// Whether a word before a colon is the name of a way to crash, and not the begin of a command.
fn is_name(word: &str) -> bool {
    !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn unknown_way(word: &str) -> Result<Crash, Problem> {
    let word = sanitize::sanitize(word);
    refuse(format_args!(
        "--crash {word} is neither a way to crash nor a command (use kill, forget, forget:BUG, \
         flakey:NAME, log-writes:NAME, or a command like 'sh ./power-off')"
    ))
}

fn planted(name: &str) -> Result<Bug, Problem> {
    let found = Bug::ALL.into_iter().find(|bug| bug.name() == name);
    found.map_or_else(
        || {
            refuse(format_args!(
                "--crash forget has no bug '{}' (use {})",
                sanitize::sanitize(name),
                Bug::ALL.map(Bug::name).join(", ")
            ))
        },
        Ok,
    )
}

fn moment(arguments: &CrashArguments, crash: &Crash) -> Result<Aim, Problem> {
    let is_forgetful = matches!(crash, Crash::Forget(_));
    match arguments.aim {
        Some(aim) if aim.needs_requests() && !is_forgetful => refuse(format_args!(
            "--aim {} needs --crash forget: the requests that other file systems serve cannot be \
             observed (use --aim acknowledgement or --aim time)",
            aim.name()
        )),
        Some(aim) => Ok(aim),
        None if is_forgetful => Ok(Aim::Mixed),
        None => Ok(Aim::Time),
    }
}

/// Refuses runs that cannot continue on the pool of an earlier one.
fn can_continue(request: &RunRequest, spec: &RunSpec) -> Result<(), Problem> {
    if let Some(why) = rundir::repair::refusal(spec) {
        return refuse(format_args!(
            "--survivors continue cannot be used here: {why}"
        ));
    }
    let mut request = request.clone();
    request.options.reuse = Some(true);
    specify(&request, USER).map(drop).map_err(|problem| {
        Problem::refused(format_args!(
            "--survivors continue cannot be used here, as its runs have --reuse: {problem}"
        ))
    })
}

/// Resolves the options of the runs, and refuses those that rounds cannot have.
fn checked(mut specified: Specified, ack_log: &Path, crash: &Crash) -> Result<Specified, Problem> {
    let spec = &specified.spec;
    let refused = [
        ("--sweep", spec.drive.sweep.is_some()),
        ("--ranks", spec.ranks > 1),
        ("--keep", spec.keeping.keep),
        ("--reuse", spec.keeping.reuse),
        ("more than one --target", spec.targets.len() > 1),
        ("--engine null", !spec.engine.makes_files()),
    ];
    if let Some((option, _)) = refused.iter().find(|(_, is_given)| *is_given) {
        return refuse(format_args!(
            "crash cannot use {option}: each round is one run of one process on one target, which \
             is verified and removed (change the option)"
        ));
    }
    specified.spec.ack_log = Some(ack_log.to_owned());
    // A file system of this program is not that of the target's directory.
    let targets = match crash {
        Crash::Forget(_) => &[],
        _ => &specified.spec.targets[..],
    };
    rundir::ack_log::check(&specified.spec, targets).map_err(Problem::refused)?;
    Ok(specified)
}

/// Returns the options of the run as a configuration file, without the options of each round.
fn config(specified: &Specified) -> Result<String, Problem> {
    let mut specified = specified.clone();
    specified.spec.ack_log = None;
    specified.spec.targets = vec![target(&specified.spec)?];
    to_config(&specified)
}

fn target(spec: &RunSpec) -> Result<PathBuf, Problem> {
    let target = spec
        .targets
        .first()
        .map_or(Path::new("."), PathBuf::as_path);
    match registry::is_url(target) {
        true => Ok(target.to_owned()),
        false => absolute(target),
    }
}

fn absolute(path: &Path) -> Result<PathBuf, Problem> {
    std::path::absolute(path).map_err(|cause| {
        Problem::refused(format_args!("cannot use {}: {cause}", sanitize::path(path)))
    })
}

/// A new path in the directory of the archive, without the number of the round.
fn default_log() -> Result<PathBuf, Problem> {
    let refused = |why: &dyn std::fmt::Display| {
        Problem::refused(format_args!(
            "cannot find a place for acknowledgement logs: {why} (use --ack-log FILE)"
        ))
    };
    let directory = directory_of_runs(None).map_err(|why| refused(&why))?;
    std::fs::create_dir_all(&directory).map_err(|cause| refused(&cause))?;
    let second = SystemTime::now().duration_since(UNIX_EPOCH);
    let second = second.map_or(0, |since| since.as_secs());
    Ok(directory.join(format!("crash-{second}-{}.ack", std::process::id())))
}
