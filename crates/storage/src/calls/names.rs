//! Operations that change names.

use std::ffi::CStr;

use super::{Calls, DIRECTORY_MODE, Style, again};
use crate::contract::{Cause, Failure, Name, Outcome, Step, Steps};
use crate::system::System;

impl<S: System, T: Style> Calls<S, T> {
    #[inline]
    pub(super) fn delete<E: Steps>(&mut self, name: Name<'_>, steps: &mut E) -> Outcome {
        self.step(Step::Unlink, steps, |system| system.unlink(T::at(name)))?;
        self.sync_directory_of(name, 0, steps)
    }

    pub(super) fn make_directory<E: Steps>(&mut self, name: Name<'_>, steps: &mut E) -> Outcome {
        self.step(Step::MakeDirectory, steps, |system| {
            system.mkdir(T::at(name), DIRECTORY_MODE)
        })?;
        self.sync_directory_of(name, 0, steps)
    }

    pub(super) fn remove_directory<E: Steps>(&mut self, name: Name<'_>, steps: &mut E) -> Outcome {
        self.step(Step::RemoveDirectory, steps, |system| system.rmdir(T::at(name)))?;
        self.sync_directory_of(name, 0, steps)
    }

    pub(super) fn rename<E: Steps>(&mut self, name: Name<'_>, to: Name<'_>, steps: &mut E) -> Outcome {
        self.step(Step::Rename, steps, |system| {
            system.rename(T::at(name), T::at(to), false)
        })?;
        self.sync_directories_of(to, name, steps)
    }

    pub(super) fn link<E: Steps>(&mut self, name: Name<'_>, to: Name<'_>, steps: &mut E) -> Outcome {
        self.step(Step::Link, steps, |system| system.link(T::at(name), T::at(to)))?;
        self.sync_directory_of(to, 0, steps)
    }

    pub(super) fn symbolic_link<E: Steps>(&mut self, name: Name<'_>, target: &CStr, steps: &mut E) -> Outcome {
        self.step(Step::SymbolicLink, steps, |system| {
            system.symbolic_link(target, T::at(name))
        })?;
        self.sync_directory_of(name, 0, steps)
    }

    pub(super) fn read_link<E: Steps>(&mut self, name: Name<'_>, target: &CStr, steps: &mut E) -> Outcome {
        let room = self.answers.all();
        let length = again(|| self.system.read_link(T::at(name), room))
            .map_err(|errno| Failure::system(Step::ReadLink, errno))?;
        if room[..length] != *target.to_bytes() {
            return Err(Failure::wrong(Step::ReadLink, Cause::WrongTarget));
        }
        steps.ended(Step::ReadLink);
        Ok(())
    }
}
