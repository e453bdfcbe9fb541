//! `stdio`: the C library's buffered streams (fread, fwrite, fclose), as the original PostMark uses
//! them in its buffered mode. fopen takes a path and follows symbolic links, so it could open files
//! outside the location. Therefore files are opened relative to the held directory of their
//! location, with fopen's flags and `O_NOFOLLOW`, and fdopen creates the stream. Creation is
//! exclusive. Buffered data may be written as late as in fclose, so a failure of fclose counts as a
//! failed write. An interrupted call of a stream is a failure, because the number of bytes that the
//! stream accepted is not available. Operations that do not move contents work as in `raw`.
use std::ffi::{CStr, c_int, c_void};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::calls::{Calls, ContentsOnly, at};
use crate::kernel_namespace::KernelNamespace;
use crate::raw::RawStyle;
use crate::system::kernel::KernelCalls;
use crate::system::{System, check, last_errno};
use engine::namespace::Namespace;
use engine::{
    Cached, Capability, Cause, Durability, Engine, EngineFacts, Errno, Failure, Listing, Name,
    Need, OpenError, Operation, OperationKind, OperationOutcome, Promise, Session, Settings, Step,
    Steps, Submitted, Targets, Ticket,
};

pub static FACTS: EngineFacts = EngineFacts {
    name: "stdio",
    help: "Buffered streams of the C library, as in the original PostMark",
    targets: Targets::Directories,
    protocol: None,
    depth_max: 1,
    capabilities: &[
        Capability::Contents,
        Capability::Appends,
        Capability::Names,
        Capability::Trees,
    ],
    cache: Cached::PageCache,
    direct: false,
    durability: &[
        Durability::None,
        Durability::Fdatasync,
        Durability::Fsync,
        Durability::FsyncDirectory,
        // The policies o-dsync and o-sync are missing, because no mode of fopen sets `O_DSYNC` or
        // `O_SYNC`.
        Durability::Batch(1),
    ],
    promise: Promise::Nothing,
    namespace: Some(KernelNamespace::FACTS),
};

#[derive(Clone, Copy, Debug, Default)]
pub struct Stdio;

struct StdioSession {
    /// Performs operations that do not move contents, and owns the buffer of reads.
    calls: Calls<KernelCalls, RawStyle>,
    write_block: usize,
}

impl Engine for Stdio {
    fn facts(&self) -> &'static EngineFacts {
        &FACTS
    }

    fn namespace(&self) -> Option<Arc<dyn Namespace>> {
        Some(Arc::new(KernelNamespace::default()))
    }

    fn open(&self, settings: &Settings) -> Result<Box<dyn Session>, OpenError> {
        FACTS.supports(&Need::of_settings(settings))?;
        Ok(Box::new(StdioSession {
            calls: Calls::new(KernelCalls::new(settings)?, settings)?,
            write_block: settings.write_block_bytes,
        }))
    }
}

/// An open stream. `close` returns a failure of fclose, but `drop` ignores it: a stream is dropped
/// without `close` only if its operation has already failed.
struct Stream(NonNull<libc::FILE>);

impl Stream {
    /// Creates a stream for an open file and takes ownership of the descriptor.
    fn over(file: c_int, mode: &CStr) -> Result<Self, Errno> {
        // SAFETY: the file is open and the mode is a C string that outlives the call.
        let stream = unsafe { libc::fdopen(file, mode.as_ptr()) };
        NonNull::new(stream).map(Self).ok_or_else(last_errno)
    }

    /// Writes a block; returns whether the stream accepted the whole block.
    fn write(&mut self, block: &[u8]) -> bool {
        // SAFETY: the stream is open; pointer and length belong to one slice that outlives the
        // call.
        unsafe {
            libc::fwrite(
                block.as_ptr().cast::<c_void>(),
                block.len(),
                1,
                self.0.as_ptr(),
            ) == 1
        }
    }

    /// Reads a block; returns the number of bytes read.
    fn read(&mut self, block: &mut [u8]) -> usize {
        // SAFETY: the stream is open; pointer and length belong to one slice, which is mutably
        // borrowed for the call.
        unsafe {
            libc::fread(
                block.as_mut_ptr().cast::<c_void>(),
                1,
                block.len(),
                self.0.as_ptr(),
            )
        }
    }

    fn has_error(&self) -> bool {
        // SAFETY: the stream is open.
        unsafe { libc::ferror(self.0.as_ptr()) != 0 }
    }

    /// Writes the stream's buffer to the kernel and syncs the file.
    fn sync(&mut self, contents_only: bool) -> Result<(), Errno> {
        // SAFETY: the stream is open, so it has a descriptor; the calls access no memory of this
        // process.
        check(unsafe {
            if libc::fflush(self.0.as_ptr()) != 0 {
                return Err(last_errno());
            }
            let file = libc::fileno(self.0.as_ptr());
            if contents_only {
                libc::fdatasync(file)
            } else {
                libc::fsync(file)
            }
        })
    }

    fn close(self) -> Result<(), Errno> {
        let stream = ManuallyDrop::new(self);
        // SAFETY: the stream is open, and `ManuallyDrop` prevents a second fclose.
        check(unsafe { libc::fclose(stream.0.as_ptr()) })
    }
}

impl Drop for Stream {
    #[cold]
    fn drop(&mut self) {
        // SAFETY: the stream is open and is not used afterwards.
        unsafe { libc::fclose(self.0.as_ptr()) };
    }
}

