//! Operations on a directory with its files: copies as `cp -r`, `cp -r --reflink` and `cp -rl`
//! make them, and a removal as `rm -r` does it. Both first list the directory, and then process
//! each file in the order of the listing.

use std::ffi::{CStr, c_int};

use super::{Calls, Style, again, at, in_step};
use crate::system::entries::is_counted;
use crate::system::{At, System};
use engine::namespace::DIRECTORY_MODE;
use engine::{Cause, Errno, Failure, Listing, Name, NameKind, OperationOutcome, Step, Steps};

/// The number of bytes that one call of copy_file_range(2) requests, as `cp` does.
const COPIED_BYTES: usize = 1 << 30;

impl<S: System, T: Style> Calls<S, T> {
    /// Creates the directory `to` with the same files as the directory `name`, which `step` copies,
    /// clones or links. `bytes` is the number of bytes that the kernel copies.
    pub(super) fn copy_tree(
        &mut self,
        (name, to): (Name<'_>, Name<'_>),
        (step, bytes): (Step, u64),
        files: Listing,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.step(Step::MakeDirectory, steps, |system| {
            system.mkdir(at(to), DIRECTORY_MODE)
        })?;
        let from = self.open_directory(name)?;
        let copied = self.copy_tree_from((from, to), (step, bytes), files, steps);
        self.close(from, bytes, copied, steps)?;
        self.sync_directory_of(to, bytes, steps)
    }

    fn copy_tree_from(
        &mut self,
        (from, to): (c_int, Name<'_>),
        (step, bytes): (Step, u64),
        files: Listing,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        let made = self.open_directory(to)?;
        steps.ended(Step::Open);
        let names = std::mem::take(&mut self.tree);
        let (names, copied) = self.copy_listed((from, made), (step, bytes), (names, files), steps);
        self.tree = names;
        let synced = copied.and_then(|()| match self.policy.now.directories {
            true => in_step(Step::SyncDirectory, || self.system.sync(made, false)),
            false => Ok(()),
        });
        let closed = self.system.close(made);
        synced?;
        closed.map_err(|errno| Failure::system(Step::Close, errno).having_moved(bytes))
    }

    /// Copies the files of one open directory to another. Returns the buffer of the names.
    fn copy_listed(
        &mut self,
        (from, made): (c_int, c_int),
        (step, bytes): (Step, u64),
        (mut names, files): (Vec<u8>, Listing),
        steps: &mut dyn Steps,
    ) -> (Vec<u8>, OperationOutcome) {
        let copied = self
            .list_files((from, true), &mut names, files, steps)
            .and_then(|()| {
                let mut done = 0;
                for name in names_in(&names) {
                    self.go_on(step, done)?;
                    done += self
                        .add_file((from, made), step, name)
                        .map_err(|failure| failure.having_moved(done))?;
                }
                if done != bytes {
                    let (found, expected) = (done, bytes);
                    let size = Cause::WrongSize { found, expected };
                    return Err(Failure::wrong(step, size).having_moved(done));
                }
                steps.ended(step);
                Ok(())
            });
        (names, copied)
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

    /// Removes the directory `name` and its files, whose names are `files`.
    pub(super) fn remove_tree(
        &mut self,
        name: Name<'_>,
        files: Listing,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        let directory = self.open_directory(name)?;
        steps.ended(Step::Open);
        let mut names = std::mem::take(&mut self.tree);
        let removed = self
            .list_files((directory, false), &mut names, files, steps)
            .and_then(|()| {
                for file in names_in(&names) {
                    in_step(Step::Unlink, || self.system.unlink(At::In(directory, file)))?;
                }
                steps.ended(Step::Unlink);
                Ok(())
            });
        self.tree = names;
        self.close(directory, 0, removed, steps)?;
        self.remove_directory(name, steps)
    }

    /// Lists an open directory to `names`, and compares the names with `files`. Hidden entries are
    /// ignored; with `only_files`, so is everything except the files of a pool.
    fn list_files(
        &mut self,
        (directory, only_files): (c_int, bool),
        names: &mut Vec<u8>,
        files: Listing,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        names.clear();
        let mut found = Listing::default();
        self.entries(directory, |system, entry| {
            if !is_counted(entry.name.to_bytes()) {
                return Ok(());
            }
            let is_file = match entry.kind {
                _ if !only_files => true,
                _ if is_link(entry.name) => false,
                libc::DT_REG => true,
                libc::DT_UNKNOWN => {
                    is_file(system, At::In(directory, entry.name), T::LIST, &mut [0])?
                }
                _ => false,
            };
            if is_file {
                found.add(entry.name.to_bytes());
                names.extend_from_slice(entry.name.to_bytes_with_nul());
            }
            Ok(())
        })?;
        if found != files {
            let wrong = Cause::WrongFiles {
                found: found.entries,
                expected: files.entries,
            };
            return Err(Failure::wrong(Step::List, wrong));
        }
        steps.ended(Step::List);
        Ok(())
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

/// Whether a name is that of an additional hard link, which has the type of a file.
fn is_link(name: &CStr) -> bool {
    name.to_bytes().ends_with(NameKind::Link.suffix())
}

/// Whether a name is that of a regular file, for a listing without types. An attempt to open it as
/// a directory fails, and an attempt to read it as a symbolic link fails with `EINVAL`.
fn is_file<S: System>(
    system: &mut S,
    name: At<'_>,
    flags: c_int,
    target: &mut [u8],
) -> Result<bool, Failure> {
    match again(|| system.open(name, flags, 0)) {
        Ok(directory) => {
            let closed = system.close(directory);
            return closed
                .map(|()| false)
                .map_err(|errno| Failure::system(Step::Close, errno));
        }
        Err(Errno::NOTDIR | Errno::LOOP) => {}
        Err(errno) => return Err(Failure::system(Step::List, errno)),
    }
    match again(|| system.read_link(name, target)) {
        Ok(_) => Ok(false),
        Err(Errno::INVAL) => Ok(true),
        Err(errno) => Err(Failure::system(Step::List, errno)),
    }
}

fn names_in(names: &[u8]) -> impl Iterator<Item = &CStr> {
    let names = names.split_inclusive(|byte| *byte == 0);
    names.filter_map(|name| CStr::from_bytes_with_nul(name).ok())
}
