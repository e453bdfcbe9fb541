//! A study in several processes: rank 0 does what one process alone would do, and all ranks perform
//! each run.

use campaign::ranks::{FAILED, Launched};
use ranks::Ranks;
use runner::{NoEvents, RunSpec, TakeControl as _};

use super::first;
use crate::args::StudyArguments;
use crate::commands::ranks::together;
use crate::ui::perform::Signals;
use crate::ui::problem::Problem;
use crate::ui::watchdog_process::Side;

/// Performs the study with the other processes of the launcher, and gives the exit status of all.
///
/// # Errors
/// On rank 0, as those of a study of one process.
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
        // Where a rank is lost, all know it.
        let _ = joined.ranks().broadcast(Some(ended));
        performed
    })
}

/// Performs what rank 0 says, until it says that nothing follows.
fn follow(ranks: &Ranks) -> u8 {
    let mut signals = Signals::among(Some(ranks.clone()));
    // One that comes between two runs is for the next: rank 0 may be making what it would leave
    // behind.
    let _ = signals.take();
    loop {
        let next: Result<Option<RunSpec>, _> = ranks.broadcast(None);
        match next {
            Ok(Some(spec)) => {
                // Rank 0 has the record of all, or hears why there is none.
                let _ = campaign::perform(&spec, &mut signals, &mut NoEvents);
            }
            Ok(None) => return 0,
            Err(_) => return FAILED,
        }
    }
}
