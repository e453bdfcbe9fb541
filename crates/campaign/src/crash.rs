//! Crash rounds: a run is interrupted by a crash of its target, the target is restored, and the
//! acknowledged operations are verified.
//!
//! In each round the run is stopped before the crash and killed after it, as by a power failure.
//! Otherwise it could acknowledge operations after the moment of the crash. The rounds are written
//! to a state file, one line each, from which they can be continued.

mod aim;
mod command;
mod device;
mod examples;
mod forgetful;
mod plan;
mod pool;
mod process_end;
mod remains;
mod round;
mod run_process;
mod state;
mod surroundings;
mod trigger;
mod write_log;

use std::time::Duration;

use rundir::{CrashReport, CrashRound};

use crate::Error;
use state::StateFile;

pub use aim::Aim;
pub use device::{Device, DeviceKind};
pub use forgetful::mount;
pub use plan::{Crash, CrashPlan, ROUNDS_MAX, Survivors};
pub use run_process::Start;
pub use state::{Found, read as read_state};
pub use surroundings::Surroundings;

/// The results of the rounds, and the failure that ended them early.
pub struct Performed {
    pub report: CrashReport,
    pub failed: Option<Error>,
}

/// Performs the rounds of a new plan.
///
/// # Errors
/// Returns an error if a file beside the acknowledgement log exists, or cannot be written.
pub fn perform(plan: &CrashPlan, surroundings: &Surroundings<'_>) -> Result<Performed, Error> {
    round::refuse_existing(plan)?;
    let state = StateFile::begin(plan)?;
    Ok(continue_with(plan, state, Vec::new(), surroundings))
}

/// Continues the rounds of a state file. A round that did not end is performed again.
///
/// # Errors
/// Returns an error if the state file is in use or cannot be written, or if the files of the
/// interrupted round cannot be removed.
pub fn resume(mut found: Found, surroundings: &Surroundings<'_>) -> Result<Performed, Error> {
    let mut state = StateFile::append_to(&found)?;
    let before = found.rounds.len();
    round::recover(&mut found, &mut state, surroundings)?;
    for verified in &found.rounds[before..] {
        tell(verified, &found.plan, surroundings);
    }
    Ok(continue_with(
        &found.plan,
        state,
        found.rounds,
        surroundings,
    ))
}

fn continue_with(
    plan: &CrashPlan,
    mut state: StateFile,
    mut rounds: Vec<CrashRound>,
    surroundings: &Surroundings<'_>,
) -> Performed {
    let mut failed = None;
    let is_interrupted = surroundings.user.is_interrupted;
    while (rounds.len() as u32) < plan.rounds && !is_interrupted() && failed.is_none() {
        match round::perform(plan, &rounds, &mut state, surroundings) {
            Ok(Some(round)) => {
                if let Err(error) = state.write(&round) {
                    failed = Some(error);
                }
                tell(&round, plan, surroundings);
                rounds.push(round);
            }
            Ok(None) => break,
            Err(error) => failed = Some(error),
        }
    }
    let is_complete = rounds.len() as u32 == plan.rounds;
    if is_complete && failed.is_none() {
        round::remove_helpers(plan);
    }
    let interrupted = !is_complete && failed.is_none();
    Performed {
        report: plan.report(rounds, interrupted),
        failed,
    }
}

/// Shows the result of a round in one line.
fn tell(round: &CrashRound, plan: &CrashPlan, surroundings: &Surroundings<'_>) {
    if surroundings.quiet {
        return;
    }
    let broken = |outcome: &rundir::Outcome| outcome.broken().losses();
    let losses: u64 = round.operations.iter().map(broken).sum();
    let allowed: u64 = round.operations.iter().map(|of| of.allowed()).sum();
    let result = match (&round.directory_lost, round.end) {
        (_, rundir::RoundEnd::EndedBefore) => "the run ended before the crash".to_owned(),
        (Some(_), _) => "the run directory is LOST".to_owned(),
        _ if losses > 0 => format!("LOST: {losses} of {} paths", round.checked),
        _ if allowed > 0 => format!("{allowed} of {} paths lost, as allowed", round.checked),
        _ => format!("{} paths as acknowledged", round.checked),
    };
    let repaired = match round.process {
        Some(_) => format!(", {} repaired", round.repaired),
        None => String::new(),
    };
    surroundings.user.tell(format_args!(
        "round {} of {}: crash after {:.3} s{}, {result}{repaired}",
        round.round,
        plan.rounds,
        Duration::from_nanos(round.delay_ns).as_secs_f64(),
        match (&round.moment, &round.missed) {
            (Some(moment), _) => format!(" ({moment})"),
            (None, Some(missed)) => format!(" (no {missed} came)"),
            (None, None) => String::new(),
        }
    ));
}
