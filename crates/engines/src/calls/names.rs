//! Operations on names: delete, rename, hard and symbolic links, and directories.

use std::ffi::CStr;

use super::directories::have_one_directory;
use super::{Calls, Style, again, at, in_step};
use crate::system::{At, System};
use engine::namespace::DIRECTORY_MODE;
use engine::{Cause, Errno, Failure, Name, OperationOutcome, Step, Steps};

/// Turns an expected error into success, and success into the error `otherwise`.
fn expects<A>(expected: Errno, answer: Result<A, Errno>, otherwise: Errno) -> Result<(), Errno> {
    match answer {
        Ok(_) => Err(otherwise),
        Err(errno) if errno == expected => Ok(()),
        Err(errno) => Err(errno),
    }
}

impl<S: System, T: Style> Calls<S, T> {
    #[inline]
    pub(super) fn delete(&mut self, name: Name<'_>, steps: &mut dyn Steps) -> OperationOutcome {
        self.step(Step::Unlink, steps, |system| system.unlink(at(name)))?;
        self.sync_directory_of(name, 0, steps)
    }

    pub(super) fn make_directory(
        &mut self,
        name: Name<'_>,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.step(Step::MakeDirectory, steps, |system| {
            system.mkdir(at(name), DIRECTORY_MODE)
        })?;
        self.sync_directory_of(name, 0, steps)
    }

    /// Tries to create a directory that must exist already. If the call creates the directory, the
    /// operation fails with `ENOENT`.
    pub(super) fn make_existing(
        &mut self,
        directory: At<'_>,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.step(Step::MakeDirectory, steps, |system| {
            let made = system.mkdir(directory, DIRECTORY_MODE);
            expects(Errno::EXIST, made, Errno::NOENT)
        })
    }

    pub(super) fn stat_missing(
        &mut self,
        name: Name<'_>,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.step(Step::Stat, steps, |system| {
            expects(Errno::NOENT, system.size(at(name)), Errno::EXIST)
        })
    }

    pub(super) fn open_missing(
        &mut self,
        name: Name<'_>,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.step(Step::Open, steps, |system| {
            let opened = system.open(at(name), T::READ, 0);
            if let Ok(file) = opened {
                // An error of close(2) is ignored: the operation fails anyway, because the name
                // exists.
                let _ = system.close(file);
            }
            expects(Errno::NOENT, opened, Errno::EXIST)
        })
    }

    pub(super) fn remove_directory(
        &mut self,
        name: Name<'_>,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.step(Step::RemoveDirectory, steps, |system| {
            system.rmdir(at(name))
        })?;
        self.sync_directory_of(name, 0, steps)
    }

    pub(super) fn rename(
        &mut self,
        name: Name<'_>,
        to: Name<'_>,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.rename_to_new(name, to, steps)?;
        self.sync_directory_of(to, 0, steps)?;
        if self.policy.now.directories && !have_one_directory(to, name) {
            self.sync_directory_of(name, 0, steps)?;
        }
        Ok(())
    }

    /// Renames to a name that must not exist. Some file systems, such as NFS, do not support
    /// `RENAME_NOREPLACE`. On these file systems, the absence of the new name is checked first, as
    /// a part of the same `Step`.
    pub(super) fn rename_to_new(
        &mut self,
        name: Name<'_>,
        to: Name<'_>,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        if !self.renames_by_looking {
            let renamed = again(|| self.system.rename(at(name), at(to), false));
            match renamed {
                Err(Errno::INVAL | Errno::NOSYS) => self.renames_by_looking = true,
                Err(errno) => return Err(Failure::system(Step::Rename, errno)),
                Ok(()) => {
                    steps.ended(Step::Rename);
                    return Ok(());
                }
            }
        }
        match again(|| self.system.size(at(to))) {
            Ok(_) => return Err(Failure::system(Step::Rename, Errno::EXIST)),
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(Failure::system(Step::Rename, errno)),
        }
        self.step(Step::Rename, steps, |system| {
            system.rename(at(name), at(to), true)
        })
    }

    pub(super) fn link(
        &mut self,
        name: Name<'_>,
        to: Name<'_>,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.step(Step::Link, steps, |system| system.link(at(name), at(to)))?;
        self.sync_directory_of(to, 0, steps)
    }

    pub(super) fn symbolic_link(
        &mut self,
        name: Name<'_>,
        target: &CStr,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.step(Step::SymbolicLink, steps, |system| {
            system.symbolic_link(target, at(name))
        })?;
        self.sync_directory_of(name, 0, steps)
    }

    pub(super) fn read_link(
        &mut self,
        name: Name<'_>,
        target: &CStr,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        let room = self.answers.all();
        let length = in_step(Step::ReadLink, || self.system.read_link(at(name), room))?;
        if room[..length] != *target.to_bytes() {
            return Err(Failure::wrong(Step::ReadLink, Cause::WrongTarget));
        }
        steps.ended(Step::ReadLink);
        Ok(())
    }
}
