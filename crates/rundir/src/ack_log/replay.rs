//! Replays an acknowledgement log. The result is the state of every name after the acknowledged
//! operations, and the states that unacknowledged operations may have caused.
//!
//! A file is an object separate from its names, as in a file system. A rename moves the object, a
//! link gives the object another name, and a replacement puts another object under the name.

use std::collections::{HashMap, HashSet};

use engine::NameKind;
use workload::Action;

use super::begun::Begun;
use super::entry::Entry;
use super::key::Key;

mod next_log;

/// The acknowledged state of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Acked {
    /// No operation on the name was acknowledged.
    Unknown,
    /// The name was removed.
    Absent,
    /// The name refers to the object with this index.
    File(usize),
    /// The name is a symbolic link with this target.
    SymbolicLink(Vec<u8>),
    Directory,
}

/// A state of a name that an operation in flight may have caused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum May {
    /// The name was being removed.
    Gone,
    /// The file of this name was being renamed to the name in the variant.
    Moved(Key),
    /// The name was being created, so any state is possible.
    Made,
    /// The name may refer to the object with this index, whose contents are complete.
    Holds(usize),
}

/// The state of a name in the acknowledgement log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NameState {
    pub acked: Acked,
    /// The last acknowledged operation on the name.
    pub by: Action,
    pub may: Vec<May>,
}

/// The size of a file, and the numbers from which its contents are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileState {
    pub file: u64,
    pub version: u32,
    pub size_bytes: u64,
}

/// A file, independent of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    /// The size and contents after the acknowledged operations; `None` if the file existed before
    /// the run.
    state: Option<FileState>,
    /// The last acknowledged operation on the file.
    pub by: Action,
    /// The operation that made the file; `None` if the file existed before the run.
    pub made_by: Option<Action>,
    /// The names of the file before acknowledged renames. If such a rename is lost, one of them
    /// exists again.
    pub former_names: Vec<Key>,
    /// The pool to which the file belongs, which determines its contents.
    pub pool: u32,
    /// File sizes that operations in flight may have caused, each with the number of leading bytes
    /// that the operation does not change.
    may: Vec<(u64, u64)>,
}

/// The expected size and contents of a file after a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    pub state: FileState,
    pub size_min: u64,
    pub size_max: u64,
    /// Number of leading bytes that must equal the acknowledged contents.
    pub sure_bytes: u64,
}

impl Object {
    /// Returns `None` if the acknowledgement log does not record the file's contents.
    pub(crate) fn expected(&self) -> Option<Expected> {
        let state = self.state?;
        let size = state.size_bytes;
        let sizes = || self.may.iter().map(|(size, _)| *size);
        Some(Expected {
            state,
            size_min: sizes().fold(size, u64::min),
            size_max: sizes().fold(size, u64::max),
            sure_bytes: self
                .may
                .iter()
                .fold(size, |sure, (_, leaves)| sure.min(*leaves)),
        })
    }
}

/// An operation that has begun and was not acknowledged.
#[derive(Debug)]
struct Flight {
    entry: Entry,
    /// Index of the object that the operation changes or creates.
    object: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Replay {
    pub names: HashMap<Key, NameState>,
    pub objects: Vec<Object>,
    pub acknowledged: HashMap<Action, u64>,
    /// Operations that began and were not acknowledged, by worker and sequence number. A failed
    /// operation stays in this map, because its outcome is not logged.
    flights: HashMap<(u32, u64), Flight>,
    /// Second paths of operations, such as temporary names. Many of them have no state in `names`.
    seconds: HashSet<Key>,
    /// The paths of copied trees. If a file existed before the run, no entry names its copy.
    trees: HashSet<Key>,
    /// What each worker has begun.
    begun: HashMap<u32, Begun>,
    has_own_pools: bool,
}

impl Replay {
    pub(crate) fn new(has_own_pools: bool) -> Self {
        Self {
            has_own_pools,
            ..Self::default()
        }
    }

    /// Number of operations that were not acknowledged.
    pub(crate) fn in_flight(&self) -> u64 {
        self.flights.len() as u64
    }

    /// Whether an operation in the log names this path.
    pub(crate) fn mentions(&self, key: &Key) -> bool {
        let is_in_tree = || {
            let mut above = std::iter::successors(Some(parent(&key.1)), |path| Some(parent(path)))
                .take_while(|path| !path.is_empty());
            above.any(|directory| self.trees.contains(&(key.0, directory.to_owned())))
        };
        self.names.contains_key(key) || self.seconds.contains(key) || is_in_tree()
    }

