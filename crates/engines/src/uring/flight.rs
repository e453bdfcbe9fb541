//! One operation in flight: copies of its parameters, its stages, and the requests that the kernel
//! works on. Memory to which requests point is neither moved nor freed before the requests are
//! complete.

use std::ffi::{CStr, c_int};

use engine::{Errno, Name, OpenError, OperationKind, OperationOutcome, Settings, Ticket};

use super::stage::Stage;
use crate::buffers::Memory;
use crate::calls::{Syncs, parent};

/// Initial capacity in bytes for a path; most paths are shorter.
const NAME_BYTES: usize = 256;
/// Linux's `XATTR_SIZE_MAX`, the maximum size of an extended attribute.
const EXTENDED_MAX: usize = 1 << 16;

/// The directories and settings of a session, which all its operations use.
#[derive(Debug)]
pub(super) struct Context {
    /// The descriptors of the locations' directories.
    pub(super) directories: Vec<c_int>,
    /// The flags and syncs of each kind of operation.
    pub(super) syncs: [Syncs; OperationKind::ALL.len()],
    /// `O_DIRECT` for operations that move contents; 0 without direct I/O.
    pub(super) content_flags: c_int,
    pub(super) read_block: u64,
    pub(super) write_block: u64,
    pub(super) keeps: bool,
    /// `true` if requests are linked to chains and open files are in the ring's own table. `false`
    /// for one request at a time.
    pub(super) chains: bool,
    /// Whether contents are copied, because the worker reuses its buffer while an operation is in
    /// flight.
    pub(super) copies: bool,
}

impl Context {
    pub(super) fn is_direct(&self) -> bool {
        self.content_flags != 0
    }
}

/// A name in a location; `path` ends with a NUL.
#[derive(Debug, Default)]
pub(super) struct FlightName {
    pub(super) location: usize,
    pub(super) path: Vec<u8>,
}

impl FlightName {
    #[inline]
    pub(super) fn set(&mut self, name: Name<'_>) {
        self.location = name.location;
        set_text(&mut self.path, name.relative);
    }

    pub(super) fn pointer(&self) -> *const libc::c_char {
        self.path.as_ptr().cast()
    }

    /// Stores in `to` the path of the directory that contains the name.
    pub(super) fn directory_to(&self, to: &mut Vec<u8>) {
        let path = CStr::from_bytes_until_nul(&self.path).unwrap_or_default();
        let directory = match parent(path) {
            b"" => b".",
            directory => directory,
        };
        to.clear();
        to.extend_from_slice(directory);
        to.push(0);
    }
}

#[inline]
pub(super) fn set_text(to: &mut Vec<u8>, text: &CStr) {
    to.clear();
    to.extend_from_slice(text.to_bytes_with_nul());
}

/// A request of the chain in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// The index of the request's stage in the operation's stages.
    pub(super) stage: usize,
    /// Number of bytes to be moved.
    pub(super) bytes: u32,
}

/// Why a chain ended early: the index of the stage, and what happened there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trouble {
    pub(super) stage: usize,
    pub(super) kind: TroubleKind,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum TroubleKind {
    Wrong(engine::Cause),
    /// A block was read or written only in part: the request moved this number of bytes.
    Short(u32),
}

/// The open file of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenFile {
    None,
    /// The file is in the ring's own table, at the index of the flight.
    Fixed,
    Descriptor(c_int),
}

/// An operation in flight, or an ended operation whose outcome the worker has not yet received.
pub(super) struct Flight {
    /// The index of the flight, which is also its number in the ring's table of files.
    pub(super) number: u32,
    pub(super) ticket: Ticket,
    pub(super) kind: OperationKind,
    pub(super) names: [FlightName; 2],
    /// The path of a directory that is synced.
    pub(super) directory: Vec<u8>,
    /// The target of a symbolic link, or the name of an extended attribute.
    pub(super) text: Vec<u8>,
    /// The value of an extended attribute, which is set or expected.
    pub(super) value: Vec<u8>,
    /// Buffer for the value of an extended attribute that is read.
    pub(super) answered_value: Vec<u8>,
    pub(super) answered_stat: Box<libc::statx>,
    /// The contents to be written: in the worker's buffer or in `copy`.
    pub(super) content: *const u8,
    copy: Option<Memory>,
    copy_bytes: usize,
    /// The buffer that contents are read into, `room_bytes` long.
    room: Memory,
    pub(super) room_bytes: u64,
    /// The offset in the file where the read range begins.
    pub(super) offset: u64,
    /// Number of bytes to read or write, or the file's expected or new size.
    pub(super) bytes: Option<u64>,
    /// Number of bytes moved up to now.
    pub(super) done: u64,
    pub(super) stages: Vec<Stage>,
    /// The index of the stage that comes next.
    pub(super) next: usize,
    /// The requests of the chain in flight; `pending` is the number of incomplete requests.
    pub(super) sent: Vec<Sent>,
    pub(super) pending: usize,
    pub(super) trouble: Option<Trouble>,
    pub(super) file: OpenFile,
    pub(super) interruptions: u32,
    pub(super) outcome: OperationOutcome,
}

