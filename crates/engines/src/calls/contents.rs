//! Operations on contents: create, append, read, overwrite, replace, deliver, truncate, evict.

use std::ffi::c_int;

use super::{Calls, Style, at, in_step};
use crate::system::System;
use engine::DIRECT_ALIGNMENT;
use engine::{Cause, Failure, Name, OperationOutcome, Step, Steps};

/// A range of an open file that is read block by block.
#[derive(Clone, Copy)]
struct Source {
    file: c_int,
    /// The offset of the first byte. `None` reads from the current position, the start of the file.
    offset: Option<u64>,
    bytes: u64,
}

impl<S: System, T: Style> Calls<S, T> {
    #[inline]
    pub(super) fn create(
        &mut self,
        name: Name<'_>,
        content: &[u8],
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.write(name, T::CREATE, content, T::EMPTY_REMAINDER, steps)?;
        self.sync_directory_of(name, content.len() as u64, steps)
    }

    /// Writes a new file under a temporary name and renames it. The final name is either new, or
    /// the name of the file that is replaced.
    pub(super) fn write_elsewhere(
        &mut self,
        temporary: Name<'_>,
        name: Name<'_>,
        replaces: bool,
        content: &[u8],
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        let bytes = content.len() as u64;
        self.write(temporary, T::CREATE, content, false, steps)?;
        let renamed = if replaces {
            self.step(Step::Rename, steps, |system| {
                system.rename(at(temporary), at(name), true)
            })
        } else {
            self.rename_to_new(temporary, name, steps)
        };
        renamed.map_err(|failure| failure.having_moved(bytes))?;
        self.sync_directory_of(name, bytes, steps)
    }

    pub(super) fn truncate(
        &mut self,
        name: Name<'_>,
        bytes: u64,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        let flags = T::OVERWRITE | self.policy.now.write_flags;
        self.on_file(name, flags, 0, steps, |calls, file, steps| {
            calls.step(Step::Truncate, steps, |system| system.truncate(file, bytes))?;
            calls.sync_file(file, 0, steps)
        })
    }

    pub(super) fn evict(&mut self, name: Name<'_>, steps: &mut dyn Steps) -> OperationOutcome {
        self.on_file(name, T::READ, 0, steps, |calls, file, steps| {
            calls.step(Step::Evict, steps, |system| system.evict(file))
        })
    }

    /// Opens a file with these flags, writes `content`, syncs the file if the durability policy
    /// requires it, and closes the file.
    #[inline]
    pub(super) fn write(
        &mut self,
        name: Name<'_>,
        flags: c_int,
        content: &[u8],
        empty_remainder: bool,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.assert_alignment(content.len() as u64);
        let flags = flags | self.policy.now.write_flags | self.policy.content_flags;
        let bytes = content.len() as u64;
        self.on_file(name, flags, bytes, steps, |calls, file, steps| {
            calls.write_blocks(file, content, empty_remainder)?;
            steps.ended(Step::Write);
            calls.sync_file(file, bytes, steps)
        })
    }

    #[inline(always)]
    pub(super) fn write_blocks(
        &mut self,
        file: c_int,
        content: &[u8],
        empty_remainder: bool,
    ) -> OperationOutcome {
        let block = self.writes.block();
        let mut done = 0;
        loop {
            let left = content.len() - done;
            self.go_on(Step::Write, done as u64)?;
            if left < block {
                if left > 0 || empty_remainder {
                    self.write_block(file, &content[done..], done)?;
                }
                return Ok(());
            }
            self.write_block(file, &content[done..done + block], done)?;
            done += block;
        }
    }

    #[inline(always)]
    fn write_block(&mut self, file: c_int, block: &[u8], before: usize) -> OperationOutcome {
        let block = self.writes.prepared(block);
        let mut done = 0;
        loop {
            let written = in_step(Step::Write, || self.system.write(file, &block[done..]))
                .map_err(|failure| failure.having_moved((before + done) as u64))?;
            done += written;
            if done == block.len() {
                return Ok(());
            }
            if written == 0 {
                let failure = Failure::wrong(Step::Write, Cause::NothingWritten);
                return Err(failure.having_moved((before + done) as u64));
            }
        }
    }

    /// Reads `bytes` bytes of a file from an offset, or the whole file from its start.
    #[inline]
    pub(super) fn read_source(
        &mut self,
        name: Name<'_>,
        offset: Option<u64>,
        bytes: u64,
        empty_remainder: bool,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.assert_alignment(offset.unwrap_or(0));
        self.assert_alignment(bytes);
        self.reads.begin();
        let flags = T::READ | self.policy.content_flags;
        self.on_file(name, flags, bytes, steps, |calls, file, steps| {
            let source = Source {
                file,
                offset,
                bytes,
            };
            calls.read_blocks(source, empty_remainder)?;
            steps.ended(Step::Read);
            if calls.reads.keeps() && offset.is_none() {
                calls.check_size(file, bytes)?;
                steps.ended(Step::Stat);
            }
            Ok(())
        })
    }

    /// Checks that a completely read file has exactly the expected size.
    pub(crate) fn check_size(&mut self, file: c_int, expected: u64) -> OperationOutcome {
        let found = in_step(Step::Stat, || self.system.size_of(file))
            .map_err(|failure| failure.having_moved(expected))?;
        if found == expected {
            return Ok(());
        }
        Err(Failure::wrong(Step::Stat, Cause::WrongSize { found, expected }).having_moved(expected))
    }

    #[inline]
    fn read_blocks(&mut self, source: Source, empty_remainder: bool) -> OperationOutcome {
        let block = self.reads.block();
        let mut done = 0;
        loop {
            let length = block.min(source.bytes - done);
            self.go_on(Step::Read, done)?;
            if length > 0 || empty_remainder {
                self.read_block(source, length as usize, done)?;
            }
            done += length;
            if length < block {
                return Ok(());
            }
        }
    }

    #[inline]
    fn read_block(&mut self, source: Source, length: usize, before: u64) -> OperationOutcome {
        let at = self.reads.next_block(length);
        let mut done = 0;
        loop {
            let room = self.reads.room(at + done, at + length);
            let read = in_step(Step::Read, || match source.offset {
                None => self.system.read(source.file, room),
                Some(offset) => {
                    self.system
                        .read_at(source.file, room, offset + before + done as u64)
                }
            })
            .map_err(|failure| failure.having_moved(before + done as u64))?;
            done += read;
            self.reads.filled(at + done);
            if done == length {
                return Ok(());
            }
            // With direct I/O, a read that ends at an unaligned offset has reached the end of the
            // file. No other read may start at this offset.
            if read == 0 || (self.writes.is_direct() && done % DIRECT_ALIGNMENT != 0) {
                let (read, expected) = (before + done as u64, source.bytes);
                let failure = Failure::wrong(Step::Read, Cause::EndedEarly { read, expected });
                return Err(failure.having_moved(read));
            }
        }
    }

    /// Panics if direct I/O is requested with a size that is not a multiple of the alignment: the
    /// caller violated the contract.
    #[inline]
    pub(super) fn assert_alignment(&self, bytes: u64) {
        assert!(
            !self.writes.is_direct() || bytes.is_multiple_of(DIRECT_ALIGNMENT as u64),
            "{bytes} bytes are no multiple of {DIRECT_ALIGNMENT}, as direct input and output \
             needs it"
        );
    }
}
