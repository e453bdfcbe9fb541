//! `postmark study`: performs the runs of a designed experiment block by block, archives them and
//! reports the comparison.

mod design_args;
mod first;
mod in_ranks;
mod intended;
mod interruption;
pub mod layout;
mod progress;
mod shown;

use campaign::ranks::Launched;

pub use self::design_args::{absolute, refuse_options_of_runs_alone, refuse_pipes};

use crate::args::StudyArguments;
use crate::ui::problem::Problem;
use crate::ui::watchdog_process::Side;

/// Performs or resumes a study, and reports its results. Returns the exit status.
///
/// # Errors
/// Returns an error if the options are invalid, the study cannot be resumed, or the study is
/// refused.
pub fn study(
    mut arguments: StudyArguments,
    words: Vec<String>,
    side: &Side,
) -> Result<u8, Problem> {
    match Launched::here() {
        Some(launched) => {
            arguments.ranks = Some(launched.count).filter(|_| arguments.resume.is_none());
            in_ranks::study(&launched, &arguments, words, side)
        }
        None => first::of_first(&arguments, words, side, None),
    }
}
