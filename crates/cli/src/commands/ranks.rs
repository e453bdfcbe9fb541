//! Commands in several processes (ranks) that a launcher started.

use campaign::ranks::{FAILED, Joined, Launched};

use crate::ui::problem::{Problem, USER, tell_problem};
use crate::ui::watchdog_process::Side;

/// Joins the other ranks and performs a command with them. Returns the exit status of rank 0 on all
/// ranks.
///
/// # Errors
/// Returns an error if the ranks cannot be joined.
pub fn together(
    launched: &Launched,
    side: &Side,
    perform: impl FnOnce(&mut Joined) -> Result<u8, Problem>,
) -> Result<u8, Problem> {
    // If the server of a target hangs, this process can end only if a second process uses the
    // target. Ranks other than 0 do not know the targets yet. So a second process is started if any
    // mounted file system has a server.
    if let Some(code) = side.instead_of_session() {
        return Ok(code);
    }
    let connect = ranks_mpi::CONNECT.ok_or_else(|| launched.refuse_without_mpi())?;
    let mut joined = Joined::join(launched, connect, USER).map_err(|why| launched.refuse(why))?;
    let code = perform(&mut joined).unwrap_or_else(|problem| {
        if joined.is_first() {
            tell_problem(&problem);
        }
        problem.code
    });
    // If a rank is lost, this rank exits with `FAILED`. The launcher then ends the other ranks
    // immediately, so `leave` first gives them time to write their output.
    let code = match joined.is_lost() {
        true => FAILED,
        false => joined.agreed(code),
    };
    joined.ranks().leave();
    Ok(code)
}
