//! A study in several ranks: rank 0 plans, archives and reports the study as a single process
//! would. All ranks perform each run.

use campaign::ranks::{FAILED, Launched};
use ranks::Ranks;
use runner::{NoEvents, RunSpec, TakeControl as _};

use super::first;
use crate::args::StudyArguments;
use crate::commands::ranks::together;
use crate::ui::perform::Signals;
use crate::ui::problem::Problem;
use crate::ui::watchdog_process::Side;

/// Performs the study with the other ranks. Returns the exit status of rank 0 on all ranks.
///
/// # Errors
/// Returns an error if the ranks cannot be joined.
pub fn study(
    launched: &Launched,
    arguments: &StudyArguments,
    words: Vec<String>,
    side: &Side,
) -> Result<u8, Problem> {
    if arguments.dry_run {
        return match launched.is_first() {
            true => first::of_first(arguments, words, side, None),
            false => Ok(0),
        };
    }
    together(launched, side, |joined| {
        if !joined.is_first() {
            return Ok(follow(joined.ranks()));
        }
        let performed = first::of_first(arguments, words, side, Some(joined.ranks()));
        let ended: Option<RunSpec> = None;
        // An error is ignored: it means that a rank is lost, and the other ranks have already
        // noticed the loss.
        let _ = joined.ranks().broadcast(Some(ended));
        performed
    })
}

/// Performs the runs that rank 0 sends, until it sends `None`.
fn follow(ranks: &Ranks) -> u8 {
    let mut signals = Signals::among(Some(ranks.clone()));
    // Signals are handled from here on: a signal between two runs must not end this process,
    // because the launcher would then also end rank 0. Rank 0 may be creating a scratch file system
    // that it must remove first.
    let _ = signals.take();
    loop {
        let next: Result<Option<RunSpec>, _> = ranks.broadcast(None);
        match next {
            Ok(Some(spec)) => {
                // The result is ignored: rank 0 merges the records of all ranks, and reports their
                // errors.
                let _ = campaign::perform(&spec, &mut signals, &mut NoEvents);
            }
            Ok(None) => return 0,
            Err(_) => return FAILED,
        }
    }
}
