//! Removing what a run has made, from its manifest: never by a wildcard, never through a link, never what was
//! born before the manifest or belongs to another owner; and beside the user's own files never what does not begin as the
//! run's files do.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use record::{CleanUp, Left};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, StatxFlags, openat, statx, unlinkat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::before::for_each_name;
use super::manifest::{self, Manifest};
use workload::names::NameKind;

/// Names that stay are listed up to this many; the rest is counted in one line.
const LEFT_MAX: usize = 100;

/// What distinguishes a run's files from everybody else's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Birth {
    owner: u32,
    /// Seconds and nanoseconds of the manifest's birth; of its last change where the file system keeps no birth.
    born: (i64, u32),
}

impl Birth {
    /// Of the manifest in a directory.
    pub(crate) fn of_manifest(directory: impl AsFd) -> Result<Self, Errno> {
        Ok(facts(directory, OsStr::new(manifest::NAME))?.birth)
    }
}

/// Removes a run's files and subdirectories.
pub(crate) struct Removal<'a> {
    manifest: &'a Manifest,
    birth: Birth,
    /// The run's files have running numbers up to this.
    numbers_made: u64,
    progress: &'a mut dyn FnMut(u64),
    done: CleanUp,
    left_more: u64,
    /// Something that is the run's own is still there.
    is_incomplete: bool,
    /// What the run's files begin with, as far as they reach, where that is known.
    begins: Option<&'a [u8]>,
}

impl<'a> Removal<'a> {
    /// For the run of a manifest, which lies in a directory, and which made files up to a number, where that is known.
    pub(crate) fn new(
        manifest: &'a Manifest,
        birth: Birth,
        numbers_made: u64,
        progress: &'a mut dyn FnMut(u64),
    ) -> Self {
        Self {
            manifest,
            birth,
            numbers_made,
            progress,
            done: CleanUp::default(),
            left_more: 0,
            is_incomplete: false,
            begins: manifest.begins.as_deref().map(str::as_bytes),
        }
    }

    /// Removes what the run made in a directory, its workers' directories included.
    pub(crate) fn directory(&mut self, directory: &OwnedFd, path: &Path) {
        if self.manifest.workers <= 1 {
            self.pool(directory, path);
            return;
        }
        let count = u64::from(self.manifest.workers);
        for name in self
            .names(directory, path, |name| {
                worker(name).is_some_and(|number| number < count)
            })
            .iter()
        {
            self.inner_directory(directory, name, path, Self::pool);
        }
    }

    /// Removes the files in a directory and, where they are the run's, its subdirectories.
    fn pool(&mut self, directory: &OwnedFd, path: &Path) {
        if self.manifest.mix.is_some() {
            self.mix(directory, path);
        } else if self.manifest.subdirectories > 1 {
            self.subdirectories(directory, path);
        } else {
            self.files(directory, path);
        }
    }

    /// Removes what a run has made beneath a mount point that lost its file system, after it was last seen well. Its
    /// files there may have any number and begin anyhow: a stream that is opened to append makes its file, too. A subdirectory there
    /// may be somebody else's and hold files of the run all the same.
    pub(crate) fn beneath(&mut self, directory: &OwnedFd, path: &Path, since_ns: i64) {
        let before = self.done.files;
        let since = (
            since_ns.div_euclid(1_000_000_000),
            since_ns.rem_euclid(1_000_000_000) as u32,
        );
        self.birth.born = self.birth.born.max(since);
        self.begins = None;
        if self.manifest.mix.is_some() || self.manifest.workers > 1 {
            self.directory(directory, path);
        } else if self.manifest.subdirectories > 1 {
            for name in self.names(directory, path, |name| subdirectory(name).is_some()).iter() {
                if let Ok(inner) = open_directory(directory, name) {
                    self.files(&inner, &path.join(name));
                }
                if matches!(self.whose(directory, name, FileType::Directory), Ok(Whose::Ours))
                    && unlinkat(directory, name, AtFlags::REMOVEDIR).is_ok()
                {
                    self.done.directories += 1;
                }
            }
        } else {
            self.files(directory, path);
        }
        self.done.beneath += self.done.files - before;
    }

    /// What was done, and whether all that is the run's own is gone.
    pub(crate) fn finish(mut self) -> (CleanUp, bool) {
        if self.left_more > 0 {
            self.done.left.push(Left {
                path: format!("and {} more", self.left_more),
                why: "as the ones before".to_owned(),
            });
        }
        (self.done, !self.is_incomplete)
    }

