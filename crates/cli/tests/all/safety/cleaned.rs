//! `postmark clean` must not remove files that the killed run has not created, even if they have
//! names of the run.

use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::support::Engine::{Posix, Raw, Stdio};
use crate::support::Interface::{Prompt, Run};
use crate::support::interface::{clean, has_ended, own_directories, postmark, program_for_all};
use crate::support::test_dir::{create_user_files, create_user_files_with_our_names, write};
use crate::support::{
    Ended, FileSystem, INTERFACES, Interface, Phase, Running, Snapshot, TestDir, Volume, Work,
    is_root,
};

const NOT_OUR_CONTENTS: &str = "it does not begin like the files of this run";

/// A directory from which no entry can be removed (`chattr +a`).
struct AppendOnly(PathBuf);

impl AppendOnly {
    fn set(path: &Path, is_set: bool) -> bool {
        let directory = std::fs::File::open(path).unwrap();
        let flags = rustix::fs::ioctl_getflags(&directory).unwrap_or(rustix::fs::IFlags::empty());
        let mut wanted = flags;
        wanted.set(rustix::fs::IFlags::APPEND, is_set);
        rustix::fs::ioctl_setflags(&directory, wanted).is_ok()
    }
}

impl Drop for AppendOnly {
    fn drop(&mut self) {
        Self::set(&self.0, false);
    }
}

#[test]
fn run_directory_that_cannot_be_removed_is_named() {
    if !FileSystem::Ext4.is_available() {
        return;
    }
    let test_dir = TestDir::in_memory();
    let point = test_dir.directory("point");
    let _volume = Volume::new(FileSystem::Ext4, &test_dir, &point);
    let location = point.join("location");
    std::fs::create_dir(&location).unwrap();
    let append_only = AppendOnly(location.clone());
    assert!(AppendOnly::set(&location, true), "{}", location.display());
    let run = Running::run_to_end(
        Run(Posix).command(&Work::small(&location), &test_dir),
        &location,
    );
    run.code(1);
    let own = own_directories(&location).remove(0);
    let ended = clean(&location);
    ended.code(1).shows(&format!(
        "{}: nothing was changed: the directory of a run cannot be removed: Operation not \
         permitted",
        own.display()
    ));
    drop(append_only);
    clean(&location).code(0);
    assert!(!own.exists());
}

/// A killed run, with the directory that contains its files.
struct Killed {
    test_dir: TestDir,
    location: PathBuf,
    files: PathBuf,
}

fn killed(interface: Interface, subdirectories: u32) -> Killed {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    write(&location.join("old"), "older than the run\n", 0o600);
    let work = Work {
        files: 40_000,
        ..Work::long_on_disk(&location, Phase::Prepare).in_subdirectories(subdirectories)
    };
    interface.begin(&work, &test_dir, Phase::Prepare).kill();
    let files = match interface {
        Prompt(_) => location.clone(),
        Run(_) => own_directories(&location).remove(0),
    };
    Killed {
        test_dir,
        location,
        files,
    }
}

impl Killed {
    /// Runs `clean`. Asserts that each file in `kept` is unchanged and printed with its reason, and
    /// that no other files remain.
    fn leaves(&self, kept: &[(&str, &str)]) -> Ended {
        let snapshots: Vec<(PathBuf, Snapshot)> = kept
            .iter()
            .map(|(name, _)| (self.files.join(name), Snapshot::of(&self.files.join(name))))
            .collect();
        let cleaned = clean(&self.location);
        cleaned.code(1);
        for ((path, before), (_, why)) in snapshots.iter().zip(kept) {
            cleaned.shows(&format!("Left: {}: {why}", path.display()));
            before.assert_kept(path, &cleaned);
        }
        let mut left: Vec<PathBuf> = std::fs::read_dir(&self.files)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| !path.ends_with("old"))
            .collect();
        left.sort();
        let mut expected: Vec<PathBuf> = snapshots.into_iter().map(|(path, _)| path).collect();
        expected.sort();
        assert_eq!(left, expected, "{cleaned}");
        cleaned
    }
}

