//! Builds the requests of the next chain of an operation.

use std::ptr;

use engine::namespace::DIRECTORY_MODE;
use io_uring::opcode;
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{DestinationSlot, Fd, Fixed, FsyncFlags};

use super::flight::{Context, Flight, OpenFile, Sent};
use super::ring::CHAIN_MAX;
use super::stage::Stage;
use crate::calls::FILE_MODE;

/// Number of low bits of a request's number that store its index in the chain. The other bits store
/// the index of the flight.
const INDEX_BITS: u32 = 8;
const _: () = assert!(CHAIN_MAX <= 1 << INDEX_BITS);

/// Splits the number of a request into the flight and the index in its chain.
#[inline]
pub(super) fn of_request(number: u64) -> (usize, usize) {
    let index = number & ((1 << INDEX_BITS) - 1);
    ((number >> INDEX_BITS) as usize, index as usize)
}

/// Builds a request for the flight's open file, which is in the ring's own table or has a
/// descriptor.
macro_rules! on {
    ($flight:expr, $file:ident => $request:expr) => {
        match $flight.file {
            OpenFile::Descriptor(descriptor) => {
                let $file = Fd(descriptor);
                $request.build()
            }
            OpenFile::None | OpenFile::Fixed => {
                let $file = Fixed($flight.number);
                $request.build()
            }
        }
    };
}

impl Flight {
    /// Stores in `to` the requests of the next stages, from `next` on, up to the last one that can
    /// be in the same chain.
    #[inline]
    pub(super) fn chain(&mut self, context: &Context, to: &mut Vec<Entry>) {
        self.sent.clear();
        to.clear();
        let most = if context.chains { CHAIN_MAX } else { 1 };
        let mut at = self.next;
        while at < self.stages.len() && self.sent.len() < most {
            let stage = self.stages[at];
            if stage.moves() {
                if !self.blocks(at, stage, most, context, to) {
                    break;
                }
            } else {
                let sent = Sent {
                    stage: at,
                    bytes: 0,
                };
                let is_last =
                    stage.decides() || at + 1 == self.stages.len() || self.sent.len() + 1 == most;
                let request = self.request(stage, context);
                self.append(request, sent, is_last, to);
            }
            if stage.decides() {
                break;
            }
            at += 1;
        }
        self.pending = self.sent.len();
    }

    #[inline]
    fn append(&mut self, request: Entry, sent: Sent, is_last: bool, to: &mut Vec<Entry>) {
        let number = u64::from(self.number) << INDEX_BITS | self.sent.len() as u64;
        let request = request.user_data(number);
        to.push(match is_last {
            true => request,
            false => request.flags(Flags::IO_LINK),
        });
        self.sent.push(sent);
    }

    /// Appends requests for the next blocks; returns `false` if the chain is full before the last
    /// block.
    #[inline]
    fn blocks(
        &mut self,
        at: usize,
        stage: Stage,
        most: usize,
        context: &Context,
        to: &mut Vec<Entry>,
    ) -> bool {
        let all = self.bytes.unwrap_or(0);
        let mut begin = self.done;
        while begin < all {
            if self.sent.len() == most {
                return false;
            }
            let block = match stage {
                Stage::Read => context.read_block,
                _ => context.write_block,
            };
            // After a request that moved only part of a block, the rest of the block is requested.
            let bytes = (block - begin % block).min(all - begin) as u32;
            let request = match stage {
                Stage::Read => {
                    let room = begin / block % (self.room_bytes / block) * block + begin % block;
                    let (room, offset) = (self.room_at(room), self.offset + begin);
                    on!(self, file => opcode::Read::new(file, room, bytes).offset(offset))
                }
                _ => {
                    // SAFETY: `content` points to `all` bytes, and `begin` is less than `all`.
                    let content = unsafe { self.content.add(begin as usize) };
                    on!(self, file => opcode::Write::new(file, content, bytes).offset(begin))
                }
            };
            // A stage that moves contents is never the last stage, so only a full chain ends here.
            let is_last = self.sent.len() + 1 == most;
            self.append(request, Sent { stage: at, bytes }, is_last, to);
            begin += u64::from(bytes);
        }
        true
    }

