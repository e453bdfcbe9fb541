//! Removing what a run has made, from its manifest: never by a wildcard, never through a link, and
//! nothing that is not known to be the run's own ([`crate::ownership`]).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use engine::Errno;
use engine::namespace::{Directory, Facts};
use record::{CleanUp, Left};
use workload::names::NameKind;

use crate::advice;
use crate::manifest::Manifest;
use crate::names::{running_number, worker};
use crate::ownership::{Ownership, Provenance};
use crate::worker_status::WrittenName;

/// Names that stay are listed up to this many; the rest is counted in one line.
const LEFT_MAX: usize = 100;

/// Names of a directory are kept up to so many bytes: fifty million files of a run. A second
/// `clean` removes what is beyond.
const NAMES_BYTES_MAX: usize = 512 << 20;

/// Removes a run's files and subdirectories.
pub(crate) struct Removal<'a> {
    manifest: &'a Manifest,
    ownership: Ownership<'a>,
    /// The run's files have running numbers up to this.
    numbers_made: u64,
    progress: &'a mut dyn FnMut(u64),
    done: CleanUp,
    left_more: u64,
    /// Something that is the run's own, or may be, is still there.
    is_incomplete: bool,
}

impl<'a> Removal<'a> {
    /// For the run of a manifest, which made files up to a number.
    pub(crate) fn new(
        manifest: &'a Manifest,
        ownership: Ownership<'a>,
        numbers_made: u64,
        progress: &'a mut dyn FnMut(u64),
    ) -> Self {
        Self {
            manifest,
            ownership,
            numbers_made,
            progress,
            done: CleanUp::default(),
            left_more: 0,
            is_incomplete: false,
        }
    }

    /// Removes what the run made in a directory, its workers' directories included.
    pub(crate) fn directory(&mut self, directory: &dyn Directory, path: &Path) {
        if self.manifest.workers <= 1 {
            return self.pool(directory, path);
        }
        for name in self.names(directory, path, Manifest::may_name).iter() {
            // Of the numbers below the count of workers.
            let worker = worker(name).unwrap_or(0) as u32;
            self.ownership.enter_pool_of(worker);
            self.inner_directory(directory, name, path, Self::pool);
        }
    }

    /// Removes the files in a directory and, where they are the run's, its subdirectories.
    fn pool(&mut self, directory: &dyn Directory, path: &Path) {
        if self.manifest.mix.is_some() {
            return self.mix(directory, path);
        }
        if self.manifest.subdirectories <= 1 {
            return self.files(directory, path);
        }
        for name in self
            .names(directory, path, Manifest::may_name_in_pool)
            .iter()
        {
            self.inner_directory(directory, name, path, Self::files);
        }
    }

    /// What was done, and whether all that is the run's own is gone.
    pub(crate) fn finish(mut self) -> (CleanUp, bool) {
        if self.left_more > 0 {
            self.done.left.push(Left {
                path: format!("and {} more", self.left_more),
                why: "for the same reasons as those above".to_owned(),
            });
        }
        (self.done, !self.is_incomplete)
    }

    /// Removes what is in a directory of the run's, and then the directory.
    fn inner_directory(
        &mut self,
        directory: &dyn Directory,
        name: &[u8],
        path: &Path,
        remove: fn(&mut Self, &dyn Directory, &Path),
    ) {
        let inner_path = path.join(OsStr::from_bytes(name));
        let Some(facts) = self.look(directory, name, &inner_path, (NameKind::Directory, 0)) else {
            return;
        };
        match directory.open(name) {
            Ok(inner) => remove(self, &*inner, &inner_path),
            Err(errno) => return self.fail(inner_path, "opened", errno),
        }
        match directory.remove(name, &facts) {
            Ok(true) => self.done.directories += 1,
            Ok(false) => self.exchanged(inner_path),
            Err(Errno::NOTEMPTY) => {
                // The directory is the run's own, and goes when it is empty.
                self.is_incomplete = true;
                self.leave(
                    inner_path,
                    "it contains files that this run did not create".to_owned(),
                );
            }
            Err(errno) => self.fail(inner_path, "removed", errno),
        }
    }

