//! Files of earlier rounds that stay on the target, and that every later crash must keep.
//!
//! They stay with their acknowledgement log if the round lost nothing. If a later crash loses some
//! of them, they are not verified again, so that a loss is counted once.

use std::fs;

use engine::namespace::Namespace;
use rundir::CrashRound;

use super::examples::examples;
use super::plan::CrashPlan;
use super::remains::clean_by_log;
use super::surroundings::Surroundings;
use crate::Error;

/// Verifies the files of earlier rounds after the crash of a round.
pub(super) fn verify(
    plan: &CrashPlan,
    earlier: &[CrashRound],
    round: &mut CrashRound,
    namespace: &dyn Namespace,
) -> Result<(), Error> {
    let is_lost = |number| {
        let mut all = earlier.iter();
        all.any(|later| later.survivors_lost.contains(&number))
    };
    for one in earlier
        .iter()
        .filter(|one| one.process.is_some() && !is_lost(one.round))
    {
        let log = plan.log_of(one.round);
        if !log.exists() {
            continue;
        }
        match rundir::verify_log(namespace, &plan.target, &log) {
            Ok(verified) => {
                round
                    .examples
                    .extend(examples(round.round, &verified, &log)?);
                round.add_survivors(one.round, &verified);
            }
            Err(error) if error.is_directory_lost => {
                round.survivors_lost.push(one.round);
                round.directory_lost.get_or_insert(error.to_string());
            }
            Err(error) => return Err(Error::failed(error)),
        }
    }
    Ok(())
}

/// Removes the files that stayed on the target, and their acknowledgement logs, unless a crash has
/// lost some of them. Tells what remains.
pub(super) fn remove(plan: &CrashPlan, rounds: &[CrashRound], surroundings: &Surroundings<'_>) {
    let lost: Vec<u32> = rounds
        .iter()
        .flat_map(|of| of.survivors_lost.clone())
        .collect();
    for round in rounds {
        let log = plan.log_of(round.round);
        let Some(process) = round.process.filter(|_| log.exists()) else {
            continue;
        };
        if !clean_by_log(plan, &log, process, surroundings) {
            surroundings.user.tell(format_args!(
                "the files of round {} cannot be removed (postmark clean removes them)",
                round.round
            ));
            continue;
        }
        rundir::heartbeat::remove_lost(process);
        if !lost.contains(&round.round) {
            // A log that remains is harmless.
            let _ = fs::remove_file(log);
        }
    }
}

/// Removes the logs of files that have vanished with the file system of an interrupted command.
pub(super) fn forget(plan: &CrashPlan, rounds: &[CrashRound]) {
    for round in rounds.iter().filter(|round| round.process.is_some()) {
        // Without its log, the round is not verified again.
        let _ = fs::remove_file(plan.log_of(round.round));
    }
}
