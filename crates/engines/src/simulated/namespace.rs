//! The namespace of the simulated engine, in memory, without paths or descriptors of the kernel.
//! Calls of the namespace have no numbers, so faults do not affect them, but a power cut does.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard};

use engine::namespace::{Directory, Entry, EntryKind, Facts, Lock, Mark, Namespace, Stamp};
use engine::{Errno, Identity};

use super::Simulated;
use super::state::{Kind, Node, State, parent};
use super::system::put;

/// The device number of the only file system.
const DEVICE: u64 = 1;
/// The free space, which does not change.
const FREE_BYTES: u64 = 1 << 40;
const MARK_MODE: u32 = 0o644;

#[derive(Debug)]
struct SimulatedDirectory {
    simulated: Simulated,
    name: Vec<u8>,
}

#[derive(Debug)]
struct SimulatedMark {
    simulated: Simulated,
    directory: Vec<u8>,
    name: String,
    number: u64,
    has_lock: AtomicBool,
}

fn bytes(path: &Path) -> Vec<u8> {
    let mut name = path.as_os_str().as_bytes();
    while let [rest @ .., b'/'] = name {
        name = rest;
    }
    name.to_owned()
}

fn facts(state: &State, number: u64, node: &Node) -> Facts {
    let stamp = |ns: u64| {
        (
            i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX),
            (ns % 1_000_000_000) as u32,
        )
    };
    let known = !state.forgets_files;
    let changed = stamp(node.times_ns.unsigned_abs());
    Facts {
        kind: match node.kind {
            Kind::File(_) => EntryKind::File,
            Kind::Directory => EntryKind::Directory,
            Kind::Symbolic(_) => EntryKind::SymbolicLink,
        },
        size_bytes: match &node.kind {
            Kind::File(content) | Kind::Symbolic(content) => content.len() as u64,
            Kind::Directory => 0,
        },
        allocated_bytes: None,
        names: Some(node.names.into()),
        owner: Some(user()),
        mode: Some(node.mode),
        identity: known.then_some(Identity {
            device: DEVICE,
            inode: number,
        }),
        born: known.then(|| stamp(node.born_ns)),
        changed: known.then(|| stamp(node.born_ns)),
        accessed: known.then_some(changed),
        modified: known.then_some(changed),
    }
}

/// Returns the owner of all files: the effective user of this process.
fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

impl Simulated {
    /// Returns the state, or an error if the power is cut.
    fn powered(&self) -> Result<MutexGuard<'_, State>, Errno> {
        let state = self.state();
        match state.is_cut() {
            true => Err(Errno::IO),
            false => Ok(state),
        }
    }

    fn hold(&self, name: Vec<u8>) -> Result<Arc<dyn Directory>, Errno> {
        self.powered()?.directory(&name)?;
        Ok(Arc::new(SimulatedDirectory {
            simulated: self.clone(),
            name,
        }))
    }

    fn facts_of_name(&self, name: &[u8]) -> Result<Facts, Errno> {
        let state = self.powered()?;
        Ok(facts(&state, state.number(name)?, state.node(name)?))
    }
}

impl Namespace for Simulated {
    fn open(&self, path: &Path) -> Result<Arc<dyn Directory>, Errno> {
        self.hold(bytes(path))
    }

    fn facts(&self, path: &Path) -> Result<Facts, Errno> {
        self.facts_of_name(&bytes(path))
    }

    fn real_path(&self, path: &Path) -> Result<PathBuf, Errno> {
        let name = bytes(path);
        self.facts_of_name(&name)?;
        Ok(PathBuf::from(OsStr::from_bytes(&name)))
    }

    fn with_own_rights(self: Arc<Self>) -> Arc<dyn Namespace> {
        self
    }

    fn user(&self) -> Option<u32> {
        Some(user())
    }

    /// Processes from before the last restart no longer exist.
    fn is_alive(&self, _: u32) -> bool {
        !self.state().was_restarted
    }
}

impl SimulatedDirectory {
    fn inner(&self, name: &[u8]) -> Vec<u8> {
        [&self.name, &b"/"[..], name].concat()
    }

    fn mark_of(&self, number: u64, name: &str) -> Box<dyn Mark> {
        Box::new(SimulatedMark {
            simulated: self.simulated.clone(),
            directory: self.name.clone(),
            name: name.to_owned(),
            number,
            has_lock: AtomicBool::new(false),
        })
    }
}

impl Directory for SimulatedDirectory {
    fn facts(&self) -> Result<Facts, Errno> {
        self.simulated.facts_of_name(&self.name)
    }

    fn facts_of(&self, name: &[u8]) -> Result<Facts, Errno> {
        self.simulated.facts_of_name(&self.inner(name))
    }

