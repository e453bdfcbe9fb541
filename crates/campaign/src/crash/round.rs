//! One round: run, crash, restore, verify, clean.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use document::sanitize;
use engine::namespace::Namespace;
use rundir::{CrashRound, RoundEnd};

use super::aim::Aim;
use super::command;
use super::examples::examples;
use super::plan::{CrashPlan, Survivors};
use super::pool::Pool;
use super::remains::{clean_by_logs, remove};
use super::run_process::{AckCount, RunProcess};
use super::state::{Crashing, Found, StateFile};
use super::surroundings::Surroundings;
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
    let pool = Pool::after(earlier);
    let mut run = start(plan, pool, &log, surroundings)?;
    state.started(number, run.process())?;
    let reached = match approach(plan, pool, (&mut run, &log, delay), surroundings) {
        Ok(reached) => reached,
        Err(error) => {
            tidy_failed(plan, (pool, earlier), &mut run, state, surroundings)?;
            return Err(error);
        }
    };
    let is_moment = match reached {
        Reached::Crash { is_moment } => is_moment,
        Reached::End => {
            pool.remove_logs(plan, earlier, None)?;
            let round = CrashRound::unchecked(number, delay_ns, RoundEnd::EndedBefore);
            return Ok(Some(round));
        }
        Reached::Interrupted => {
            if run.terminate(TERMINATE_MAX) {
                state.pool_removed()?;
                pool.remove_logs(plan, earlier, None)?;
            } else {
                tidy_failed(plan, (pool, earlier), &mut run, state, surroundings)?;
            }
            return Ok(None);
        }
    };
    state.crashing(Crashing::new(number, is_moment))?;
    if let Err(error) = crash(plan, number, &mut run, surroundings) {
        tidy_failed(plan, (pool, earlier), &mut run, state, surroundings)?;
        return Err(error);
    }
    command::restore(plan, number)?;
    state.restored(number)?;
    wait_for_end(plan, number, &mut run)?;
    if let Some(files) = &surroundings.forgetful {
        files.revive();
    }
    conclude(
        plan,
        (pool, earlier),
        (is_moment, run.process()),
        surroundings,
    )
    .map(Some)
}

/// Verifies a round after its crash.
fn conclude(
    plan: &CrashPlan,
    (pool, earlier): (Pool, &[CrashRound]),
    (is_moment, process): (bool, u32),
    surroundings: &Surroundings<'_>,
) -> Result<CrashRound, Error> {
    let mut round = verify(plan, (pool, earlier), process, surroundings)?;
    (round.moment, round.missed) = moment(plan, pool.round, is_moment);
    // `clean` needs the heartbeat only for files that remain outside of a kept pool. Those of the
    // file system that this program crashes vanish with it.
    if round.left.is_empty() || surroundings.forgetful.is_some() {
        rundir::heartbeat::remove_lost(process);
    }
    Ok(round)
}

/// The moment at which a round crashed, and the one that it missed.
fn moment(plan: &CrashPlan, number: u32, is_moment: bool) -> (Option<String>, Option<String>) {
    let aim = plan.aim.of_round(plan.seed, number);
    let aim = (aim != Aim::Time).then(|| aim.name().to_owned());
    match is_moment {
        true => (aim, None),
        false => (None, aim),
    }
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
        files.fail_requests();
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
    pool: Pool,
    log: &Path,
    surroundings: &Surroundings<'_>,
) -> Result<RunProcess, Error> {
    let (config, output) = (plan.beside("toml"), plan.beside("run"));
    let failed = |cause: std::io::Error| {
        Error::failed(format_args!(
            "cannot start the run of round {}: {cause} (make space for files beside {})",
            pool.round,
            sanitize::path(&plan.ack_log)
        ))
    };
    fs::write(&config, &plan.config).map_err(failed)?;
    let seed = plan.run_seed(pool.first);
    let mut words: Vec<OsString> = vec!["run".into(), "--config".into(), config.into()];
    words.extend(["--ack-log".into(), log.into()]);
    words.extend(["--seed".into(), seed.to_string().into()]);
    words.extend(["--archive", "none", "--quiet", "--no-overhead"].map(OsString::from));
    words.extend(pool.is_continued().then(|| "--reuse".into()));
    words.extend(plan.arguments.iter().map(OsString::from));
    let messages = File::create(output).map_err(failed)?;
    RunProcess::start(surroundings.start, &words, messages).map_err(failed)
}

