//! Sequences of runs over the runner's handle: the sweep over loads, the calibration before a run,
//! and studies with their environment; and where the records of all of them go. A kind of campaign
//! is a file here.
//!
//! Nothing here prints, and storages, clocks and signals are the caller's: a [`Prepare`] takes a
//! run's description to a run whose pool is there, and a [`User`] is told of what goes on.

use record::Record;
use runner::{Events, Refused, RunSpec};

pub mod archive;
pub mod calibration;
pub mod classic;
pub mod input;
pub mod parts;
pub mod record_source;
pub mod run_spec;
pub mod same_file;
pub mod similar;
pub mod sizing;
pub mod study;
pub mod sweep;

mod error;
mod loads;
mod merge;
mod user;

pub use error::{Error, ErrorForm};
pub use sweep::Prepare;
pub use user::User;

/// Performs what a description asks for, be it one run or several, and gives one record of it.
///
/// # Errors
/// Where the first run was refused: nothing was touched. What becomes of a later one is in the
/// record.
pub fn run(
    spec: &RunSpec,
    prepare: &mut Prepare<'_>,
    events: &mut dyn Events,
) -> Result<Record, Refused> {
    match &spec.drive.sweep {
        Some(asked) if asked.fresh => sweep::of_runs(spec, asked, prepare, events),
        Some(asked) => sweep::of_one_pool(spec, asked, prepare, events),
        None => {
            let mut run = prepare(spec, events)?;
            run.apply_own();
            Ok(run.finish())
        }
    }
}
