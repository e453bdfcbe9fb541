//! A command in the several processes that a launcher has started.

use campaign::ranks::{FAILED, Joined, Launched};

use crate::ui::problem::{Problem, USER, tell_problem};
use crate::ui::watchdog_process::Side;

/// Joins the other processes and performs a command with them; gives the exit status of all.
///
/// # Errors
/// Where they cannot be joined.
pub fn together(
    launched: &Launched,
    side: &Side,
    perform: impl FnOnce(&mut Joined) -> Result<u8, Problem>,
) -> Result<u8, Problem> {
    // Only the first one knows the targets yet.
    if let Some(code) = side.instead_of_session() {
        return Ok(code);
    }
    let mut joined = Joined::join(launched, USER).map_err(|why| launched.refuse(why))?;
    let code = perform(&mut joined).unwrap_or_else(|problem| {
        if joined.is_first() {
            tell_problem(&problem);
        }
        problem.code
    });
    // Where a rank is lost, that is told. With this status the launcher ends the others, which may
    // have something to write yet.
    let code = match joined.is_lost() {
        true => FAILED,
        false => joined.agreed(code),
    };
    joined.ranks().leave();
    Ok(code)
}
