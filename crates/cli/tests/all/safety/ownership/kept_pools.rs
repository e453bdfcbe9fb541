//! Files of a kept pool that `clean` leaves.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{MANIFEST, TOO_LATE};
use crate::support::interface::{clean, own_directories, postmark};
use crate::support::{Running, Snapshot, TestDir};

/// After the run, a file of a kept pool is replaced by a copy. The copy is foreign.
#[test]
fn file_created_in_a_kept_pool_stays() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let own = kept_pool(&location);
    let exchanged = own.join("17");
    let contents = std::fs::read(&exchanged).unwrap();
    std::fs::remove_file(&exchanged).unwrap();
    // File times come from a clock that advances only every few milliseconds. After this wait,
    // new file times differ from those of the run.
    std::thread::sleep(Duration::from_millis(30));
    std::fs::write(&exchanged, contents).unwrap();
    let cleaned = clean(&own);
    cleaned
        .code(1)
        .shows(&format!("Left: {}: {TOO_LATE}", exchanged.display()));
    std::fs::remove_file(&exchanged).unwrap();
    clean(&own).code(0);
    assert!(!own.exists());
}

/// Performs a run that keeps its small pool, and returns the directory of the pool.
fn kept_pool(location: &Path) -> PathBuf {
    let mut command = postmark("run --engine posix --files 200 --transactions 0");
    command
        .args(["--mix", "read=1", "--keep", "--target"])
        .arg(location);
    Running::run_to_end(command, location).code(0);
    own_directories(location).remove(0)
}

/// If the files of a kept pool were given to another user, root does not remove the pool or its
/// manifest. After the files are given back to root, root can clean the pool.
#[test]
fn kept_pool_of_another_owner_stays() {
    let Some(test_dir) = TestDir::rooted() else {
        return;
    };
    let location = test_dir.directory("location");
    let own = kept_pool(&location);
    let names: Vec<PathBuf> = std::fs::read_dir(&own)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let give = |owner: u32, with_manifest: bool| {
        for path in names
            .iter()
            .filter(|path| with_manifest || !path.ends_with(MANIFEST))
        {
            std::os::unix::fs::chown(path, Some(owner), Some(owner)).unwrap();
        }
    };
    give(65_534, false);
    let before = Snapshot::of(&own);
    let cleaned = clean(&own);
    cleaned.ends("1 | it belongs to another owner (user 65534) | its manifest stays");
    before.assert_kept(&own, &cleaned);
    give(65_534, true);
    let before = Snapshot::of(&own);
    let cleaned = clean(&own);
    cleaned.ends("1 | it belongs to user 65534, not to the current user 0 | nothing was changed");
    before.assert_kept(&own, &cleaned);
    give(0, true);
    clean(&own).code(0);
    assert!(!own.exists());
}
