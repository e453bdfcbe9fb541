//! The files in memory, and which of their changes are durable.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque, btree_map};
use std::ffi::{OsStr, OsString};
use std::time::SystemTime;

use fuser::{Errno, FileType};

use super::bug::Bug;
use super::node::{Content, Node};
use super::pages::survivors;

/// Number of changes after which the journal is committed without a sync, as by a timer.
const COMMIT_EVERY: usize = 200;

/// Number of added names that the second replay of [`Bug::JournalTwice`] repeats.
const REPLAYED: usize = 64;

/// With [`Bug::SizeWithoutData`], one of this many syncs loses the last bytes of the data.
const TORN_EVERY: u64 = 8;
const TORN_BYTES: usize = 512;

/// With [`Bug::EarlySync`], this many syncs are performed together.
const EARLY_SYNCS: usize = 8;

type Nodes = HashMap<u64, Node>;

/// An entry of a directory: its offset, its name, and the number and kind of its node.
pub(super) type Listed = (u64, OsString, u64, FileType);

/// What a sync was asked to make durable.
#[derive(Clone, Copy, Debug)]
enum Sync {
    /// The number of a file, with its data.
    File(u64),
    Directory,
}

pub(super) struct Model {
    /// The files as programs see them.
    pub now: Nodes,
    /// The files as they are after a crash.
    durable: Nodes,
    /// Nodes whose names or attributes changed since the last commit.
    changed: BTreeSet<u64>,
    changes: usize,
    /// Number of open handles of each node.
    open: HashMap<u64, u32>,
    next: u64,
    random: u64,
    bug: Option<Bug>,
    /// The syncs that a bug has postponed.
    postponed: Vec<Sync>,
    /// Names that were committed last, with their directories and nodes.
    added: VecDeque<(u64, OsString, u64, Node)>,
}

pub(super) const ROOT: u64 = 1;

/// The next value of SplitMix64.
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

impl Model {
    pub(super) fn new(seed: u64, bug: Option<Bug>) -> Self {
        let root = Node::new(Content::Directory(BTreeMap::new()), 0o755, (0, 0));
        let nodes = Nodes::from([(ROOT, root)]);
        Self {
            durable: nodes.clone(),
            now: nodes,
            changed: BTreeSet::new(),
            changes: 0,
            open: HashMap::new(),
            next: ROOT + 1,
            random: seed,
            bug,
            postponed: Vec::new(),
            added: VecDeque::new(),
        }
    }

    pub(super) fn seed(&mut self, seed: u64) {
        self.random = seed;
    }

    fn draw(&mut self) -> u64 {
        draw(&mut self.random)
    }

    /// Returns `true` in one of two cases.
    pub(super) fn tosses(&mut self) -> bool {
        self.draw().is_multiple_of(2)
    }

    pub(super) fn node(&self, number: u64) -> Result<&Node, Errno> {
        self.now.get(&number).ok_or(Errno::ESTALE)
    }

    pub(super) fn node_mut(&mut self, number: u64) -> Result<&mut Node, Errno> {
        self.now.get_mut(&number).ok_or(Errno::ESTALE)
    }

    pub(super) fn entries(&self, directory: u64) -> Result<&BTreeMap<OsString, u64>, Errno> {
        match &self.node(directory)?.content {
            Content::Directory(entries) => Ok(entries),
            _ => Err(Errno::ENOTDIR),
        }
    }

    /// Returns the entries of a directory in the order of their offsets. The offset of an entry is
    /// its number plus 2, so removals during a listing skip no entry.
    pub(super) fn list(&self, directory: u64) -> Result<Vec<Listed>, Errno> {
        let own = |at, name: &str| (at, OsString::from(name), directory, FileType::Directory);
        let mut all = vec![own(1, "."), own(2, "..")];
        for (name, number) in self.entries(directory)? {
            let kind = self.node(*number)?.kind();
            all.push((number + 2, name.clone(), *number, kind));
        }
        all.sort_unstable_by_key(|(at, ..)| *at);
        Ok(all)
    }

