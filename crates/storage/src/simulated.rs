//! `simulated`: the real code of `raw` and `posix` over system calls that are answered from memory, with
//! faults at chosen calls and a virtual clock that every call advances. For tests.
//!
//! The faults lie apart from the truth: what the files really hold and what was really done can be looked at at any
//! time, and so can the calls that a fault has struck.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::calls::Calls;
use crate::contract::{Errno, OpenError, Operation, Session, Settings, Step, Steps, Storage, Submitted, Ticket};
use crate::posix::PosixStyle;
use crate::raw::RawStyle;
use crate::system::{At, System};

/// Which storage's code runs over the simulated calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// That of [`crate::raw`].
    Raw,
    /// That of [`crate::posix`].
    Posix,
}

/// How a call misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It does nothing and answers with this error (closing closes all the same, as Linux does).
    Error(i32),
    /// A read or write moves half of what was asked, at least one byte; other calls are not changed.
    Short,
    /// A read or write moves nothing and gives no error; other calls are not changed.
    Nothing,
}

/// A call that a fault has struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Struck {
    /// Its number, from 0.
    pub call: u64,
    /// The step of an operation that it belongs to.
    pub step: Step,
    /// How many bytes it was to move; 0 where it moves none.
    pub asked_bytes: usize,
}

/// What was really done, counted where it happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// Files made.
    pub created: u64,
    /// Files opened to write behind their end.
    pub opened_to_append: u64,
    /// Files opened to read.
    pub opened_to_read: u64,
    /// Names removed.
    pub unlinked: u64,
    /// Directories made.
    pub directories_made: u64,
    /// Directories removed.
    pub directories_removed: u64,
    /// Bytes that came into files.
    pub bytes_written: u64,
    /// Bytes that came out of files.
    pub bytes_read: u64,
}

/// A storage in memory; clones are the same storage.
#[derive(Clone, Debug)]
pub struct Simulated {
    code: Code,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    clock_ns: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<Vec<u8>, Vec<u8>>,
    directories: BTreeSet<Vec<u8>>,
    /// By descriptor: the file's name, where its next byte goes or comes from, and whether that is always its end.
    open: BTreeMap<c_int, (Vec<u8>, usize, bool)>,
    faults: BTreeMap<u64, Fault>,
    struck: Vec<Struck>,
    truth: Truth,
    calls: u64,
    call_cost_ns: u64,
}

impl Simulated {
    /// An empty storage on which every call takes `call_cost_ns`.
    pub fn new(code: Code, call_cost_ns: u64) -> Self {
        let simulated = Self {
            code,
            shared: Arc::default(),
        };
        simulated.state().call_cost_ns = call_cost_ns;
        simulated
    }

    /// Makes the call of this number, from 0, misbehave.
    pub fn fault_at(self, call: u64, fault: Fault) -> Self {
        self.state().faults.insert(call, fault);
        self
    }

    /// Nanoseconds that the calls so far took.
    pub fn now_ns(&self) -> u64 {
        self.shared.clock_ns.load(Ordering::Relaxed)
    }

    /// How many calls were made so far.
    pub fn calls(&self) -> u64 {
        self.state().calls
    }

    /// The files that are there, whole names with sizes.
    pub fn files(&self) -> BTreeMap<String, usize> {
        let state = self.state();
        let named = state.files.iter();
        named
            .map(|(name, content)| (String::from_utf8_lossy(name).into_owned(), content.len()))
            .collect()
    }

    /// What was really done so far.
    pub fn truth(&self) -> Truth {
        self.state().truth
    }

    /// The calls that a fault has struck so far.
    pub fn struck(&self) -> Vec<Struck> {
        self.state().struck.clone()
    }

    /// How many files are open.
    pub fn open_files(&self) -> usize {
        self.state().open.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Storage for Simulated {
    type Session = SimulatedSession;

    fn name(&self) -> &'static str {
        "simulated"
    }

    fn open(&self, settings: &Settings) -> Result<SimulatedSession, OpenError> {
        let mut roots = Vec::new();
        for location in &settings.locations {
            roots.push(location.directory.as_os_str().as_encoded_bytes().to_owned());
        }
        self.state().directories.extend(roots.iter().cloned());
        let system = SimulatedSystem {
            simulated: self.clone(),
            roots,
        };
        Ok(match self.code {
            Code::Raw => SimulatedSession::Raw(Calls::new(system, settings)?),
            Code::Posix => SimulatedSession::Posix(Calls::new(system, settings)?),
        })
    }
}

/// A worker's session of [`Simulated`].
#[derive(Debug)]
#[expect(private_interfaces, reason = "the variants are made and matched here only")]
pub enum SimulatedSession {
    /// See [`Code::Raw`].
    Raw(Calls<SimulatedSystem, RawStyle>),
    /// See [`Code::Posix`].
    Posix(Calls<SimulatedSystem, PosixStyle>),
}

impl Session for SimulatedSession {
    fn submit<S: Steps>(&mut self, ticket: Ticket, operation: &Operation<'_>, steps: &mut S) -> Submitted {
        match self {
            Self::Raw(calls) => calls.submit(ticket, operation, steps),
            Self::Posix(calls) => calls.submit(ticket, operation, steps),
        }
    }
}

#[derive(Debug)]
struct SimulatedSystem {
    simulated: Simulated,
    roots: Vec<Vec<u8>>,
}

impl SimulatedSystem {
    fn name(&self, at: At<'_>) -> Vec<u8> {
        match at {
            At::Path(path) => path.to_bytes().to_owned(),
            At::Location(location, relative) => [&self.roots[location], &b"/"[..], relative.to_bytes()].concat(),
        }
    }