    /// Removes what a mix has made in a directory.
    fn mix(&mut self, directory: &dyn Directory, path: &Path) {
        let manifest = self.manifest;
        let Some(mix) = &manifest.mix else {
            return;
        };
        for name in self
            .names(directory, path, Manifest::may_name_in_pool)
            .iter()
        {
            let (kind, number) = mix.names.parse(name).unwrap_or((NameKind::Directory, 1));
            if number > self.manifest.numbers_max {
                continue;
            }
            if kind == NameKind::Directory {
                self.inner_directory(directory, name, path, Self::mix);
                continue;
            }
            self.file(directory, name, path, (kind, number));
        }
    }

    fn files(&mut self, directory: &dyn Directory, path: &Path) {
        for name in self
            .names(directory, path, Manifest::may_name_a_file)
            .iter()
        {
            // Of the numbers from 1 to the highest.
            let number = running_number(name).unwrap_or(0);
            if number > self.numbers_made {
                self.leave(
                    path.join(OsStr::from_bytes(name)),
                    "its number is higher than any that the run created".to_owned(),
                );
                continue;
            }
            self.file(directory, name, path, (NameKind::File, number));
        }
    }

    /// Removes a name that is no directory's.
    fn file(&mut self, directory: &dyn Directory, name: &[u8], path: &Path, which: WrittenName) {
        let path = path.join(OsStr::from_bytes(name));
        let Some(facts) = self.look(directory, name, &path, which) else {
            return;
        };
        match directory.remove(name, &facts) {
            Ok(true) => {
                self.done.files += 1;
                (self.progress)(self.done.files);
            }
            Ok(false) => self.exchanged(path),
            // Somebody else was quicker.
            Err(Errno::NOENT) => {}
            Err(errno) => self.fail(path, "removed", errno),
        }
    }

    /// The names of a directory that are wanted: read first, then removed, so that the reading is
    /// of one piece.
    fn names(
        &mut self,
        directory: &dyn Directory,
        path: &Path,
        wanted: fn(&Manifest, &[u8]) -> bool,
    ) -> NameList {
        let mut names = NameList::default();
        let read = directory.list(&mut |entry| {
            if wanted(self.manifest, entry.name) {
                names.0.extend_from_slice(entry.name);
                names.0.push(0);
            }
            match names.0.len() > NAMES_BYTES_MAX {
                true => Err(Errno::OVERFLOW),
                false => Ok(()),
            }
        });
        if let Err(errno) = read {
            self.fail(path.to_owned(), "listed", errno);
        }
        names
    }

    /// What a name stands for, where it is the run's and is there. What is not is named as left.
    fn look(
        &mut self,
        directory: &dyn Directory,
        name: &[u8],
        path: &Path,
        which: WrittenName,
    ) -> Option<Facts> {
        match self.ownership.of(directory, name, which) {
            Ok((Provenance::Ours | Provenance::Signed, facts)) => return Some(facts),
            Ok((Provenance::Others(why), _)) => self.leave(path.to_owned(), why),
            Ok((Provenance::Unclear(why), _)) => {
                self.is_incomplete = true;
                self.leave(path.to_owned(), why);
            }
            // Somebody else was quicker.
            Err(Errno::NOENT) => {}
            Err(errno) => self.fail(path.to_owned(), "examined", errno),
        }
        None
    }

    /// Something else has the name since it was looked at.
    fn exchanged(&mut self, path: PathBuf) {
        self.is_incomplete = true;
        self.leave(path, "another file replaced it during the check".to_owned());
    }

    /// Something of the run's own cannot be removed.
    fn fail(&mut self, path: PathBuf, what: &str, errno: Errno) {
        self.is_incomplete = true;
        self.leave(path, format!("cannot be {what}: {}", advice::told(errno)));
    }

    /// Something is not the run's own.
    fn leave(&mut self, path: PathBuf, why: String) {
        if self.done.left.len() < LEFT_MAX {
            self.done.left.push(left(&path, why));
        } else {
            self.left_more += 1;
        }
    }
}

/// What was not removed, and why not.
pub(crate) fn left(path: &Path, why: String) -> Left {
    Left {
        path: path.to_string_lossy().into_owned(),
        why,
    }
}

/// Names, each with a NUL behind it: there may be ten millions in a directory.
#[derive(Default)]
struct NameList(Vec<u8>);

impl NameList {
    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.0
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty())
    }
}
