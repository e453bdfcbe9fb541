//! The state of the simulated engine: files, names, and requested faults.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::corruption::{Corruptions, Event};
use super::truth::{Fault, Struck, Truth};
use engine::Errno;

/// The data that all clones and sessions of an engine share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) clock_ns: AtomicU64,
    state: Mutex<State>,
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Files, names, requested faults and observations for tests.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) names: BTreeMap<Vec<u8>, u64>,
    pub(super) nodes: BTreeMap<u64, Node>,
    nodes_made: u64,
    pub(super) open: BTreeMap<c_int, Open>,
    pub(super) faults: BTreeMap<u64, Fault>,
    pub(super) struck: Vec<Struck>,
    pub(super) corruptions: Corruptions,
    pub(super) truth: Truth,
    pub(super) calls: u64,
    /// Number of sessions opened. `in_flight_max` is the largest number of operations that one
    /// session had in flight. `meetings` contains names that two operations of one session used
    /// while both were in flight.
    pub(super) sessions: u64,
    pub(super) in_flight_max: usize,
    pub(super) meetings: Vec<String>,
    pub(super) call_cost_ns: u64,
    /// The virtual time at which the current call ends.
    pub(super) now_ns: u64,
    /// The number of the first call without power.
    pub(super) cut_at: Option<u64>,
    pub(super) was_restarted: bool,
    /// Whether files have neither an identity nor a birth time.
    pub(super) forgets_files: bool,
    /// Node numbers of the locked marks.
    pub(super) locked: BTreeSet<u64>,
}

/// A file, directory or symbolic link.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) mode: u32,
    pub(super) times_ns: i64,
    pub(super) extended: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(super) born_ns: u64,
    /// Number of hard links.
    pub(super) names: u32,
    /// The contents of a file before the last overwrite or replacement.
    pub(super) earlier: Option<Vec<u8>>,
}

#[derive(Debug)]
pub(super) enum Kind {
    File(Vec<u8>),
    Directory,
    Symbolic(Vec<u8>),
}

#[derive(Debug)]
pub(super) struct Open {
    pub(super) node: u64,
    pub(super) name: Vec<u8>,
    /// The read position: in a file the offset of the next byte, in a directory the index of the
    /// next entry.
    pub(super) at: usize,
    pub(super) flags: c_int,
    pub(super) has_written: bool,
    /// The contents that reads return instead of the current ones, because of a corruption.
    pub(super) old_version: Option<Vec<u8>>,
    /// The entries of a directory at the time of the first request for entries.
    pub(super) entries: Option<Vec<Vec<u8>>>,
}

pub(super) fn parent(name: &[u8]) -> Option<&[u8]> {
    let slash = name.iter().rposition(|byte| *byte == b'/')?;
    Some(&name[..slash])
}

fn inside(directory: &[u8]) -> Vec<u8> {
    [directory, b"/"].concat()
}

