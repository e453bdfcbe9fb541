//! One operation in flight: what it was given, and the call that it waits for. What a reply makes
//! of it is in [`advance`](super::advance).

use core::time::Duration;
use std::ffi::CStr;

use engine::namespace::DIRECTORY_MODE;
use engine::{Listing, Name, Operation, OperationKind, OperationOutcome, Step, Ticket};
use nfs_client::{
    Handle, ListingProgress, Procedure, Stable, TransferSizes, WriteVerifier,
    arguments::{self, Creation, NewAttributes, Times},
};

use super::directories::Directories;

/// The permissions of new files. A server knows no process's mask.
pub(crate) const FILE_MODE: u32 = 0o644;
/// A copy of what is longer costs more than a list of parts that are sent together.
const LONG_PART_BYTES: usize = 8 << 10;
/// Most names are shorter than this.
const NAME_BYTES: usize = 256;

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

/// A name, and the handle of its directory.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) location: usize,
    /// The path from the location.
    pub(super) path: Vec<u8>,
    /// Where the path of the directory ends.
    pub(super) directory_end: usize,
    /// How far the path has been looked up: `directory` is the handle of that part.
    pub(super) found_to: usize,
    pub(super) directory: Handle,
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

impl Place {
    fn new() -> Self {
        Self {
            location: 0,
            path: Vec::with_capacity(NAME_BYTES),
            directory_end: 0,
            found_to: 0,
            directory: Handle::NONE,
        }
    }

    /// Of a file, or of a directory that is listed.
    fn set(&mut self, name: Name<'_>, is_directory: bool) {
        let mut path = name.relative.to_bytes();
        while let [rest @ .., b'/'] = path {
            path = rest;
        }
        self.location = name.location;
        self.path.clear();
        self.path.extend_from_slice(path);
        self.directory_end = match is_directory {
            true => path.len(),
            false => path.iter().rposition(|byte| *byte == b'/').unwrap_or(0),
        };
        self.found_to = 0;
        self.directory = Handle::NONE;
    }

    /// The part of the path behind the directory.
    #[inline]
    pub(super) fn name(&self) -> &[u8] {
        let behind = &self.path[self.directory_end..];
        behind.strip_prefix(b"/").unwrap_or(behind)
    }

    /// Where the part of the path ends that comes next behind what was looked up.
    pub(super) fn next_end(&self) -> usize {
        let begin = self.next_begin();
        let part = &self.path[begin..self.directory_end];
        begin
            + part
                .iter()
                .position(|byte| *byte == b'/')
                .unwrap_or(part.len())
    }

    fn next_begin(&self) -> usize {
        if self.found_to == 0 {
            0
        } else {
            self.found_to + 1
        }
    }

    /// The name of the directory that is looked up next.
    fn next_name(&self) -> &[u8] {
        &self.path[self.next_begin()..self.next_end()]
    }