    fn subdirectories(&mut self, directory: &OwnedFd, path: &Path) {
        let count = u64::from(self.manifest.subdirectories);
        for name in self
            .names(directory, path, |name| {
                subdirectory(name).is_some_and(|number| number < count)
            })
            .iter()
        {
            self.inner_directory(directory, name, path, Self::files);
        }
    }

    /// Removes what is in a directory of the run's, and then the directory.
    fn inner_directory(
        &mut self,
        directory: &OwnedFd,
        name: &OsStr,
        path: &Path,
        remove: fn(&mut Self, &OwnedFd, &Path),
    ) {
        let inner_path = path.join(name);
        if !self.may_remove(directory, name, &inner_path, FileType::Directory) {
            return;
        }
        match open_directory(directory, name) {
            Ok(inner) => remove(self, &inner, &inner_path),
            Err(errno) => return self.fail(inner_path, "opened", errno),
        }
        match unlinkat(directory, name, AtFlags::REMOVEDIR) {
            Ok(()) => self.done.directories += 1,
            Err(Errno::NOTEMPTY) => self.leave(inner_path, "it holds what this run did not make".to_owned()),
            Err(errno) => self.fail(inner_path, "removed", errno),
        }
    }

    /// Removes what a mix has made in a directory.
    fn mix(&mut self, directory: &OwnedFd, path: &Path) {
        let Some(mix) = &self.manifest.mix else {
            return;
        };
        let is_ours = |name: &[u8]| mix.layout.is_directory_name(name) || mix.names.parse(name).is_some();
        for name in self.names(directory, path, is_ours).iter() {
            let (kind, number) = match mix.names.parse(name.as_bytes()) {
                Some((kind, number)) => (kind, number),
                None => (NameKind::Directory, 1),
            };
            if number > self.manifest.numbers_max {
                continue;
            }
            if kind == NameKind::Directory {
                self.inner_directory(directory, name, path, Self::mix);
                continue;
            }
            let is = if kind == NameKind::SymbolicLink {
                FileType::Symlink
            } else {
                FileType::RegularFile
            };
            self.file(directory, name, path, is);
        }
    }

    fn files(&mut self, directory: &OwnedFd, path: &Path) {
        let max = self.manifest.numbers_max;
        let may_be_ours = |name: &[u8]| running_number(name).is_some_and(|number| (1..=max).contains(&number));
        for name in self.names(directory, path, may_be_ours).iter() {
            if running_number(name.as_bytes()).is_some_and(|number| number > self.numbers_made) {
                self.leave(path.join(name), "the run has not made it".to_owned());
                continue;
            }
            self.file(directory, name, path, FileType::RegularFile);
        }
    }

    /// Removes a name that is no directory's.
    fn file(&mut self, directory: &OwnedFd, name: &OsStr, path: &Path, is: FileType) {
        if !self.may_remove(directory, name, &path.join(name), is) {
            return;
        }
        match unlinkat(directory, name, AtFlags::empty()) {
            Ok(()) => {
                self.done.files += 1;
                (self.progress)(self.done.files);
            }
            // Somebody else was quicker.
            Err(Errno::NOENT) => {}
            Err(errno) => self.fail(path.join(name), "removed", errno),
        }
    }

    /// The names of a directory that are wanted: read first, then removed, so that the reading is of one piece.
    fn names(&mut self, directory: &OwnedFd, path: &Path, wanted: impl Fn(&[u8]) -> bool) -> NameList {
        let mut names = NameList::default();
        let read = for_each_name(directory, |name| {
            if wanted(name) {
                names.0.extend_from_slice(name);
                names.0.push(0);
            }
            Ok(())
        });
        if let Err(errno) = read {
            self.fail(path.to_owned(), "listed", errno);
        }
        names
    }

    /// Whether a name is the run's and is there. What is not is named as left.
    fn may_remove(&mut self, directory: &OwnedFd, name: &OsStr, path: &Path, kind: FileType) -> bool {
        match self.whose(directory, name, kind) {
            Ok(Whose::Ours) => return true,
            Ok(Whose::Others(why)) => self.leave(path.to_owned(), why),
            // Somebody else was quicker.
            Err(Errno::NOENT) => {}
            Err(errno) => self.fail(path.to_owned(), "examined", errno),
        }
        false
    }

