//! Creates the pool's directories before the files, and removes them after the files.

use std::cmp::Reverse;

use engine::Operation;
use rundir::worker_status::Aside;
use workload::End;
use workload::names::NameKind;

use super::config::PoolDirectory;
use super::state::{Left, Worker, submit_aside};
use crate::events::Stage;
use crate::failures::Failed;

impl Worker {
    /// Creates or removes this worker's share of the directories.
    pub(super) fn directories(&mut self, stage: Stage) -> Result<(), Left> {
        let mut directories = std::mem::take(&mut self.config.directories);
        self.begins(stage, directories.len() as u64)?;
        if stage == Stage::RemoveDirectories {
            if self.config.failures.any_spoiled() {
                // A directory may still contain a file with unknown state. The clean-up removes the
                // file and the directory.
                directories.clear();
            }
            // Subdirectories are removed before their parents. Directories of equal depth are
            // removed in the order of their creation, as by the original PostMark.
            directories.sort_by_key(|directory| {
                Reverse(directory.name.iter().filter(|byte| **byte == b'/').count())
            });
        }
        let mut done = 0;
        for directory in &directories {
            self.unless_stopping()?;
            self.directory(directory, stage == Stage::MakeDirectories)?;
            done += 1;
            self.slot().publish(done, done);
        }
        self.config.directories = directories;
        self.rendezvous.ended(stage, (done, done), End::Complete);
        Ok(())
    }

    fn directory(&mut self, directory: &PoolDirectory, makes: bool) -> Result<(), Left> {
        let PoolDirectory {
            location,
            number,
            name,
        } = directory;
        let name = self.config.namer.relative(*location, name);
        let (aside, operation) = if makes {
            (Aside::MakeDirectory, Operation::MakeDirectory { name })
        } else {
            (Aside::RemoveDirectory, Operation::RemoveDirectory { name })
        };
        let which = (*location as u32, NameKind::Directory, *number);
        let (_, outcome) = submit_aside(
            &mut *self.tools.session,
            &self.tools.slots[0],
            &mut self.tickets,
            (aside, which),
            &operation,
        );
        outcome.map_err(|failure| {
            let path = name.path.to_string_lossy().into_owned();
            let failed = Failed::operation(aside.name(), path, failure);
            // This failure ends the run regardless of `--on-error`, because no file can be created
            // without its directory.
            let _ = self.config.failures.count(failed.clone());
            Left::Failed(failed)
        })
    }
}
