//! `postmark plan`: shows what a run would do.

use campaign::plan;
use campaign::run_spec::{Specified, specify, to_config};
use document::{Format, WIDTH};

use crate::args::PlanArguments;
use crate::ui::problem::{Problem, USER, print};
use crate::ui::screen;

/// Prints the plan of a run.
///
/// # Errors
/// Returns an error if the options are invalid, or the plan cannot be written.
pub fn plan(mut arguments: PlanArguments) -> Result<u8, Problem> {
    arguments.work.like_in = arguments.archive.archive;
    let specified = specify(&arguments.work.request(), USER)?;
    print(&text(&specified, arguments.format, true)?)?;
    Ok(0)
}

/// The plan of a run spec, in the chosen format.
///
/// # Errors
/// Returns an error if the workload cannot be planned, or the run would be refused.
pub fn text(specified: &Specified, format: Format, is_screen: bool) -> Result<String, Problem> {
    // A configuration file may be meant for another machine, so there is no check whether this
    // machine can perform the run.
    if format == Format::Toml {
        return to_config(specified);
    }
    plan::judge(specified)?;
    let record = plan::plan(specified)?;
    if format == Format::Json {
        return Ok(record.to_json());
    }
    let first = plan::first_transactions(&specified.spec.workload);
    let document = report::plan::with_notes(&record, first, &specified.notes);
    Ok(screen::laid_out(&document, WIDTH, is_screen))
}
