//! A temporary directory of a test, which is removed when the test ends.

use std::fs::{File, FileTimes, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::is_root;

#[derive(Debug)]
pub struct TestDir {
    directory: TempDir,
}

impl TestDir {
    /// A directory below the default directory for temporary files.
    pub fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// A directory on /dev/shm if that exists, for tests with many files.
    pub fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            Self::below(memory)
        } else {
            Self::new()
        }
    }

    /// A directory in memory, or `None` if the test does not run as root.
    pub fn rooted() -> Option<Self> {
        is_root().then(Self::in_memory)
    }

    fn below(place: &Path) -> Self {
        let directory = tempfile::Builder::new()
            .prefix("postmark-safety-")
            .tempdir_in(place)
            .unwrap();
        // Some tests start the program as another user, who must be able to enter the directory.
        set_mode(directory.path(), 0o755);
        Self { directory }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Creates a subdirectory if it does not exist.
    pub fn directory(&self, name: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }
}

pub fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Sets the access and modification times of a file to `seconds` and a fraction of a second ago.
pub fn set_age(path: &Path, seconds: u64) {
    let then = SystemTime::now() - Duration::new(seconds, 123_456_789);
    let times = FileTimes::new().set_accessed(then).set_modified(then);
    File::open(path).unwrap().set_times(times).unwrap();
}

/// Writes a file with a mode and an old modification time.
pub fn write(path: &Path, content: &str, mode: u32) {
    std::fs::write(path, content).unwrap();
    set_mode(path, mode);
    set_age(path, 100_000);
}

/// Creates files of a user. Their names resemble names of files of a run, but no run uses exactly
/// these names.
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

/// Creates files of a user with names that a run would use, also in a directory `s0`.
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
