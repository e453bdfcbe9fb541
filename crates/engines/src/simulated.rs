//! `simulated`: the real code of `raw` and `posix` over system calls that are answered from memory,
//! with faults at chosen calls and a virtual clock that every call advances. For tests.
//!
//! The faults lie apart from the truth: what the files really hold and what was really done can be
//! looked at at any time, and so can the calls that a fault has struck. A [`Corruption`] is another
//! thing than a fault: the call answers well, and what the files hold or give is wrong.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};

use crate::calls::Calls;
use crate::posix::{self, PosixStyle};
use crate::raw::RawStyle;
pub use corruption::Corruption;
use engine::namespace::Namespace;
use engine::{Engine, EngineFacts, OpenError, Session, Settings};
use session::SimulatedSession;
use state::{Kind, Shared, State};
use system::SimulatedSystem;
pub use truth::{Fault, Struck, Truth};

mod contents;
mod corruption;
mod namespace;
mod session;
mod state;
mod system;
mod truth;

/// What is known of it before a run.
pub static FACTS: EngineFacts = EngineFacts {
    name: "simulated",
    help: "Files in memory, with faults: for tests",
    ..posix::FACTS
};

static FACTS_OF_RAW: EngineFacts = EngineFacts {
    direct: false,
    ..FACTS
};

/// Which engine's code runs over the simulated calls.
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

/// An engine in memory; clones are the same engine. Several threads may use it at once.
#[derive(Clone, Debug)]
pub struct Simulated {
    code: Code,
    shared: Arc<Shared>,
    depth: usize,
    seed: u64,
}

impl Simulated {
    /// An empty engine on which every call takes `call_cost_ns`.
    pub fn new(code: Code, call_cost_ns: u64) -> Self {
        let simulated = Self {
            code,
            shared: Arc::default(),
            depth: 1,
            seed: 0,
        };
        simulated.state().call_cost_ns = call_cost_ns;
        simulated
    }

    /// Makes the call of this number, from 0, misbehave.
    pub fn fault_at(self, call: u64, fault: Fault) -> Self {
        self.state().faults.insert(call, fault);
        self
    }

    /// Spoils an event of this number, from 0, silently: no call tells of it. What is counted
    /// stands at each [`Corruption`].
    pub fn corrupt_at(self, nth: u64, corruption: Corruption) -> Self {
        self.state().corruptions.asked.push((nth, corruption));
        self
    }

    /// Sessions have so many operations in flight. When each is performed, and in which order they
    /// complete, follows from the seed.
    pub fn with_depth(self, depth: usize, seed: u64) -> Self {
        Self {
            depth,
            seed,
            ..self
        }
    }

    /// Makes a directory, in which runs can be at namespace.
    pub fn with_directory(self, name: &str) -> Self {
        self.state().make_root(name.as_bytes());
        self
    }

    /// Cuts the power at the call of this number, from 0: from then on nothing is done and every
    /// answer is an error. What was done before stays.
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
        let state = self.state();
        state
            .corruptions
            .struck
            .iter()
            .map(|(one, _)| *one)
            .collect()
    }

    /// The files that these have struck, in the same order, by the paths that they had then.
    pub fn corrupted_paths(&self) -> Vec<String> {
        let state = self.state();
        let struck = state.corruptions.struck.iter();
        let paths = struck.map(|(_, path)| String::from_utf8_lossy(path).into_owned());
        paths.collect()
    }

    /// Nanoseconds that the calls so far took.
    pub fn now_ns(&self) -> u64 {
        self.shared.clock_ns.load(Ordering::Relaxed)
    }

    /// Lets time pass.
    pub fn pass(&self, ns: u64) {
        self.shared.clock_ns.fetch_add(ns, Ordering::Relaxed);
    }

    /// The most operations that a session has had in flight.
    pub fn in_flight_max(&self) -> usize {
        self.state().in_flight_max
    }

    /// Names that two operations of a session have had to do with while both were in flight: there
    /// must be none.
    pub fn meetings(&self) -> Vec<String> {
        self.state().meetings.clone()
    }

    /// How many calls were made so far.
    pub fn calls(&self) -> u64 {
        self.state().calls
    }

    /// The files that are there, whole names with sizes.
    pub fn files(&self) -> BTreeMap<String, usize> {
        let state = self.state();
        let sizes = state.nodes().filter_map(|(name, node)| match &node.kind {
            Kind::File(content) => {
                Some((String::from_utf8_lossy(name).into_owned(), content.len()))
            }
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

impl Engine for Simulated {
    fn facts(&self) -> &'static EngineFacts {
        match self.code {
            Code::Raw => &FACTS_OF_RAW,
            Code::Posix => &FACTS,
        }
    }

    fn depth(&self) -> usize {
        self.depth
    }

    fn namespace(&self) -> Option<Arc<dyn Namespace>> {
        Some(Arc::new(self.clone()))
    }

    fn open(&self, settings: &Settings) -> Result<Box<dyn Session>, OpenError> {
        let mut roots = Vec::new();
        for location in &settings.locations {
            let root = location.path().into_os_string().into_encoded_bytes();
            self.state().make_root(&root);
            roots.push(root);
        }
        let system = SimulatedSystem::new(Arc::clone(&self.shared), roots);
        let calls = match self.code {
            Code::Raw => Box::new(Calls::<_, RawStyle>::new(system, settings)?) as Box<dyn Session>,
            Code::Posix => Box::new(Calls::<_, PosixStyle>::new(system, settings)?),
        };
        if self.depth == 1 {
            return Ok(calls);
        }
        // Each session has an order of its own.
        self.state().sessions += 1;
        let seed = self.seed ^ self.state().sessions.wrapping_mul(0xA076_1D64_78BD_642F);
        Ok(Box::new(SimulatedSession::new(
            calls,
            Arc::clone(&self.shared),
            self.depth,
            seed,
        )))
    }
}
