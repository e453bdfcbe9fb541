//! Learns a profile from a trace of either format.

use std::io::{self, BufRead, Read};

use learn::Profile;

use crate::capture;
use crate::done::{Path, resolve};
use crate::recorder::Recorder;
use crate::rpc;
use crate::scope::Names;
use crate::strace;

/// What is learned from a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRequest {
    /// The directory whose files are learned. `None` selects the deepest directory that contains
    /// 95 % of all changes.
    pub below: Option<Vec<u8>>,
    /// How names in the profile's examples are shown.
    pub names: Names,
}

/// A learned profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// What was observed.
    pub profile: Profile,
    /// The directory whose files were learned, with names as requested if the trace showed it.
    pub below: String,
}

/// An error of a trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The input failed.
    #[error("cannot read the trace: {0}")]
    Read(#[from] io::Error),
    /// No operation changes a file, so the directory is not known.
    #[error("the trace changes no file (give the directory whose files are learned with --below)")]
    NoChange,
    /// The trace contains no operation on a file of the directory.
    #[error(
        "the trace contains no operation on files below {0} (give another directory with --below)"
    )]
    NoOperation(String),
    /// The trace contains more operations than a replay may have.
    #[error(
        "the trace contains more than {0} operations or 4,194,304 names (raise \
         --limit-operations, replay a part with --below, or use 'postmark learn')"
    )]
    TooLong(u64),
}

/// Learns a profile from a trace. `open` opens the trace from its start, twice if the request names
/// no directory.
///
/// # Errors
/// Returns an error if the trace cannot be read, or if it contains no operations on files.
pub fn learn_trace<R: Read>(
    mut open: impl FnMut() -> io::Result<R>,
    request: &TraceRequest,
) -> Result<Learned, TraceError> {
    let names = match request.below {
        Some(_) => Names::Plain,
        None => request.names,
    };
    let below = match &request.below {
        Some(below) => resolve(b"/", below),
        None => directory(&mut open)?,
    };
    let shown = names.show(&below);
    let recorder = read(open()?, Recorder::below(below, request.names))?;
    let profile = recorder.finish();
    if profile.mix.as_ref().is_none_or(|mix| mix.is_empty()) {
        return Err(TraceError::NoOperation(shown));
    }
    Ok(Learned {
        profile,
        below: shown,
    })
}

/// Reads a trace to find the deepest directory that contains most of its changes.
pub(crate) fn directory<R: Read>(
    open: &mut impl FnMut() -> io::Result<R>,
) -> Result<Path, TraceError> {
    let found = read(open()?, Recorder::finding())?;
    found.common().ok_or(TraceError::NoChange)
}

pub(crate) fn read(input: impl Read, recorder: Recorder) -> io::Result<Recorder> {
    let mut input = io::BufReader::with_capacity(1 << 16, input);
    match capture::is_capture(input.fill_buf()?) {
        true => rpc::read(input, recorder),
        false => strace::read(input, recorder),
    }
}
