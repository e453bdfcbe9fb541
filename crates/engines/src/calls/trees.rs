//! Operations on a directory with its subdirectories and files: copies as `cp -r`, `cp -r
//! --reflink` and `cp -rl` make them, and a removal as `rm -r` does it. Both first list all
//! directories, and then process each entry in the order of the listings.

use std::ffi::{CStr, c_int};

use super::tree_entries::{EntryPath, TreeEntries};
use super::{Calls, Style, again, at, in_step};
use crate::system::entries::is_counted;
use crate::system::{At, System};
use engine::namespace::DIRECTORY_MODE;
use engine::{Cause, Errno, Failure, Listing, Name, NameKind, OperationOutcome, Step, Steps};

/// The number of bytes that one call of copy_file_range(2) requests, as `cp` does.
const COPIED_BYTES: usize = 1 << 30;

/// The names of the entries that a tree must have, and its number of levels of subdirectories.
type Expected = (Listing, u32);

impl<S: System, T: Style> Calls<S, T> {
    /// Creates the directory `to` with the same subdirectories and files as the directory `name`.
    /// `step` copies, clones or links the files; `bytes` is the number of bytes that the kernel
    /// copies.
    pub(super) fn copy_tree(
        &mut self,
        (name, to): (Name<'_>, Name<'_>),
        (step, bytes): (Step, u64),
        expected: Expected,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.step(Step::MakeDirectory, steps, |system| {
            system.mkdir(at(to), DIRECTORY_MODE)
        })?;
        let from = self.open_directory(name)?;
        let copied = self.copy_tree_from((from, to), (step, bytes), expected, steps);
        self.close(from, bytes, copied, steps)?;
        self.sync_directory_of(to, bytes, steps)
    }

