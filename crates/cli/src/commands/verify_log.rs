//! `postmark verify-log`: what a crash has taken of what was acknowledged.

use crate::args::VerifyArguments;
use crate::commands::namespace;
use crate::ui::problem::Problem;
use crate::ui::screen;
use crate::ui::watchdog_process::Side;

/// Something acknowledged is lost or torn.
const LOST: u8 = 1;

/// Compares, tells, and gives the exit status: 0 where nothing is lost.
///
/// # Errors
/// Where nothing can be said, or the answer cannot be delivered.
pub fn verify_log(arguments: &VerifyArguments, side: &Side) -> Result<u8, Problem> {
    if let Some(code) = side.instead([arguments.path.as_path(), &arguments.ack_log]) {
        return Ok(code);
    }
    // It only reads.
    let home = namespace::of(&arguments.path)?.with_own_rights();
    let verified = rundir::verify_log(&*home, &arguments.path, &arguments.ack_log)
        .map_err(Problem::refused)?;
    screen::answer(
        arguments.format,
        || report::verify_log::document(&verified),
        String::new,
        || document::json(&verified),
    )?;
    Ok(if verified.losses() == 0 { 0 } else { LOST })
}
