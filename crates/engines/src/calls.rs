//! Performs each operation as a sequence of system calls. `raw`, `posix` and `simulated` use this
//! module for all operations, `stdio` for operations that move no contents.
//!
//! A [`Style`] contains the differences between the engines. Interrupted calls are repeated, and
//! short reads and writes are continued. A failure names the call that failed and is returned after
//! the file is closed.

use std::ffi::c_int;
use std::marker::PhantomData;

use crate::buffers::{Answers, Reads, Writes};
use crate::system::{At, System};
pub(crate) use directories::{have_one_directory, parent};
use engine::{
    Cause, Errno, Failure, Listing, Name, OpenError, Operation, OperationKind, OperationOutcome,
    OperationSyncs, Session, Settings, Step, Steps, Stopping, Submitted, Ticket,
};
use policy::Policy;
pub(crate) use policy::{ContentsOnly, Syncs};
use tree_entries::TreeEntries;

mod attributes;
mod contents;
mod copies;
mod directories;
mod durability;
mod install;
mod listing;
mod names;
mod policy;
mod tree_entries;
mod trees;

/// The differences between engines that make system calls.
pub(crate) trait Style {
    /// Flags of open(2) to create a file. The next four constants are the flags for other
    /// operations.
    const CREATE: c_int;
    const APPEND: c_int;
    const READ: c_int;
    const OVERWRITE: c_int;
    const LIST: c_int;
    /// Whether creating, appending and reading end with a call of 0 bytes if the number of bytes is
    /// a multiple of the block size. The original PostMark makes this call.
    const EMPTY_REMAINDER: bool;
}

/// The mode of new files, before the process's umask.
pub(crate) const FILE_MODE: libc::mode_t = 0o644;
/// An interrupted call is repeated up to this many times; then the operation fails with the call's
/// error. The limit ensures that a storm of signals cannot block a run forever.
pub(crate) const INTERRUPTIONS_MAX: u32 = 1_000;

/// A session that makes system calls in the style `T`.
#[derive(Debug)]
pub(crate) struct Calls<S, T> {
    system: S,
    reads: Reads,
    writes: Writes,
    answers: Answers,
    policy: Policy,
    listing: Listing,
    /// The subdirectories and files of a tree. The memory grows to the size that the largest tree
    /// needs.
    tree: TreeEntries,
    stopping: Stopping,
    /// Set if the file system does not support `RENAME_NOREPLACE`; then the absence of the new name
    /// is checked before a rename.
    renames_by_looking: bool,
    /// Set if the kernel cannot change the mode of a name without following a symbolic link; then
    /// the file is opened first.
    opens_to_set_mode: bool,
    style: PhantomData<T>,
}

impl<S: System, T: Style> Calls<S, T> {
    pub(crate) fn new(system: S, settings: &Settings) -> Result<Self, OpenError> {
        Ok(Self {
            system,
            reads: Reads::new(settings)?,
            writes: Writes::new(settings)?,
            answers: Answers::new()?,
            policy: Policy::new(settings),
            listing: Listing::default(),
            tree: TreeEntries::default(),
            stopping: settings.stopping.clone(),
            renames_by_looking: false,
            opens_to_set_mode: false,
            style: PhantomData,
        })
    }

    #[inline]
    fn open(&mut self, name: Name<'_>, flags: c_int) -> Result<c_int, Failure> {
        in_step(Step::Open, || self.system.open(at(name), flags, FILE_MODE))
    }

    /// Closes a file. An earlier failure takes precedence over a failure of close(2), because the
    /// earlier failure is more specific.
    #[inline]
    fn close(
        &mut self,
        file: c_int,
        moved_bytes: u64,
        before: OperationOutcome,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        // Linux releases the descriptor even if the call fails (close(2)), so the call is never
        // repeated.
        let closed = self.system.close(file);
        before?;
        closed.map_err(|errno| Failure::system(Step::Close, errno).having_moved(moved_bytes))?;
        steps.ended(Step::Close);
        Ok(())
    }

    /// Opens a file, performs `work` on the file, and closes the file.
    #[inline]
    fn on_file(
        &mut self,
        name: Name<'_>,
        flags: c_int,
        moved_bytes: u64,
        steps: &mut dyn Steps,
        work: impl FnOnce(&mut Self, c_int, &mut dyn Steps) -> OperationOutcome,
    ) -> OperationOutcome {
        let file = self.open(name, flags)?;
        steps.ended(Step::Open);
        let worked = work(self, file, steps);
        self.close(file, moved_bytes, worked, steps)
    }

