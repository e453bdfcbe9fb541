//! Reads a trace of either format for a replay.

use std::io::{self, Read};

use learn::Profile;
use workload::replay::Trace;

use crate::done::resolve;
use crate::learning::{TraceError, directory, read};
use crate::recorder::Recorder;
use crate::scope::Names;

/// Selects the operations of a trace for a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayRequest {
    /// The directory whose files are replayed. `None` selects the deepest directory that contains
    /// 95 % of all changes.
    pub below: Option<Vec<u8>>,
    /// The largest number of operations.
    pub operations_max: u64,
}

/// The operations of a trace, and what was learned from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayable {
    pub trace: Trace,
    pub profile: Profile,
    /// The directory whose files are replayed.
    pub below: String,
}

/// Reads the operations of a trace. `open` opens the trace from its start, twice if the request
/// names no directory.
///
/// # Errors
/// Returns an error if the trace cannot be read, if it contains no operations on files, or more
/// than the request permits.
pub fn read_for_replay<R: Read>(
    mut open: impl FnMut() -> io::Result<R>,
    request: &ReplayRequest,
) -> Result<Replayable, TraceError> {
    let below = match &request.below {
        Some(below) => resolve(b"/", below),
        None => directory(&mut open)?,
    };
    let shown = Names::Plain.show(&below);
    let recorder = Recorder::keeping(below, request.operations_max);
    let mut recorder = read(open()?, recorder)?;
    recorder.end_threads();
    if recorder.is_full() {
        return Err(TraceError::TooLong(request.operations_max));
    }
    let trace = recorder.take_kept();
    if trace.operations.is_empty() {
        return Err(TraceError::NoOperation(shown));
    }
    Ok(Replayable {
        trace,
        profile: recorder.finish(),
        below: shown,
    })
}