/// A mode of fopen: the flags for open(2), and the mode string for fdopen.
type Mode = (c_int, &'static CStr);
/// Mode `w` of fopen, but the file must not exist.
const CREATE: Mode = (
    libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | libc::O_EXCL | libc::O_NOFOLLOW,
    c"w",
);
const APPEND: Mode = (
    libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND | libc::O_NOFOLLOW,
    c"a",
);
const READ: Mode = (libc::O_RDONLY | libc::O_NOFOLLOW, c"r");
/// The mode that fopen gives to new files, before the process's umask.
const FILE_MODE: libc::mode_t = 0o666;

impl StdioSession {
    #[inline]
    fn stream(&mut self, name: Name<'_>, (flags, mode): Mode) -> Result<Stream, Failure> {
        let failed = |errno| Failure::system(Step::Open, errno);
        let system = self.calls.system();
        let file = system.open(at(name), flags, FILE_MODE).map_err(failed)?;
        Stream::over(file, mode).map_err(|errno| {
            // The stream could not be allocated. The operation returns that failure and ignores a
            // failure of close(2).
            let _ = system.close(file);
            failed(errno)
        })
    }

    #[inline]
    fn write(
        &mut self,
        name: Name<'_>,
        (kind, mode): (OperationKind, Mode),
        content: &[u8],
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        let mut stream = self.stream(name, mode)?;
        steps.ended(Step::Open);
        // The original also writes a remainder of 0 bytes, which causes no system call and is
        // therefore omitted.
        for (number, block) in content.chunks(self.write_block).enumerate() {
            self.calls
                .go_on(Step::Write, (number * self.write_block) as u64)?;
            if !stream.write(block) {
                return Err(of_written(Step::Write, last_errno()));
            }
        }
        steps.ended(Step::Write);
        if let Some(ContentsOnly(contents_only)) = self.calls.begin(kind) {
            let synced = stream.sync(contents_only);
            synced.map_err(|errno| of_written(Step::Sync, errno))?;
            steps.ended(Step::Sync);
        }
        close(stream, None, steps)
    }

    #[inline]
    fn read(&mut self, name: Name<'_>, bytes: u64, steps: &mut dyn Steps) -> OperationOutcome {
        let mut stream = self.stream(name, READ)?;
        let reads = self.calls.reads();
        reads.begin();
        steps.ended(Step::Open);
        let mut done = 0;
        while done < bytes {
            self.calls.go_on(Step::Read, done)?;
            let reads = self.calls.reads();
            let length = reads.block().min(bytes - done) as usize;
            let at = reads.next_block(length);
            let read = stream.read(reads.room(at, at + length));
            reads.filled(at + read);
            done += read as u64;
            if read < length {
                let cause = if stream.has_error() {
                    Cause::System(last_errno())
                } else {
                    Cause::EndedEarly {
                        read: done,
                        expected: bytes,
                    }
                };
                return Err(Failure::wrong(Step::Read, cause).having_moved(done));
            }
        }
        steps.ended(Step::Read);
        if self.calls.reads().keeps() {
            // SAFETY: the stream is open, so it has a descriptor.
            let file = unsafe { libc::fileno(stream.0.as_ptr()) };
            self.calls.check_size(file, bytes)?;
            steps.ended(Step::Stat);
        }
        close(stream, Some(bytes), steps)
    }

    fn perform(&mut self, operation: &Operation<'_>, steps: &mut dyn Steps) -> OperationOutcome {
        match *operation {
            Operation::Create { name, content } => {
                self.write(name, (operation.kind(), CREATE), content, steps)?;
                self.calls
                    .sync_directory_of(name, content.len() as u64, steps)?;
            }
            Operation::Append { name, content } => {
                self.write(name, (operation.kind(), APPEND), content, steps)?;
            }
            Operation::Read { name, bytes } => return self.read(name, bytes, steps),
            _ => {
                let kind = operation.kind();
                assert!(
                    matches!(kind.needs(), Capability::Names | Capability::Trees),
                    "stdio has no '{kind}', as Engine::supports says"
                );
                return self.calls.perform(operation, steps);
            }
        }
        self.calls.sync_batch(operation, steps)
    }
}

#[inline]
fn close(stream: Stream, moved_bytes: Option<u64>, steps: &mut dyn Steps) -> OperationOutcome {
    stream.close().map_err(|errno| Failure {
        moved_bytes,
        ..Failure::system(Step::Close, errno)
    })?;
    steps.ended(Step::Close);
    Ok(())
}

/// Returns a failure without a number of moved bytes, because a stream does not report how many
/// bytes reached the file.
#[cold]
fn of_written(step: Step, errno: Errno) -> Failure {
    Failure {
        moved_bytes: None,
        ..Failure::system(step, errno)
    }
}

impl Session for StdioSession {
    #[inline]
    fn submit(&mut self, _: Ticket, operation: &Operation<'_>, steps: &mut dyn Steps) -> Submitted {
        Submitted::Done(self.perform(operation, steps))
    }

    fn content(&self, ticket: Ticket) -> Option<&[u8]> {
        self.calls.content(ticket)
    }

    fn listing(&self, ticket: Ticket) -> Option<Listing> {
        self.calls.listing(ticket)
    }

    fn names(&mut self, directory: Name<'_>) -> Result<Vec<Vec<u8>>, Failure> {
        self.calls.names(directory)
    }

    fn sync_file_system(&mut self, location: usize) -> OperationOutcome {
        self.calls.sync_file_system(location)
    }
}
