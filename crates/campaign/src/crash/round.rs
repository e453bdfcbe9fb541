//! One round: run, crash, restore, verify, clean.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use document::sanitize;
use rundir::{CrashRound, RoundEnd};

use super::aim::Aim;
use super::command;
use super::examples::examples;
use super::plan::{CrashPlan, Survivors};
use super::remains::{clean_by_log, remove};
use super::run_process::{AckCount, RunProcess};
use super::state::{Found, StateFile};
use super::surroundings::Surroundings;
use super::survivors;
use super::trigger::{Fired, Trigger};
use crate::Error;

/// How long an interrupted run may take to remove its files.
const TERMINATE_MAX: Duration = Duration::from_secs(30);

/// Endings of the files that only the current round needs.
const HELPERS: [&str; 4] = ["toml", "output", "run", "disk"];

/// Refuses files that the rounds would overwrite.
pub(super) fn refuse_existing(plan: &CrashPlan) -> Result<(), Error> {
    let paths = HELPERS.map(|ending| plan.beside(ending));
    match paths.iter().find(|path| path.symlink_metadata().is_ok()) {
        Some(path) => Err(Error::refused(format_args!(
            "cannot use --ack-log {}: the file {} exists (move it away, or use a new name)",
            sanitize::path(&plan.ack_log),
            sanitize::path(path)
        ))),
        None => Ok(()),
    }
}

pub(super) fn remove_helpers(plan: &CrashPlan) {
    for ending in HELPERS {
        // The files contain nothing that is needed later.
        let _ = fs::remove_file(plan.beside(ending));
    }
}

/// What a run reached before its crash.
enum Reached {
    /// The run performs transactions, and it is time for the crash.
    Crash {
        /// Whether the moment has come for which the round waited.
        is_moment: bool,
    },
    /// The run has ended by itself and without an error.
    End,
    Interrupted,
}

/// Performs a round. Returns `None` if a signal interrupted it before its crash; the run has then
/// removed its files.
pub(super) fn perform(
    plan: &CrashPlan,
    earlier: &[CrashRound],
    state: &mut StateFile,
    surroundings: &Surroundings<'_>,
) -> Result<Option<CrashRound>, Error> {
    let number = earlier.len() as u32 + 1;
    let (log, delay) = (plan.log_of(number), plan.delay(number));
    let delay_ns = delay.as_nanos() as u64;
    if let Some(files) = &surroundings.forgetful {
        files.seed(plan.survival_seed(number));
    }
    let mut run = start(plan, number, &log, surroundings)?;
    state.started(number, run.process())?;
    let reached = match approach(plan, number, (&mut run, &log, delay), surroundings) {
        Ok(reached) => reached,
        Err(error) => {
            tidy_failed(plan, number, &mut run, surroundings);
            return Err(error);
        }
    };
    let is_moment = match reached {
        Reached::Crash { is_moment } => is_moment,
        Reached::End => {
            remove_log(&log)?;
            let round = CrashRound::unchecked(number, delay_ns, RoundEnd::EndedBefore);
            return Ok(Some(round));
        }
        Reached::Interrupted => {
            if run.terminate(TERMINATE_MAX) {
                remove_log(&log)?;
            } else {
                tidy_failed(plan, number, &mut run, surroundings);
            }
            return Ok(None);
        }
    };
    state.crashing(number)?;
    if let Err(error) = crash(plan, number, &mut run, surroundings) {
        tidy_failed(plan, number, &mut run, surroundings);
        return Err(error);
    }
    command::restore(plan, number)?;
    state.restored(number)?;
    wait_for_end(plan, number, &mut run)?;
    let process = run.process();
    let mut round = verify(plan, (number, delay_ns, process), earlier, surroundings)?;
    let aim = plan.aim.of_round(plan.seed, number);
    let aim = (aim != Aim::Time).then(|| aim.name().to_owned());
    (round.moment, round.missed) = match is_moment {
        true => (aim, None),
        false => (None, aim),
    };
    // `clean` needs the heartbeat only for files that remain. Those of the file system that this
    // program crashes vanish with it.
    let stays = !round.left.is_empty() || round.process.is_some();
    if !stays || surroundings.forgetful.is_some() {
        rundir::heartbeat::remove_lost(process);
    }
    Ok(Some(round))
}

/// Crashes the target, and kills the run.
fn crash(
    plan: &CrashPlan,
    number: u32,
    run: &mut RunProcess,
    surroundings: &Surroundings<'_>,
) -> Result<(), Error> {
    if let Some(files) = &surroundings.forgetful {
        files.crash();
        run.kill();
        files.revive();
        return Ok(());
    }
    run.stop();
    command::crash(plan, number)?;
    run.kill();
    Ok(())
}

/// Waits for the end of a killed run, which may have waited for the target.
fn wait_for_end(plan: &CrashPlan, number: u32, run: &mut RunProcess) -> Result<(), Error> {
    match run.has_ended_within(plan.restore_timeout()) {
        true => Ok(()),
        false => Err(Error::failed(format_args!(
            "the killed run of round {number} does not end, although {} is restored: it waits for \
             the target (restore the target, then continue with --resume {})",
            sanitize::path(&plan.target),
            sanitize::path(&plan.state())
        ))),
    }
}

