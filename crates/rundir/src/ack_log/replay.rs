//! What an acknowledgement log's operations must have left: for every name what lies under it, and
//! what else may lie there because an operation had begun and was not acknowledged.
//!
//! A file is an object of its own, as in a file system: renaming moves it, a link is one more name
//! of it, replacing puts another one under the name.

use std::collections::HashMap;

use workload::Action;

use super::entry::Entry;

/// A name: its location and the path in it.
pub(crate) type Key = (u32, Vec<u8>);

/// What was acknowledged of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Acked {
    /// Nothing.
    Unknown,
    /// It is gone.
    Absent,
    /// It is a name of this object.
    File(usize),
    /// It is a symbolic link that says this.
    SymbolicLink(Vec<u8>),
    Directory,
}

/// What may be of a name because of operations in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum May {
    /// It is being removed.
    Gone,
    /// Its file is being renamed: to this.
    Moved(Key),
    /// It is being made, and may be there in any state.
    Made,
    /// It may be a name of this object, which is whole.
    Holds(usize),
}

/// A name that the acknowledgement log speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NameState {
    pub acked: Acked,
    /// The operation that made it so.
    pub by: Action,
    pub may: Vec<May>,
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileState {
    pub file: u64,
    pub version: u32,
    pub size_bytes: u64,
}

/// A file, whatever its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    /// Nothing: it was there before the run.
    state: Option<FileState>,
    /// The operation that made it so.
    pub by: Action,
    /// The pool that it belongs to: contents are told apart by it.
    pub pool: u32,
    /// Sizes that it may have because of operations in flight, and how many of its first bytes
    /// they leave alone.
    may: Vec<(u64, u64)>,
}

/// What a file must be found as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    pub state: FileState,
    pub size_min: u64,
    pub size_max: u64,
    /// So many of its first bytes must be right.
    pub sure_bytes: u64,
}

impl Object {
    /// Nothing where the acknowledgement log does not say what it holds.
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

/// An operation that has begun.
#[derive(Debug)]
struct Flight {
    entry: Entry,
    /// The file that it is done to, or that it makes.
    object: usize,
}

/// See the module's text.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    pub names: HashMap<Key, NameState>,
    pub objects: Vec<Object>,
    /// Acknowledged operations by action.
    pub acknowledged: HashMap<Action, u64>,
    /// By worker and sequence, operations that began and were not acknowledged: of one that failed
    /// nothing more is told.
    flights: HashMap<(u32, u64), Flight>,
    /// By worker.
    sequences: HashMap<u32, u64>,
    /// Whether the pools of workers are told apart.
    has_own_pools: bool,
}

impl Replay {
    pub(crate) fn new(has_own_pools: bool) -> Self {
        Self {
            has_own_pools,
            ..Self::default()
        }
    }

    /// Operations that were not acknowledged.
    pub(crate) fn in_flight(&self) -> u64 {
        self.flights.len() as u64
    }

    /// Whether all that was acknowledged is that names are gone.
    pub(crate) fn leaves_nothing(&self) -> bool {
        let mut names = self.names.values();
        names.all(|name| matches!(name.acked, Acked::Absent | Acked::Unknown))
    }

    /// An operation is about to be issued.
    pub(crate) fn begins(&mut self, entry: Entry) -> Result<(), String> {
        let sequence = self.sequences.entry(entry.worker).or_default();
        *sequence += 1;
        if entry.sequence != *sequence {
            return Err(format!(
                "operation {} of worker {} stands in place of its operation {sequence}",
                entry.sequence, entry.worker
            ));
        }
        let key = (entry.location, entry.path.clone());
        let object = match entry.action {
            Action::Create | Action::Deliver | Action::Replace => {
                self.object(&entry, Some(after(&entry)))
            }
            _ => match self.names.get(&key).map(|name| &name.acked) {
                Some(Acked::File(object)) => *object,
                _ => self.object(&entry, None),
            },
        };
        match entry.action {
            Action::Create | Action::Deliver | Action::SymbolicLink | Action::MakeDirectory => {
                self.may(key, May::Made);
            }
            Action::Delete
            | Action::RemoveLink
            | Action::RemoveSymbolicLink
            | Action::RemoveDirectory => {
                self.may(key, May::Gone);
            }
            Action::Rename => {
                let to = second(&entry)?;
                self.may(key, May::Moved(to.clone()));
                self.may(to, May::Holds(object));
            }
            Action::Link => self.may(second(&entry)?, May::Holds(object)),
            Action::Replace => self.may(key, May::Holds(object)),
            Action::Append | Action::Overwrite => {
                // What lies before the first byte that is written stays.
                self.objects[object]
                    .may
                    .push((entry.after_bytes, entry.offset_bytes));
            }
            Action::Truncate => {
                let leaves = entry.before_bytes.min(entry.after_bytes);
                self.objects[object].may.push((entry.after_bytes, leaves));
            }
            _ => {}
        }
        self.flights
            .insert((entry.worker, entry.sequence), Flight { entry, object });
        Ok(())
    }

    /// An operation that a worker has begun is done.
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
            Action::Create | Action::Deliver | Action::Replace => {
                self.set(key, Acked::File(object), action)
            }
            Action::Delete
            | Action::RemoveLink
            | Action::RemoveSymbolicLink
            | Action::RemoveDirectory => {
                self.set(key, Acked::Absent, action);
            }
            Action::Rename => {
                self.set(key, Acked::Absent, action);
                self.set(second(&entry)?, Acked::File(object), action);
            }
            Action::Link => self.set(second(&entry)?, Acked::File(object), action),
            Action::SymbolicLink => {
                self.set(
                    key,
                    Acked::SymbolicLink(entry.second.unwrap_or_default()),
                    action,
                );
            }
            Action::MakeDirectory => self.set(key, Acked::Directory, action),
            Action::Append | Action::Overwrite | Action::Truncate => {
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

    fn object(&mut self, entry: &Entry, state: Option<FileState>) -> usize {
        self.objects.push(Object {
            state,
            by: entry.action,
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

/// What the file holds when the operation is done.
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
