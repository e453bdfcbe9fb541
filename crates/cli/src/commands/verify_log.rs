//! `postmark verify-log`: finds acknowledged writes that a crash has lost.

use crate::args::VerifyArguments;
use crate::commands::namespace;
use crate::ui::problem::Problem;
use crate::ui::screen;
use crate::ui::watchdog_process::Side;

/// Exit status if an acknowledged file is lost or torn.
const LOST: u8 = 1;

/// Compares the acknowledgement log with the directory after the crash, and prints the result.
/// Returns exit status 0 if no acknowledged write is lost.
///
/// # Errors
/// Returns an error if the log or the directory cannot be read, or the answer cannot be written.
pub fn verify_log(arguments: &VerifyArguments, side: &Side) -> Result<u8, Problem> {
    if let Some(code) = side.instead([arguments.path.as_path(), &arguments.ack_log]) {
        return Ok(code);
    }
    // The check changes no file. So if root runs it, it uses the rights of root and not those of
    // the directory's owner.
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
