//! Runs on the engines that their descriptions name, under the signals of a process.

use std::sync::atomic::Ordering;

use record::{Outcome, Record};
use runner::{Events, Refused, RunSpec, TakeControl};

use crate::sweep::{self, Prepare};

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

/// Performs it on the engine that it names, under signals that may be taken for longer than this
/// run.
///
/// # Errors
/// Where the run was refused: nothing was touched.
pub fn perform(
    spec: &RunSpec,
    signals: &mut dyn TakeControl,
    events: &mut dyn Events,
) -> Result<Record, Refused> {
    let record = run(
        spec,
        &mut |spec, events| runner::dispatch::prepare(spec, signals, events),
        events,
    )?;
    if let (Outcome::Interrupted { .. }, Some(control)) = (&record.actual.outcome, signals.taken())
    {
        // The work has ended because of the signal: it is not to end what comes after.
        control.signal().store(0, Ordering::SeqCst);
    }
    Ok(record)
}

/// Whether something that the run made, or may have made, is still there.
pub fn left_something(record: &Record) -> bool {
    let clean_up = record.actual.clean_up.as_ref();
    clean_up.is_some_and(|clean_up| clean_up.incomplete)
}

/// The exit status of a run that began.
pub fn exit_status(record: &Record) -> u8 {
    match &record.actual.outcome {
        Outcome::Complete => left_something(record).into(),
        Outcome::Failed { .. } | Outcome::PlaceGone { .. } | Outcome::Unfinished => 1,
        Outcome::Interrupted { signal } => exit_status_of(*signal),
    }
}

/// The exit status of what a signal has ended.
pub fn exit_status_of(signal: i32) -> u8 {
    128 + u8::try_from(signal).unwrap_or(0)
}
