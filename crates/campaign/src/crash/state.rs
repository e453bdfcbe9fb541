//! The state file: the plan in its first line, then a line for each event.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};

use document::sanitize;
use rundir::CrashRound;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::plan::CrashPlan;
use crate::Error;

/// Maximum size of a state file in bytes.
const BYTES_MAX: u64 = 1 << 30;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Plan(Box<CrashPlan>),
    /// The run of the round has been started, with this process number.
    Started(u32, u32),
    /// A round is about to crash the target, which must then be restored.
    Crashing(Crashing),
    /// The round has restored the target.
    Restored(u32),
    Round(Box<CrashRound>),
    /// The pool on which the next run would have continued was removed.
    PoolRemoved,
}

/// A crash that has begun.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Crashing {
    pub round: u32,
    /// Whether the moment had come for which the round waited.
    pub is_moment: bool,
    /// Identifier of the machine's boot; `None` if it is not available.
    boot: Option<String>,
}

impl Crashing {
    pub(super) fn new(round: u32, is_moment: bool) -> Self {
        Self {
            round,
            is_moment,
            boot: boot(),
        }
    }

    /// Whether the machine was started again after the crash, so that the crash has ended it.
    pub(super) fn has_ended_machine(&self) -> bool {
        self.boot.is_some() && boot().is_some_and(|boot| self.boot != Some(boot))
    }
}

fn boot() -> Option<String> {
    system::boot_id(&system::Sources::default())
        .known()
        .cloned()
}

/// The open state file. It is locked, so that two processes do not continue the same rounds.
pub(super) struct StateFile {
    path: PathBuf,
    file: File,
}

/// The contents of a state file.
pub struct Found {
    pub path: PathBuf,
    pub plan: CrashPlan,
    pub rounds: Vec<CrashRound>,
    /// The crash that was not followed by a restore.
    pub crashed: Option<Crashing>,
    /// Process number of the run that was started last.
    pub(super) process: Option<u32>,
    /// Length of the complete lines in bytes.
    length: u64,
}

impl StateFile {
    pub(super) fn begin(plan: &CrashPlan) -> Result<Self, Error> {
        let path = plan.state();
        let mut options = OpenOptions::new();
        let file = options.append(true).create_new(true).open(&path);
        let file = file.map_err(|cause| {
            let advice = match cause.kind() {
                io::ErrorKind::AlreadyExists => "continue it with --resume, or use another",
                _ => "use a file in an existing directory for",
            };
            Error::refused(format_args!(
                "cannot create the state file {}: {cause} ({advice} --ack-log)",
                sanitize::path(&path)
            ))
        })?;
        let mut state = Self { path, file }.locked()?;
        state.push(&Line::Plan(Box::new(plan.clone())))?;
        Ok(state)
    }

    /// Opens a state file to continue it. An incomplete last line is removed.
    pub(super) fn append_to(found: &Found) -> Result<Self, Error> {
        let file = OpenOptions::new().append(true).open(&found.path);
        let file = file.map_err(|cause| unusable(&found.path, &cause))?;
        let path = found.path.clone();
        let state = Self { path, file }.locked()?;
        let cut = state.file.set_len(found.length);
        cut.map_err(|cause| unusable(&found.path, &cause))?;
        Ok(state)
    }

    fn locked(self) -> Result<Self, Error> {
        match flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(self),
            Err(rustix::io::Errno::WOULDBLOCK) => {
                Err(unusable(&self.path, &"another process uses it"))
            }
            Err(cause) => Err(unusable(&self.path, &cause)),
        }
    }

    pub(super) fn started(&mut self, round: u32, process: u32) -> Result<(), Error> {
        self.push(&Line::Started(round, process))
    }

    pub(super) fn crashing(&mut self, crash: Crashing) -> Result<(), Error> {
        self.push(&Line::Crashing(crash))
    }

    pub(super) fn restored(&mut self, round: u32) -> Result<(), Error> {
        self.push(&Line::Restored(round))
    }

    pub(super) fn write(&mut self, round: &CrashRound) -> Result<(), Error> {
        self.push(&Line::Round(Box::new(round.clone())))
    }

    pub(super) fn pool_removed(&mut self) -> Result<(), Error> {
        self.push(&Line::PoolRemoved)
    }

    fn push(&mut self, line: &Line) -> Result<(), Error> {
        let written = serde_json::to_vec(line).map_err(io::Error::from);
        let written = written.and_then(|mut line| {
            line.push(b'\n');
            self.file.write_all(&line)?;
            self.file.sync_data()
        });
        written.map_err(|cause| {
            Error::failed(format_args!(
                "cannot write the state file {}: {cause} (make space on its file system)",
                sanitize::path(&self.path)
            ))
        })
    }
}

fn unusable(path: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::refused(format_args!(
        "cannot use the state file {}: {why} (use the file that postmark crash has named)",
        sanitize::path(path)
    ))
}

/// Reads a state file. A line that was torn by a crash is ignored if it is the last one.
///
/// # Errors
/// Returns an error if the file cannot be read, or is not a state file.
pub fn read(path: &Path) -> Result<Found, Error> {
    let file = File::open(path).map_err(|cause| unusable(path, &cause))?;
    let mut input = BufReader::new(file.take(BYTES_MAX));
    let foreign = |why: &dyn std::fmt::Display| unusable(path, why);
    let (mut plan, mut rounds, mut crashed) = (None, Vec::<CrashRound>::new(), None);
    let (mut length, mut text, mut process) = (0, Vec::new(), None);
    loop {
        text.clear();
        let read = input.read_until(b'\n', &mut text);
        if read.map_err(|cause| foreign(&cause))? == 0 || !text.ends_with(b"\n") {
            break;
        }
        let line: Line = serde_json::from_slice(&text)
            .map_err(|cause| foreign(&format_args!("it cannot be parsed: {cause}")))?;
        match line {
            Line::Plan(first) if plan.is_none() => plan = Some(*first),
            Line::Plan(_) => return Err(foreign(&"it contains two plans")),
            Line::Started(_, number) => process = Some(number),
            Line::Crashing(crash) => crashed = Some(crash),
            Line::Restored(_) => crashed = None,
            Line::PoolRemoved => {
                if let Some(last) = rounds.last_mut() {
                    last.process = None;
                }
            }
            Line::Round(round) if round.round as usize == rounds.len() + 1 => rounds.push(*round),
            Line::Round(round) => {
                return Err(foreign(&format_args!("round {} is misplaced", round.round)));
            }
        }
        length += text.len() as u64;
    }
    Ok(Found {
        path: path.to_owned(),
        plan: plan.ok_or_else(|| foreign(&"it contains no plan"))?,
        rounds,
        crashed,
        process,
        length,
    })
}
