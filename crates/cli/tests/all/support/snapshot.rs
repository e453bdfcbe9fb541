//! A snapshot of a directory tree, with everything that a run must not change: names, contents,
//! modes, owners, links, modification times, and the access times of directories.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::names;

/// The state of a file, link or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    mode: u32,
    owner: (u32, u32),
    names: u64,
    modified: (i64, i64),
    /// Access time of a directory; `None` for a file, because a snapshot reads the file, which
    /// changes its access time.
    accessed: Option<(i64, i64)>,
    /// The contents of a file, or the target of a symbolic link.
    content: Option<Vec<u8>>,
}

/// The state of all entries of a directory tree, by path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<PathBuf, Entry>);

impl Snapshot {
    /// Records the tree below a directory, and the directory itself.
    pub fn of(directory: &Path) -> Self {
        // With the mount option relatime, only the first read after a change updates the access
        // time. This read happens here, so that a later read without a change does not alter the
        // snapshot.
        touch_by_looking(directory);
        Self::look(directory)
    }

    fn look(directory: &Path) -> Self {
        let mut entries = BTreeMap::new();
        visit(directory, Path::new(""), &mut entries);
        Self(entries)
    }

    /// Clears the times of directories, for tests in which directories are read or changed.
    fn but_for_directories(mut self) -> Self {
        for entry in self.0.values_mut().filter(|entry| entry.accessed.is_some()) {
            entry.modified = (0, 0);
            entry.accessed = None;
        }
        self
    }

    /// Asserts that the tree is unchanged.
    ///
    /// # Panics
    /// Panics if the tree has changed. The message contains the differences and `said`.
    pub fn assert_kept(&self, directory: &Path, said: &dyn Display) {
        self.assert_equal(&Self::look(directory), directory, said);
    }

    /// Asserts that the tree is unchanged, except for the times of directories.
    pub fn assert_kept_but_for_directories(&self, directory: &Path, said: &dyn Display) {
        let now = Self::look(directory).but_for_directories();
        self.clone()
            .but_for_directories()
            .assert_equal(&now, directory, said);
    }

    fn assert_equal(&self, now: &Self, directory: &Path, said: &dyn Display) {
        if self == now {
            return;
        }
        let mut differences = String::new();
        let mut count = 0;
        let names = self.0.keys().chain(now.0.keys());
        for name in names.collect::<std::collections::BTreeSet<_>>() {
            let (before, after) = (self.0.get(name), now.0.get(name));
            if before != after {
                count += 1;
                if count <= 20 {
                    differences.push_str(&format!(
                        "{name:?}:\n  before: {before:?}\n  after:  {after:?}\n"
                    ));
                }
            }
        }
        panic!(
            "{} has changed in {count} names:\n{differences}\n{said}",
            directory.display()
        );
    }
}

fn visit(path: &Path, name: &Path, entries: &mut BTreeMap<PathBuf, Entry>) {
    // The metadata is read before the contents, because reading the contents changes the access
    // time.
    let facts = path.symlink_metadata().unwrap();
    entries.insert(name.to_owned(), entry(path, &facts));
    if facts.is_dir() {
        for inner in names(path).unwrap() {
            visit(&path.join(&inner), &name.join(&inner), entries);
        }
    }
}

/// Reads all directories below a directory, so that their access times are updated.
fn touch_by_looking(directory: &Path) {
    if !directory.symlink_metadata().unwrap().is_dir() {
        return;
    }
    for entry in std::fs::read_dir(directory).unwrap() {
        touch_by_looking(&entry.unwrap().path());
    }
}

fn entry(path: &Path, facts: &Metadata) -> Entry {
    let content = if facts.is_file() {
        Some(std::fs::read(path).unwrap())
    } else if facts.is_symlink() {
        Some(
            std::fs::read_link(path)
                .unwrap()
                .into_os_string()
                .into_encoded_bytes(),
        )
    } else {
        None
    };
    Entry {
        mode: facts.mode(),
        owner: (facts.uid(), facts.gid()),
        names: facts.nlink(),
        modified: (facts.mtime(), facts.mtime_nsec()),
        accessed: facts.is_dir().then(|| (facts.atime(), facts.atime_nsec())),
        content,
    }
}
