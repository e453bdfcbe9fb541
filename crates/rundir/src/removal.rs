//! Removes the files of a run that its manifest describes. Never uses a wildcard, never follows a
//! link, and removes only files that verifiably belong to the run ([`crate::ownership`]).

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

/// Maximum number of names in [`CleanUp::left`]. Further names that remain are only counted.
const LEFT_MAX: usize = 100;

/// Maximum total length of the names of one directory, in bytes: enough for fifty million short
/// names. If a directory contains more, a second `clean` removes the remaining files.
const NAMES_BYTES_MAX: usize = 512 << 20;

pub(crate) struct Removal<'a> {
    manifest: &'a Manifest,
    ownership: Ownership<'a>,
    /// Highest running number of the run's files.
    numbers_made: u64,
    progress: &'a mut dyn FnMut(u64),
    done: CleanUp,
    left_more: u64,
    /// Whether files remain that belong to the run, or may belong to it.
    is_incomplete: bool,
}

impl<'a> Removal<'a> {
    /// Prepares the removal of the files of the run that wrote `manifest`. `numbers_made` is the
    /// highest running number among the files.
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

    /// Removes the run's files in a directory, including its workers' directories.
    pub(crate) fn directory(&mut self, directory: &dyn Directory, path: &Path) {
        if self.manifest.workers <= 1 {
            return self.pool(directory, path);
        }
        for name in self.names(directory, path, Manifest::may_name).iter() {
            // The conversion cannot fail: `may_name` accepts only numbers below the number of
            // workers, which is a `u32`.
            let worker = worker(name).unwrap_or(0) as u32;
            self.ownership.enter_pool_of(worker);
            self.inner_directory(directory, name, path, Self::pool);
        }
    }

    /// Removes the run's files in the directory of one pool and in its subdirectories.
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

    /// Returns the counts of removed files, and whether all files of the run are gone.
    pub(crate) fn finish(mut self) -> (CleanUp, bool) {
        if self.left_more > 0 {
            self.done.left.push(Left {
                path: format!("and {} more", self.left_more),
                why: "for the same reasons as those above".to_owned(),
            });
        }
        (self.done, !self.is_incomplete)
    }

    /// Removes the contents of a directory of the run, and then the directory itself.
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
                // The directory belongs to the run and can be removed later, once the user has
                // emptied it.
                self.is_incomplete = true;
                self.leave(
                    inner_path,
                    "it contains files that this run did not create".to_owned(),
                );
            }
            Err(errno) => self.fail(inner_path, "removed", errno),
        }
    }

    /// Removes the files of a mix in one directory.
    fn mix(&mut self, directory: &dyn Directory, path: &Path) {
        let manifest = self.manifest;
        let Some(mix) = &manifest.mix else {
            return;
        };
        self.discard_incomplete(directory, path);
        for name in self
            .names(directory, path, Manifest::may_name_in_pool)
            .iter()
        {
            let (kind, number) = mix.names.parse(name).unwrap_or((NameKind::Directory, 1));
            if number > self.manifest.numbers_max {
                continue;
            }
            if kind.is_directory() {
                // A tree never contains another tree.
                let is_tree = kind == NameKind::Tree;
                if is_tree {
                    self.ownership.enter_tree(Some(number));
                }
                self.inner_directory(directory, name, path, Self::mix);
                if is_tree {
                    self.ownership.enter_tree(None);
                }
                continue;
            }
            self.file(directory, name, path, (kind, number));
        }
    }

    fn files(&mut self, directory: &dyn Directory, path: &Path) {
        self.discard_incomplete(directory, path);
        for name in self
            .names(directory, path, Manifest::may_name_a_file)
            .iter()
        {
            // `may_name_a_file` accepts only numbers from 1 to `numbers_max` of the manifest, so
            // the name is a number.
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
            // Another process has already removed the file.
            Err(Errno::NOENT) => {}
            Err(errno) => self.fail(path, "removed", errno),
        }
    }

    /// Discards incomplete writes of the files that the run was writing when it ended, if the
    /// namespace does not list these files.
    fn discard_incomplete(&mut self, directory: &dyn Directory, path: &Path) {
        let (manifest, ownership) = (self.manifest, &self.ownership);
        if !ownership.has_partly_written() {
            return;
        }
        let is_own = |name: &[u8]| {
            let which = match &manifest.mix {
                Some(mix) => mix.names.parse(name),
                None => running_number(name).map(|number| (NameKind::File, number)),
            };
            which.is_some_and(|which| ownership.is_partly_written(which))
        };
        if let Err(errno) = directory.discard_incomplete(&is_own) {
            self.fail(path.to_owned(), "searched for incomplete uploads", errno);
        }
    }

    /// Lists the names that `wanted` accepts. All names are read before the first removal, because
    /// removals may disturb the listing.
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

    /// Returns the facts of an entry that belongs to the run. Any other entry is recorded as left.
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
            // Another process has already removed the file.
            Err(Errno::NOENT) => {}
            Err(errno) => self.fail(path.to_owned(), "examined", errno),
        }
        None
    }

    /// Records that another file replaced the examined one under its name.
    fn exchanged(&mut self, path: PathBuf) {
        self.is_incomplete = true;
        self.leave(path, "another file replaced it during the check".to_owned());
    }

    fn fail(&mut self, path: PathBuf, what: &str, errno: Errno) {
        self.is_incomplete = true;
        self.leave(path, format!("cannot be {what}: {}", advice::told(errno)));
    }

    fn leave(&mut self, path: PathBuf, why: String) {
        if self.done.left.len() < LEFT_MAX {
            self.done.left.push(left(&path, why));
        } else {
            self.left_more += 1;
        }
    }
}

pub(crate) fn left(path: &Path, why: String) -> Left {
    Left {
        path: path.to_string_lossy().into_owned(),
        why,
    }
}

/// A list of names, each terminated by NUL: compact, because a directory may contain ten million
/// names.
#[derive(Default)]
struct NameList(Vec<u8>);

impl NameList {
    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.0
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty())
    }
}
