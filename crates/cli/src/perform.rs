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
    let mut signals = None;
    let mut take_control = || {
        // Without handlers a signal ends the program at once, and `clean` does the rest: no reason not to run.
        signals = InRun::begin().ok();
        signals
            .as_ref()
            .map_or_else(Control::default, |signals| Control::stopped_by(signals.caught()))
    };
    let record = match storage {
        StorageName::Stdio => runner::run(request, &Stdio, clock, &mut take_control, events),
        StorageName::Raw => runner::run(request, &Raw, clock, &mut take_control, events),
        StorageName::Posix => runner::run(request, &Posix, clock, &mut take_control, events),
        StorageName::Null => runner::run(request, &Null, clock, &mut take_control, events),
    }?;
    if let (Some(signals), Outcome::Interrupted { .. }) = (&signals, &record.actual.outcome) {
        signals.followed();
    }
    Ok(record)
}

/// Whether a run on the storage of this name would be refused; touches nothing.
///
/// # Errors
/// Why it would be.
pub fn judge(request: &Request, storage: StorageName) -> Result<(), Refused> {
    match storage {
        StorageName::Stdio => runner::judge(request, &Stdio),
        StorageName::Raw => runner::judge(request, &Raw),
        StorageName::Posix => runner::judge(request, &Posix),
        StorageName::Null => runner::judge(request, &Null),
    }
}

/// The exit code of a run that began.
pub fn exit_code(record: &Record) -> u8 {
    match &record.actual.outcome {
        Outcome::Complete => 0,
        Outcome::Failed { .. } | Outcome::PlaceGone { .. } | Outcome::Unfinished => 1,
        Outcome::Interrupted { signal } => 128 + u8::try_from(*signal).unwrap_or(0),
    }
}
