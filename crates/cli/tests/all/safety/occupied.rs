//! Locations that contain names which a run would use. The classic prompt creates its files
//! directly in the location. So a run at the prompt is refused before it creates a file, and the
//! message names the conflict. `postmark run` creates a new directory and is not affected. A
//! conflicting file that is created during a run ends the run, and stays.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::Engine::{Raw, Stdio};
use crate::support::Interface::{Prompt, Run};
use crate::support::test_dir::{
    create_user_files, create_user_files_with_our_names, set_age, write,
};
use crate::support::{INTERFACES, Phase, Snapshot, TestDir, Work};

/// Asserts that no interface changes existing entries of the location. The prompt, which creates
/// its files in the location itself, refuses the run and names the entries in `named`. `postmark
/// run` performs the run in a new directory.
fn is_refused_and_named(subdirectories: u32, named: &[&str], in_the_way: impl Fn(&Path)) {
    for interface in INTERFACES {
        let test_dir = TestDir::new();
        let location = test_dir.directory("location");
        in_the_way(&location);
        set_age(&location, 500);
        let before = Snapshot::of(&location);
        let work = Work::small(&location).in_subdirectories(subdirectories);
        let ended = interface.perform(&work, &test_dir);
        before.assert_kept(&location, &ended);
        if interface.is_prompt() {
            ended.ends("1 | already contains");
            ended
                .does_not_show("Creating")
                .does_not_show("seconds total");
            for name in named {
                ended.shows(name);
            }
        } else {
            ended.code(0);
        }
    }
}

#[test]
fn conflicting_files_are_named() {
    is_refused_and_named(1, &["others"], create_user_files_with_our_names);
    is_refused_and_named(1, &["'1'", "'2'"], |location| {
        write(&location.join("1"), "one\n", 0o600);
        write(&location.join("2"), "two\n", 0o400);
    });
    is_refused_and_named(1, &["'90'"], |location| {
        write(&location.join("90"), "the last number of all\n", 0o600);
    });
}

#[test]
fn conflicting_file_in_a_subdirectory_is_named() {
    is_refused_and_named(2, &["'s0'", "'s0/7'"], create_user_files_with_our_names);
}

#[test]
fn empty_conflicting_subdirectory_is_named() {
    is_refused_and_named(12, &["'s11'"], |location| {
        std::fs::create_dir(location.join("s11")).unwrap();
    });
}

#[test]
fn symbolic_link_with_the_name_of_a_subdirectory_is_named() {
    let elsewhere = TestDir::new();
    create_user_files_with_our_names(elsewhere.path());
    let before = Snapshot::of(elsewhere.path());
    is_refused_and_named(3, &["'s2'"], |location| {
        symlink(elsewhere.path(), location.join("s2")).unwrap();
    });
    before.assert_kept(elsewhere.path(), &"after runs beside a link to it");
}

#[test]
fn links_and_directories_with_names_of_files_are_named() {
    is_refused_and_named(1, &["'5'"], |location| {
        symlink("nowhere", location.join("5")).unwrap();
    });
    is_refused_and_named(1, &["'6'"], |location| {
        std::fs::create_dir(location.join("6")).unwrap();
    });
}

#[test]
fn similar_names_do_not_conflict() {
    for subdirectories in [1, 3] {
        for interface in INTERFACES {
            let test_dir = TestDir::new();
            let location = test_dir.directory("location");
            create_user_files(&location);
            // The number 91 is above that of the run's last file. The subdirectory `s3` is above
            // the run's last one. Only runs with another number of subdirectories use the name
            // `other`.
            write(&location.join("91"), "ninety-one\n", 0o600);
            std::fs::create_dir(location.join("s3")).unwrap();
            let other = if subdirectories == 1 { "s1" } else { "17" };
            write(&location.join(other), "other\n", 0o600);
            set_age(&location, 500);
            let before = Snapshot::of(&location);
            let work = Work::small(&location).in_subdirectories(subdirectories);
            let ended = interface.perform(&work, &test_dir);
            ended.code(0);
            before.assert_kept(&location, &ended);
        }
    }
}

/// During a run, another program creates a file with a number that the run reaches later.
#[test]
fn conflicting_file_created_during_the_run_ends_it() {
    for interface in [Prompt(Stdio), Prompt(Raw)] {
        let test_dir = TestDir::in_memory();
        let location = test_dir.directory("location");
        create_user_files(&location);
        let before = Snapshot::of(&location);
        let work = Work::long(&location, Phase::Prepare);
        let running = interface.begin(&work, &test_dir, Phase::Prepare);
        let file = location.join("60000");
        std::fs::write(&file, "mine\n").unwrap();
        let ended = running.finish();
        ended
            .code(1)
            .shows(&format!("cannot create {}", file.display()))
            .shows("File exists")
            .shows("PARTIAL");
        assert_eq!(std::fs::read(&file).unwrap(), b"mine\n", "{ended}");
        std::fs::remove_file(&file).unwrap();
        before.assert_kept_but_for_directories(&location, &ended);
    }
}

/// Another program creates a file with a number that the run never reaches. The file stays, whether
/// the run completes or is interrupted.
#[test]
fn file_with_a_number_that_the_run_never_reaches_stays() {
    for interface in [Prompt(Stdio), Prompt(Raw)] {
        for interrupted in [false, true] {
            let test_dir = TestDir::in_memory();
            let location = test_dir.directory("location");
            let work = Work {
                transactions: 20_000,
                ..Work::long_on_disk(&location, Phase::Prepare)
            };
            let running = interface.begin(&work, &test_dir, Phase::Prepare);
            // The run would reach this number only if every transaction created a file.
            let file = location.join((work.files + work.transactions).to_string());
            std::fs::write(&file, "mine\n").unwrap();
            if interrupted {
                running.send(rustix::process::Signal::INT);
            }
            let ended = running.finish();
            ended.code(if interrupted { 130 } else { 0 });
            assert_eq!(
                std::fs::read(&file).unwrap_or_default(),
                b"mine\n",
                "{ended}"
            );
            assert_eq!(std::fs::read_dir(&location).unwrap().count(), 1, "{ended}");
        }
    }
}

/// If another program creates a file in the run directory, the file and the directory stay, and the
/// file is named.
#[test]
fn foreign_file_in_a_run_directory_stays() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let work = Work::long(&location, Phase::Transactions);
    let running = Run(Raw).begin(&work, &test_dir, Phase::Transactions);
    let own = crate::support::interface::own_directories(&location);
    let file = own[0].join("notes");
    std::fs::write(&file, "mine\n").unwrap();
    let ended = running.finish();
    ended
        .shows(&format!("{}: ", own[0].display()))
        .shows("not empty");
    assert_eq!(std::fs::read(&file).unwrap(), b"mine\n", "{ended}");
    assert_eq!(std::fs::read_dir(&own[0]).unwrap().count(), 1, "{ended}");
}
