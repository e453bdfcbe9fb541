//! What `postmark clean` leaves alone: everything that a killed run has not made, whatever it is
//! called.

use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};

use crate::support::Engine::{Posix, Raw, Stdio};
use crate::support::Interface::{Prompt, Run};
use crate::support::interface::{clean, has_ended, own_directories, postmark, program_for_all};
use crate::support::test_dir::{create_user_files, create_user_files_with_our_names, write};
use crate::support::{
    Ended, FileSystem, INTERFACES, Interface, Phase, Running, Snapshot, TestDir, Volume, Work,
    is_root,
};

const NOT_OUR_CONTENTS: &str = "it does not begin like the files of this run";

/// A directory that takes names and gives none back (`chattr +a`).
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
fn a_run_directory_that_cannot_be_removed_is_named() {
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

/// A run that was killed, and the directory that its files lie in.
struct Killed {
    test_dir: TestDir,
    location: PathBuf,
    files: PathBuf,
}

fn killed(interface: Interface, subdirectories: u32) -> Killed {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    write(&location.join("old"), "older than the run\n", 0o600);
    let work = Work::long_on_disk(&location, Phase::Prepare).in_subdirectories(subdirectories);
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
    /// Cleans, and expects that these stay as they are, are named with the reason, and that nothing
    /// else stays.
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
fn a_file_that_is_older_than_the_run() {
    for interface in [Prompt(Stdio), Run(Posix)] {
        let killed = killed(interface, 1);
        std::fs::rename(killed.location.join("old"), killed.files.join("39999")).unwrap();
        killed.leaves(&[("39999", NOT_OUR_CONTENTS)]);
    }
}

#[test]
fn links_directories_and_the_like() {
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

/// A byte of a run's contents may be zero, as one of somebody else's that was cut short would be.
#[test]
fn files_of_one_byte() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let mut command = postmark(
        "run --mix create=1 --files 3000 --size 1 --transactions 1000000 --no-room-check \
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

/// A second name of a file is not what a run makes, however new the file is.
#[test]
fn hard_links() {
    let killed = killed(Prompt(Stdio), 1);
    let new = killed.test_dir.path().join("new");
    std::fs::write(&new, "new\n").unwrap();
    std::fs::hard_link(&new, killed.files.join("30001")).unwrap();
    std::fs::hard_link(killed.location.join("old"), killed.files.join("30002")).unwrap();
    killed.leaves(&[("30001", NOT_OUR_CONTENTS), ("30002", NOT_OUR_CONTENTS)]);
    assert_eq!(std::fs::read(&new).unwrap(), b"new\n");
}

#[test]
fn a_file_of_another_owner() {
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

/// Numbers that the run could not have come to, and ways to write numbers that are not its own, are
/// not even looked at.
#[test]
fn other_names() {
    let killed = killed(Prompt(Stdio), 1);
    let names = ["40001", "007", "1 ", "+1", "s0", "99999999999999999999999"];
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
fn a_file_in_a_subdirectory() {
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

/// Somebody puts a symbolic link in place of a subdirectory while the run goes on, which is then
/// killed. What the link leads to has names like the run's, and is newer than the run.
#[test]
fn a_link_in_place_of_a_subdirectory_is_not_followed() {
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

/// While one process cleans, another one neither cleans nor runs there, and both say why.
#[test]
fn what_another_process_cleans() {
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
    clean(&location).code(0);
}

/// Cleaning and running beside a run that goes on.
#[test]
fn a_run_that_goes_on_is_not_disturbed() {
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
fn where_nothing_is_to_be_cleaned() {
    let test_dir = TestDir::new();
    let location = test_dir.directory("location");
    create_user_files(&location);
    create_user_files_with_our_names(&location);
    // Directories called nearly like a run's, one with something in it, and a file and a link of
    // such a name.
    for name in ["postmark-", "postmark-mine", "postmark-1-2-3"] {
        std::fs::create_dir(location.join(name)).unwrap();
        write(&location.join(name).join("1"), "mine\n", 0o600);
    }
    // Empty ones, and files called nearly like a manifest, or like one that is being written.
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
fn manifests_that_are_not_understood() {
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
fn what_cannot_be_cleaned_is_said() {
    let test_dir = TestDir::new();
    let file = test_dir.path().join("file");
    write(&file, "mine\n", 0o600);
    for path in [test_dir.path().join("nowhere"), file.clone()] {
        let cleaned = clean(&path);
        cleaned.code(1).shows(&path.display().to_string());
    }
    assert_eq!(std::fs::read(file).unwrap(), b"mine\n");
    // A manifest that is a link to somebody's file is not followed.
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

/// What cannot be removed now is removed later: the manifest stays, and the program says so.
#[test]
fn where_nothing_can_be_removed() {
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

/// Somebody without the right to cleans: nothing goes, nothing is said to have gone.
#[test]
fn somebody_without_permission() {
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