    /// Whether no name exists according to the acknowledged operations.
    pub(crate) fn leaves_nothing(&self) -> bool {
        let mut names = self.names.values();
        names.all(|name| matches!(name.acked, Acked::Absent | Acked::Unknown))
    }

    /// Processes the entry of an operation that is about to be issued.
    pub(crate) fn begins(&mut self, entry: Entry) -> Result<(), String> {
        self.begun.entry(entry.worker).or_default().add(&entry)?;
        let key = (entry.location, entry.path.clone());
        if let Some(second) = &entry.second {
            let second = (entry.location, second.clone());
            // The temporary name may be that of an earlier lock file, which is known to be absent.
            let is_temporary = matches!(entry.action, Action::Replace | Action::Deliver);
            if is_temporary && self.names.contains_key(&second) {
                self.may(second.clone(), May::Made);
            }
            self.seconds.insert(second);
        }
        let object = match entry.action {
            action if makes_object(action) => self.object(&entry, Some(after(&entry))),
            _ => match self.names.get(&key).map(|name| &name.acked) {
                Some(Acked::File(object)) => *object,
                _ => self.object(&entry, None),
            },
        };
        self.may_be_done(&entry, key, object)?;
        self.flights
            .insert((entry.worker, entry.sequence), Flight { entry, object });
        Ok(())
    }