    fn list(&self, each: &mut dyn FnMut(&Entry<'_>) -> Result<(), Errno>) -> Result<(), Errno> {
        // The names are copied first, because `each` may call this engine.
        let names = self.simulated.powered()?.list(&self.name);
        for name in names.iter().filter(|name| *name != b"." && *name != b"..") {
            each(&Entry { name, number: None })?;
        }
        Ok(())
    }

    fn open(&self, name: &[u8]) -> Result<Arc<dyn Directory>, Errno> {
        self.simulated.hold(self.inner(name))
    }

    fn above(&self) -> Result<Arc<dyn Directory>, Errno> {
        let above = parent(&self.name).unwrap_or_default();
        self.simulated.hold(above.to_owned())
    }

    fn make(&self, name: &[u8], mode: u32) -> Result<(), Errno> {
        let made = self
            .simulated
            .powered()?
            .make(self.inner(name), Kind::Directory, mode);
        made.map(drop)
    }

    fn read(&self, name: &[u8], offset: u64, into: &mut [u8]) -> Result<usize, Errno> {
        let state = self.simulated.powered()?;
        let Kind::File(content) = &state.node(&self.inner(name))?.kind else {
            return Err(Errno::LOOP);
        };
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|offset| content.get(offset..));
        Ok(put(into, rest.unwrap_or_default()))
    }

    fn target(&self, name: &[u8]) -> Result<Vec<u8>, Errno> {
        match &self.simulated.powered()?.node(&self.inner(name))?.kind {
            Kind::Symbolic(target) => Ok(target.clone()),
            Kind::File(_) | Kind::Directory => Err(Errno::NOENT),
        }
    }

    fn remove(&self, name: &[u8], looked_at: &Facts) -> Result<bool, Errno> {
        if self.facts_of(name)?.identity != looked_at.identity {
            return Ok(false);
        }
        let mut state = self.simulated.powered()?;
        match looked_at.kind {
            EntryKind::Directory => state.remove_directory(&self.inner(name))?,
            EntryKind::File | EntryKind::SymbolicLink | EntryKind::Other => {
                state.unlink(&self.inner(name))?
            }
        }
        Ok(true)
    }

    fn set_times(&self, _: Stamp, modified: Stamp) -> Result<(), Errno> {
        let mut state = self.simulated.powered()?;
        state.node_mut(&self.name)?.times_ns = modified.0 * 1_000_000_000 + i64::from(modified.1);
        Ok(())
    }

    fn sync(&self) -> Result<(), Errno> {
        self.simulated.powered().map(drop)
    }

    fn sync_file_system(&self) -> Result<(), Errno> {
        self.simulated.powered().map(drop)
    }

    fn free_bytes(&self) -> Option<u64> {
        Some(FREE_BYTES)
    }

    fn draft(&self, name: &str) -> Result<Box<dyn Mark>, Errno> {
        let mut state = self.simulated.powered()?;
        let number = state.make(
            self.inner(name.as_bytes()),
            Kind::File(Vec::new()),
            MARK_MODE,
        )?;
        Ok(self.mark_of(number, name))
    }

    fn name_draft(
        &self,
        draft: Box<dyn Mark>,
        name: &str,
        replaces: bool,
    ) -> Result<Box<dyn Mark>, Errno> {
        let [from, to] = [draft.name(), name].map(|name| self.inner(name.as_bytes()));
        self.simulated.powered()?.rename(&from, to, replaces)?;
        Ok(draft)
    }

    fn mark(&self, name: &str) -> Result<Option<Box<dyn Mark>>, Errno> {
        match self
            .simulated
            .powered()?
            .number(&self.inner(name.as_bytes()))
        {
            Ok(number) => Ok(Some(self.mark_of(number, name))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }
}

impl Mark for SimulatedMark {
    fn name(&self) -> &str {
        &self.name
    }

    fn facts(&self) -> Result<Facts, Errno> {
        let state = self.simulated.powered()?;
        Ok(facts(&state, self.number, state.numbered(self.number)?))
    }

    fn lock(&self) -> Result<Lock, Errno> {
        let is_ours = self.simulated.powered()?.locked.insert(self.number);
        self.has_lock.fetch_or(is_ours, Ordering::Relaxed);
        Ok(if is_ours { Lock::Ours } else { Lock::Others })
    }

    fn is_named(&self) -> Result<bool, Errno> {
        let name = [&self.directory, &b"/"[..], self.name.as_bytes()].concat();
        Ok(self.simulated.powered()?.number(&name) == Ok(self.number))
    }

    fn read(&self, bytes_max: u64) -> Result<Vec<u8>, Errno> {
        match &self.simulated.powered()?.numbered(self.number)?.kind {
            Kind::File(text) => Ok(text[..text
                .len()
                .min(usize::try_from(bytes_max).unwrap_or(usize::MAX))]
                .to_owned()),
            Kind::Directory | Kind::Symbolic(_) => Err(Errno::LOOP),
        }
    }

    fn write(&self, text: &[u8]) -> Result<(), Errno> {
        self.simulated.powered()?.numbered_mut(self.number)?.kind = Kind::File(text.to_owned());
        Ok(())
    }
}

impl Drop for SimulatedMark {
    fn drop(&mut self) {
        if self.has_lock.load(Ordering::Relaxed) {
            self.simulated.state().locked.remove(&self.number);
        }
    }
}
