//! Helpers that several suites share.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, Dir, Mode, OFlags, openat};

pub mod ended;
pub mod heartbeats;
pub mod interface;
pub mod needs;
pub mod packets;
pub mod running;
pub mod snapshot;
pub mod test_dir;
pub mod volume;

pub use ended::Ended;
pub use interface::{Engine, INTERFACES, Interface, Phase, Work};
pub use needs::{everything, is_met, is_root};
pub use packets::Packets;
pub use running::Running;
pub use snapshot::Snapshot;
pub use test_dir::TestDir;
pub use volume::{FileSystem, Volume};

/// Waits until two looks, some time apart, see the same. A server may still perform calls of a
/// killed client, each of which can take a second; until then, the client's files change.
pub fn wait_until_unchanged<T: PartialEq>(look: impl Fn() -> T) {
    let mut before = look();
    for _ in 0..30 {
        std::thread::sleep(Duration::from_secs(2));
        let now = look();
        if now == before {
            return;
        }
        before = now;
    }
    panic!("the server does not come to rest");
}

/// Names, sizes and modification times of all files below a directory. Files that disappear
/// meanwhile are left out.
pub fn files_below(directory: &Path) -> Vec<(PathBuf, u64, SystemTime)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if let Ok(facts) = entry.metadata() {
            let modified = facts.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            files.push((entry.path(), facts.len(), modified));
            if facts.is_dir() {
                files.extend(files_below(&entry.path()));
            }
        }
    }
    files.sort();
    files
}

/// The names in a directory, sorted. O_NOATIME leaves the access time of the directory unchanged,
/// because tests compare access times.
pub fn names(directory: &Path) -> std::io::Result<Vec<OsString>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOATIME;
    let opened = openat(CWD, directory, flags, Mode::empty())?;
    let mut names = Vec::new();
    for entry in Dir::new(opened)? {
        let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Runs a program of the operating system and returns its output. Panics if the program fails.
pub fn tool<S: AsRef<std::ffi::OsStr>>(program: &str, arguments: &[S]) -> String {
    let arguments: Vec<_> = arguments.iter().map(AsRef::as_ref).collect();
    let output = std::process::Command::new(program)
        .args(&arguments)
        .output()
        .unwrap_or_else(|error| panic!("cannot run {program}: {error}"));
    let streams = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}\n{streams}",
        output.status
    );
    streams
}