    /// Adds what an operation that has begun may have changed.
    fn may_be_done(&mut self, entry: &Entry, key: Key, object: usize) -> Result<(), String> {
        match entry.action {
            Action::SymbolicLink | Action::MakeDirectory | Action::LockFile => {
                self.may(key, May::Made)
            }
            action if action.makes_tree() => {
                for (copy, of) in self.copies(&key) {
                    let may = match action {
                        Action::LinkTree => May::Holds(of),
                        _ => May::Made,
                    };
                    self.may(copy, may);
                }
                self.trees.insert(key.clone());
                self.may(key, May::Made);
            }
            Action::RemoveTree => {
                for name in self.names_below(&key, &key.1) {
                    self.may(name, May::Gone);
                }
                self.may(key, May::Gone);
            }
            action if action.changes_count() == Some(true) => self.may(key, May::Made),
            Action::Delete
            | Action::RemoveLink
            | Action::RemoveSymbolicLink
            | Action::RemoveDirectory => {
                self.may(key, May::Gone);
            }
            Action::Rename => {
                let to = second(entry)?;
                self.may(key, May::Moved(to.clone()));
                self.may(to, May::Holds(object));
            }
            Action::Link | Action::InstallLink => {
                self.may(second(entry)?, May::Holds(object));
            }
            Action::Replace => self.may(key, May::Holds(object)),
            Action::Append | Action::Overwrite => {
                // The bytes before the first byte written do not change.
                self.objects[object]
                    .may
                    .push((entry.after_bytes, entry.offset_bytes));
            }
            // A rewrite first truncates the file to 0 bytes. After a crash, the file may be empty
            // or contain any part of the new contents, so none of its bytes is certain.
            Action::Rewrite => self.objects[object]
                .may
                .extend([(0, 0), (entry.after_bytes, 0)]),
            Action::Truncate => {
                let leaves = entry.before_bytes.min(entry.after_bytes);
                self.objects[object].may.push((entry.after_bytes, leaves));
            }
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn acknowledges(&mut self, worker: u32, sequence: u64) -> Result<(), String> {
        let Some(Flight { entry, object }) = self.flights.remove(&(worker, sequence)) else {
            return Err(format!(
                "operation {sequence} of worker {worker} is acknowledged but did not begin"
            ));
        };
        let action = entry.action;
        *self.acknowledged.entry(action).or_default() += 1;
        let key = (entry.location, entry.path.clone());
        match action {
            action if makes_object(action) => self.set(key, Acked::File(object), action),
            Action::Delete
            | Action::LockFile
            | Action::RemoveLink
            | Action::RemoveSymbolicLink
            | Action::RemoveDirectory => {
                self.set(key, Acked::Absent, action);
            }
            Action::Rename => {
                self.objects[object].former_names.push(key.clone());
                self.set(key, Acked::Absent, action);
                self.set(second(&entry)?, Acked::File(object), action);
            }
            Action::Link | Action::InstallLink => {
                self.set(second(&entry)?, Acked::File(object), action);
            }
            Action::SymbolicLink => {
                self.set(
                    key,
                    Acked::SymbolicLink(entry.second.unwrap_or_default()),
                    action,
                );
            }
            Action::MakeDirectory => self.set(key, Acked::Directory, action),
            Action::LinkTree => {
                for (link, to) in self.copies(&key) {
                    self.set(link, Acked::File(to), action);
                }
                self.set(key, Acked::Directory, action);
            }
            Action::CopyTree | Action::CloneTree => {
                for (copy, of) in self.copies(&key) {
                    let by = action;
                    let object = Object {
                        by,
                        made_by: Some(by),
                        former_names: Vec::new(),
                        ..self.objects[of].clone()
                    };
                    self.objects.push(object);
                    self.set(copy, Acked::File(self.objects.len() - 1), action);
                }
                self.set(key, Acked::Directory, action);
            }
            Action::RemoveTree => {
                for name in self.names_below(&key, &key.1) {
                    self.set(name, Acked::Absent, action);
                }
                self.set(key, Acked::Absent, action);
            }
            Action::Append | Action::Overwrite | Action::Truncate | Action::Rewrite => {
                let known = &mut self.objects[object];
                known.state = Some(after(&entry));
                known.by = action;
                known.may.clear();
                if !matches!(self.names.get(&key), Some(name) if name.acked == Acked::File(object))
                {
                    self.set(key, Acked::File(object), action);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The known names below a directory of the same location as `key`.
    fn names_below(&self, key: &Key, directory: &[u8]) -> Vec<Key> {
        let is_below = |path: &[u8]| match path.strip_prefix(directory) {
            Some(_) if directory.is_empty() => true,
            Some(rest) => rest.starts_with(b"/"),
            None => false,
        };
        let names = self.names.keys();
        names
            .filter(|name| name.0 == key.0 && is_below(&name.1))
            .cloned()
            .collect()
    }

    /// The names of the files in the copied tree `key`, each with the object that was copied. A
    /// tree is a copy of the directory that contains it, without additional hard links.
    fn copies(&self, key: &Key) -> Vec<(Key, usize)> {
        let (location, path) = key;
        let from = parent(path);
        let files = self.names_below(key, from).into_iter();
        files
            .filter(|file| is_copied(from, &file.1))
            .filter_map(|file| {
                let Acked::File(object) = self.names[&file].acked else {
                    return None;
                };
                let name = file.1.strip_prefix(from)?;
                let name = name.strip_prefix(b"/").unwrap_or(name);
                let copy = [path, &b"/"[..], name].concat();
                Some(((*location, copy), object))
            })
            .collect()
    }

    fn object(&mut self, entry: &Entry, state: Option<FileState>) -> usize {
        self.objects.push(Object {
            state,
            by: entry.action,
            made_by: state.map(|_| entry.action),
            former_names: Vec::new(),
            pool: if self.has_own_pools { entry.worker } else { 0 },
            may: Vec::new(),
        });
        self.objects.len() - 1
    }

    fn may(&mut self, key: Key, may: May) {
        let unknown = NameState {
            acked: Acked::Unknown,
            by: Action::Nothing,
            may: Vec::new(),
        };
        self.names.entry(key).or_insert(unknown).may.push(may);
    }

    fn set(&mut self, key: Key, acked: Acked, by: Action) {
        let state = NameState {
            acked,
            by,
            may: Vec::new(),
        };
        self.names.insert(key, state);
    }
}

/// Whether the action gives its name to a new file, as a creation or a replacement does.
fn makes_object(action: Action) -> bool {
    action == Action::Replace || action.changes_count() == Some(true)
}

/// Whether a copy of the directory `from` contains a copy of this file. Links are not copied, nor
/// is what is in trees and in directories that operations made.
fn is_copied(from: &[u8], path: &[u8]) -> bool {
    let below = path.strip_prefix(from).unwrap_or(path);
    below
        .split(|byte| *byte == b'/')
        .all(|name| NameKind::of_name(name) == NameKind::File)
}

/// Returns the path of the directory that contains a path; empty for a path of one component.
fn parent(path: &[u8]) -> &[u8] {
    let slash = path.iter().rposition(|byte| *byte == b'/');
    slash.map_or(&[], |slash| &path[..slash])
}

/// Returns the state of the operation's file after the operation.
fn after(entry: &Entry) -> FileState {
    FileState {
        file: entry.file,
        version: entry.version,
        size_bytes: entry.after_bytes,
    }
}

fn second(entry: &Entry) -> Result<Key, String> {
    match &entry.second {
        Some(second) => Ok((entry.location, second.clone())),
        None => Err("it has one name instead of two".to_owned()),
    }
}

#[cfg(test)]
mod tests;