#[test]
fn file_older_than_the_run_stays() {
    for interface in [Prompt(Stdio), Run(Posix)] {
        let killed = killed(interface, 1);
        std::fs::rename(killed.location.join("old"), killed.files.join("39999")).unwrap();
        killed.leaves(&[("39999", NOT_OUR_CONTENTS)]);
    }
}

#[test]
fn links_directories_and_special_files_stay() {
    for interface in [Prompt(Raw), Run(Raw)] {
        let killed = killed(interface, 1);
        let elsewhere = killed.test_dir.directory("elsewhere");
        create_user_files_with_our_names(&elsewhere);
        let before = Snapshot::of(&elsewhere);
        let at = |name: &str| killed.files.join(name);
        symlink(elsewhere.join("1"), at("30001")).unwrap();
        symlink(&elsewhere, at("30002")).unwrap();
        std::fs::create_dir(at("30003")).unwrap();
        std::fs::write(at("30003").join("1"), "inside\n").unwrap();
        let link = "it is a symbolic link, but this run gives such a name to a regular file";
        let directory = "it is a directory, but this run gives such a name to a regular file";
        killed.leaves(&[("30001", link), ("30002", link), ("30003", directory)]);
        before.assert_kept(&elsewhere, &"after a cleaning beside links to it");
    }
}

/// An interrupted run does not remove files of many zeros, because such contents do not identify a
/// file. This rule must not apply to a file of one zero byte, which the run may have written.
#[test]
fn files_of_one_byte_are_removed() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let mut command = postmark(
        "run --mix create=1 --files 3000 --size 1 --transactions 1000000 --no-space-check \
         --target",
    );
    command.arg(&location);
    let mut running = Running::start(command, &location);
    running.until("the transactions", |running| {
        has_ended(&running.errors(), "prepare")
    });
    running.send(rustix::process::Signal::INT);
    running.finish().code(130);
    assert_eq!(std::fs::read_dir(&location).unwrap().count(), 0);
}

/// A hard link to a file of another program does not belong to the run, even if that file is newer
/// than the run.
#[test]
fn hard_links_to_other_files_stay() {
    let killed = killed(Prompt(Stdio), 1);
    let new = killed.test_dir.path().join("new");
    std::fs::write(&new, "new\n").unwrap();
    std::fs::hard_link(&new, killed.files.join("30001")).unwrap();
    std::fs::hard_link(killed.location.join("old"), killed.files.join("30002")).unwrap();
    killed.leaves(&[("30001", NOT_OUR_CONTENTS), ("30002", NOT_OUR_CONTENTS)]);
    assert_eq!(std::fs::read(&new).unwrap(), b"new\n");
}

#[test]
fn file_of_another_owner_stays() {
    if !is_root() {
        return;
    }
    for interface in [Prompt(Raw), Run(Posix)] {
        let killed = killed(interface, 1);
        let file = killed.files.join("30001");
        std::fs::write(&file, "somebody else's\n").unwrap();
        std::os::unix::fs::chown(&file, Some(65_534), Some(65_534)).unwrap();
        killed.leaves(&[("30001", NOT_OUR_CONTENTS)]);
    }
}

/// Names with numbers above the maximum of the run, or with another notation such as `007`, cannot
/// belong to the run.
#[test]
fn files_with_names_that_the_run_cannot_use_stay() {
    let killed = killed(Prompt(Stdio), 1);
    let names = ["40002", "007", "1 ", "+1", "s0", "99999999999999999999999"];
    for name in names {
        std::fs::write(killed.files.join(name), name).unwrap();
    }
    let cleaned = clean(&killed.location);
    cleaned.code(0);
    for name in names {
        let content = std::fs::read_to_string(killed.files.join(name)).unwrap();
        assert_eq!(content, name, "{cleaned}");
    }
    let count = std::fs::read_dir(&killed.files).unwrap().count();
    assert_eq!(count, names.len() + 1, "{cleaned}");
}

