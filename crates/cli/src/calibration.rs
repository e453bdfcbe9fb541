//! What is said of a chosen pool before its run: whether its target can have it, and how long it will take.

use std::io::Write;

use campaign::calibration::{Uncalibrated, calibrate as time, expected};
use document::harmless;
use observe::{Class, Fact, Sources, Target};
use report::sizing::sentence;
use runner::{RunSpec, SystemClock};

use crate::meant::Meant;
use crate::meant::error::MeaningError;
use crate::perform::{exit_code, perform};
use crate::problem::Problem;
use crate::progress::Display;

/// Refuses targets on which contents cannot be beyond the cache. Touches nothing.
///
/// # Errors
/// Where one is in memory itself.
pub fn judge(meant: &Meant) -> Result<(), MeaningError> {
    let Some(sizing) = &meant.sizing else {
        return Ok(());
    };
    for target in &meant.spec.targets {
        let directory = spec::directory(target);
        let target = Target::read(&Sources::default(), directory);
        if target.class == Fact::Known(Class::Memory) {
            return Err(MeaningError::Contradiction(format!(
                "--working-set {}: {} lies in memory, where files are in the cache and nowhere else: give --target a directory on a \
                 disk, or say --files",
                sizing.working_set,
                harmless::path(directory)
            )));
        }
    }
    Ok(())
}

/// Has a short run on the target say how long the chosen pool and its transactions will take; nothing of it is left. Says
/// on standard error what was chosen, unless it is to be quiet.
///
/// # Errors
/// Where the run would be refused, or the short one does not come to its end.
pub fn calibrate(meant: &mut Meant, quiet: bool) -> Result<(), Problem> {
    let Some(mut sizing) = meant.sizing.clone() else {
        return Ok(());
    };
    judge(meant)?;
    // The chosen pool alone is judged: before anything is made, and without following transactions.
    let pool = RunSpec {
        workload: meant.spec.workload.with_transactions(0),
        ..meant.spec.clone()
    };
    let judged = crate::perform::judge(&meant.spec).and_then(|()| runner::judge_room(&pool));
    judged.map_err(|refused| meant.explain(refused))?;
    // It shows nothing but who is stalled.
    let mut perform = |short: &RunSpec| perform(short, &SystemClock, &mut Display::new(true));
    let calibration = time(&meant.spec, &sizing, &mut perform).map_err(|why| match why {
        Uncalibrated::Refused(refused) => meant.explain(refused),
        Uncalibrated::Ended { why, record } => Problem::Calibration {
            why,
            code: exit_code(&record),
        },
    })?;
    sizing.transactions = expected(&calibration, &meant.spec.drive);
    sizing.calibration = Some(calibration);
    if !quiet {
        // Nobody may be reading; the record has it, too.
        let said = sentence(&sizing, &meant.spec.workload, &meant.spec.drive);
        let _ = writeln!(std::io::stderr(), "{}", harmless::shown(said));
    }
    meant.sizing = Some(sizing);
    Ok(())
}
