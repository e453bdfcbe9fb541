//! `postmark study`: a design of experiments, performed block by block and kept in the archive.

mod design_args;
mod first;
mod in_ranks;
mod intended;
mod interruption;
pub mod layout;
mod progress;
mod shown;

use campaign::ranks::Launched;

use crate::args::StudyArguments;
use crate::ui::problem::Problem;
use crate::ui::watchdog_process::Side;

/// Performs a study, or what is left of it, reports, and gives the exit status.
///
/// # Errors
/// Where what was said is wrong, or something that it needs is not there; or where it cannot go on.
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
