//! One operation in flight: its parameters, and the call that it waits for. Replies are processed
//! in [`advance`](super::advance).

use core::time::Duration;

use engine::{Listing, Operation, OperationKind, OperationOutcome, Step, Ticket};
use nfs_client::{Handle, ListingProgress, Stable, WriteVerifier};

use super::directories::Directories;
use super::place::Place;
use super::tree_state::{Part, Tree};

/// The call that an operation waits for, or is about to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// LOOKUP of a directory on the path of the first (0) or second (1) name.
    Directory(usize),
    /// LOOKUP of the second name, which must not exist.
    LookupNew,
    /// LOOKUP of the first name.
    Lookup,
    /// LOOKUP of a created file, because the reply lacked its handle.
    LookupMade,
    /// LOOKUP of a listed entry, because READDIRPLUS returned no attributes of the entry.
    LookupEntry,
    /// GETATTR, because a reply lacked the attributes.
    GetAttributes,
    /// SETATTR of the attributes that an exclusive creation does not set.
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

/// An operation in flight, or an ended operation whose outcome the worker has not yet received.
#[derive(Debug)]
pub(super) struct NfsFlight {
    pub(super) ticket: Ticket,
    pub(super) kind: OperationKind,
    pub(super) stage: Stage,
    /// The paths that the operation uses: the first name, the second name, and the directory that
    /// an installation tries to create.
    pub(super) places: [Place; 3],
    /// For each of `places`, whether the operation uses it.
    pub(super) uses: [bool; 3],
    pub(super) file: Handle,
    /// The bytes to be written, or the target of a symbolic link.
    pub(super) content: Vec<u8>,
    /// The offset in the file where the written content or the read range begins.
    pub(super) offset: u64,
    /// Number of bytes to read, the file's expected or new size, or the total size of a tree.
    pub(super) bytes: Option<u64>,
    pub(super) mode: u32,
    pub(super) times_ns: i64,
    /// Number of bytes moved up to now.
    pub(super) done: u64,
    /// The verifier of the operation's WRITEs up to now.
    pub(super) verifier: Option<WriteVerifier>,
    /// The lowest stability that the replies to WRITE reported.
    pub(super) least: Stable,
    pub(super) rewrites: u32,
    pub(super) listing: Listing,
    pub(super) tree: Tree,
    pub(super) listed: ListingProgress,
    pub(super) is_listed: bool,
    /// Number of repeated requests for a page of a listing.
    pub(super) pages_again: u32,
    /// Names of entries to be looked up, each preceded by its length in two bytes. `entries_at` is
    /// the offset of the next name.
    pub(super) entries: Vec<u8>,
    pub(super) entries_at: usize,
    /// All names of a listing; `None` if only the number and the digest of the names are needed.
    pub(super) names: Option<Vec<Vec<u8>>>,
    /// The memory that `names` uses. A listing fails if it exceeds `NAMES_BYTES_MAX`.
    pub(super) names_bytes: usize,
    /// The contents read, if they are kept for verification.
    pub(super) kept: Vec<u8>,
    pub(super) outcome: OperationOutcome,
    pub(super) call: Call,
}

#[derive(Debug, Default)]
pub(super) struct Call {
    /// Whether the call waits for a reply or for a connection.
    pub(super) is_pending: bool,
    pub(super) xid: u32,
    pub(super) line: usize,
    /// The end of the call in the stream of bytes written to its connection; `None` if the call is
    /// not written yet.
    pub(super) end: Option<u64>,
    /// Whether the counters of sent calls include the call.
    pub(super) is_counted: bool,
    /// Whether the call was sent completely on a connection that was lost afterwards.
    pub(super) was_sent: bool,
    /// The time of the first check of timeouts after the call was made.
    pub(super) since: Option<Duration>,
    /// The time at which the call is repeated after NFS3ERR_JUKEBOX.
    pub(super) later: Option<Duration>,
    /// The time of the first NFS3ERR_JUKEBOX for this call. `wait` is the length of the next delay.
    pub(super) asked_since: Option<Duration>,
    pub(super) wait: Duration,
    /// The verifier of an exclusive creation, by which the server recognizes a repetition.
    pub(super) creation_verifier: Option<[u8; 8]>,
}

impl Call {
    /// Whether a reply with this XID on this connection answers this call.
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
            places: [Place::new(), Place::new(), Place::new()],
            uses: [true, false, false],
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
            tree: Tree::default(),
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

    /// Resets the state for a new operation, but keeps allocated memory.
    fn reset(&mut self) {
        (self.offset, self.bytes, self.done) = (0, None, 0);
        (self.verifier, self.least, self.rewrites) = (None, Stable::File, 0);
        (self.listing, self.listed, self.is_listed) =
            (Listing::default(), ListingProgress::default(), false);
        self.tree.reset();
        self.pages_again = 0;
        self.entries.clear();
        self.entries_at = 0;
        self.kept.clear();
        self.content.clear();
        (self.names, self.names_bytes) = (None, 0);
        self.outcome = Ok(());
        self.call.creation_verifier = None;
    }