    /// Returns the failure [`Cause::Stopped`] if the run is stopping and `done`, the number of
    /// bytes already moved, is not 0.
    #[inline]
    pub(crate) fn go_on(&self, step: Step, done: u64) -> OperationOutcome {
        self.go_on_if(done > 0, step, done)
    }

    /// As [`go_on`](Self::go_on), for an operation that has begun if `is_begun` is true.
    fn go_on_if(&self, is_begun: bool, step: Step, done: u64) -> OperationOutcome {
        match is_begun && self.stopping.is_wanted() {
            true => Err(Failure::wrong(step, Cause::Stopped).having_moved(done)),
            false => Ok(()),
        }
    }

    /// Makes one call and reports the call as one `Step`.
    #[inline]
    fn step(
        &mut self,
        step: Step,
        steps: &mut dyn Steps,
        mut call: impl FnMut(&mut S) -> Result<(), Errno>,
    ) -> OperationOutcome {
        in_step(step, || call(&mut self.system))?;
        steps.ended(step);
        Ok(())
    }

    /// Performs an operation completely, including the sync of a batch.
    #[inline]
    pub(crate) fn perform(
        &mut self,
        operation: &Operation<'_>,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.perform_unbatched(operation, steps)?;
        self.sync_batch(operation, steps)
    }

    // A return after a system call is mispredicted (about 13 ns each), so few functions are called
    // between the loop and the calls.
    #[inline(always)]
    fn perform_unbatched(
        &mut self,
        operation: &Operation<'_>,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.policy.begin(operation.kind());
        match *operation {
            Operation::Create { name, content } => self.create(name, content, steps),
            Operation::Append { name, content } => {
                self.write(name, T::APPEND, content, T::EMPTY_REMAINDER, steps)
            }
            Operation::Read { name, bytes } => {
                self.read_source(name, None, bytes, T::EMPTY_REMAINDER, steps)
            }
            Operation::Delete { name } => self.delete(name, steps),
            Operation::MakeDirectory { name } => self.make_directory(name, steps),
            Operation::RemoveDirectory { name } => self.remove_directory(name, steps),
            Operation::ReadRange {
                name,
                offset,
                bytes,
            } => self.read_source(name, Some(offset), bytes, false, steps),
            Operation::Overwrite { name, content } => {
                self.write(name, T::OVERWRITE, content, false, steps)
            }
            Operation::Truncate { name, bytes } => self.truncate(name, bytes, steps),
            Operation::Stat { name, bytes } => self.stat(name, bytes, steps),
            Operation::SetAttributes {
                name,
                mode,
                times_ns,
            } => self.set_attributes(name, mode, times_ns, steps),
            Operation::Rename { name, to } => self.rename(name, to, steps),
            Operation::Replace {
                name,
                temporary,
                content,
            } => self.write_elsewhere(temporary, name, true, content, steps),
            Operation::Deliver {
                temporary,
                name,
                content,
            } => self.write_elsewhere(temporary, name, false, content, steps),
            Operation::Link { name, to } => self.link(name, to, steps),
            Operation::SymbolicLink { name, target } => self.symbolic_link(name, target, steps),
            Operation::ReadLink { name, target } => self.read_link(name, target, steps),
            Operation::SetExtended { name, key, value } => {
                self.set_extended(name, key, value, steps)
            }
            Operation::GetExtended { name, key, value } => {
                self.get_extended(name, key, value, steps)
            }
            Operation::List { name } => self.list(name, false, steps),
            Operation::ListWithStat { name } => self.list(name, true, steps),
            Operation::StatMissing { name } => self.stat_missing(name, steps),
            Operation::OpenMissing { name } => self.open_missing(name, steps),
            Operation::MakeDirectoryExisting { name } => self.make_existing(at(name), steps),
            Operation::OpenClose { name } => {
                self.on_file(name, T::READ, 0, steps, |_, _, _| Ok(()))
            }
            Operation::ReadMapped { name, bytes } => self.read_mapped(name, bytes, steps),
            Operation::Lock { name } => self.lock(name, steps),
            Operation::Copy { name, from, bytes } => {
                self.copy((from, name), bytes, Step::Copy, None, steps)
            }
            Operation::Clone { name, from, bytes } => {
                self.copy((from, name), bytes, Step::Clone, None, steps)
            }
            Operation::Rewrite { name, content } => {
                self.write(name, T::OVERWRITE | libc::O_TRUNC, content, false, steps)
            }
            Operation::LockFile { name, content } => self.lock_file(name, content, steps),
            Operation::Install {
                name,
                content,
                mode,
                times_ns,
            } => self.install(name, content, (mode, times_ns), steps),
            Operation::InstallLink { name, to } => {
                self.look_for(to, steps)?;
                self.link(name, to, steps)
            }
            Operation::InstallCopy {
                name,
                from,
                bytes,
                mode,
                times_ns,
            } => {
                self.look_for(name, steps)?;
                let set = Some((mode, times_ns));
                self.copy((from, name), bytes, Step::Copy, set, steps)
            }
            Operation::InstallClone {
                name,
                from,
                bytes,
                mode,
                times_ns,
            } => {
                self.look_for(name, steps)?;
                let set = Some((mode, times_ns));
                self.copy((from, name), bytes, Step::Clone, set, steps)
            }
            Operation::CopyTree {
                name,
                from,
                entries,
                levels,
                bytes,
            } => self.copy_tree((from, name), (Step::Copy, bytes), (entries, levels), steps),
            Operation::CloneTree {
                name,
                from,
                entries,
                levels,
            } => self.copy_tree((from, name), (Step::Clone, 0), (entries, levels), steps),
            Operation::LinkTree {
                name,
                from,
                entries,
                levels,
            } => self.copy_tree((from, name), (Step::Link, 0), (entries, levels), steps),
            Operation::RemoveTree {
                name,
                entries,
                levels,
            } => self.remove_tree(name, (entries, levels), steps),
            Operation::Evict { name } => self.evict(name, steps),
        }
    }