    /// Begins a call: time passes, and a fault may strike.
    fn begin(&self, step: Step, asked_bytes: usize) -> (MutexGuard<'_, State>, Option<Fault>) {
        let mut state = self.simulated.state();
        let call = state.calls;
        state.calls += 1;
        self.simulated
            .shared
            .clock_ns
            .fetch_add(state.call_cost_ns, Ordering::Relaxed);
        let fault = state.faults.get(&call).copied();
        if fault.is_some() {
            state.struck.push(Struck {
                call,
                step,
                asked_bytes,
            });
        }
        (state, fault)
    }

    fn begin_or_fail(&self, step: Step) -> Result<MutexGuard<'_, State>, Errno> {
        match self.begin(step, 0) {
            (_, Some(Fault::Error(errno))) => Err(Errno(errno)),
            (state, _) => Ok(state),
        }
    }
}

impl State {
    fn parent_is_there(&self, name: &[u8]) -> bool {
        let slash = name.iter().rposition(|byte| *byte == b'/');
        slash.is_none_or(|slash| self.directories.contains(&name[..slash]))
    }

    fn exists(&self, name: &[u8]) -> bool {
        self.files.contains_key(name) || self.directories.contains(name)
    }
}

/// How many bytes a call moves under a fault.
fn moved(asked: usize, fault: Option<Fault>) -> Result<usize, Errno> {
    match fault {
        None => Ok(asked),
        Some(Fault::Error(errno)) => Err(Errno(errno)),
        Some(Fault::Short) => Ok((asked / 2).max(asked.min(1))),
        Some(Fault::Nothing) => Ok(0),
    }
}

impl System for SimulatedSystem {
    fn open(&mut self, at: At<'_>, flags: c_int, _: libc::mode_t) -> Result<c_int, Errno> {
        let name = self.name(at);
        let mut state = self.begin_or_fail(Step::Open)?;
        if !state.parent_is_there(&name) {
            return Err(Errno(libc::ENOENT));
        }
        if flags & libc::O_CREAT != 0 {
            if state.exists(&name) {
                return Err(Errno(libc::EEXIST));
            }
            state.files.insert(name.clone(), Vec::new());
            state.truth.created += 1;
        } else if !state.files.contains_key(&name) {
            return Err(Errno(libc::ENOENT));
        } else if flags & libc::O_APPEND != 0 {
            state.truth.opened_to_append += 1;
        } else {
            state.truth.opened_to_read += 1;
        }
        let descriptor = (3..)
            .find(|number| !state.open.contains_key(number))
            .unwrap_or(c_int::MAX);
        state.open.insert(descriptor, (name, 0, flags & libc::O_APPEND != 0));
        Ok(descriptor)
    }

    fn write(&mut self, file: c_int, bytes: &[u8]) -> Result<usize, Errno> {
        let (mut state, fault) = self.begin(Step::Write, bytes.len());
        let length = moved(bytes.len(), fault)?;
        let (name, at, append) = state.open.get(&file).cloned().ok_or(Errno(libc::EBADF))?;
        let content = state.files.get_mut(&name).ok_or(Errno(libc::ESTALE))?;
        let at = if append { content.len() } else { at };
        content.splice(at..(at + length).min(content.len()), bytes[..length].iter().copied());
        state.truth.bytes_written += length as u64;
        state.open.insert(file, (name, at + length, append));
        Ok(length)
    }

    fn read(&mut self, file: c_int, bytes: &mut [u8]) -> Result<usize, Errno> {
        let (mut state, fault) = self.begin(Step::Read, bytes.len());
        let length = moved(bytes.len(), fault)?;
        let (name, at, append) = state.open.get(&file).cloned().ok_or(Errno(libc::EBADF))?;
        let content = state.files.get(&name).ok_or(Errno(libc::ESTALE))?;
        let length = length.min(content.len() - at);
        bytes[..length].copy_from_slice(&content[at..at + length]);
        state.truth.bytes_read += length as u64;
        state.open.insert(file, (name, at + length, append));
        Ok(length)
    }

    fn close(&mut self, file: c_int) -> Result<(), Errno> {
        let (mut state, fault) = self.begin(Step::Close, 0);
        state.open.remove(&file).ok_or(Errno(libc::EBADF))?;
        match fault {
            Some(Fault::Error(errno)) => Err(Errno(errno)),
            _ => Ok(()),
        }
    }

    fn unlink(&mut self, at: At<'_>) -> Result<(), Errno> {
        let name = self.name(at);
        let mut state = self.begin_or_fail(Step::Unlink)?;
        state.files.remove(&name).ok_or(Errno(libc::ENOENT))?;
        state.truth.unlinked += 1;
        Ok(())
    }

    fn mkdir(&mut self, at: At<'_>, _: libc::mode_t) -> Result<(), Errno> {
        let name = self.name(at);
        let mut state = self.begin_or_fail(Step::MakeDirectory)?;
        if !state.parent_is_there(&name) {
            return Err(Errno(libc::ENOENT));
        }
        if state.exists(&name) || !state.directories.insert(name) {
            return Err(Errno(libc::EEXIST));
        }
        state.truth.directories_made += 1;
        Ok(())
    }

    fn rmdir(&mut self, at: At<'_>) -> Result<(), Errno> {
        let name = self.name(at);
        let mut state = self.begin_or_fail(Step::RemoveDirectory)?;
        let inside = [&name[..], b"/"].concat();
        if state.files.keys().any(|file| file.starts_with(&inside)) {
            return Err(Errno(libc::ENOTEMPTY));
        }
        if !state.directories.remove(&name) {
            return Err(Errno(libc::ENOENT));
        }
        state.truth.directories_removed += 1;
        Ok(())
    }
}
