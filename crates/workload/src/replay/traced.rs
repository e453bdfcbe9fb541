//! The operations of a trace, without its names.

use engine::OperationSyncs;

use crate::intent::{Action, Pause};

/// The number of a name, as an index of [`Trace::names`].
pub type NameIndex = u32;

/// The kind of object that a name of a trace denotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TracedKind {
    #[default]
    File,
    SymbolicLink,
    Directory,
}

/// An operation of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedOperation {
    pub action: Action,
    /// The thread of the application, by any number.
    pub thread: u32,
    pub name: NameIndex,
    /// The second name of a renaming or link, and the source of a copy.
    pub second: Option<NameIndex>,
    pub kind: TracedKind,
    /// Bytes of contents that the operation wrote or read.
    pub bytes: u64,
    /// The offset in bytes of the first byte that was read.
    pub offset_bytes: u64,
    /// The size of the file afterwards in bytes, if the trace shows it.
    pub size_bytes: Option<u64>,
    /// The number of equal operations.
    pub times: u32,
    /// Whether a renaming replaced a file.
    pub is_over: bool,
    /// The syncs that the thread made before it continued.
    pub syncs: OperationSyncs,
    /// The positions of the first and the last line or packet of the operation.
    pub begin: u64,
    pub end: u64,
    /// The times of both in nanoseconds, if the trace contains times.
    pub begin_ns: Option<u64>,
    pub end_ns: Option<u64>,
    pub own: TracedOwnTime,
}

/// What the thread did before an operation, since its last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedOwnTime {
    /// The time in which it was idle, and in which it computed.
    pub pause: Pause,
    /// The position at which it stopped waiting for others, and the thread for which it waited, if
    /// the trace shows that; `None` if it did not wait.
    pub awaited: Option<(u64, Option<u32>)>,
}

impl Default for TracedOwnTime {
    fn default() -> Self {
        Self {
            pause: Pause::NONE,
            awaited: None,
        }
    }
}

/// What a replay needs to know about a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TracedName {
    /// The directory that contains the name; `None` for the directory that is replayed.
    pub directory: Option<NameIndex>,
    /// Whether the name is `new` or `tmp`, as in a maildir.
    pub is_mail_part: bool,
    /// Whether the name is below more levels of directories than are replayed.
    pub is_deep: bool,
}

/// The operations of a trace on files of one directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    pub operations: Vec<TracedOperation>,
    pub names: Vec<TracedName>,
}

impl Trace {
    /// Multiplies the time in which threads computed between operations.
    pub fn scale_computing(&mut self, factor: f64) {
        for one in &mut self.operations {
            let compute_ns = &mut one.own.pause.compute_ns;
            *compute_ns = (*compute_ns as f64 * factor) as u64;
        }
    }

    /// The time from the first to the last operation in nanoseconds; `None` if an operation has no
    /// time.
    pub fn duration_ns(&self) -> Option<u64> {
        let times = self
            .operations
            .iter()
            .map(|one| one.begin_ns.zip(one.end_ns));
        let (first, last) = times
            .reduce(|one, other| {
                let ((first, last), (begin, end)) = (one?, other?);
                Some((first.min(begin), last.max(end)))
            })
            .flatten()?;
        Some(last.saturating_sub(first))
    }
}