#[test]
fn foreign_file_in_a_subdirectory_stays() {
    for interface in [Prompt(Stdio), Run(Raw)] {
        let killed = killed(interface, 4);
        std::fs::write(killed.files.join("s1/notes"), "mine\n").unwrap();
        let cleaned = clean(&killed.location);
        cleaned
            .code(1)
            .shows(&format!(
                "Left: {}: it contains files that this run did not create",
                killed.files.join("s1").display()
            ))
            .shows("its manifest stays");
        let left: Vec<_> = std::fs::read_dir(killed.files.join("s1"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["notes"], "{cleaned}");
        let others = [0, 2, 3].map(|number| killed.files.join(format!("s{number}")));
        assert!(!others.iter().any(|other| other.exists()), "{cleaned}");
    }
}

/// During a run, a subdirectory is replaced by a symbolic link, and then the run is killed. The
/// directory behind the link contains names of the run, and its files are newer than the run.
#[test]
fn link_that_replaces_a_subdirectory_is_not_followed() {
    for interface in [Prompt(Stdio), Run(Posix)] {
        let test_dir = TestDir::in_memory();
        let location = test_dir.directory("location");
        let work = Work::long_on_disk(&location, Phase::Prepare).in_subdirectories(3);
        let mut running = interface.begin(&work, &test_dir, Phase::Prepare);
        running.stop();
        let files = match interface {
            Prompt(_) => location.clone(),
            Run(_) => own_directories(&location).remove(0),
        };
        let elsewhere = test_dir.path().join("elsewhere");
        std::fs::rename(files.join("s1"), &elsewhere).unwrap();
        std::fs::write(elsewhere.join("30000"), "mine\n").unwrap();
        symlink(&elsewhere, files.join("s1")).unwrap();
        let before = Snapshot::of(&elsewhere);
        running.kill();
        let cleaned = clean(&location);
        cleaned.code(1).shows(&format!(
            "Left: {}: it is a symbolic link, but this run gives such a name to a directory",
            files.join("s1").display()
        ));
        before.assert_kept(&elsewhere, &cleaned);
        assert_eq!(std::fs::read_dir(&files).unwrap().count(), 1, "{cleaned}");
    }
}

/// While one process cleans a directory, other processes neither clean nor use it, and print the
/// reason.
#[test]
fn directory_cleaned_by_another_process_is_in_use() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let running = Prompt(Raw).begin(
        &Work::long(&location, Phase::Prepare),
        &test_dir,
        Phase::Prepare,
    );
    let why = format!(
        "the run's process ({}) has ended, and another process cleans the directory",
        running.worker()
    );
    running.kill();
    let before = Snapshot::of(&location);
    let held = std::fs::File::open(location.join(".postmark-manifest.json")).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    clean(&location)
        .code(1)
        .shows(&why)
        .shows("nothing was changed");
    let refused = Prompt(Raw).perform(&Work::small(&location), &test_dir);
    refused.code(1).shows(&why).shows("use another directory");
    before.assert_kept(&location, &refused);
    drop(held);
    let began = Instant::now();
    let mut cleaned = clean(&location);
    // A process that another test forks may hold the lock's file descriptor until its `exec`.
    while cleaned.output.contains("in use: ") && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
        cleaned = clean(&location);
    }
    cleaned.code(0);
}

/// If a run is in progress in a location, `clean` refuses to clean the location and does not
/// disturb the run.
#[test]
fn run_in_progress_is_not_disturbed() {
    for interface in INTERFACES {
        let test_dir = TestDir::in_memory();
        let location = test_dir.directory("location");
        create_user_files(&location);
        let before = Snapshot::of(&location);
        let work = Work {
            files: 20_000,
            transactions: 10_000,
            ..Work::long(&location, Phase::Prepare)
        };
        let running = interface.begin(&work, &test_dir, Phase::Prepare);
        let cleaned = clean(&location);
        cleaned.ends("1 | in use by a run");
        cleaned
            .shows(&format!("(process {})", running.worker()))
            .shows("nothing was changed");
        let ended = running.finish();
        ended.code(0);
        before.assert_kept(&location, &ended);
    }
}