    /// Copies the parameters of an operation, because `operation` only borrows them.
    pub(super) fn begin(&mut self, ticket: Ticket, operation: &Operation<'_>) {
        self.reset();
        (self.ticket, self.kind) = (ticket, operation.kind());
        let (first, second) = operation.names();
        match *operation {
            Operation::Create { content, .. }
            | Operation::Append { content, .. }
            | Operation::Overwrite { content, .. }
            | Operation::Replace { content, .. }
            | Operation::Deliver { content, .. }
            | Operation::LockFile { content, .. } => self.content.extend_from_slice(content),
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
            // A file that is rewritten is first truncated to 0 bytes.
            Operation::Rewrite { content, .. } => {
                self.bytes = Some(0);
                self.content.extend_from_slice(content);
            }
            Operation::Install {
                content,
                mode,
                times_ns,
                ..
            } => {
                (self.mode, self.times_ns) = (mode, times_ns);
                self.content.extend_from_slice(content);
            }
            Operation::SymbolicLink { target, .. } | Operation::ReadLink { target, .. } => {
                self.content.extend_from_slice(target.to_bytes());
            }
            Operation::CopyTree {
                entries,
                levels,
                bytes,
                ..
            } => {
                (self.tree.expected, self.tree.levels) = (entries, levels);
                self.bytes = Some(bytes);
            }
            Operation::LinkTree {
                entries, levels, ..
            } => (self.tree.expected, self.tree.levels) = (entries, levels),
            Operation::RemoveTree {
                entries, levels, ..
            } => {
                (self.tree.expected, self.tree.levels) = (entries, levels);
                self.tree.part = Part::Listings;
            }
            Operation::StatMissing { .. }
            | Operation::OpenMissing { .. }
            | Operation::MakeDirectoryExisting { .. }
            | Operation::Delete { .. }
            | Operation::Rename { .. }
            | Operation::Link { .. }
            | Operation::InstallLink { .. }
            | Operation::MakeDirectory { .. }
            | Operation::RemoveDirectory { .. }
            | Operation::List { .. }
            | Operation::ListWithStat { .. } => {}
            Operation::SetExtended { .. }
            | Operation::GetExtended { .. }
            | Operation::OpenClose { .. }
            | Operation::ReadMapped { .. }
            | Operation::Lock { .. }
            | Operation::Copy { .. }
            | Operation::Clone { .. }
            | Operation::CloneTree { .. }
            | Operation::InstallCopy { .. }
            | Operation::InstallClone { .. }
            | Operation::Evict { .. } => {
                panic!(
                    "{} has no call in NFS version 3: the engine does not support it",
                    self.kind
                )
            }
        }
        self.places[0].set(
            first,
            matches!(self.kind, OperationKind::List | OperationKind::ListWithStat)
                || self.kind.is_on_tree(),
        );
        // The removal of a directory needs the handle of the directory that contains its name.
        let second = second.or((self.kind == OperationKind::RemoveTree).then_some(first));
        if let Some(second) = second {
            self.places[1].set(second, false);
        }
        let [first, next, made] = &mut self.places;
        let makes_directory = match self.kind {
            OperationKind::Install => made.set_directory_of(first),
            OperationKind::InstallLink => made.set_directory_of(next),
            _ => false,
        };
        self.uses = [true, second.is_some(), makes_directory];
    }

    /// Returns the next stage: [`Stage::Directory`] while a directory on a path is not cached,
    /// otherwise the first stage of the operation itself.
    #[inline]
    pub(super) fn first_stage(&mut self, directories: &Directories) -> Stage {
        for (number, place) in self.places.iter_mut().enumerate() {
            if self.uses[number] && !place.is_found(directories) {
                return Stage::Directory(number);
            }
        }
        match self.kind {
            OperationKind::Create
            | OperationKind::Replace
            | OperationKind::Deliver
            | OperationKind::LockFile => Stage::Create,
            OperationKind::Delete => Stage::Remove,
            OperationKind::MakeDirectory
            | OperationKind::MakeDirectoryExisting
            | OperationKind::CopyTree
            | OperationKind::LinkTree => Stage::MakeDirectory,
            OperationKind::RemoveDirectory => Stage::RemoveDirectory,
            OperationKind::Rename | OperationKind::InstallLink => Stage::LookupNew,
            OperationKind::SymbolicLink => Stage::SymbolicLink,
            OperationKind::List | OperationKind::ListWithStat | OperationKind::RemoveTree => {
                Stage::List
            }
            _ => Stage::Lookup,
        }
    }

    /// Returns the stage that follows the LOOKUP of an installation's new name, which does not
    /// exist.
    pub(super) fn after_missing(&self) -> Stage {
        match self.uses[2] {
            true => Stage::MakeDirectory,
            false => self.after_directory(),
        }
    }

    /// Returns the stage that follows the MKDIR of an installation's directory, which exists.
    pub(super) fn after_directory(&self) -> Stage {
        match self.kind {
            OperationKind::InstallLink => Stage::Lookup,
            _ => Stage::Create,
        }
    }

    #[inline]
    pub(super) fn step(&self) -> Step {
        Step::Call(self.procedure().name())
    }
}