    fn whose(&self, directory: &OwnedFd, name: &OsStr, kind: FileType) -> Result<Whose, Errno> {
        let Facts { birth, is, links } = facts(directory, name)?;
        Ok(if is != kind {
            Whose::Others("it is not what this run makes".to_owned())
        } else if birth.owner != self.birth.owner {
            Whose::Others(format!("it belongs to another owner (user {})", birth.owner))
        } else if birth.born < self.birth.born {
            Whose::Others("it is older than the run".to_owned())
        } else if kind == FileType::RegularFile && links > 1 && self.manifest.mix.is_none() {
            Whose::Others("it has other names besides, which this run does not make".to_owned())
        } else if kind == FileType::RegularFile && !self.begins_as_ours(directory, name)? {
            Whose::Others("it does not begin as the files of this run do".to_owned())
        } else {
            Whose::Ours
        })
    }

    /// Whether a file begins with what the run writes, where that is known. Zeros are what a crash may have left of it.
    fn begins_as_ours(&self, directory: &OwnedFd, name: &OsStr) -> Result<bool, Errno> {
        let Some(begins) = self.begins else {
            return Ok(true);
        };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(directory, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Err(Errno::NOENT),
            // What cannot be read tells nothing.
            Err(_) => return Ok(true),
        };
        let mut found = vec![0; begins.len()];
        let mut length = 0;
        while length < found.len() {
            match rustix::io::pread(&file, &mut found[length..], length as u64) {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(Errno::INTR) => {}
                Err(_) => return Ok(true),
            }
        }
        let found = &found[..length];
        Ok(found == &begins[..length] || found.iter().all(|byte| *byte == 0))
    }

    /// Something of the run's own cannot be removed.
    fn fail(&mut self, path: PathBuf, what: &str, errno: Errno) {
        self.is_incomplete = true;
        self.leave(path, format!("cannot be {what}: {errno}"));
    }

    /// Something is not the run's own.
    fn leave(&mut self, path: PathBuf, why: String) {
        if self.done.left.len() < LEFT_MAX {
            self.done.left.push(Left {
                path: path.to_string_lossy().into_owned(),
                why,
            });
        } else {
            self.left_more += 1;
        }
    }
}

/// Who has made something.
enum Whose {
    Ours,
    /// And why that is known.
    Others(String),
}

/// What is asked of a name.
struct Facts {
    birth: Birth,
    is: FileType,
    links: u32,
}

/// Names, each with a NUL behind it: there may be ten millions in a directory.
#[derive(Default)]
struct NameList(Vec<u8>);

impl NameList {
    fn iter(&self) -> impl Iterator<Item = &OsStr> {
        self.0
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty())
            .map(OsStr::from_bytes)
    }
}

fn facts(directory: impl AsFd, name: &OsStr) -> Result<Facts, Errno> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    let facts = statx(directory, name, AtFlags::SYMLINK_NOFOLLOW, wanted)?;
    let has_birth = StatxFlags::from_bits_retain(facts.stx_mask).contains(StatxFlags::BTIME);
    let born = if has_birth { facts.stx_btime } else { facts.stx_ctime };
    Ok(Facts {
        birth: Birth {
            owner: facts.stx_uid,
            born: (born.tv_sec, born.tv_nsec),
        },
        is: FileType::from_raw_mode(facts.stx_mode.into()),
        links: facts.stx_nlink,
    })
}

/// Opens a directory by its own name, never through a link.
pub(crate) fn open_directory(parent: impl AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

/// The running number that a name is, written as a run writes it: digits without a leading zero.
pub(crate) fn running_number(name: &[u8]) -> Option<u64> {
    let canonical = !name.is_empty() && name.iter().all(u8::is_ascii_digit) && (name[0] != b'0' || name.len() == 1);
    canonical
        .then(|| std::str::from_utf8(name).ok()?.parse().ok())
        .flatten()
}

/// The number of the worker whose directory a name is: `w` and digits.
fn worker(name: &[u8]) -> Option<u64> {
    running_number(name.strip_prefix(b"w")?)
}

/// The number of the subdirectory that a name is: `s` and digits.
pub(crate) fn subdirectory(name: &[u8]) -> Option<u64> {
    running_number(name.strip_prefix(b"s")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_as_a_run_writes_them_are_its_own() {
        for (name, number) in [
            (&b"1"[..], Some(1)),
            (b"0", Some(0)),
            (b"98765", Some(98_765)),
            (b"01", None),
            (b"", None),
            (b"1a", None),
            (b"-1", None),
            (b"99999999999999999999", None),
        ] {
            assert_eq!(running_number(name), number, "{name:?}");
        }
        assert_eq!(subdirectory(b"s12"), Some(12));
        assert_eq!(subdirectory(b"s"), None);
        assert_eq!(subdirectory(b"t1"), None);
    }
}
