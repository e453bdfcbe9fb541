//! One operation in flight: what it was given, and the call that it waits for. What a reply makes
//! of it is in [`advance`](super::advance).

use core::time::Duration;

use engine::{Listing, Operation, OperationKind, OperationOutcome, Step, Ticket};
use nfs_client::{Handle, ListingProgress, Stable, WriteVerifier};

use super::directories::Directories;
use super::place::Place;

/// The call that an operation waits for, or is about to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// LOOKUP of a directory on the way to a place, the first or the second.
    Directory(usize),
    /// LOOKUP of the second name, which must not be there.
    LookupNew,
    /// LOOKUP of the first name.
    Lookup,
    /// LOOKUP of a file that was made, whose handle the server did not tell.
    LookupMade,
    /// LOOKUP of an entry of which the listing did not tell what it is.
    LookupEntry,
    /// GETATTR where a reply lacked the attributes.
    GetAttributes,
    /// SETATTR of what an exclusive creation could not set.
    SetNew,
    SetAttributes,
    Create,
    Write,
    Commit,
    Read,
    ReadLink,
    Remove,
    MakeDirectory,
    RemoveDirectory,
    SymbolicLink,
    Link,
    Rename,
    List,
}

/// One operation.
#[derive(Debug)]
pub(super) struct NfsFlight {
    pub(super) ticket: Ticket,
    pub(super) kind: OperationKind,
    pub(super) stage: Stage,
    pub(super) places: [Place; 2],
    /// Whether the second place has a meaning.
    pub(super) has_second: bool,
    pub(super) file: Handle,
    /// What is written, or what a link says.
    pub(super) content: Vec<u8>,
    /// Where in the file the content or the range begins.
    pub(super) offset: u64,
    /// Bytes to be read, or the size that a file must have or gets.
    pub(super) bytes: Option<u64>,
    pub(super) mode: u32,
    pub(super) times_ns: i64,
    /// Bytes that were moved.
    pub(super) done: u64,
    /// Of the writes so far.
    pub(super) verifier: Option<WriteVerifier>,
    /// The least durable of the answers to writes.
    pub(super) least: Stable,
    pub(super) rewrites: u32,
    pub(super) listing: Listing,
    pub(super) listed: ListingProgress,
    pub(super) is_listed: bool,
    /// How often a page was asked for once more.
    pub(super) pages_again: u32,
    /// Names of entries that are to be looked up, each behind its length; and how far that is
    /// done.
    pub(super) entries: Vec<u8>,
    pub(super) entries_at: usize,
    /// All names of a listing, where they are wanted.
    pub(super) names: Option<Vec<Vec<u8>>>,
    /// The memory that they take.
    pub(super) names_bytes: usize,
    /// What was read, where that is kept.
    pub(super) kept: Vec<u8>,
    pub(super) outcome: OperationOutcome,
    pub(super) call: Call,
}

/// The request of a flight.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// Whether a reply is waited for, or a connection to make the call on.
    pub(super) is_pending: bool,
    pub(super) xid: u32,
    pub(super) line: usize,
    /// Where it ends in what was ever written to its connection; `None` where it is to be written.
    pub(super) end: Option<u64>,
    /// Whether it was counted.
    pub(super) is_counted: bool,
    /// Whether all of it was sent on a connection that was lost since.
    pub(super) was_sent: bool,
    /// The first look at the time since it was made.
    pub(super) since: Option<Duration>,
    /// When the server is to be asked that wanted to be asked later.
    pub(super) later: Option<Duration>,
    /// When it was asked first, and how long the next wait is.
    pub(super) asked_since: Option<Duration>,
    pub(super) wait: Duration,
    /// By which a server recognises the creation of a file.
    pub(super) creation_verifier: Option<[u8; 8]>,
}

impl Call {
    /// Whether a reply of this number on this connection is its own.
    #[inline]
    pub(super) fn waits_for(&self, xid: u32, line: usize) -> bool {
        self.is_pending && self.xid == xid && self.line == line && self.end.is_some()
    }
}

