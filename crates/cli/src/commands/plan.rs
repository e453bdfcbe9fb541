//! `postmark plan`: shows what a run would do.

use campaign::archive::{ArchivePlace, chosen_for_run};
use campaign::plan;
use campaign::run_spec::{Specified, specify, to_config};
use document::Format;

use crate::args::PlanArguments;
use crate::ui::problem::{Problem, USER, print};
use crate::ui::screen;

/// Prints what a run with these options would do. Changes nothing on its targets.
///
/// # Errors
/// Returns an error if the options are invalid, or the plan cannot be written.
pub fn plan(mut arguments: PlanArguments) -> Result<u8, Problem> {
    arguments
        .work
        .like_in
        .clone_from(&arguments.archive.archive);
    let specified = specify(&arguments.work.request(), USER)?;
    let chosen = chosen_for_run(arguments.archive.archive.as_deref())?;
    let place = chosen.place();
    print(&text(&specified, arguments.format, (place, true))?)?;
    Ok(0)
}

/// The plan of a run spec, in the chosen format. Its duration is estimated from earlier runs in the
/// archive.
///
/// # Errors
/// Returns an error if the workload cannot be planned, or the run would be refused.
pub fn text(
    specified: &Specified,
    format: Format,
    (place, is_screen): (Option<&ArchivePlace>, bool),
) -> Result<String, Problem> {
    // A configuration file may be meant for another machine, so there is no check whether this
    // machine can perform the run.
    if format == Format::Toml {
        return to_config(specified);
    }
    plan::judge(specified)?;
    let record = plan::plan(specified, place, USER)?;
    if format == Format::Json {
        return Ok(record.to_json());
    }
    let first = plan::first_transactions(&specified.spec.workload);
    let document = report::plan::with_notes(&record, first, &specified.notes);
    Ok(screen::laid_out(&document, is_screen))
}