impl Flight {
    pub(super) fn new(number: u32, settings: &Settings) -> Result<Self, OpenError> {
        let (block, kept) = (settings.read_block_bytes, settings.keep_contents_bytes);
        let room_bytes = kept
            .max(block)
            .checked_next_multiple_of(block)
            .ok_or(OpenError::NoMemory(kept))?;
        let path = || Vec::with_capacity(NAME_BYTES);
        let name = || FlightName {
            location: 0,
            path: path(),
        };
        // SAFETY: all fields are integers.
        let stat: libc::statx = unsafe { std::mem::zeroed() };
        Ok(Self {
            number,
            ticket: Ticket(0),
            kind: OperationKind::Read,
            names: [name(), name()],
            directory: path(),
            text: path(),
            value: Vec::new(),
            answered_value: Vec::new(),
            answered_stat: Box::new(stat),
            content: std::ptr::null(),
            copy: None,
            copy_bytes: 0,
            room: Memory::new(room_bytes)?,
            room_bytes: room_bytes as u64,
            offset: 0,
            bytes: None,
            done: 0,
            stages: Vec::with_capacity(16),
            next: 0,
            sent: Vec::with_capacity(super::ring::CHAIN_MAX),
            pending: 0,
            trouble: None,
            file: OpenFile::None,
            interruptions: 0,
            outcome: Ok(()),
        })
    }

    /// Prepares the flight for a new operation.
    #[inline]
    pub(super) fn begin(&mut self, ticket: Ticket, kind: OperationKind) {
        (self.ticket, self.kind) = (ticket, kind);
        (self.offset, self.bytes, self.done) = (0, None, 0);
        self.stages.clear();
        (self.next, self.interruptions) = (0, 0);
        (self.trouble, self.outcome) = (None, Ok(()));
    }

    /// Sets the contents to be written. They are copied if the worker may reuse its buffer before
    /// they are written, or if direct I/O needs another address.
    ///
    /// # Errors
    /// Returns an error if there is no memory for a copy.
    #[inline]
    pub(super) fn set_content(&mut self, content: &[u8], context: &Context) -> Result<(), Errno> {
        self.bytes = Some(content.len() as u64);
        let is_aligned = content.as_ptr().align_offset(engine::DIRECT_ALIGNMENT) == 0;
        if !context.copies && (is_aligned || !context.is_direct()) {
            self.content = content.as_ptr();
            return Ok(());
        }
        if self.copy_bytes < content.len() || self.copy.is_none() {
            let bytes = content.len().next_power_of_two().max(4096);
            // Memory is allocated during an operation only if its contents are larger than all
            // before.
            self.copy = Some(Memory::new(bytes).map_err(|_| Errno::NOMEM)?);
            self.copy_bytes = bytes;
        }
        if let Some(copy) = &mut self.copy {
            let copy = copy.part(0..content.len());
            copy.copy_from_slice(content);
            self.content = copy.as_ptr();
        }
        Ok(())
    }

    pub(super) fn set_value(&mut self, value: &[u8]) {
        self.value.clear();
        self.value.extend_from_slice(value);
    }

    /// Stores the expected value, and provides the buffer for the value that is read. A value
    /// longer than expected fits into the buffer.
    pub(super) fn expect_value(&mut self, value: &[u8]) {
        self.set_value(value);
        self.answered_value.resize(EXTENDED_MAX, 0);
    }

    /// Returns the address of an offset in the buffer of reads.
    #[inline]
    pub(super) fn room_at(&mut self, at: u64) -> *mut u8 {
        let bytes = self.room.bytes();
        bytes[at as usize..].as_mut_ptr()
    }

    /// The contents of the completed read, or their last part if they exceed the buffer.
    pub(super) fn read_content(&self, block: u64) -> &[u8] {
        let end = match self.done {
            0 => 0,
            done => {
                let last = (done - 1) / block;
                last % (self.room_bytes / block) * block + (done - last * block)
            }
        };
        self.room.filled(0..end as usize)
    }
}
