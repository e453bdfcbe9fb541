//! `simulated`: the real code of `raw` and `posix` over system calls that are answered from memory, with
//! faults at chosen calls and a virtual clock that every call advances. For tests.
//!
//! The faults lie apart from the truth: what the files really hold and what was really done can be looked at at any
//! time, and so can the calls that a fault has struck. A [`Corruption`] is another thing than a fault: the call
//! answers well, and what the files hold or give is wrong.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};

use crate::calls::Calls;
use crate::posix::PosixStyle;
use crate::raw::RawStyle;
use contract::home::Home;
use contract::{
    Failure, Listing, Name, Need, OpenError, Operation, OperationOutcome, Session, Settings, Steps, Storage, Submitted,
    Ticket, Unsupported,
};
pub use corruption::Corruption;
use state::{Kind, Shared, State};
use system::SimulatedSystem;
pub use truth::{Fault, Struck, Truth};

mod corruption;
mod home;
mod state;
mod system;
mod truth;

/// Which storage's code runs over the simulated calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// That of [`crate::raw`].
    Raw,
    /// That of [`crate::posix`].
    Posix,
}

/// What is known about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Its permissions.
    pub mode: u32,
    /// Its times, in nanoseconds of the epoch; 0 where nobody set them.
    pub times_ns: i64,
    /// How many names it has.
    pub names: u32,
    /// Its extended attributes.
    pub extended: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// A storage in memory; clones are the same storage. Several threads may use it at once.
#[derive(Clone, Debug)]
pub struct Simulated {
    code: Code,
    shared: Arc<Shared>,
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

    /// Spoils an event of this number, from 0, silently: no call tells of it. What is counted stands at each
    /// [`Corruption`].
    pub fn corrupt_at(self, nth: u64, corruption: Corruption) -> Self {
        self.state().corruptions.ask(nth, corruption);
        self
    }

    /// Makes a directory, in which runs can be at home.
    pub fn with_directory(self, name: &str) -> Self {
        self.state().make_root(name.as_bytes());
        self
    }

    /// Cuts the power at the call of this number, from 0: from then on nothing is done and every answer is an error. What was
    /// done before stays.
    pub fn cut_at(self, call: u64) -> Self {
        self.state().cut_at = Some(call);
        self
    }

    /// Power is there again; nobody has anything open, and whoever was at work is gone.
    pub fn restart(&self) {
        let mut state = self.state();
        state.cut_at = None;
        state.was_restarted = true;
        state.open.clear();
        state.locked.clear();
    }

    /// Files have neither an identity nor a birth, as where a server keeps none.
    pub fn forgetting_files(self) -> Self {
        self.state().forgets_files = true;
        self
    }

    /// The corruptions that have struck so far, with the numbers that they were asked for.
    pub fn corruptions_struck(&self) -> Vec<(u64, Corruption)> {
        self.state().corruptions.struck().to_vec()
    }

    /// The files that these have struck, in the same order, by the paths that they had then.
    pub fn corrupted_paths(&self) -> Vec<String> {
        let state = self.state();
        let paths = state.corruptions.paths().iter();
        paths.map(|path| String::from_utf8_lossy(path).into_owned()).collect()
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
        let sizes = state.nodes().filter_map(|(name, node)| match &node.kind {
            Kind::File(content) => Some((String::from_utf8_lossy(name).into_owned(), content.len())),
            Kind::Directory | Kind::Symbolic(_) => None,
        });
        sizes.collect()
    }

    /// What a file of this whole name holds.
    pub fn content_of(&self, name: &str) -> Option<Vec<u8>> {
        match &self.state().node(name.as_bytes()).ok()?.kind {
            Kind::File(content) => Some(content.clone()),
            Kind::Directory | Kind::Symbolic(_) => None,
        }
    }

    /// What is known about the file of this whole name.
    pub fn attributes_of(&self, name: &str) -> Option<Attributes> {
        let state = self.state();
        let node = state.node(name.as_bytes()).ok()?;
        Some(Attributes {
            mode: node.mode,
            times_ns: node.times_ns,
            names: node.names,
            extended: node.extended.clone(),
        })
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
        self.shared.state()
    }
}

impl Storage for Simulated {
    type Session = SimulatedSession;

    fn name(&self) -> &'static str {
        "simulated"
    }

    fn supports(&self, need: &Need) -> Result<(), Unsupported> {
        match self.code {
            Code::Raw if need.direct => Err(Unsupported::Direct { storage: self.name() }),
            Code::Raw | Code::Posix => Ok(()),
        }
    }

    fn home(&self) -> Option<Arc<dyn Home>> {
        Some(Arc::new(self.clone()))
    }

    fn open(&self, settings: &Settings) -> Result<SimulatedSession, OpenError> {
        let mut roots = Vec::new();
        for location in &settings.locations {
            roots.push(location.path().into_os_string().into_encoded_bytes());
        }
        for root in &roots {
            self.state().make_root(root);
        }
        let system = SimulatedSystem::new(Arc::clone(&self.shared), roots);
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
    fn content(&self) -> Option<&[u8]> {
        match self {
            Self::Raw(calls) => calls.content(),
            Self::Posix(calls) => calls.content(),
        }
    }

    fn listing(&self) -> Option<Listing> {
        match self {
            Self::Raw(calls) => calls.listing(),
            Self::Posix(calls) => calls.listing(),
        }
    }

    fn names(&mut self, directory: Name<'_>) -> Result<Vec<Vec<u8>>, Failure> {
        match self {
            Self::Raw(calls) => calls.names(directory),
            Self::Posix(calls) => calls.names(directory),
        }
    }

    fn sync_file_system(&mut self, location: usize) -> OperationOutcome {
        match self {
            Self::Raw(calls) => calls.sync_file_system(location),
            Self::Posix(calls) => calls.sync_file_system(location),
        }
    }
}
