//! Keeps the operations of a trace for a replay, in bounded memory.

use std::collections::HashMap;

use engine::{FileSync, OperationSyncs};
use workload::Pause;
use workload::replay::{NameIndex, Trace, TracedName, TracedOperation, TracedOwnTime};

use crate::done::{Done, Path, Synced, parent};
use crate::scope::identify;

/// The number of names that are kept.
const NAMES_MAX: usize = 1 << 22;
/// The number of levels of directories that are kept.
const LEVELS_MAX: usize = 64;

/// The operations of a trace on files of one directory.
#[derive(Debug)]
pub struct Kept {
    directory: Path,
    operations_max: u64,
    operations: u64,
    names: HashMap<u64, NameIndex>,
    trace: Trace,
    is_full: bool,
}

impl Kept {
    pub fn new(directory: Path, operations_max: u64) -> Self {
        Self {
            directory,
            operations_max,
            operations: 0,
            names: HashMap::new(),
            trace: Trace::default(),
            is_full: false,
        }
    }

    /// Whether the trace has more operations or names than the limit. The rest need not be read.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Returns all operations.
    pub fn finish(self) -> Trace {
        self.trace
    }

    /// Keeps an operation of a thread.
    pub fn add(&mut self, thread: u32, done: &Done) {
        self.operations = self.operations.saturating_add(done.times);
        if self.is_full || self.operations > self.operations_max {
            self.is_full = true;
            return;
        }
        let name = self.name(&done.path);
        let second = done.to.as_ref().or(done.from.as_ref());
        let second = second.map(|path| self.name(path));
        self.trace.operations.push(TracedOperation {
            action: done.action,
            thread,
            name,
            second,
            kind: done.kind,
            bytes: done.bytes,
            offset_bytes: done.offset,
            size_bytes: done.size,
            // The limit of operations is smaller.
            times: u32::try_from(done.times).unwrap_or(u32::MAX),
            is_over: done.is_over,
            syncs: syncs(done.synced),
            begin: done.begin.order,
            end: done.end.order,
            begin_ns: done.begin.ns,
            end_ns: done.end.ns,
            own: own_time(done),
        });
    }

    /// Returns the number of a name, and numbers the directories above it.
    fn name(&mut self, path: &[u8]) -> NameIndex {
        if let Some(known) = self.names.get(&identify(path)) {
            return *known;
        }
        let root = self.directory.clone();
        let mut paths = vec![path];
        while let Some(last) = paths.last().filter(|last| ***last != *root) {
            let above = parent(last);
            let is_deep = paths.len() > LEVELS_MAX;
            paths.push(if is_deep { &root } else { above });
        }
        let is_deep = paths.len() > LEVELS_MAX + 1;
        let mut directory = None;
        for path in paths.into_iter().rev() {
            directory = Some(self.intern(path, directory, is_deep));
        }
        directory.unwrap_or_default()
    }

    fn intern(&mut self, path: &[u8], directory: Option<NameIndex>, is_deep: bool) -> NameIndex {
        let next = self.names.len() as NameIndex;
        if let Some(known) = self.names.get(&identify(path)) {
            return *known;
        }
        if self.names.len() >= NAMES_MAX {
            self.is_full = true;
            return 0;
        }
        self.names.insert(identify(path), next);
        self.trace.names.push(TracedName {
            directory,
            is_mail_part: path.ends_with(b"/new") || path.ends_with(b"/tmp"),
            is_deep,
        });
        next
    }
}

fn syncs(synced: Synced) -> OperationSyncs {
    OperationSyncs {
        file: match synced.file {
            0 => FileSync::None,
            1 => FileSync::Data,
            _ => FileSync::All,
        },
        directories: synced.directory,
    }
}

fn own_time(done: &Done) -> TracedOwnTime {
    TracedOwnTime {
        pause: Pause {
            think_ns: done.own.idle_ns,
            compute_ns: u64::try_from(done.own.compute_ns).unwrap_or(0),
        },
        awaited: done
            .own
            .awaited
            .map(|awaited| (awaited.order, awaited.thread)),
    }
}