impl NfsFlight {
    pub(super) fn new() -> Self {
        Self {
            ticket: Ticket(0),
            kind: OperationKind::Read,
            stage: Stage::Lookup,
            places: [Place::new(), Place::new()],
            has_second: false,
            file: Handle::NONE,
            content: Vec::new(),
            offset: 0,
            bytes: None,
            mode: 0,
            times_ns: 0,
            done: 0,
            verifier: None,
            least: Stable::File,
            rewrites: 0,
            listing: Listing::default(),
            listed: ListingProgress::default(),
            is_listed: false,
            pages_again: 0,
            entries: Vec::new(),
            entries_at: 0,
            names: None,
            names_bytes: 0,
            kept: Vec::new(),
            outcome: Ok(()),
            call: Call::default(),
        }
    }

    /// Forgets the operation before, but for the memory.
    fn reset(&mut self) {
        (self.offset, self.bytes, self.done) = (0, None, 0);
        (self.verifier, self.least, self.rewrites) = (None, Stable::File, 0);
        (self.listing, self.listed, self.is_listed) =
            (Listing::default(), ListingProgress::default(), false);
        self.pages_again = 0;
        self.entries.clear();
        self.entries_at = 0;
        self.kept.clear();
        self.content.clear();
        (self.names, self.names_bytes) = (None, 0);
        self.outcome = Ok(());
        self.call.creation_verifier = None;
    }

    /// Takes all of an operation that it needs.
    pub(super) fn begin(&mut self, ticket: Ticket, operation: &Operation<'_>) {
        self.reset();
        (self.ticket, self.kind) = (ticket, operation.kind());
        let (first, second) = operation.names();
        match *operation {
            Operation::Create { content, .. }
            | Operation::Append { content, .. }
            | Operation::Overwrite { content, .. }
            | Operation::Replace { content, .. }
            | Operation::Deliver { content, .. } => self.content.extend_from_slice(content),
            Operation::Read { bytes, .. } | Operation::Truncate { bytes, .. } => {
                self.bytes = Some(bytes)
            }
            Operation::ReadRange { offset, bytes, .. } => {
                (self.offset, self.bytes) = (offset, Some(bytes))
            }
            Operation::Stat { bytes, .. } => self.bytes = bytes,
            Operation::SetAttributes { mode, times_ns, .. } => {
                (self.mode, self.times_ns) = (mode, times_ns)
            }
            Operation::SymbolicLink { target, .. } | Operation::ReadLink { target, .. } => {
                self.content.extend_from_slice(target.to_bytes());
            }
            Operation::Delete { .. }
            | Operation::Rename { .. }
            | Operation::Link { .. }
            | Operation::MakeDirectory { .. }
            | Operation::RemoveDirectory { .. }
            | Operation::List { .. }
            | Operation::ListWithStat { .. } => {}
            Operation::SetExtended { .. }
            | Operation::GetExtended { .. }
            | Operation::Evict { .. } => {
                panic!(
                    "{} has no call in NFS version 3: the storage does not support it",
                    self.kind
                )
            }
        }
        self.places[0].set(
            first,
            matches!(self.kind, OperationKind::List | OperationKind::ListWithStat),
        );
        self.has_second = second.is_some();
        if let Some(second) = second {
            self.places[1].set(second, false);
        }
    }

    /// The first call: a directory that is not known yet, or what the operation itself begins with.
    #[inline]
    pub(super) fn first_stage(&mut self, directories: &Directories) -> Stage {
        let places = if self.has_second { 2 } else { 1 };
        for (number, place) in self.places[..places].iter_mut().enumerate() {
            if !place.is_found(directories) {
                return Stage::Directory(number);
            }
        }
        match self.kind {
            OperationKind::Create | OperationKind::Replace | OperationKind::Deliver => {
                Stage::Create
            }
            OperationKind::Delete => Stage::Remove,
            OperationKind::MakeDirectory => Stage::MakeDirectory,
            OperationKind::RemoveDirectory => Stage::RemoveDirectory,
            OperationKind::Rename => Stage::LookupNew,
            OperationKind::SymbolicLink => Stage::SymbolicLink,
            OperationKind::List | OperationKind::ListWithStat => Stage::List,
            _ => Stage::Lookup,
        }
    }

    #[inline]
    pub(super) fn step(&self) -> Step {
        Step::Call(self.procedure().name())
    }
}
