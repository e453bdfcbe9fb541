//! Two runs in one location at once: in directories of their own both are fine; at the prompt,
//! whose files would be the same, the second one refuses and the first one does not notice.

use crate::support::Engine::{Posix, Raw, Stdio};
use crate::support::Interface::{Prompt, Run};
use crate::support::test_dir::create_user_files;
use crate::support::{INTERFACES, Phase, Snapshot, TestDir, Work};

#[test]
fn at_the_prompt_the_second_one_refuses() {
    for (first, second) in [(Stdio, Raw), (Raw, Stdio)] {
        let test_dir = TestDir::in_memory();
        let location = test_dir.directory("location");
        create_user_files(&location);
        let before = Snapshot::of(&location);
        let work = Work::long(&location, Phase::Prepare);
        let running = Prompt(first).begin(&work, &test_dir, Phase::Prepare);
        // With subdirectories, so that no name of the first one is in the way of the second.
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
fn with_directories_of_their_own_both_are_fine() {
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
        // Each has changed the directory while the other was there.
        before.assert_kept_but_for_directories(&location, &format!("{ended}\n{beside}"));
    }
}

/// After a killed run nothing is begun over its leavings: the prompt says what to do.
#[test]
fn a_killed_run_is_to_be_cleaned_first() {
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

/// One directory named twice by one run is one directory.
#[test]
fn one_location_named_twice() {
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
