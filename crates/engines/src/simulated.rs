//! `simulated`: runs the code of `raw` or `posix` with system calls that are simulated in memory,
//! for tests. A test can let any call fail, and each call advances a virtual clock.
//!
//! Tests can query at any time the real contents of files, the work really done, and the calls at
//! which faults occurred. A [`Corruption`] differs from a fault: the call succeeds, but the stored
//! or returned contents are wrong.

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

pub static FACTS: EngineFacts = EngineFacts {
    name: "simulated",
    help: "Files in memory, with faults: for tests",
    ..posix::FACTS
};

static FACTS_OF_RAW: EngineFacts = EngineFacts {
    direct: false,
    ..FACTS
};

/// The engine whose code makes the simulated calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Raw,
    Posix,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attributes {
    pub mode: u32,
    /// Access and modification time in nanoseconds since the epoch; 0 if never set.
    pub times_ns: i64,
    /// Number of hard links.
    pub names: u32,
    pub extended: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// An engine in memory. Clones share their files; several threads may use them concurrently.
#[derive(Clone, Debug)]
pub struct Simulated {
    code: Code,
    shared: Arc<Shared>,
    depth: usize,
    seed: u64,
}

impl Simulated {
    /// Creates an engine without files. Each call advances the virtual clock by `call_cost_ns`.
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

    /// Causes a fault at the call with this number, counted from 0.
    pub fn fault_at(self, call: u64, fault: Fault) -> Self {
        self.state().faults.insert(call, fault);
        self
    }

    /// Silently corrupts the event with this number, counted from 0. Each [`Corruption`] defines
    /// which events are counted.
    pub fn corrupt_at(self, nth: u64, corruption: Corruption) -> Self {
        self.state().corruptions.asked.push((nth, corruption));
        self
    }

    /// Allows `depth` operations in flight per session. The seed determines when each operation is
    /// performed, and in which order operations complete.
    pub fn with_depth(self, depth: usize, seed: u64) -> Self {
        Self {
            depth,
            seed,
            ..self
        }
    }

    /// Creates a directory that runs can use as target.
    pub fn with_directory(self, name: &str) -> Self {
        self.state().make_root(name.as_bytes());
        self
    }

    /// Cuts the power at the call with this number, counted from 0. From then on every call fails
    /// and changes nothing; earlier changes remain.
    pub fn cut_at(self, call: u64) -> Self {
        self.state().cut_at = Some(call);
        self
    }

    /// Restores the power. All files are closed, all locks released, and the processes that held
    /// the locks no longer exist.
    pub fn restart(&self) {
        let mut state = self.state();
        state.cut_at = None;
        state.was_restarted = true;
        state.open.clear();
        state.locked.clear();
    }

    /// Removes identity and birth time from the facts of all files, as on some servers.
    pub fn forgetting_files(self) -> Self {
        self.state().forgets_files = true;
        self
    }

    /// Returns the corruptions that took effect, with their requested event numbers.
    pub fn corruptions_struck(&self) -> Vec<(u64, Corruption)> {
        let state = self.state();
        state
            .corruptions
            .struck
            .iter()
            .map(|(one, _)| *one)
            .collect()
    }

    /// Returns the paths of the corrupted files, as they were at the time of the corruption, in the
    /// order of [`corruptions_struck`](Self::corruptions_struck).
    pub fn corrupted_paths(&self) -> Vec<String> {
        let state = self.state();
        let struck = state.corruptions.struck.iter();
        let paths = struck.map(|(_, path)| String::from_utf8_lossy(path).into_owned());
        paths.collect()
    }

    /// Returns the virtual time in nanoseconds: the time that calls took, and the time that
    /// [`pass`](Self::pass) added.
    pub fn now_ns(&self) -> u64 {
        self.shared.clock_ns.load(Ordering::Relaxed)
    }

    /// Advances the virtual clock by `ns` nanoseconds.
    pub fn pass(&self, ns: u64) {
        self.shared.clock_ns.fetch_add(ns, Ordering::Relaxed);
    }

    /// Returns the largest number of operations that a session had in flight at once.
    pub fn in_flight_max(&self) -> usize {
        self.state().in_flight_max
    }

    /// Returns names that two operations of one session used while both were in flight. The list is
    /// empty for a correct caller.
    pub fn meetings(&self) -> Vec<String> {
        self.state().meetings.clone()
    }

    pub fn calls(&self) -> u64 {
        self.state().calls
    }

    /// Returns the existing files: full paths and sizes in bytes.
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

    /// Returns the contents of the file with this full path.
    pub fn content_of(&self, name: &str) -> Option<Vec<u8>> {
        match &self.state().node(name.as_bytes()).ok()?.kind {
            Kind::File(content) => Some(content.clone()),
            Kind::Directory | Kind::Symbolic(_) => None,
        }
    }

    /// Returns the attributes of the file with this full path.
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

    /// Returns counts of the work that was really done.
    pub fn truth(&self) -> Truth {
        self.state().truth
    }

    /// Returns the calls at which a fault occurred.
    pub fn struck(&self) -> Vec<Struck> {
        self.state().struck.clone()
    }

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
        // Each session has a different seed.
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
