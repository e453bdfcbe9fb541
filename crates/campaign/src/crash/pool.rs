//! The pool of a round: a new one, or that of earlier rounds on which the run continues.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use document::sanitize;
use rundir::CrashRound;

use super::plan::CrashPlan;
use crate::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pool {
    /// The round whose run made the pool.
    pub(super) first: u32,
    /// The round whose run uses the pool now.
    pub(super) round: u32,
    /// Process number of the run that made the pool; `None` if that is the run of this round.
    pub(super) process: Option<u32>,
}

impl Pool {
    /// The pool of the round after the earlier ones.
    pub(super) fn after(earlier: &[CrashRound]) -> Self {
        let round = earlier.len() as u32 + 1;
        let last = earlier.last().filter(|last| last.process.is_some());
        Self {
            first: last.map_or(round, |last| last.pool.unwrap_or(last.round)),
            round,
            process: last.and_then(|last| last.process),
        }
    }

    pub(super) const fn is_continued(&self) -> bool {
        self.first < self.round
    }

    /// The acknowledgement logs of all runs on the pool, from the first to the last.
    pub(super) fn logs(&self, plan: &CrashPlan) -> Vec<PathBuf> {
        let rounds = self.first..=self.round;
        rounds.map(|round| plan.log_of(round)).collect()
    }

    /// Removes the acknowledgement logs when the pool is removed, except for those of rounds with a
    /// loss. `present` is the result of the present round, if it has one.
    pub(super) fn remove_logs(
        &self,
        plan: &CrashPlan,
        earlier: &[CrashRound],
        present: Option<&CrashRound>,
    ) -> Result<(), Error> {
        for round in self.first..=self.round {
            let result = earlier.get(round as usize - 1).or(present);
            if result.is_none_or(|result| result.ack_log.is_none()) {
                remove_log(&plan.log_of(round))?;
            }
        }
        Ok(())
    }
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

#[cfg(test)]
mod tests {
    use rundir::RoundEnd;

    use super::*;

    #[test]
    fn pool_is_that_of_the_last_round_if_it_stayed() {
        let round = |number, pool, process| CrashRound {
            pool,
            process,
            ..CrashRound::unchecked(number, 1, RoundEnd::Crashed)
        };
        let mut rounds = vec![round(1, None, None), round(2, None, Some(7))];
        let first = |rounds: &[CrashRound]| {
            let pool = Pool::after(rounds);
            (pool.first, pool.is_continued(), pool.process)
        };
        assert_eq!(first(&[]), (1, false, None));
        assert_eq!(first(&rounds[..1]), (2, false, None));
        assert_eq!(first(&rounds), (2, true, Some(7)));
        rounds.push(round(3, Some(2), Some(7)));
        assert_eq!(first(&rounds), (2, true, Some(7)));
        rounds.push(round(4, Some(2), None));
        assert_eq!(first(&rounds), (5, false, None));
    }
}
