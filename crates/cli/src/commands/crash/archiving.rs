//! Adds the result of crash rounds to the archive.

use campaign::archive::{Chosen, chosen_for_run, crashes};
use rundir::CrashReport;

use crate::args::CrashArguments;
use crate::ui::problem::{Problem, USER, tell};

/// Checks the archive before the first round. Returns `None` if the result is not archived.
///
/// # Errors
/// Returns an error if a requested archive cannot be opened.
pub(super) fn check(arguments: &CrashArguments) -> Result<Chosen, Problem> {
    let chosen = chosen_for_run(arguments.archive.archive.as_deref())?;
    if let Some(place) = chosen.place().filter(|place| place.is_asked()) {
        place.open_for_run(USER)?;
    }
    Ok(chosen)
}

/// Adds the result, or replaces that of the same rounds. Returns whether a requested archive has
/// it.
pub(super) fn put(chosen: &Chosen, report: &CrashReport, arguments: &CrashArguments) -> bool {
    let remarks = arguments.remarks.remarks();
    let why = match chosen {
        Chosen::Nowhere => return true,
        Chosen::Unknown(why) => why.clone(),
        Chosen::At(place) => {
            let added = place
                .open_for_run(USER)
                .and_then(|mut archive| crashes::put(&mut archive, report, &remarks));
            match added {
                Ok(_) if arguments.quiet => return true,
                Ok(number) => {
                    tell(format_args!(
                        "crash rounds {number} of the archive {}",
                        document::sanitize::path(place.path())
                    ));
                    return true;
                }
                Err(error) => error.to_string(),
            }
        }
    };
    tell(format_args!(
        "warning: the result is not archived: {why} (postmark crash --resume {} adds it)",
        report.state
    ));
    !chosen.place().is_some_and(|place| place.is_asked())
}
