//! Where a test takes place: a directory of its own, which goes with it.

use std::fs::{File, FileTimes, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::is_root;

/// A directory of a test's own.
#[derive(Debug)]
pub struct TestDir {
    directory: TempDir,
}

impl TestDir {
    /// On the file system of temporary files.
    pub fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// In memory, where there is a file system for that: for many files.
    pub fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            Self::below(memory)
        } else {
            Self::new()
        }
    }

    /// The same where the tests are root's.
    pub fn rooted() -> Option<Self> {
        is_root().then(Self::in_memory)
    }

    fn below(place: &Path) -> Self {
        let directory = tempfile::Builder::new()
            .prefix("postmark-safety-")
            .tempdir_in(place)
            .unwrap();
        // Other users are to come in.
        set_mode(directory.path(), 0o755);
        Self { directory }
    }

    /// The scene's directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Makes a directory in it.
    pub fn directory(&self, name: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }
}

/// Gives a file or directory a mode.
pub fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Gives a file or directory times that lie back by so many seconds and some nanoseconds.
pub fn set_age(path: &Path, seconds: u64) {
    let then = SystemTime::now() - Duration::new(seconds, 123_456_789);
    let times = FileTimes::new().set_accessed(then).set_modified(then);
    File::open(path).unwrap().set_times(times).unwrap();
}

/// Writes a file with a mode, and makes it old.
pub fn write(path: &Path, content: &str, mode: u32) {
    std::fs::write(path, content).unwrap();
    set_mode(path, mode);
    set_age(path, 100_000);
}

/// The user's own things in a directory, with names that are nearly, but not quite, those of a run.
pub fn create_user_files(directory: &Path) {
    for (name, mode) in [
        ("notes.txt", 0o600),
        ("0", 0o644),
        ("01", 0o640),
        ("1a", 0o644),
        ("-1", 0o444),
        ("s", 0o755),
        ("s00", 0o644),
        ("99999999", 0o644),
        (".pmrc-not", 0o644),
    ] {
        write(&directory.join(name), &format!("this is {name}\n"), mode);
    }
    let inner = directory.join("keep");
    std::fs::create_dir(&inner).unwrap();
    write(&inner.join("7"), "seven\n", 0o600);
    std::os::unix::fs::symlink("notes.txt", directory.join("link")).unwrap();
    set_mode(&inner, 0o750);
    set_age(&inner, 200_000);
    set_age(directory, 300_000);
}

/// Files with names that a run in this directory would use, in a directory `s0` as well.
pub fn create_user_files_with_our_names(directory: &Path) {
    for number in 1..=20 {
        let mode = if number % 2 == 0 { 0o640 } else { 0o444 };
        write(
            &directory.join(number.to_string()),
            &format!("mine: {number}\n"),
            mode,
        );
    }
    let inner = directory.join("s0");
    std::fs::create_dir(&inner).unwrap();
    write(&inner.join("7"), "mine: s0/7\n", 0o604);
    set_age(&inner, 200_000);
    set_age(directory, 300_000);
}
