//! Performs runs on the I/O engines that the run specs name. A signal to the process ends a run.

use std::sync::atomic::Ordering;

use record::{Outcome, Record};
use runner::{Events, Refused, RunSpec, TakeControl};

use crate::sweep::{self, Prepare, first_level_without, levels_of_counts};

/// Performs a run spec, and returns one record. A load sweep may need several runs.
///
/// # Errors
/// Returns an error if the first run was refused; no file was then made. The record contains the
/// results of later runs, including a refusal.
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

/// Performs a run spec on the I/O engine that it names. A signal that ends the run is cleared, so
/// the caller can use `signals` for further runs.
///
/// # Errors
/// Returns an error if the run was refused; no file was then made.
pub fn perform(
    spec: &RunSpec,
    signals: &mut dyn TakeControl,
    events: &mut dyn Events,
) -> Result<Record, Refused> {
    refuse_levels(spec)?;
    let record = run(
        spec,
        &mut |spec, events| runner::dispatch::prepare(spec, signals, events),
        events,
    )?;
    if let (Outcome::Interrupted { .. }, Some(control)) = (&record.actual.outcome, signals.taken())
    {
        control.signal().store(0, Ordering::SeqCst);
    }
    Ok(record)
}

/// Refuses a sweep if the memory or free space does not suffice for one of its load levels. With
/// several ranks, nothing is checked here: every rank checks each level when the level begins.
fn refuse_levels(spec: &RunSpec) -> Result<(), Refused> {
    if spec.ranks > 1 {
        return Ok(());
    }
    // A refusal for another reason is reported when the first level begins.
    let lack = |level: &RunSpec| match runner::dispatch::judge_room(level) {
        Err(Refused::NoRoom(lack) | Refused::NoMemory(lack)) => Some(lack),
        _ => None,
    };
    let lack = first_level_without(&levels_of_counts(spec), lack);
    lack.map_or(Ok(()), |lack| Err(Refused::NoRoom(lack)))
}

/// Whether files remain on the target that the run made, or may have made.
pub fn left_something(record: &Record) -> bool {
    let clean_up = record.actual.clean_up.as_ref();
    clean_up.is_some_and(|clean_up| clean_up.incomplete)
}

/// Returns the exit status of the process for a run that began.
pub fn exit_status(record: &Record) -> u8 {
    match &record.actual.outcome {
        Outcome::Complete => left_something(record).into(),
        Outcome::Failed { .. } | Outcome::PlaceGone { .. } | Outcome::Unfinished => 1,
        Outcome::Interrupted { signal } => exit_status_of(*signal),
    }
}

/// Returns the exit status of a command that a signal ended.
pub fn exit_status_of(signal: i32) -> u8 {
    128 + u8::try_from(signal).unwrap_or(0)
}