    fn request(&mut self, stage: Stage, context: &Context) -> Entry {
        let [first, second] = [0, 1].map(|which: usize| {
            let name = &self.names[which];
            (Fd(context.directories[name.location]), name.pointer())
        });
        match stage {
            Stage::Open(flags) | Stage::OpenMissing(flags) => self.open(first, flags, context),
            Stage::OpenDirectory(which) => {
                self.names[which].directory_to(&mut self.directory);
                let directory = [first, second][which].0;
                let path = self.directory.as_ptr().cast();
                let flags = libc::O_RDONLY | libc::O_DIRECTORY;
                self.open((directory, path), flags, context)
            }
            Stage::Close | Stage::Abandon | Stage::CloseDirectory => {
                on!(self, file => opcode::Close::new(file))
            }
            Stage::Sync { contents_only } => self.sync(contents_only),
            Stage::SyncDirectory => self.sync(false),
            Stage::Truncate => {
                let bytes = self.bytes.unwrap_or(0);
                on!(self, file => opcode::Ftruncate::new(file, bytes))
            }
            Stage::Evict => {
                on!(self, file => opcode::Fadvise::new(file, 0, libc::POSIX_FADV_DONTNEED))
            }
            Stage::SetExtended | Stage::GetExtended => self.extended(stage),
            Stage::Stat | Stage::StatMissing => self.stat(first),
            Stage::Absent => self.stat(second),
            Stage::Unlink => opcode::UnlinkAt::new(first.0, first.1).build(),
            Stage::RemoveDirectory => opcode::UnlinkAt::new(first.0, first.1)
                .flags(libc::AT_REMOVEDIR)
                .build(),
            Stage::MakeDirectory | Stage::MakeExisting => opcode::MkDirAt::new(first.0, first.1)
                .mode(DIRECTORY_MODE)
                .build(),
            Stage::Rename { replaces } => {
                let flags = if replaces { 0 } else { libc::RENAME_NOREPLACE };
                opcode::RenameAt::new(first.0, first.1, second.0, second.1)
                    .flags(flags)
                    .build()
            }
            Stage::Link => opcode::LinkAt::new(first.0, first.1, second.0, second.1).build(),
            Stage::SymbolicLink => {
                opcode::SymlinkAt::new(first.0, self.text.as_ptr().cast(), first.1).build()
            }
            Stage::Read | Stage::Write => unreachable!("blocks are requested one by one"),
        }
    }

    fn open(
        &self,
        (directory, path): (Fd, *const libc::c_char),
        flags: i32,
        context: &Context,
    ) -> Entry {
        let request = opcode::OpenAt::new(directory, path).mode(FILE_MODE);
        if !context.chains {
            return request.flags(flags | libc::O_CLOEXEC).build();
        }
        let slot = DestinationSlot::try_from_slot_target(self.number);
        request.flags(flags).file_index(slot.ok()).build()
    }

    fn sync(&self, contents_only: bool) -> Entry {
        let flags = match contents_only {
            true => FsyncFlags::DATASYNC,
            false => FsyncFlags::empty(),
        };
        on!(self, file => opcode::Fsync::new(file).flags(flags))
    }

    fn stat(&mut self, (directory, path): (Fd, *const libc::c_char)) -> Entry {
        let answer = ptr::from_mut(&mut *self.answered_stat).cast();
        opcode::Statx::new(directory, path, answer)
            .flags(libc::AT_SYMLINK_NOFOLLOW)
            .mask(libc::STATX_BASIC_STATS)
            .build()
    }

    fn extended(&mut self, stage: Stage) -> Entry {
        let key = self.text.as_ptr().cast();
        if stage == Stage::SetExtended {
            let (value, bytes) = (self.value.as_ptr().cast(), self.value.len() as u32);
            return on!(self, file => opcode::FSetXattr::new(file, key, value, bytes));
        }
        let bytes = self.answered_value.len() as u32;
        let value = self.answered_value.as_mut_ptr().cast();
        on!(self, file => opcode::FGetXattr::new(file, key, value, bytes))
    }
}
