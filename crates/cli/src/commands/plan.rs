//! `postmark plan`: shows what a run would do.

use campaign::archive::{ArchivePlace, chosen_for_run};
use campaign::plan;
use campaign::run_spec::{Specified, specify, to_config};
use document::Format;
use spec::RunSpec;

use crate::args::PlanArguments;
use crate::ui::problem::{Problem, USER, print};
use crate::ui::screen;

/// Exit status of a plan whose run would be refused: the same as that of the refused run.
const REFUSED: u8 = 2;

/// Prints what a run with these options would do. Changes nothing on its targets. Returns the exit
/// status.
///
/// # Errors
/// Returns an error if the options are invalid, or the plan cannot be written.
pub fn plan(mut arguments: PlanArguments) -> Result<u8, Problem> {
    arguments
        .work
        .like_in
        .clone_from(&arguments.archive.archive);
    arguments.work.invocation.skips_space_check = arguments.no_space_check;
    let specified = specify(&arguments.work.request(), USER)?;
    let chosen = chosen_for_run(arguments.archive.archive.as_deref())?;
    let place = chosen.place();
    let (text, status) = text(&specified, arguments.format, (place, true))?;
    print(&text)?;
    Ok(status)
}

/// Returns the plan of a run spec in the chosen format, and the exit status of the command. The
/// duration of the run is estimated from earlier runs in the archive.
///
/// # Errors
/// Returns an error if the workload cannot be planned, or its options contradict each other.
pub fn text(
    specified: &Specified,
    format: Format,
    (place, is_screen): (Option<&ArchivePlace>, bool),
) -> Result<(String, u8), Problem> {
    // A configuration file may be meant for another machine, so there is no check whether this
    // machine can perform the run.
    if format == Format::Toml {
        return Ok((to_config(specified)?, 0));
    }
    let mut record = plan::plan(specified, place, USER)?;
    record.refused.extend(lacks_mpi(&specified.spec));
    let status = match record.refused.is_empty() {
        true => 0,
        false => REFUSED,
    };
    if format == Format::Json {
        return Ok((record.to_json(), status));
    }
    let first = plan::first_transactions(&record.spec.workload);
    let document = report::plan::with_notes(&record, first, &specified.notes);
    Ok((screen::laid_out(&document, is_screen), status))
}

/// Returns why this program cannot perform a run of several ranks; `None` if it can.
fn lacks_mpi(spec: &RunSpec) -> Option<String> {
    (spec.ranks > 1 && ranks_mpi::CONNECT.is_none()).then(|| {
        format!(
            "this postmark was built without MPI, and --ranks {} requires it (use a postmark \
             built with 'cargo build -p cli --features mpi', or remove --ranks)",
            spec.ranks
        )
    })
}