    pub(crate) fn system(&mut self) -> &mut S {
        &mut self.system
    }

    /// Selects the durability policy of this kind of operation, for a caller that makes the
    /// operation's calls itself. Returns how the file must be synced; `None` for no sync of the
    /// file.
    #[inline]
    pub(crate) fn begin(&mut self, kind: OperationKind) -> Option<ContentsOnly> {
        self.policy.begin(kind);
        self.policy.now.file
    }

    /// Returns the flags and syncs that the durability policy requires for this kind of operation.
    /// Used by callers that make the operation's calls themselves.
    pub(crate) fn syncs(&self, kind: OperationKind) -> Syncs {
        self.policy.of(kind)
    }

    /// `O_DIRECT` for operations that move contents; 0 without direct I/O.
    pub(crate) fn content_flags(&self) -> c_int {
        self.policy.content_flags
    }

    pub(crate) fn reads(&mut self) -> &mut Reads {
        &mut self.reads
    }
}

impl<S: System, T: Style> Session for Calls<S, T> {
    #[inline]
    fn submit(&mut self, _: Ticket, operation: &Operation<'_>, steps: &mut dyn Steps) -> Submitted {
        Submitted::Done(self.perform(operation, steps))
    }

    fn sync_next(&mut self, syncs: OperationSyncs) {
        self.policy.set_next(syncs);
    }

    fn content(&self, _: Ticket) -> Option<&[u8]> {
        self.reads.content()
    }

    fn listing(&self, _: Ticket) -> Option<Listing> {
        Some(self.listing)
    }

    fn names(&mut self, directory: Name<'_>) -> Result<Vec<Vec<u8>>, Failure> {
        self.names_in(directory)
    }

    fn sync_file_system(&mut self, location: usize) -> OperationOutcome {
        in_step(Step::SyncFileSystem, || {
            self.system.sync_file_system(location)
        })
    }
}

/// Returns a name as a path for system calls, relative to the open directory of the
/// location.
#[inline]
pub(crate) fn at(name: Name<'_>) -> At<'_> {
    At::Location(name.location, name.relative)
}

/// Repeats a call while signals interrupt it.
#[inline]
fn again<A>(mut call: impl FnMut() -> Result<A, Errno>) -> Result<A, Errno> {
    let mut interruptions = 0;
    loop {
        match call() {
            Err(Errno::INTR) if interruptions < INTERRUPTIONS_MAX => interruptions += 1,
            answer => return answer,
        }
    }
}

/// Repeats an interrupted call; an error becomes a failure of `step`.
#[inline]
fn in_step<A>(step: Step, call: impl FnMut() -> Result<A, Errno>) -> Result<A, Failure> {
    again(call).map_err(|errno| Failure::system(step, errno))
}