impl State {
    pub(super) fn make_root(&mut self, name: &[u8]) {
        if !self.names.contains_key(name) {
            self.put(name.to_owned(), Kind::Directory, 0);
        }
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = (&Vec<u8>, &Node)> {
        self.names
            .iter()
            .filter_map(|(name, node)| Some((name, self.nodes.get(node)?)))
    }

    pub(super) fn number(&self, name: &[u8]) -> Result<u64, Errno> {
        self.names.get(name).copied().ok_or(Errno::NOENT)
    }

    pub(super) fn node(&self, name: &[u8]) -> Result<&Node, Errno> {
        self.numbered(self.number(name)?)
    }

    pub(super) fn node_mut(&mut self, name: &[u8]) -> Result<&mut Node, Errno> {
        self.numbered_mut(self.number(name)?)
    }

    pub(super) fn numbered(&self, number: u64) -> Result<&Node, Errno> {
        self.nodes.get(&number).ok_or(Errno::STALE)
    }

    pub(super) fn numbered_mut(&mut self, number: u64) -> Result<&mut Node, Errno> {
        self.nodes.get_mut(&number).ok_or(Errno::STALE)
    }

    pub(super) fn is_cut(&self) -> bool {
        self.cut_at.is_some_and(|at| self.calls >= at)
    }

    pub(super) fn node_of(&mut self, file: c_int) -> Result<&mut Node, Errno> {
        let open = self.open.get(&file).ok_or(Errno::BADF)?;
        self.numbered_mut(open.node)
    }

    fn is_directory(&self, name: &[u8]) -> Result<bool, Errno> {
        Ok(matches!(self.node(name)?.kind, Kind::Directory))
    }

    /// Returns an error if the name is not that of a directory.
    pub(super) fn directory(&self, name: &[u8]) -> Result<(), Errno> {
        self.is_directory(name)?.then_some(()).ok_or(Errno::NOTDIR)
    }

    /// Returns an error if the name exists, or if its parent directory does not.
    fn is_free(&self, name: &[u8]) -> Result<(), Errno> {
        if let Some(parent) = parent(name) {
            self.directory(parent)?;
        }
        match self.names.contains_key(name) {
            true => Err(Errno::EXIST),
            false => Ok(()),
        }
    }

    fn put(&mut self, name: Vec<u8>, kind: Kind, mode: u32) -> u64 {
        let number = self.nodes_made;
        self.nodes_made += 1;
        let node = Node {
            kind,
            mode,
            times_ns: 0,
            born_ns: self.now_ns,
            extended: BTreeMap::new(),
            names: 1,
            earlier: None,
        };
        self.nodes.insert(number, node);
        self.names.insert(name, number);
        number
    }

    /// Creates a node under a new name; returns the node's number.
    pub(super) fn make(&mut self, name: Vec<u8>, kind: Kind, mode: u32) -> Result<u64, Errno> {
        self.is_free(&name)?;
        Ok(self.put(name, kind, mode))
    }

    fn create(&mut self, name: Vec<u8>, mode: u32) -> Result<u64, Errno> {
        let number = self.make(name.clone(), Kind::File(Vec::new()), mode)?;
        if let Some(lost) = self.corruptions.of(Event::Creation) {
            self.names.remove(&name);
            self.nodes.entry(number).and_modify(|node| node.names = 0);
            self.corruptions.strike(lost, name);
        } else {
            self.truth.created += 1;
        }
        Ok(number)
    }

    pub(super) fn open(&mut self, name: Vec<u8>, flags: c_int, mode: u32) -> Result<c_int, Errno> {
        let node = if flags & libc::O_CREAT != 0 {
            self.create(name.clone(), mode)?
        } else {
            self.open_what_is_there(&name, flags)?
        };
        let free = (3..).find(|number| !self.open.contains_key(number));
        let descriptor = free.unwrap_or(c_int::MAX);
        let open = Open {
            node,
            name,
            at: 0,
            flags,
            has_written: false,
            old_version: None,
            entries: None,
        };
        self.open.insert(descriptor, open);
        Ok(descriptor)
    }

    fn open_what_is_there(&mut self, name: &[u8], flags: c_int) -> Result<u64, Errno> {
        let number = self.number(name)?;
        let writes = flags & libc::O_ACCMODE != libc::O_RDONLY;
        let lists = flags & libc::O_DIRECTORY != 0;
        let opened = match &self.node(name)?.kind {
            Kind::Symbolic(_) => return Err(Errno::LOOP),
            Kind::Directory if writes => return Err(Errno::ISDIR),
            Kind::File(_) if lists => return Err(Errno::NOTDIR),
            Kind::Directory => &mut self.truth.opened_to_list,
            Kind::File(_) if flags & libc::O_APPEND != 0 => &mut self.truth.opened_to_append,
            Kind::File(_) if writes => &mut self.truth.opened_to_overwrite,
            Kind::File(_) => &mut self.truth.opened_to_read,
        };
        *opened += 1;
        if let (Kind::File(content), true) =
            (&mut self.node_mut(name)?.kind, flags & libc::O_TRUNC != 0)
        {
            content.clear();
        }
        Ok(number)
    }

    pub(super) fn close(&mut self, file: c_int) -> Result<(), Errno> {
        let open = self.open.remove(&file).ok_or(Errno::BADF)?;
        self.forget_unless_used(open.node);
        Ok(())
    }

    fn forget_unless_used(&mut self, number: u64) {
        let has_names = self.nodes.get(&number).is_some_and(|node| node.names > 0);
        if !has_names && !self.open.values().any(|open| open.node == number) {
            self.nodes.remove(&number);
        }
    }

    fn take_name(&mut self, name: &[u8]) {
        if let Some(number) = self.names.remove(name) {
            self.nodes.entry(number).and_modify(|node| node.names -= 1);
            self.forget_unless_used(number);
        }
    }

    pub(super) fn unlink(&mut self, name: &[u8]) -> Result<(), Errno> {
        if self.is_directory(name)? {
            return Err(Errno::ISDIR);
        }
        self.take_name(name);
        self.truth.unlinked += 1;
        Ok(())
    }

    fn names_inside(&self, directory: &[u8]) -> impl Iterator<Item = &Vec<u8>> {
        let inside = inside(directory);
        let names = self.names.range(inside.clone()..).map(|(name, _)| name);
        names.take_while(move |name| name.starts_with(&inside))
    }

    pub(super) fn remove_directory(&mut self, name: &[u8]) -> Result<(), Errno> {
        self.directory(name)?;
        if self.names_inside(name).next().is_some() {
            return Err(Errno::NOTEMPTY);
        }
        self.take_name(name);
        self.truth.directories_removed += 1;
        Ok(())
    }

    /// Returns the names in a directory, each relative to the directory.
    pub(super) fn list(&self, directory: &[u8]) -> Vec<Vec<u8>> {
        let skipped = directory.len() + 1;
        let inside = self
            .names_inside(directory)
            .map(|name| name[skipped..].to_owned());
        let own = [b".".to_vec(), b"..".to_vec()].into_iter();
        own.chain(inside.filter(|name| !name.contains(&b'/')))
            .collect()
    }

    pub(super) fn link(&mut self, from: &[u8], to: Vec<u8>) -> Result<(), Errno> {
        let number = self.number(from)?;
        if self.is_directory(from)? {
            return Err(Errno::PERM);
        }
        self.is_free(&to)?;
        self.names.insert(to, number);
        self.nodes.entry(number).and_modify(|node| node.names += 1);
        self.truth.linked += 1;
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &[u8], to: Vec<u8>, replaces: bool) -> Result<(), Errno> {
        let number = self.number(from)?;
        let is_directory = self.is_directory(from)?;
        match self.is_free(&to) {
            Err(Errno::EXIST) if replaces => {
                if self.number(&to)? == number {
                    return Ok(());
                }
                self.replace(number, &to)?;
            }
            answer => answer?,
        }
        if is_directory {
            let inside: Vec<_> = self.names_inside(from).cloned().collect();
            for name in inside {
                if let Some(number) = self.names.remove(&name) {
                    self.names
                        .insert([&to, &name[from.len()..]].concat(), number);
                }
            }
        }
        self.names.insert(to, number);
        match self.corruptions.of(Event::Renaming) {
            Some(doubled) if !is_directory => {
                self.nodes.entry(number).and_modify(|node| node.names += 1);
                self.corruptions.strike(doubled, from.to_vec());
            }
            _ => drop(self.names.remove(from)),
        }
        self.truth.renamed += 1;
        Ok(())
    }

    /// Removes `name` before node `by` gets this name. The removed contents become the earlier
    /// contents of `by`.
    fn replace(&mut self, by: u64, name: &[u8]) -> Result<(), Errno> {
        let earlier = match &self.node(name)?.kind {
            Kind::Directory => return Err(Errno::ISDIR),
            Kind::File(content) => Some(content.clone()),
            Kind::Symbolic(_) => None,
        };
        self.nodes
            .entry(by)
            .and_modify(|node| node.earlier = earlier);
        self.take_name(name);
        Ok(())
    }
}
