//! The syncs that a durability policy adds to operations.

use std::ffi::{CStr, c_int};

use super::directories::parent;
use super::policy::ContentsOnly;
use super::{Calls, Style, in_step};
use crate::system::{At, System};
use engine::{Name, Operation, OperationOutcome, Step, Steps};

/// Returns the directory that contains a name; `buffer` stores the path of the directory.
pub(super) fn directory_of<'a>(name: Name<'_>, buffer: &'a mut Vec<u8>) -> At<'a> {
    let directory = match parent(name.relative) {
        b"" => b".",
        directory => directory,
    };
    buffer.clear();
    buffer.extend_from_slice(directory);
    buffer.push(0);
    At::Location(
        name.location,
        CStr::from_bytes_until_nul(buffer).unwrap_or(c"."),
    )
}

impl<S: System, T: Style> Calls<S, T> {
    /// Syncs an open file after a change if the durability policy requires a sync.
    #[inline]
    pub(super) fn sync_file(
        &mut self,
        file: c_int,
        moved_bytes: u64,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        let Some(ContentsOnly(contents_only)) = self.policy.now.file else {
            return Ok(());
        };
        self.step(Step::Sync, steps, |system| system.sync(file, contents_only))
            .map_err(|failure| failure.having_moved(moved_bytes))
    }

    /// Syncs the directory that contains `name` after the name was created, removed or changed, if
    /// the durability policy requires a sync.
    #[inline]
    pub(crate) fn sync_directory_of(
        &mut self,
        name: Name<'_>,
        moved_bytes: u64,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        if !self.policy.now.directories {
            return Ok(());
        }
        let directory = directory_of(name, &mut self.policy.directory);
        in_step(Step::SyncDirectory, || {
            self.system.sync_directory(directory)
        })
        .map_err(|failure| failure.having_moved(moved_bytes))?;
        steps.ended(Step::SyncDirectory);
        Ok(())
    }

    /// Counts a completed operation if the policy syncs in batches, and syncs the file system after
    /// the last operation of a batch.
    #[inline]
    pub(crate) fn sync_batch(
        &mut self,
        operation: &Operation<'_>,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        if self.policy.batch == 0 || !operation.kind().changes() {
            return Ok(());
        }
        let location = operation.name().location;
        self.sync_batch_of(location, operation.written_bytes(), steps)
    }

    /// Counts a completed change in a location, and syncs the file system after the last change of
    /// a batch. Without a batch policy, does nothing.
    #[inline]
    pub(crate) fn sync_batch_of(
        &mut self,
        location: usize,
        moved_bytes: u64,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        if self.policy.batch == 0 {
            return Ok(());
        }
        let changes = &mut self.policy.changes[location];
        *changes += 1;
        if *changes < self.policy.batch {
            return Ok(());
        }
        *changes = 0;
        self.step(Step::SyncFileSystem, steps, |system| {
            system.sync_file_system(location)
        })
        .map_err(|failure| failure.having_moved(moved_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(location: usize, relative: &CStr) -> Name<'_> {
        Name {
            path: relative,
            location,
            relative,
        }
    }

    #[test]
    fn directory_of_returns_parent_directory() {
        let mut buffer = Vec::new();
        for (path, expected) in [
            (c"1", c"."),
            (c"s0/1", c"s0"),
            (c"a/b/1", c"a/b"),
            (c"tmp/", c"."),
        ] {
            let At::Location(3, directory) = directory_of(name(3, path), &mut buffer) else {
                panic!("it is in the same location");
            };
            assert_eq!(directory, expected);
        }
    }
}
