//! Runs with the process's signals, and their exit statuses.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use ranks::Ranks;
use record::{Outcome, Record};
use runner::{Control, Events, Refused, RunSpec, TakeControl};

use crate::ui::signals::InRun;

/// Performs what a description asks for on its storage, with the process's signals for it.
///
/// # Errors
/// Where the run was refused: nothing was touched.
pub fn perform(spec: &RunSpec, events: &mut dyn Events) -> Result<Record, Refused> {
    perform_with(spec, &mut Signals::default(), events)
}

/// The process's signals for one run or for several in a row, taken when the first of them begins.
#[derive(Default)]
pub struct Signals {
    in_run: Option<InRun>,
    ranks: Option<Ranks>,
}

impl Signals {
    /// Those of a process that performs runs together with others.
    pub fn among(ranks: Option<Ranks>) -> Self {
        Self {
            in_run: None,
            ranks,
        }
    }
}

impl Signals {
    /// Where the number of a signal is left, once they are taken.
    pub fn caught(&self) -> Option<Arc<AtomicUsize>> {
        self.in_run.as_ref().map(InRun::caught)
    }
}

impl TakeControl for Signals {
    fn taken(&self) -> Option<Control> {
        self.in_run
            .as_ref()
            .map(|signals| Control::stopped_by(signals.caught()))
    }

    fn take(&mut self) -> Control {
        // Without handlers a signal ends the program at once, and `clean` does the rest: no reason
        // not to run.
        self.in_run = self.in_run.take().or_else(|| InRun::begin().ok());
        self.taken().unwrap_or_default()
    }

    fn ranks(&self) -> Option<Ranks> {
        self.ranks.clone()
    }
}

/// The same under signals that may be taken for longer than this run.
///
/// # Errors
/// As [`perform`].
pub fn perform_with(
    spec: &RunSpec,
    signals: &mut Signals,
    events: &mut dyn Events,
) -> Result<Record, Refused> {
    let record = campaign::run(
        spec,
        &mut |spec, events| runner::dispatch::prepare(spec, signals, events),
        events,
    )?;
    if let (Outcome::Interrupted { .. }, Some(signals)) = (&record.actual.outcome, &signals.in_run)
    {
        // The work has ended because of the signal: it is not to end what comes after.
        signals.followed();
    }
    Ok(record)
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
