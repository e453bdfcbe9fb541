//! From a storage's name to a run on it.

use record::{Outcome, Record};
use runner::{Clock, Control, Events, Refused, Request};
use storage::null::Null;
use storage::posix::Posix;
use storage::raw::Raw;
use storage::stdio::Stdio;

use crate::said::StorageName;
use crate::signals::InRun;

/// Performs a run on the storage of this name, with the process's signals for it.
///
/// # Errors
/// Where the run was refused: nothing was touched.
pub fn perform<C: Clock>(
    request: &Request,
    storage: StorageName,
    clock: &C,
    events: &mut dyn Events,
) -> Result<Record, Refused> {
    // Without handlers a signal ends the program at once, and `clean` does the rest: no reason not to run.
    let signals = InRun::begin().ok();
    let control = signals.as_ref().map_or_else(Control::default, |signals| Control::stopped_by(signals.caught()));
    match storage {
        StorageName::Stdio => runner::run(request, &Stdio, clock, &control, events),
        StorageName::Raw => runner::run(request, &Raw, clock, &control, events),
        StorageName::Posix => runner::run(request, &Posix, clock, &control, events),
        StorageName::Null => runner::run(request, &Null, clock, &control, events),
    }
}

/// The exit code of a run that began.
pub fn exit_code(record: &Record) -> u8 {
    match &record.actual.outcome {
        Outcome::Complete => 0,
        Outcome::Failed { .. } => 1,
        Outcome::Interrupted { signal } => 128 + u8::try_from(*signal).unwrap_or(0),
    }
}