    fn entries_mut(&mut self, directory: u64) -> Result<&mut BTreeMap<OsString, u64>, Errno> {
        let node = self.node_mut(directory)?;
        node.modified = SystemTime::now();
        node.changed = node.modified;
        match &mut node.content {
            Content::Directory(entries) => Ok(entries),
            _ => Err(Errno::ENOTDIR),
        }
    }

    pub(super) fn find(&self, directory: u64, name: &OsStr) -> Result<u64, Errno> {
        let found = self.entries(directory)?.get(name);
        found.copied().ok_or(Errno::ENOENT)
    }

    /// Marks the names or attributes of a node as changed.
    pub(super) fn touch(&mut self, number: u64) {
        self.changed.insert(number);
        self.changes += 1;
        if self.changes >= COMMIT_EVERY {
            self.commit();
        }
    }

    pub(super) fn make(&mut self, at: (u64, &OsStr), node: Node) -> Result<u64, Errno> {
        if self.find(at.0, at.1).is_ok() {
            return Err(Errno::EEXIST);
        }
        let number = self.next;
        self.entries_mut(at.0)?.insert(at.1.to_owned(), number);
        self.next += 1;
        self.now.insert(number, node);
        self.changed.insert(number);
        self.touch(at.0);
        Ok(number)
    }

    pub(super) fn link(&mut self, number: u64, at: (u64, &OsStr)) -> Result<(), Errno> {
        if self.find(at.0, at.1).is_ok() {
            return Err(Errno::EEXIST);
        }
        self.node_mut(number)?.links += 1;
        self.entries_mut(at.0)?.insert(at.1.to_owned(), number);
        self.changed.insert(number);
        self.touch(at.0);
        Ok(())
    }

    pub(super) fn remove(&mut self, directory: u64, name: &OsStr) -> Result<(), Errno> {
        let number = self.find(directory, name)?;
        if self.entries(number).is_ok_and(|inner| !inner.is_empty()) {
            return Err(Errno::ENOTEMPTY);
        }
        self.entries_mut(directory)?.remove(name);
        let node = self.node_mut(number)?;
        node.links = node.links.saturating_sub(1);
        node.changed = SystemTime::now();
        self.changed.insert(number);
        self.free(number);
        self.touch(directory);
        Ok(())
    }

    pub(super) fn rename(
        &mut self,
        from: (u64, &OsStr),
        to: (u64, &OsStr),
        may_replace: bool,
    ) -> Result<(), Errno> {
        let moved = self.find(from.0, from.1)?;
        match self.find(to.0, to.1) {
            Ok(_) if !may_replace => return Err(Errno::EEXIST),
            Ok(same) if same == moved => return Ok(()),
            Ok(_) => self.remove(to.0, to.1)?,
            Err(_) => {}
        }
        self.entries_mut(from.0)?.remove(from.1);
        self.entries_mut(to.0)?.insert(to.1.to_owned(), moved);
        self.node_mut(moved)?.changed = SystemTime::now();
        self.changed.extend([moved, from.0]);
        self.touch(to.0);
        Ok(())
    }

    /// Makes all changes of names and attributes durable. Data of files stays as it was synced.
    fn commit(&mut self) {
        self.changes = 0;
        for number in std::mem::take(&mut self.changed) {
            match self.now.get(&number).filter(|node| node.links > 0) {
                None => drop(self.durable.remove(&number)),
                Some(node) => {
                    let node = node.clone();
                    self.commit_node(number, node);
                }
            }
        }
    }

    fn commit_node(&mut self, number: u64, mut node: Node) {
        let before = self.durable.get(&number).map(|before| &before.content);
        match (&mut node.content, before) {
            // Without a sync of the file, its data and size are those of the last sync.
            (Content::File(data), Some(Content::File(synced))) => data.clone_from(synced),
            (Content::File(data), _) => data.clear(),
            (Content::Directory(entries), before) => {
                for (name, inner) in entries.iter() {
                    let is_old = matches!(before, Some(Content::Directory(old))
                        if old.get(name) == Some(inner));
                    if let Some(file) = self.now.get(inner).filter(|_| !is_old) {
                        let added = (number, name.clone(), *inner, file.clone());
                        self.added.push_back(added);
                    }
                }
                while self.added.len() > REPLAYED {
                    self.added.pop_front();
                }
            }
            (Content::Link(_), _) => {}
        }
        self.durable.insert(number, node);
    }

