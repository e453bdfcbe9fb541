//! `stdio`: the C library's buffered streams (fopen, fread, fwrite, fclose), as the original's buffered mode
//! uses them; creation is exclusive (mode `wx`). What is written may fail as late as in fclose: that is a
//! failed write. An interrupted call is a failure here: what of a block a stream has taken is not known.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use crate::calls::read_buffer;
use crate::contract::{
    Cause, Errno, Failure, Name, OpenError, Operation, Outcome, Session, Settings, Step, Steps, Storage, Submitted,
    Ticket,
};
use crate::system::{At, Kernel, System};

/// The storage of this module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stdio;

/// A worker's session of it.
#[derive(Debug)]
pub struct StdioSession {
    system: Kernel,
    buffer: Vec<u8>,
    write_block: usize,
}

impl Storage for Stdio {
    type Session = StdioSession;

    fn name(&self) -> &'static str {
        "stdio"
    }

    fn open(&self, settings: &Settings) -> Result<StdioSession, OpenError> {
        Ok(StdioSession {
            system: Kernel::by_path(),
            buffer: read_buffer(settings.read_block_bytes)?,
            write_block: settings.write_block_bytes,
        })
    }
}

/// An open stream. Closed by `close`, once; dropped open only where the thread unwinds.
struct Stream(NonNull<libc::FILE>);

impl Stream {
    fn open(path: &CStr, mode: &CStr) -> Result<Self, Errno> {
        // SAFETY: both are C strings that outlive the call.
        let stream = unsafe { libc::fopen(path.as_ptr(), mode.as_ptr()) };
        NonNull::new(stream).map(Self).ok_or_else(Errno::last)
    }

    /// Whether the whole block was taken.
    fn write(&mut self, block: &[u8]) -> bool {
        // SAFETY: the stream is open; pointer and length are of one slice that outlives the call.
        unsafe { libc::fwrite(block.as_ptr().cast::<c_void>(), block.len(), 1, self.0.as_ptr()) == 1 }
    }

    /// How many of the block's bytes came.
    fn read(&mut self, block: &mut [u8]) -> usize {
        // SAFETY: the stream is open; pointer and length are of one slice, borrowed mutably for the call.
        unsafe { libc::fread(block.as_mut_ptr().cast::<c_void>(), 1, block.len(), self.0.as_ptr()) }
    }

    fn has_error(&self) -> bool {
        // SAFETY: the stream is open.
        unsafe { libc::ferror(self.0.as_ptr()) != 0 }
    }

    fn close(self) -> Result<(), Errno> {
        // SAFETY: the stream is open, and is consumed here.
        if unsafe { libc::fclose(self.0.as_ptr()) } == 0 {
            Ok(())
        } else {
            Err(Errno::last())
        }
    }
}

impl StdioSession {
    #[inline]
    fn write<S: Steps>(&mut self, name: Name<'_>, mode: &CStr, content: &[u8], steps: &mut S) -> Outcome {
        let mut stream = open(name, mode)?;
        steps.ended(Step::Open);
        // The remainder of 0 bytes that the original hands over too makes no call: it is left out.
        for block in content.chunks(self.write_block) {
            if !stream.write(block) {
                let failure = Failure::system(Step::Write, Errno::last());
                // The first error says more than what closing answers now.
                let _ = stream.close();
                return Err(Failure {
                    moved_bytes: None,
                    ..failure
                });
            }
        }
        steps.ended(Step::Write);
        close(stream, None, steps)
    }

    #[inline]
    fn read<S: Steps>(&mut self, name: Name<'_>, bytes: u64, steps: &mut S) -> Outcome {
        let mut stream = open(name, c"r")?;
        steps.ended(Step::Open);
        let mut done = 0;
        while done < bytes {
            let length = (self.buffer.len() as u64).min(bytes - done) as usize;
            let read = stream.read(&mut self.buffer[..length]);
            done += read as u64;
            if read < length {
                let cause = if stream.has_error() {
                    Cause::System(Errno::last())
                } else {
                    Cause::EndedEarly {
                        read: done,
                        expected: bytes,
                    }
                };
                let _ = stream.close();
                return Err(Failure {
                    step: Step::Read,
                    cause,
                    moved_bytes: Some(done),
                });
            }
        }
        steps.ended(Step::Read);
        close(stream, Some(bytes), steps)
    }

    fn perform<S: Steps>(&mut self, operation: &Operation<'_>, steps: &mut S) -> Outcome {
        let (step, answer) = match *operation {
            Operation::Create { name, content } => return self.write(name, c"wx", content, steps),
            Operation::Append { name, content } => return self.write(name, c"a", content, steps),
            Operation::Read { name, bytes } => return self.read(name, bytes, steps),
            Operation::Delete { name } => (Step::Unlink, self.system.unlink(At::Path(name.path))),
            Operation::MakeDirectory { name } => (Step::MakeDirectory, self.system.mkdir(At::Path(name.path), 0o700)),
            Operation::RemoveDirectory { name } => (Step::RemoveDirectory, self.system.rmdir(At::Path(name.path))),
        };
        answer.map_err(|errno| Failure::system(step, errno))?;
        steps.ended(step);
        Ok(())
    }
}

#[inline]
fn open(name: Name<'_>, mode: &CStr) -> Result<Stream, Failure> {
    Stream::open(name.path, mode).map_err(|errno| Failure::system(Step::Open, errno))
}

#[inline]
fn close<S: Steps>(stream: Stream, moved_bytes: Option<u64>, steps: &mut S) -> Outcome {
    stream.close().map_err(|errno| Failure {
        moved_bytes,
        ..Failure::system(Step::Close, errno)
    })?;
    steps.ended(Step::Close);
    Ok(())
}

impl Session for StdioSession {
    #[inline]
    fn submit<S: Steps>(&mut self, _: Ticket, operation: &Operation<'_>, steps: &mut S) -> Submitted {
        Submitted::Done(self.perform(operation, steps))
    }
}
