//! What is said of a chosen pool before its run: whether its target can have it, and how long it
//! will take.

use std::io::Write;

use campaign::calibration::{Uncalibrated, calibrate as time, expected};
use document::sanitize;
use engines::registry;
use report::sizing::sentence;
use runner::RunSpec;
use system::{Class, Fact, Sources, Target};

use crate::ui::perform::{exit_code, perform};
use crate::ui::problem::Problem;
use crate::ui::progress::Display;
use campaign::run_spec::Specified;

/// Refuses targets on which contents cannot be beyond the cache. Touches nothing.
///
/// # Errors
/// Where one is in memory itself.
pub fn judge(specified: &Specified) -> Result<(), Problem> {
    let Some(sizing) = &specified.sizing else {
        return Ok(());
    };
    for target in specified
        .spec
        .targets
        .iter()
        .filter(|target| !registry::is_url(target))
    {
        let directory = spec::directory(target);
        let target = Target::read(&Sources::default(), directory);
        if target.class == Fact::Known(Class::Memory) {
            return Err(Problem::refused(format!(
                "cannot use --working-set {}: the target {} lies in memory, so its files are \
                 always in the cache (use a --target on a disk, or --files)",
                sizing.working_set,
                sanitize::path(directory)
            )));
        }
    }
    Ok(())
}

/// Has a short run on the target say how long the chosen pool and its transactions will take;
/// nothing of it is left. Says on standard error what was chosen, unless it is to be quiet.
///
/// # Errors
/// Where the run would be refused, or the short one does not come to its end.
pub fn calibrate(specified: &mut Specified, quiet: bool) -> Result<(), Problem> {
    let Some(mut sizing) = specified.sizing.clone() else {
        return Ok(());
    };
    judge(specified)?;
    // The chosen pool alone is judged: before anything is made, and without following transactions.
    let pool = RunSpec {
        workload: specified.spec.workload.with_transactions(0),
        ..specified.spec.clone()
    };
    let judged =
        runner::dispatch::judge(&specified.spec).and_then(|()| runner::dispatch::judge_room(&pool));
    judged.map_err(|refused| specified.explain(refused))?;
    // It shows nothing but who is stalled.
    let mut perform = |short: &RunSpec| perform(short, &mut Display::new(true));
    let calibration = time(&specified.spec, &sizing, &mut perform).map_err(|why| match why {
        Uncalibrated::Refused(refused) => specified.explain(refused),
        Uncalibrated::Ended { why, record } => Problem::with_code(
            exit_code(&record),
            format_args!("the calibration for --working-set {why}"),
        ),
    })?;
    sizing.transactions = expected(&calibration, &specified.spec.drive);
    sizing.calibration = Some(calibration);
    if !quiet {
        // Nobody may be reading; the record has it, too.
        let said = sentence(&sizing, &specified.spec.workload, &specified.spec.drive);
        let _ = writeln!(std::io::stderr(), "{}", sanitize::shown(said));
    }
    specified.sizing = Some(sizing);
    Ok(())
}