/// Waits until the pool is prepared and the time of the crash has come.
fn approach(
    plan: &CrashPlan,
    pool: Pool,
    (run, log, delay): (&mut RunProcess, &Path, Duration),
    surroundings: &Surroundings<'_>,
) -> Result<Reached, Error> {
    let number = pool.round;
    let mut count = AckCount::default();
    let mut prepared: Option<Instant> = None;
    // A run that continues prepares nothing.
    let prepared_files = match pool.is_continued() {
        true => 0,
        false => plan.prepared_files,
    };
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
            let is_prepared = count.acknowledged > 0 && count.acknowledged >= prepared_files;
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
    (pool, earlier): (Pool, &[CrashRound]),
    run: &mut RunProcess,
    state: &mut StateFile,
    surroundings: &Surroundings<'_>,
) -> Result<(), Error> {
    run.kill();
    let forgetful = surroundings.forgetful.as_ref();
    forgetful.inspect(|files| files.fail_requests());
    let has_ended = run.has_ended_within(Duration::from_secs(2));
    forgetful.inspect(|files| files.revive());
    // A run without a log has changed no pool.
    let has_log = plan.log_of(pool.round).exists();
    if has_log && has_ended && clean_by_logs(plan, pool, run.process(), surroundings) {
        state.pool_removed()?;
        pool.remove_logs(plan, earlier, None)?;
    }
    Ok(())
}

/// Restores the target after an interrupted round. If the crash of the round has ended the machine,
/// the round is verified; otherwise its files are removed, and it is performed again.
pub(super) fn recover(
    found: &mut Found,
    state: &mut StateFile,
    surroundings: &Surroundings<'_>,
) -> Result<(), Error> {
    let plan = &found.plan;
    let pool = Pool::after(&found.rounds);
    let process = found.process.unwrap_or(0);
    if let Some(crash) = &found.crashed {
        command::restore(plan, crash.round)?;
        let is_complete = surroundings.forgetful.is_none() && plan.log_of(pool.round).exists();
        if is_complete && crash.has_ended_machine() {
            let rounds = (pool, &found.rounds[..]);
            let round = conclude(plan, rounds, (crash.is_moment, process), surroundings)?;
            state.write(&round)?;
            found.rounds.push(round);
            return state.restored(pool.round);
        }
    }
    // The file system of an interrupted command has vanished, and so have the files of its runs.
    let has_vanished = surroundings.forgetful.is_some();
    if plan.log_of(pool.round).symlink_metadata().is_ok() {
        let is_removed = clean_by_logs(plan, pool, process, surroundings);
        if is_removed || has_vanished {
            rundir::heartbeat::remove_lost(process);
        }
    } else if !(has_vanished && pool.is_continued()) {
        return Ok(());
    }
    state.pool_removed()?;
    pool.remove_logs(plan, &found.rounds, None)?;
    if let Some(last) = found.rounds.last_mut() {
        last.process = None;
    }
    Ok(())
}

fn verify(
    plan: &CrashPlan,
    (pool, earlier): (Pool, &[CrashRound]),
    process: u32,
    surroundings: &Surroundings<'_>,
) -> Result<CrashRound, Error> {
    let (number, logs) = (pool.round, pool.logs(plan));
    let delay_ns = plan.delay(number).as_nanos() as u64;
    let namespace = (surroundings.namespace)(&plan.target)?;
    let own = Arc::clone(&namespace).with_own_rights();
    let mut round = match rundir::verify_logs(&*own, &plan.target, &logs) {
        Ok(verified) => {
            let mut round = CrashRound::crashed(number, delay_ns, &verified);
            round.examples = examples(number, &verified, &logs)?;
            let maker = pool.process.unwrap_or(process);
            keep(plan, &namespace, &mut round, (&logs, maker));
            if round.process.is_none() {
                round.left = remove(&namespace, &verified, maker);
            }
            round
        }
        Err(error) if error.is_directory_lost => CrashRound {
            directory_lost: Some(error.to_string()),
            ..CrashRound::unchecked(number, delay_ns, RoundEnd::Crashed)
        },
        Err(error) => return Err(Error::failed(error)),
    };
    round.pool = pool.is_continued().then_some(pool.first);
    let is_kept = round.process.is_some();
    if round.has_loss() {
        let log = plan.log_of(number);
        round.ack_log = Some(sanitize::path(&log).into_owned());
    }
    if !is_kept {
        pool.remove_logs(plan, earlier, Some(&round))?;
    }
    Ok(round)
}

/// Repairs the pool if the next run is to continue on it.
fn keep(
    plan: &CrashPlan,
    namespace: &Arc<dyn Namespace>,
    round: &mut CrashRound,
    (logs, maker): (&[PathBuf], u32),
) {
    if plan.survivors == Survivors::Remove || round.round == plan.rounds {
        return;
    }
    match rundir::repair(namespace, &plan.target, logs) {
        Ok(repaired) => {
            round.process = Some(maker);
            round.repaired = repaired.made + repaired.removed;
        }
        Err(error) => round.not_continued = Some(error.to_string()),
    }
}
