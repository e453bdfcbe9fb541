//! From a storage's name to a run on it.

use record::{Outcome, Record};
use runner::{Clock, Control, Events, Refused, Run, RunSpec, TakeControl};
use spec::StorageName;

use crate::signals::InRun;

/// Performs what a description asks for on its storage, with the process's signals for it.
///
/// # Errors
/// Where the run was refused: nothing was touched.
pub fn perform<C: Clock>(spec: &RunSpec, clock: &C, events: &mut dyn Events) -> Result<Record, Refused> {
    perform_with(spec, clock, &mut Signals::default(), events)
}

/// The process's signals for one run or for several in a row, taken when the first of them begins.
#[derive(Default)]
pub struct Signals(Option<InRun>);

impl TakeControl for Signals {
    fn taken(&self) -> Option<Control> {
        self.0.as_ref().map(|signals| Control::stopped_by(signals.caught()))
    }

    fn take(&mut self) -> Control {
        // Without handlers a signal ends the program at once, and `clean` does the rest: no reason not to run.
        self.0 = self.0.take().or_else(|| InRun::begin().ok());
        self.taken().unwrap_or_default()
    }
}

/// The same under signals that may be taken for longer than this run.
///
/// # Errors
/// As [`perform`].
pub fn perform_with<C: Clock>(
    spec: &RunSpec,
    clock: &C,
    signals: &mut Signals,
    events: &mut dyn Events,
) -> Result<Record, Refused> {
    let record = campaign::run(spec, &mut |spec, events| prepare(spec, clock, signals, events), events)?;
    if let (Outcome::Interrupted { .. }, Some(signals)) = (&record.actual.outcome, &signals.0) {
        // The work has ended because of the signal: it is not to end what comes after.
        signals.followed();
    }
    Ok(record)
}

fn prepare<'e, C: Clock>(
    spec: &RunSpec,
    clock: &C,
    signals: &mut Signals,
    events: &'e mut dyn Events,
) -> Result<Run<'e>, Refused> {
    storage::named!(spec.storage, StorageName, storage => runner::prepare(spec, storage, clock, signals, events))
}

/// Whether a run on its storage would be refused; touches nothing.
///
/// # Errors
/// Why it would be.
pub fn judge(spec: &RunSpec) -> Result<(), Refused> {
    storage::named!(spec.storage, StorageName, storage => runner::judge(spec, storage))
}

/// Whether something that the run made, or may have made, is still there.
pub fn left_something(record: &Record) -> bool {
    record
        .actual
        .clean_up
        .as_ref()
        .is_some_and(|clean_up| clean_up.incomplete)
}

/// The exit status of a run that began.
pub fn exit_code(record: &Record) -> u8 {
    match &record.actual.outcome {
        Outcome::Complete if left_something(record) => 1,
        Outcome::Complete => 0,
        Outcome::Failed { .. } | Outcome::PlaceGone { .. } | Outcome::Unfinished => 1,
        Outcome::Interrupted { signal } => 128 + u8::try_from(*signal).unwrap_or(0),
    }
}