    /// Makes the data and size of a file durable.
    fn commit_data(&mut self, number: u64) {
        let is_torn =
            self.bug == Some(Bug::SizeWithoutData) && self.draw().is_multiple_of(TORN_EVERY);
        let Some(node) = self.now.get(&number).filter(|node| node.links > 0) else {
            return;
        };
        let mut node = node.clone();
        if let (true, Content::File(data)) = (is_torn, &mut node.content) {
            let whole = data.len().saturating_sub(TORN_BYTES);
            data[whole..].fill(0);
        }
        self.durable.insert(number, node);
    }

    fn perform(&mut self, sync: Sync) {
        if self.bug != Some(Bug::NoDirectorySync) {
            self.commit();
        }
        match sync {
            Sync::File(_) if self.bug == Some(Bug::RenameBeforeData) => {
                for earlier in std::mem::replace(&mut self.postponed, vec![sync]) {
                    if let Sync::File(number) = earlier {
                        self.commit_data(number);
                    }
                }
            }
            Sync::File(number) => self.commit_data(number),
            Sync::Directory => {}
        }
    }

    fn sync(&mut self, sync: Sync) {
        if self.bug != Some(Bug::EarlySync) {
            return self.perform(sync);
        }
        self.postponed.push(sync);
        if self.postponed.len() >= EARLY_SYNCS {
            for earlier in std::mem::take(&mut self.postponed) {
                self.perform(earlier);
            }
        }
    }

    pub(super) fn sync_file(&mut self, number: u64) -> Result<(), Errno> {
        self.sync(Sync::File(number));
        Ok(())
    }

    pub(super) fn sync_directory(&mut self) -> Result<(), Errno> {
        self.sync(Sync::Directory);
        Ok(())
    }

    pub(super) fn open(&mut self, number: u64) -> Result<(), Errno> {
        self.node(number)?;
        *self.open.entry(number).or_default() += 1;
        Ok(())
    }

    pub(super) fn close(&mut self, number: u64) {
        if let Some(open) = self.open.get_mut(&number) {
            *open = open.saturating_sub(1);
        }
        self.free(number);
    }

    /// Frees a file that has neither a name nor an open handle.
    fn free(&mut self, number: u64) {
        let is_open = self.open.get(&number).is_some_and(|open| *open > 0);
        let is_removed = |node: &Node| node.links == 0;
        if !is_open && self.now.get(&number).is_some_and(is_removed) {
            self.now.remove(&number);
            self.open.remove(&number);
        }
    }

    /// Loses everything that is not durable. By chance, the pending changes of names survive, and
    /// parts of data that was not synced.
    pub(super) fn crash(&mut self) {
        if self.tosses() && self.bug != Some(Bug::EarlySync) {
            self.commit();
            self.keep_parts();
        }
        if self.bug == Some(Bug::JournalTwice) {
            self.replay();
        }
        self.postponed.clear();
        (self.changes, self.changed) = (0, BTreeSet::new());
        self.open.clear();
        self.now = self.durable.clone();
    }

    /// Keeps a part of the data that was written to each file since its last sync.
    fn keep_parts(&mut self) {
        let (now, random) = (&self.now, &mut self.random);
        let mut files: Vec<(&u64, &mut Node)> = self.durable.iter_mut().collect();
        // The order of a hash table must not determine which numbers are drawn for a file.
        files.sort_unstable_by_key(|(number, _)| **number);
        for (number, node) in files {
            if let (Content::File(synced), Some(Content::File(written))) =
                (&mut node.content, now.get(number).map(|node| &node.content))
                && synced != written
            {
                *synced = survivors(synced, written, &mut || draw(random));
            }
        }
    }

    /// Adds names of the journal that were removed since.
    fn replay(&mut self) {
        for (directory, name, number, node) in std::mem::take(&mut self.added) {
            let Some(Content::Directory(entries)) = self
                .durable
                .get_mut(&directory)
                .map(|node| &mut node.content)
            else {
                continue;
            };
            if let btree_map::Entry::Vacant(vacant) = entries.entry(name) {
                vacant.insert(number);
                self.durable.entry(number).or_insert(node);
            }
        }
    }
}
