//! Lists a directory with getdents64(2), with or without an fstatat(2) of each entry.

use std::ffi::c_int;

use super::{Calls, Style, again, in_step};
use crate::system::entries::{Entries, Entry, is_counted};
use crate::system::{At, System};
use engine::{Errno, Failure, Listing, Name, NoSteps, OperationOutcome, Step, Steps};

impl<S: System, T: Style> Calls<S, T> {
    pub(super) fn list(
        &mut self,
        name: Name<'_>,
        with_stat: bool,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.listing = Listing::default();
        self.in_directory(name, steps, |calls, directory, steps| {
            calls.list_entries(directory, with_stat)?;
            steps.ended(Step::List);
            Ok(())
        })
    }

    pub(super) fn names_in(&mut self, name: Name<'_>) -> Result<Vec<Vec<u8>>, Failure> {
        let mut names = Vec::new();
        self.in_directory(name, &mut NoSteps, |calls, directory, _| {
            calls.entries(directory, |_, entry| {
                let entry = entry.name.to_bytes();
                if entry != b"." && entry != b".." {
                    names.push(entry.to_owned());
                }
                Ok(())
            })
        })?;
        Ok(names)
    }

    fn in_directory(
        &mut self,
        name: Name<'_>,
        steps: &mut dyn Steps,
        work: impl FnOnce(&mut Self, c_int, &mut dyn Steps) -> OperationOutcome,
    ) -> OperationOutcome {
        // The location itself has an empty relative path.
        let relative = match name.relative.is_empty() {
            true => c".",
            false => name.relative,
        };
        self.on_file(Name { relative, ..name }, T::LIST, 0, steps, work)
    }

    fn list_entries(&mut self, directory: c_int, with_stat: bool) -> OperationOutcome {
        let mut listing = Listing::default();
        let listed = self.entries(directory, |system, entry| {
            let entry = entry.name;
            if !is_counted(entry.to_bytes()) {
                return Ok(());
            }
            if with_stat {
                match again(|| system.size(At::In(directory, entry))) {
                    // The entry was removed by another process after it was listed.
                    Err(Errno::NOENT) => return Ok(()),
                    answer => answer.map_err(|errno| Failure::system(Step::Stat, errno))?,
                };
            }
            listing.add(entry.to_bytes());
            Ok(())
        });
        self.listing = listing;
        listed
    }

    /// Calls `each` for every entry of an open directory.
    #[inline]
    pub(super) fn entries(
        &mut self,
        directory: c_int,
        mut each: impl FnMut(&mut S, Entry<'_>) -> OperationOutcome,
    ) -> OperationOutcome {
        loop {
            let room = self.answers.entries();
            let length = in_step(Step::List, || self.system.entries(directory, room))?;
            if length == 0 {
                return Ok(());
            }
            for entry in Entries(&room[..length]) {
                each(&mut self.system, entry)?;
            }
        }
    }
}