fn start(
    plan: &CrashPlan,
    number: u32,
    log: &Path,
    surroundings: &Surroundings<'_>,
) -> Result<RunProcess, Error> {
    let (config, output) = (plan.beside("toml"), plan.beside("run"));
    let failed = |cause: std::io::Error| {
        Error::failed(format_args!(
            "cannot start the run of round {number}: {cause} (make space for files beside {})",
            sanitize::path(&plan.ack_log)
        ))
    };
    fs::write(&config, &plan.config).map_err(failed)?;
    let seed = plan.seed.saturating_add(u64::from(number) - 1);
    let mut words: Vec<OsString> = vec!["run".into(), "--config".into(), config.into()];
    words.extend(["--ack-log".into(), log.into()]);
    words.extend(["--seed".into(), seed.to_string().into()]);
    words.extend(["--archive", "none", "--quiet", "--no-overhead"].map(OsString::from));
    words.extend(plan.arguments.iter().map(OsString::from));
    let messages = File::create(output).map_err(failed)?;
    RunProcess::start(surroundings.start, &words, messages).map_err(failed)
}

/// Waits until the pool is prepared and the time of the crash has come.
fn approach(
    plan: &CrashPlan,
    number: u32,
    (run, log, delay): (&mut RunProcess, &Path, Duration),
    surroundings: &Surroundings<'_>,
) -> Result<Reached, Error> {
    let mut count = AckCount::default();
    let mut prepared: Option<Instant> = None;
    let aim = plan.aim.of_round(plan.seed, number);
    let mut trigger = Trigger::new(aim, surroundings.forgetful.as_ref());
    loop {
        if trigger.has_crashed() {
            return Ok(Reached::Crash { is_moment: true });
        }
        if (surroundings.user.is_interrupted)() {
            return Ok(Reached::Interrupted);
        }
        if let Some(status) = run.ended() {
            if status.success() {
                return Ok(Reached::End);
            }
            // The refusal of the first run is a refusal of the command.
            let code = match status.code() {
                Some(2) if number == 1 => 2,
                _ => 1,
            };
            let told = command::last_line(&plan.beside("run"));
            return Err(Error::with_code(
                code,
                format_args!("the run of round {number} failed before its crash{told}"),
            ));
        }
        if prepared.is_none() {
            count.read_on(log);
            let is_prepared = count.acknowledged > 0 && count.acknowledged >= plan.prepared_files;
            prepared = is_prepared.then(Instant::now);
        }
        if prepared.is_some_and(|began| began.elapsed() >= delay) {
            let fired = trigger.fires(&mut count, log);
            if fired != Fired::NotYet {
                let is_moment = fired == Fired::AtMoment;
                return Ok(Reached::Crash { is_moment });
            }
        }
        std::thread::sleep(trigger.poll());
    }
}

/// Kills a run whose round failed, and removes its files if the target permits. Otherwise `clean`
/// removes them later.
fn tidy_failed(
    plan: &CrashPlan,
    number: u32,
    run: &mut RunProcess,
    surroundings: &Surroundings<'_>,
) {
    run.kill();
    if let Some(files) = &surroundings.forgetful {
        files.revive();
    }
    let (log, process) = (plan.log_of(number), run.process());
    if run.has_ended_within(Duration::from_secs(2))
        && clean_by_log(plan, &log, process, surroundings)
    {
        // A log that remains is removed when the rounds are continued.
        let _ = fs::remove_file(&log);
    }
}

/// Restores the target and removes the files of the round that was interrupted.
pub(super) fn recover(found: &Found, surroundings: &Surroundings<'_>) -> Result<(), Error> {
    let plan = &found.plan;
    if let Some(round) = found.crashed {
        command::restore(plan, round)?;
    }
    if surroundings.forgetful.is_some() {
        survivors::forget(plan, &found.rounds);
    }
    let log = plan.log_of(found.rounds.len() as u32 + 1);
    if log.symlink_metadata().is_ok() {
        let process = found.process.unwrap_or(0);
        let is_removed = clean_by_log(plan, &log, process, surroundings);
        // The file system of an interrupted command has vanished, and so have the files of its run.
        if is_removed || surroundings.forgetful.is_some() {
            rundir::heartbeat::remove_lost(process);
        }
        remove_log(&log)?;
    }
    Ok(())
}

fn remove_log(log: &Path) -> Result<(), Error> {
    match fs::remove_file(log) {
        // A run that is interrupted at its begin has made no log.
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(Error::failed(format_args!(
            "cannot remove the acknowledgement log {}: {cause} (remove it)",
            sanitize::path(log)
        ))),
        _ => Ok(()),
    }
}

fn verify(
    plan: &CrashPlan,
    (number, delay_ns, process): (u32, u64, u32),
    earlier: &[CrashRound],
    surroundings: &Surroundings<'_>,
) -> Result<CrashRound, Error> {
    let log = &plan.log_of(number);
    let namespace = (surroundings.namespace)(&plan.target)?;
    let own = Arc::clone(&namespace).with_own_rights();
    let mut round = match rundir::verify_log(&*own, &plan.target, log) {
        Ok(verified) => {
            let mut round = CrashRound::crashed(number, delay_ns, &verified);
            round.examples = examples(number, &verified, log)?;
            let stays = plan.survivors == Survivors::Keep && verified.losses() == 0;
            match stays {
                true => round.process = Some(process),
                false => round.left = remove(&namespace, &verified, process),
            }
            round
        }
        Err(error) if error.is_directory_lost => CrashRound {
            directory_lost: Some(error.to_string()),
            ..CrashRound::unchecked(number, delay_ns, RoundEnd::Crashed)
        },
        Err(error) => return Err(Error::failed(error)),
    };
    if round.has_loss() {
        round.ack_log = Some(sanitize::path(log).into_owned());
    } else if round.process.is_none() {
        remove_log(log)?;
    }
    survivors::verify(plan, earlier, &mut round, &*own)?;
    Ok(round)
}
