//! Reads the trace of a replay.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

use document::sanitize;
use sha2::{Digest as _, Sha256};
use spec::{Options, ReplayOptions, Replayed};
use trace::ReplayRequest;
use workload::replay::{Built, Deviation, Loaded, Replay, Timing};
use workload::replayed;

use crate::Error;
use crate::input::Input;

/// Reads the trace that options name; `None` if they name none.
///
/// # Errors
/// Returns an error if the trace cannot be read, or if it cannot be replayed.
pub fn read(options: &Options) -> Result<Option<(Replayed, Input)>, Error> {
    let Some(options) = options.replay_options().map_err(Error::refused)? else {
        return Ok(None);
    };
    let replayed = replayed(&options).map_err(|why| {
        let shown = sanitize::path(&options.trace);
        Error::refused(format_args!("cannot replay the trace {shown}: {why}"))
    })?;
    Ok(Some((replayed, Input::new("--replay", &options.trace))))
}

/// The reason why a trace cannot be replayed.
#[derive(Debug, thiserror::Error)]
enum Wrong {
    #[error("it is not a regular file, and it is read several times")]
    NoFile,
    #[error("cannot read it: {0}")]
    Read(#[from] io::Error),
    #[error(transparent)]
    Trace(#[from] trace::TraceError),
    #[error(transparent)]
    Workload(#[from] workload::WorkloadError),
    #[error("it contains no times (trace with strace -ttt, or use --timing asap)")]
    NoTimes,
    #[error("it contains no durations of calls (trace with strace -ttt -T, or use --timing asap)")]
    NoDurations,
}

fn replayed(options: &ReplayOptions) -> Result<Replayed, Wrong> {
    let path = &options.trace;
    if !std::fs::metadata(path)?.is_file() {
        return Err(Wrong::NoFile);
    }
    let digest = digest(path)?;
    let below = options.below.as_ref().map(|below| {
        let absolute = std::path::absolute(below);
        let absolute = absolute.unwrap_or_else(|_| below.clone());
        absolute.into_os_string().into_vec()
    });
    let request = ReplayRequest {
        below,
        operations_max: options.operations_max,
    };
    let mut read = trace::read_for_replay(|| File::open(path), &request)?;
    let traced_ns = read.trace.duration_ns();
    if options.timing == Timing::Traced && traced_ns.is_none() {
        return Err(Wrong::NoTimes);
    }
    if options.timing == Timing::Pauses && read.profile.pauses.is_none() {
        return Err(Wrong::NoDurations);
    }
    if let Some((own, cpu_ns)) = read.profile.own.as_ref().zip(options.cpu_ns) {
        read.trace.scale_computing(own.factor(cpu_ns));
    }
    let mut built = Built::new(&mut read.trace, options.timing)?;
    let durability = learn::workload_options(&read.profile).durability;
    built.steps.policies = durability.clone().unwrap_or_default();
    let left_out = read.profile.left_out.iter().map(|one| Deviation {
        what: one.what.clone(),
        count: one.count,
        is_left_out: true,
    });
    let replay = Replay {
        trace: path.to_string_lossy().into_owned(),
        digest,
        below: options
            .below
            .as_ref()
            .map(|below| below.to_string_lossy().into_owned()),
        timing: options.timing,
        cpu_ns: options.cpu_ns,
        operations_max: options.operations_max,
        operations: 0,
        threads: 0,
        dependencies: 0,
        traced_ns,
        deviations: left_out.collect(),
        loaded: Loaded::default(),
    };
    Ok(Replayed {
        durability,
        workload: replayed::workload(built, replay),
    })
}

/// Returns the digest of a file.
fn digest(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(bytes) => hash.update(&buffer[..bytes]),
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
    let digits: String = hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(format!("sha256:{digits}"))
}
