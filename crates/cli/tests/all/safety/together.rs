//! Two runs in one location at the same time. `postmark run` uses separate directories, so both
//! runs succeed. At the prompt, the files of both runs would have the same names. So the second run
//! is refused, and the first run is not affected.

use crate::support::Engine::{Posix, Raw, Stdio};
use crate::support::Interface::{Prompt, Run};
use crate::support::test_dir::create_user_files;
use crate::support::{INTERFACES, Phase, Snapshot, TestDir, Work};

#[test]
fn second_run_in_a_location_in_use_is_refused() {
    for (first, second) in [(Stdio, Raw), (Raw, Stdio)] {
        let test_dir = TestDir::in_memory();
        let location = test_dir.directory("location");
        create_user_files(&location);
        let before = Snapshot::of(&location);
        let work = Work::long(&location, Phase::Prepare);
        let running = Prompt(first).begin(&work, &test_dir, Phase::Prepare);
        // The second run has subdirectories, so the two runs would use different names.
        let other = Work::small(&location).in_subdirectories(3);
        let refused = Prompt(second).perform(&other, &test_dir);
        refused.ends("1 | is in use by another run of postmark");
        refused
            .shows(&format!("process {}", running.worker()))
            .does_not_show("Creating");
        let ended = running.finish();
        ended.code(0).shows("seconds total");
        before.assert_kept(&location, &ended);
    }
}

#[test]
fn runs_with_separate_directories_both_succeed() {
    for (first, second) in [
        (Run(Posix), Run(Posix)),
        (Run(Stdio), Prompt(Raw)),
        (Prompt(Stdio), Run(Raw)),
    ] {
        let test_dir = TestDir::in_memory();
        let location = test_dir.directory("location");
        create_user_files(&location);
        let before = Snapshot::of(&location);
        let work = Work::long(&location, Phase::Prepare);
        let running = first.begin(&work, &test_dir, Phase::Prepare);
        let beside = second.perform(&Work::small(&location), &test_dir);
        beside.code(0);
        let ended = running.finish();
        ended.code(0);
        // Each run changes the directory while the other run is in progress, so the times of the
        // directory are not compared.
        before.assert_kept_but_for_directories(&location, &format!("{ended}\n{beside}"));
    }
}

/// In a location with files of a killed run, the prompt refuses a run and explains how to remove
/// the files.
#[test]
fn prompt_requires_cleaning_after_a_killed_run() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let work = Work::long_on_disk(&location, Phase::Prepare);
    Prompt(Raw).begin(&work, &test_dir, Phase::Prepare).kill();
    let before = Snapshot::of(&location);
    let refused = Prompt(Raw).perform(&work, &test_dir);
    refused
        .code(1)
        .shows(&format!("postmark clean {}", location.display()));
    before.assert_kept(&location, &refused);
}

#[test]
fn location_named_twice_is_used_once() {
    for interface in INTERFACES {
        for subdirectories in [1, 4] {
            let test_dir = TestDir::in_memory();
            let location = test_dir.directory("location");
            create_user_files(&location);
            let before = Snapshot::of(&location);
            let mut again = location.clone().into_os_string();
            again.push("/../location/");
            let work = Work {
                locations: vec![location.clone(), again.into()],
                ..Work::small(&location).in_subdirectories(subdirectories)
            };
            let ended = interface.perform(&work, &test_dir);
            ended.code(0);
            before.assert_kept(&location, &ended);
        }
    }
}
