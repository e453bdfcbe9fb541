//! Runs are killed by SIGKILL, and then `clean` is performed. Names, contents, modes and times of
//! all files of users must be the same as before the run.

use rustix::process::Signal;

use crate::support::Engine::{Posix, Raw, Stdio, Uring};
use crate::support::Interface::{Prompt, Run};
use crate::support::interface::{NOBODY, clean, draft_of_killed_run, own_directories};
use crate::support::test_dir::{create_user_files, set_age, write};
use crate::support::{FileSystem, Interface, Phase, Snapshot, TestDir, Volume, Work};

/// Interface, phase and number of subdirectories. The cases cover all phases, with and without a
/// run directory, and with and without subdirectories.
const CASES: [(Interface, Phase, u32); 9] = [
    (Prompt(Stdio), Phase::Prepare, 1),
    (Prompt(Raw), Phase::Transactions, 10),
    (Prompt(Stdio), Phase::Delete, 1),
    (Run(Posix), Phase::Prepare, 10),
    (Run(Raw), Phase::Transactions, 1),
    (Run(Stdio), Phase::Delete, 10),
    (Run(Uring), Phase::Prepare, 10),
    (Run(Uring), Phase::Transactions, 1),
    (Run(Uring), Phase::Delete, 10),
];

fn as_before_on(kind: Option<FileSystem>) {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let _volume = match kind {
        Some(kind) if !kind.is_available() => return,
        kind => kind.map(|kind| Volume::new(kind, &test_dir, &location)),
    };
    create_user_files(&location);
    let before = Snapshot::of(&location);
    for (interface, phase, subdirectories) in CASES {
        let work = Work::long_on_disk(&location, phase).in_subdirectories(subdirectories);
        let killed = interface.begin(&work, &test_dir, phase).kill();
        killed.signal(Signal::KILL.as_raw());
        killed.assert(before != Snapshot::of(&location), "nothing was left");
        let cleaned = clean(&location);
        cleaned.ends("0 | Removed the files of the run");
        cleaned.does_not_show("Left:");
        before.assert_kept(&location, &format!("{killed}\n{cleaned}"));
    }
}

#[test]
fn temporary_directory_is_unchanged_after_clean() {
    as_before_on(None);
}

#[test]
fn tmpfs_is_unchanged_after_clean() {
    as_before_on(Some(FileSystem::Tmpfs));
}

#[test]
fn ext4_is_unchanged_after_clean() {
    as_before_on(Some(FileSystem::Ext4));
}

#[test]
fn xfs_is_unchanged_after_clean() {
    as_before_on(Some(FileSystem::Xfs));
}

#[test]
fn btrfs_is_unchanged_after_clean() {
    as_before_on(Some(FileSystem::Btrfs));
}

/// If one location of a killed run is cleaned, `clean` names the other locations with files of the
/// run. Each location must be cleaned separately.
#[test]
fn every_location_is_unchanged_after_clean() {
    for interface in [Prompt(Raw), Run(Posix)] {
        let test_dir = TestDir::in_memory();
        let locations = [test_dir.directory("one"), test_dir.directory("two")];
        let befores = locations.each_ref().map(|location| {
            create_user_files(location);
            Snapshot::of(location)
        });
        let work = Work {
            locations: locations.to_vec(),
            ..Work::long_on_disk(&locations[0], Phase::Prepare)
        };
        let killed = interface.begin(&work, &test_dir, Phase::Prepare).kill();
        for (index, before) in befores.iter().enumerate() {
            let cleaned = clean(&locations[index]);
            cleaned
                .code(0)
                .shows(&format!("also used {}", locations[1 - index].display()));
            before.assert_kept(&locations[index], &format!("{killed}\n{cleaned}"));
        }
    }
}

/// After several killed runs in one location, the times of directories are restored to those before
/// the first run.
#[test]
fn several_killed_runs_are_cleaned_at_once() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    create_user_files(&location);
    let before = Snapshot::of(&location);
    let work = Work::long_on_disk(&location, Phase::Prepare);
    let mut killed = Vec::new();
    for _ in 0..3 {
        let mut running =
            crate::support::Running::start(Run(Posix).command(&work, &test_dir), &location);
        let made = killed.len() + 1;
        running.until("a directory with files", |_| {
            let own = own_directories(&location);
            own.len() == made && own.iter().all(|own| own.join("100").exists())
        });
        killed.push(running.kill());
    }
    let cleaned = clean(&location);
    cleaned.code(0);
    before.assert_kept(&location, &cleaned);
}

#[test]
fn run_directory_can_be_cleaned_by_its_path() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    set_age(&location, 1_000);
    let before = Snapshot::of(&location);
    let work = Work::long_on_disk(&location, Phase::Prepare);
    Run(Raw).begin(&work, &test_dir, Phase::Prepare).kill();
    let own = own_directories(&location);
    let cleaned = clean(&own[0]);
    cleaned.code(0);
    before.assert_kept(&location, &cleaned);
}

/// A run may be killed between the creation of its directory and that of its manifest. `clean`
/// removes the files of such a run even without a manifest.
#[test]
fn files_without_a_manifest_are_removed() {
    const CUT_SHORT: &str = "{\n  \"postmark_manifest\": 1,\n  \"tool\"";
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    create_user_files(&location);
    let before = Snapshot::of(&location);
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let own = location.join(format!("postmark-{now}-{NOBODY}-0"));
    let draft = draft_of_killed_run();
    for text in [None, Some(""), Some(CUT_SHORT)] {
        std::fs::create_dir(&own).unwrap();
        if let Some(text) = text {
            std::fs::write(own.join(&draft), text).unwrap();
        }
        let cleaned = clean(&location);
        cleaned.code(0);
        if text.is_some() {
            cleaned.shows(&format!("removed {draft}"));
        }
        before.assert_kept_but_for_directories(&location, &cleaned);
    }
    // At the prompt, which creates no run directory, the unfinished manifest is in the location
    // itself.
    std::fs::write(location.join(draft), "").unwrap();
    let cleaned = clean(&location);
    cleaned.code(0);
    before.assert_kept_but_for_directories(&location, &cleaned);
}

/// On file systems without exclusive rename and hard links, a run first creates an empty manifest
/// to claim the name of the manifest. For a short time, an empty manifest may belong to a run that
/// is starting.
#[test]
fn abandoned_claim_is_removed() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    write(&location.join("notes"), "mine\n", 0o600);
    let before = Snapshot::of(&location);
    let manifest = location.join(".postmark-manifest.json");
    std::fs::write(&manifest, "").unwrap();
    clean(&location).code(1).shows("in use by a run");
    std::thread::sleep(std::time::Duration::from_millis(3_100));
    let cleaned = clean(&location);
    cleaned.code(0);
    before.assert_kept_but_for_directories(&location, &cleaned);
    // A file whose name a run could have given it (such as `17`) may belong to the run of the empty
    // manifest. The manifest therefore stays.
    std::fs::write(&manifest, "").unwrap();
    std::fs::write(location.join("17"), "mine").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(3_100));
    clean(&location)
        .code(1)
        .shows("it is incomplete")
        .shows("nothing was changed");
    assert_eq!(std::fs::read(location.join("17")).unwrap(), b"mine");
}
