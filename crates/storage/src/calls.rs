//! Whole operations from single system calls: the part that `raw`, `posix` and `simulated` share.
//!
//! What differs between them is a [`Style`]. Interrupted calls are made again, short writes and reads go on
//! where they stopped; a failure is reported with its step, after the file was closed.

use std::ffi::c_int;
use std::marker::PhantomData;

use crate::contract::{
    Cause, Errno, Failure, Name, OpenError, Operation, Outcome, Session, Settings, Step, Steps, Submitted, Ticket,
};
use crate::system::{At, System};

/// What differs between storages that make system calls.
pub(crate) trait Style {
    /// How names are given.
    fn at(name: Name<'_>) -> At<'_>;
    /// Flags of open(2) to create.
    const CREATE: c_int;
    /// Flags of open(2) to append.
    const APPEND: c_int;
    /// Flags of open(2) to read.
    const READ: c_int;
    /// Whether a remainder of 0 bytes makes a call of its own, as in the original.
    const EMPTY_REMAINDER: bool;
}

/// The mode of new files, before the process's mask.
const FILE_MODE: libc::mode_t = 0o644;
/// The mode of new directories, before the process's mask.
const DIRECTORY_MODE: libc::mode_t = 0o700;
/// An interrupted call is made again this often before its answer counts: no signal storm keeps a run for ever.
const INTERRUPTIONS_MAX: u32 = 1_000;

/// A session that makes system calls of a certain style.
#[derive(Debug)]
pub(crate) struct Calls<S, T> {
    system: S,
    buffer: Vec<u8>,
    write_block: usize,
    style: PhantomData<T>,
}

impl<S: System, T: Style> Calls<S, T> {
    pub(crate) fn new(system: S, settings: &Settings) -> Result<Self, OpenError> {
        Ok(Self {
            system,
            buffer: read_buffer(settings.read_block_bytes)?,
            write_block: settings.write_block_bytes,
            style: PhantomData,
        })
    }

    #[inline]
    fn open(&mut self, name: Name<'_>, flags: c_int) -> Result<c_int, Failure> {
        again(|| self.system.open(T::at(name), flags, FILE_MODE)).map_err(|errno| Failure::system(Step::Open, errno))
    }

    /// Closes a file; keeps an earlier failure, which says more.
    #[inline]
    fn close<E: Steps>(&mut self, file: c_int, moved_bytes: u64, before: Outcome, steps: &mut E) -> Outcome {
        // A failed close(2) has closed the file all the same (Linux, close(2)): it is never made again.
        let closed = self.system.close(file);
        before?;
        closed.map_err(|errno| Failure::system(Step::Close, errno).having_moved(moved_bytes))?;
        steps.ended(Step::Close);
        Ok(())
    }

    #[inline]
    fn write<E: Steps>(&mut self, name: Name<'_>, flags: c_int, content: &[u8], steps: &mut E) -> Outcome {
        let file = self.open(name, flags)?;
        steps.ended(Step::Open);
        let written = self.write_blocks(file, content);
        if written.is_ok() {
            steps.ended(Step::Write);
        }
        self.close(file, content.len() as u64, written, steps)
    }

    #[inline]
    fn write_blocks(&mut self, file: c_int, content: &[u8]) -> Outcome {
        let mut done = 0;
        loop {
            let left = content.len() - done;
            if left < self.write_block {
                if left > 0 || T::EMPTY_REMAINDER {
                    self.write_block(file, &content[done..], done)?;
                }
                return Ok(());
            }
            self.write_block(file, &content[done..done + self.write_block], done)?;
            done += self.write_block;
        }
    }

    #[inline]
    fn write_block(&mut self, file: c_int, block: &[u8], before: usize) -> Outcome {
        let mut done = 0;
        loop {
            let written = again(|| self.system.write(file, &block[done..]))
                .map_err(|errno| Failure::system(Step::Write, errno).having_moved((before + done) as u64))?;
            done += written;
            if done == block.len() {
                return Ok(());
            }
            if written == 0 {
                return Err(Failure {
                    step: Step::Write,
                    cause: Cause::NothingWritten,
                    moved_bytes: Some((before + done) as u64),
                });
            }
        }
    }

    #[inline]
    fn read<E: Steps>(&mut self, name: Name<'_>, bytes: u64, steps: &mut E) -> Outcome {
        let file = self.open(name, T::READ)?;
        steps.ended(Step::Open);
        let read = self.read_blocks(file, bytes);
        if read.is_ok() {
            steps.ended(Step::Read);
        }
        self.close(file, bytes, read, steps)
    }

    #[inline]
    fn read_blocks(&mut self, file: c_int, bytes: u64) -> Outcome {
        let block = self.buffer.len() as u64;
        let mut done = 0;
        loop {
            let length = block.min(bytes - done);
            if length > 0 || T::EMPTY_REMAINDER {
                self.read_block(file, length as usize, done, bytes)?;
            }
            done += length;
            if length < block {
                return Ok(());
            }
        }
    }

    #[inline]
    fn read_block(&mut self, file: c_int, length: usize, before: u64, expected: u64) -> Outcome {
        let mut done = 0;
        loop {
            let read = again(|| self.system.read(file, &mut self.buffer[done..length]))
                .map_err(|errno| Failure::system(Step::Read, errno).having_moved(before + done as u64))?;
            done += read;
            if done == length {
                return Ok(());
            }
            if read == 0 {
                let read = before + done as u64;
                return Err(Failure {
                    step: Step::Read,
                    cause: Cause::EndedEarly { read, expected },
                    moved_bytes: Some(read),
                });
            }
        }
    }

    fn perform<E: Steps>(&mut self, operation: &Operation<'_>, steps: &mut E) -> Outcome {
        let (step, answer) = match *operation {
            Operation::Create { name, content } => return self.write(name, T::CREATE, content, steps),
            Operation::Append { name, content } => return self.write(name, T::APPEND, content, steps),
            Operation::Read { name, bytes } => return self.read(name, bytes, steps),
            Operation::Delete { name } => (Step::Unlink, again(|| self.system.unlink(T::at(name)))),
            Operation::MakeDirectory { name } => {
                let made = again(|| self.system.mkdir(T::at(name), DIRECTORY_MODE));
                (Step::MakeDirectory, made)
            }
            Operation::RemoveDirectory { name } => (Step::RemoveDirectory, again(|| self.system.rmdir(T::at(name)))),
        };
        answer.map_err(|errno| Failure::system(step, errno))?;
        steps.ended(step);
        Ok(())
    }
}

impl<S: System, T: Style> Session for Calls<S, T> {
    #[inline]
    fn submit<E: Steps>(&mut self, _: Ticket, operation: &Operation<'_>, steps: &mut E) -> Submitted {
        Submitted::Done(self.perform(operation, steps))
    }
}

/// Makes a call again as long as a signal interrupts it.
#[inline]
fn again<A>(mut call: impl FnMut() -> Result<A, Errno>) -> Result<A, Errno> {
    let mut interruptions = 0;
    loop {
        match call() {
            Err(Errno(libc::EINTR)) if interruptions < INTERRUPTIONS_MAX => interruptions += 1,
            answer => return answer,
        }
    }
}

/// A buffer that reads go to. Touched, so that its pages are there before the first operation.
pub(crate) fn read_buffer(bytes: usize) -> Result<Vec<u8>, OpenError> {
    let mut buffer = Vec::new();
    buffer
        .try_reserve_exact(bytes)
        .map_err(|_| OpenError::NoMemory(bytes))?;
    buffer.resize(bytes, 1);
    Ok(buffer)
}