#[test]
fn clean_changes_nothing_without_a_killed_run() {
    let test_dir = TestDir::new();
    let location = test_dir.directory("location");
    create_user_files(&location);
    create_user_files_with_our_names(&location);
    // Directories with names similar to that of a run directory, each with a file. A file and a
    // link with such names are created below.
    for name in ["postmark-", "postmark-mine", "postmark-1-2-3"] {
        std::fs::create_dir(location.join(name)).unwrap();
        write(&location.join(name).join("1"), "mine\n", 0o600);
    }
    // Empty directories with names similar to that of a run directory, and files with names similar
    // to that of a manifest or of an unfinished manifest.
    for name in [
        "postmark-notes",
        "postmark-2026-01-01",
        "postmark--",
        "postmark-1-2-6",
    ] {
        std::fs::create_dir(location.join(name)).unwrap();
    }
    for name in ["bak", "4711", "4000000-1", "4000000-1-1"] {
        write(
            &location.join(format!(".postmark-manifest.json.{name}")),
            "mine\n",
            0o644,
        );
    }
    write(&location.join("postmark-1-2-4"), "mine\n", 0o600);
    symlink("keep", location.join("postmark-1-2-5")).unwrap();
    let before = Snapshot::of(&location);
    let cleaned = clean(&location);
    cleaned.code(0).shows("no files of a killed run");
    before.assert_kept(&location, &cleaned);
}

#[test]
fn invalid_manifests_change_nothing() {
    for (text, why) in [
        ("{ \"postmark_manifest\": 99 }", "cannot be parsed"),
        ("not even JSON", "cannot be parsed"),
        ("[1, 2, 3]", "cannot be parsed"),
    ] {
        let test_dir = TestDir::new();
        let location = test_dir.directory("location");
        create_user_files_with_our_names(&location);
        write(&location.join(".postmark-manifest.json"), text, 0o644);
        let before = Snapshot::of(&location);
        let cleaned = clean(&location);
        cleaned.code(1).shows(why).shows("nothing was changed");
        before.assert_kept(&location, &cleaned);
    }
}

#[test]
fn paths_that_cannot_be_cleaned_are_reported() {
    let test_dir = TestDir::new();
    let file = test_dir.path().join("file");
    write(&file, "mine\n", 0o600);
    for path in [test_dir.path().join("nowhere"), file.clone()] {
        let cleaned = clean(&path);
        cleaned.code(1).shows(&path.display().to_string());
    }
    assert_eq!(std::fs::read(file).unwrap(), b"mine\n");
    // A manifest that is a symbolic link is not followed.
    let location = test_dir.directory("location");
    symlink(
        Path::new("../file"),
        location.join(".postmark-manifest.json"),
    )
    .unwrap();
    let before = Snapshot::of(&location);
    let cleaned = clean(&location);
    cleaned.code(1).shows("manifest");
    before.assert_kept(&location, &cleaned);
}

/// If files of the run cannot be removed, its manifest stays. A later `clean` needs the manifest to
/// remove them.
#[test]
fn manifest_stays_if_files_cannot_be_removed() {
    if !FileSystem::Tmpfs.is_available() {
        return;
    }
    for interface in [Prompt(Stdio), Run(Posix)] {
        let test_dir = TestDir::new();
        let location = test_dir.directory("location");
        let volume = Volume::new(FileSystem::Tmpfs, &test_dir, &location);
        create_user_files(&location);
        let before = Snapshot::of(&location);
        let work = Work::long_on_disk(&location, Phase::Prepare);
        interface.begin(&work, &test_dir, Phase::Prepare).kill();
        let left = Snapshot::of(&location);
        volume.make_read_only();
        let cleaned = clean(&location);
        cleaned
            .code(1)
            .shows("Read-only file system")
            .shows("and ")
            .shows("postmark clean");
        left.assert_kept(&location, &cleaned);
        volume.make_writable();
        let cleaned = clean(&location);
        cleaned.code(0);
        before.assert_kept(&location, &cleaned);
    }
}

/// A user without permission can remove no file, and `clean` reports no file as removed.
#[test]
fn clean_without_permission_removes_nothing() {
    if !is_root() {
        return;
    }
    let killed = killed(Prompt(Raw), 1);
    let program = program_for_all(&killed.test_dir);
    let left = Snapshot::of(&killed.location);
    let mut command = Running::command(&program);
    command
        .arg("clean")
        .arg(&killed.location)
        .uid(65_534)
        .gid(65_534);
    let cleaned = Running::run_to_end(command, &killed.location);
    cleaned.ends("1 | it belongs to user 0, not to the current user 65534 | nothing was changed");
    left.assert_kept(&killed.location, &cleaned);
}