    fn copy_tree_from(
        &mut self,
        (from, to): (c_int, Name<'_>),
        (step, bytes): (Step, u64),
        expected: Expected,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        let made = self.open_directory(to)?;
        steps.ended(Step::Open);
        let mut entries = std::mem::take(&mut self.tree);
        let copied = self
            .list_tree((from, true), expected, &mut entries, steps)
            .and_then(|()| self.copy_entries((from, made), (step, bytes), &entries, steps));
        let synced = copied.and_then(|()| self.sync_copy(made, &entries));
        self.tree = entries;
        let closed = self.system.close(made);
        synced?;
        closed.map_err(|errno| Failure::system(Step::Close, errno).having_moved(bytes))
    }

    /// Copies the entries of one open directory to another.
    fn copy_entries(
        &mut self,
        (from, made): (c_int, c_int),
        (step, bytes): (Step, u64),
        entries: &TreeEntries,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        let mut done = 0;
        for (number, (path, is_directory)) in entries.all().enumerate() {
            self.go_on_if(number > 0, step, done)?;
            let copied = match is_directory {
                true => in_step(Step::MakeDirectory, || {
                    self.system.mkdir(At::In(made, path), DIRECTORY_MODE)
                })
                .map(|()| 0),
                false => self.add_file((from, made), step, path),
            };
            done += copied.map_err(|failure| failure.having_moved(done))?;
        }
        if done != bytes {
            let (found, expected) = (done, bytes);
            let size = Cause::WrongSize { found, expected };
            return Err(Failure::wrong(step, size).having_moved(done));
        }
        steps.ended(step);
        Ok(())
    }

    /// Syncs the directories of a copy, if the policy syncs directories.
    fn sync_copy(&mut self, made: c_int, entries: &TreeEntries) -> OperationOutcome {
        if !self.policy.now.directories {
            return Ok(());
        }
        for path in entries.directories() {
            let inner = self.open_in(made, path, T::LIST)?;
            let synced = in_step(Step::SyncDirectory, || self.system.sync(inner, false));
            let closed = self.system.close(inner);
            synced?;
            closed.map_err(|errno| Failure::system(Step::Close, errno))?;
        }
        in_step(Step::SyncDirectory, || self.system.sync(made, false))
    }

    /// Adds one file to a tree, and returns the number of copied bytes.
    fn add_file(
        &mut self,
        (from, to): (c_int, c_int),
        step: Step,
        name: &CStr,
    ) -> Result<u64, Failure> {
        if step == Step::Link {
            let (existing, new) = (At::In(from, name), At::In(to, name));
            return in_step(step, || self.system.link(existing, new)).map(|()| 0);
        }
        let flags = T::CREATE | self.policy.now.write_flags;
        let source = self.open_in(from, name, T::READ)?;
        let copied = self.open_in(to, name, flags).and_then(|file| {
            let copied = self.fill(source, file, step);
            let closed = self.system.close(file);
            let copied = copied?;
            closed.map_err(|errno| Failure::system(Step::Close, errno))?;
            Ok(copied)
        });
        let closed = self.system.close(source);
        let copied = copied?;
        closed.map_err(|errno| Failure::system(Step::Close, errno))?;
        Ok(copied)
    }

    /// Gives a new file the contents of another one, and returns the number of copied bytes.
    fn fill(&mut self, from: c_int, to: c_int, step: Step) -> Result<u64, Failure> {
        let mut done = 0;
        match step {
            Step::Clone => in_step(step, || self.system.clone_blocks(from, to))?,
            _ => loop {
                match in_step(step, || self.system.copy(from, to, COPIED_BYTES))? {
                    0 => break,
                    copied => done += copied as u64,
                }
            },
        }
        if let Some(contents_only) = self.policy.now.file {
            in_step(Step::Sync, || self.system.sync(to, contents_only.0))?;
        }
        Ok(done)
    }

    /// Removes the directory `name` with its subdirectories and files.
    pub(super) fn remove_tree(
        &mut self,
        name: Name<'_>,
        expected: Expected,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        let directory = self.open_directory(name)?;
        steps.ended(Step::Open);
        let mut entries = std::mem::take(&mut self.tree);
        let removed = self
            .list_tree((directory, false), expected, &mut entries, steps)
            .and_then(|()| {
                for (number, file) in entries.files().enumerate() {
                    self.go_on_if(number > 0, Step::Unlink, 0)?;
                    in_step(Step::Unlink, || self.system.unlink(At::In(directory, file)))?;
                }
                // The deepest directories are the last ones.
                for inner in entries.directories().rev() {
                    in_step(Step::RemoveDirectory, || {
                        self.system.rmdir(At::In(directory, inner))
                    })?;
                }
                steps.ended(Step::Unlink);
                Ok(())
            });
        self.tree = entries;
        self.close(directory, 0, removed, steps)?;
        self.remove_directory(name, steps)
    }

    /// Lists an open directory and its subdirectories to `entries`, and compares the names with the
    /// expected ones. Hidden entries are ignored; for a copy, so is everything that is not copied.
    fn list_tree(
        &mut self,
        (directory, copies): (c_int, bool),
        (expected, levels): Expected,
        entries: &mut TreeEntries,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        entries.clear();
        let mut found = Listing::default();
        self.list_directory(
            (directory, copies),
            (None, levels == 0),
            entries,
            &mut found,
        )?;
        let mut at = 0;
        while let Some((inner, next)) = entries.next_directory(at) {
            at = next;
            let file = self.open_in(directory, entries.path(&inner), T::LIST)?;
            let is_lowest = entries.level(&inner) == levels;
            let place = (Some(&inner), is_lowest);
            let listed = self.list_directory((file, copies), place, entries, &mut found);
            let closed = self.system.close(file);
            listed?;
            closed.map_err(|errno| Failure::system(Step::Close, errno))?;
        }
        if found != expected {
            let wrong = Cause::WrongFiles {
                found: found.entries,
                expected: expected.entries,
            };
            return Err(Failure::wrong(Step::List, wrong));
        }
        steps.ended(Step::List);
        Ok(())
    }

    /// Adds the entries of one directory. `path` is its path in the tree. Only a directory that is
    /// not on the lowest level has subdirectories.
    fn list_directory(
        &mut self,
        (directory, copies): (c_int, bool),
        (path, is_lowest): (Option<&EntryPath>, bool),
        entries: &mut TreeEntries,
        found: &mut Listing,
    ) -> OperationOutcome {
        self.entries(directory, |system, entry| {
            let name = entry.name.to_bytes();
            // Links, and directories and trees that operations made, are not copied.
            let is_left_out = copies && NameKind::of_name(name) != NameKind::File;
            let is_skipped = is_left_out || !is_counted(name);
            // Without subdirectories, a removal needs no types: unlink fails on a directory.
            let needs_kind = copies || !is_lowest;
            let is_directory = match entry.kind {
                _ if is_skipped => return Ok(()),
                _ if !needs_kind => false,
                libc::DT_REG => false,
                libc::DT_DIR => true,
                libc::DT_UNKNOWN => {
                    match kind_of(system, At::In(directory, entry.name), T::LIST)? {
                        Some(is_directory) => is_directory,
                        None if copies => return Ok(()),
                        None => false,
                    }
                }
                _ if copies => return Ok(()),
                _ => false,
            };
            if is_directory && is_lowest {
                return Ok(());
            }
            found.add(name);
            entries.add(path, entry.name, is_directory);
            Ok(())
        })
    }

    fn open_directory(&mut self, name: Name<'_>) -> Result<c_int, Failure> {
        // The location itself has an empty relative path.
        let relative = match name.relative.is_empty() {
            true => c".",
            false => name.relative,
        };
        self.open(Name { relative, ..name }, T::LIST)
    }

    fn open_in(&mut self, directory: c_int, name: &CStr, flags: c_int) -> Result<c_int, Failure> {
        in_step(Step::Open, || {
            self.system
                .open(At::In(directory, name), flags, super::FILE_MODE)
        })
    }
}

/// Whether a name is that of a directory, for a listing without types; `None` if it is neither a
/// directory nor a regular file. An attempt to open a file as a directory fails, and an attempt to
/// read it as a symbolic link fails with `EINVAL`.
fn kind_of<S: System>(system: &mut S, name: At<'_>, flags: c_int) -> Result<Option<bool>, Failure> {
    match again(|| system.open(name, flags, 0)) {
        Ok(directory) => {
            let closed = system.close(directory);
            return closed
                .map(|()| Some(true))
                .map_err(|errno| Failure::system(Step::Close, errno));
        }
        Err(Errno::NOTDIR | Errno::LOOP) => {}
        Err(errno) => return Err(Failure::system(Step::List, errno)),
    }
    match again(|| system.read_link(name, &mut [0])) {
        Ok(_) => Ok(None),
        Err(Errno::INVAL) => Ok(Some(false)),
        Err(errno) => Err(Failure::system(Step::List, errno)),
    }
}