    /// Takes the handle of the directory from those that are known; whether it is there.
    #[inline]
    pub(super) fn is_found(&mut self, directories: &Directories) -> bool {
        let (length, handle) = directories.nearest(self.location, &self.path[..self.directory_end]);
        self.found_to = length;
        self.directory = *handle;
        length == self.directory_end
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

    /// Takes all of an operation that it needs.
    pub(super) fn begin(&mut self, ticket: Ticket, operation: &Operation<'_>) {
        self.ticket = ticket;
        self.kind = operation.kind();
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
        let mut second = None;
        let mut first = operation.name();
        match *operation {
            Operation::Create { content, .. }
            | Operation::Append { content, .. }
            | Operation::Overwrite { content, .. } => {
                self.content.extend_from_slice(content);
            }
            Operation::Replace {
                name,
                temporary,
                content,
            }
            | Operation::Deliver {
                name,
                temporary,
                content,
            } => {
                (first, second) = (temporary, Some(name));
                self.content.extend_from_slice(content);
            }
            Operation::Rename { to, .. } | Operation::Link { to, .. } => second = Some(to),
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
                self.says(target)
            }
            Operation::Delete { .. }
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

    fn says(&mut self, target: &CStr) {
        self.content.extend_from_slice(target.to_bytes());
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
    pub(super) fn procedure(&self) -> Procedure {
        match self.stage {
            Stage::Directory(_)
            | Stage::LookupNew
            | Stage::Lookup
            | Stage::LookupMade
            | Stage::LookupEntry => Procedure::Lookup,
            Stage::GetAttributes => Procedure::GetAttributes,
            Stage::SetNew | Stage::SetAttributes => Procedure::SetAttributes,
            Stage::Create => Procedure::Create,
            Stage::Write => Procedure::Write,
            Stage::Commit => Procedure::Commit,
            Stage::Read => Procedure::Read,
            Stage::ReadLink => Procedure::ReadLink,
            Stage::Remove => Procedure::Remove,
            Stage::MakeDirectory => Procedure::MakeDirectory,
            Stage::RemoveDirectory => Procedure::RemoveDirectory,
            Stage::SymbolicLink => Procedure::SymbolicLink,
            Stage::Link => Procedure::Link,
            Stage::Rename => Procedure::Rename,
            Stage::List if self.kind == OperationKind::ListWithStat => Procedure::ReadDirectoryPlus,
            Stage::List => Procedure::ReadDirectory,
        }
    }

    #[inline]
    pub(super) fn step(&self) -> Step {
        Step::Call(self.procedure().name())
    }

    /// Bytes that the READ of this moment asks for.
    #[inline]
    pub(super) fn read_bytes(&self, sizes: &TransferSizes) -> u32 {
        let left = self.bytes.unwrap_or(0).saturating_sub(self.done);
        left.min(sizes.read.into()) as u32
    }

    /// The part of the content that the WRITE of this moment has.
    #[inline]
    pub(super) fn write_part(&self, sizes: &TransferSizes) -> &[u8] {
        let left = &self.content[self.done as usize..];
        &left[..left.len().min(sizes.write as usize)]
    }

    /// The same where it is so long that it is not copied to where requests are gathered.
    #[inline]
    pub(super) fn long_part(&self, sizes: &TransferSizes) -> Option<&[u8]> {
        if self.stage != Stage::Write {
            return None;
        }
        Some(self.write_part(sizes)).filter(|part| part.len() >= LONG_PART_BYTES)
    }

    /// The entry that is looked up.
    pub(super) fn entry(&self) -> &[u8] {
        let at = self.entries_at;
        let length = self.entries.get(at..at + 2).map_or(0, |bytes| {
            usize::from(bytes[0]) << 8 | usize::from(bytes[1])
        });
        self.entries
            .get(at + 2..at + 2 + length)
            .unwrap_or_default()
    }

    /// Writes the arguments of the call.
    #[inline]
    pub(super) fn arguments(&self, out: &mut Vec<u8>, sizes: &TransferSizes, stable: Stable) {
        let [first, second] = &self.places;
        match self.stage {
            Stage::Directory(number) => {
                let place = &self.places[number];
                arguments::name_in(out, &place.directory, place.next_name());
            }
            Stage::LookupNew => arguments::name_in(out, &second.directory, second.name()),
            Stage::Lookup | Stage::LookupMade | Stage::Remove | Stage::RemoveDirectory => {
                arguments::name_in(out, &first.directory, first.name());
            }
            Stage::LookupEntry => arguments::name_in(out, &first.directory, self.entry()),
            Stage::GetAttributes | Stage::ReadLink => self.file.write(out),
            Stage::SetNew => {
                let new = NewAttributes {
                    times: Times::Server,
                    ..NewAttributes::of_mode(FILE_MODE)
                };
                arguments::set_attributes(out, &self.file, &new);
            }
            Stage::SetAttributes => {
                arguments::set_attributes(out, &self.file, &self.new_attributes())
            }
            Stage::Create => {
                let creation = match self.call.creation_verifier {
                    None => Creation::Guarded(FILE_MODE),
                    Some(verifier) => Creation::Exclusive(verifier),
                };
                arguments::create(out, &first.directory, first.name(), creation);
            }
            Stage::Write => {
                let part = self.write_part(sizes);
                arguments::write(out, &self.file, self.offset + self.done, stable, part);
            }
            Stage::Commit => arguments::commit(out, &self.file),
            Stage::Read => {
                arguments::read(
                    out,
                    &self.file,
                    self.offset + self.done,
                    self.read_bytes(sizes),
                );
            }
            Stage::MakeDirectory => {
                arguments::make_directory(out, &first.directory, first.name(), DIRECTORY_MODE)
            }
            Stage::SymbolicLink => {
                arguments::symbolic_link(out, &first.directory, first.name(), &self.content)
            }
            Stage::Link => arguments::link(out, &self.file, &second.directory, second.name()),
            Stage::Rename => arguments::rename(
                out,
                (&first.directory, first.name()),
                (&second.directory, second.name()),
            ),
            Stage::List => {
                let is_plus = self.kind == OperationKind::ListWithStat;
                arguments::list(
                    out,
                    &first.directory,
                    self.listed.place(),
                    sizes.listing,
                    is_plus,
                );
            }
        }
    }

    fn new_attributes(&self) -> NewAttributes {
        if let (OperationKind::Truncate, Some(bytes)) = (self.kind, self.bytes) {
            return NewAttributes::of_size(bytes);
        }
        const NS: i64 = 1_000_000_000;
        let time = (
            self.times_ns.div_euclid(NS),
            self.times_ns.rem_euclid(NS) as u32,
        );
        NewAttributes {
            times: Times::These(time, time),
            ..NewAttributes::of_mode(self.mode)
        }
    }
}
