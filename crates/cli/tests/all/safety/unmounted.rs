//! During a run, its file system is unmounted lazily, or its location is moved or covered by a
//! mount. The run then fails and reports why. Files that are at the path of the location afterwards
//! stay unchanged, even if their names and times resemble those of the run. The files of the run
//! are removed from the original directory.

use std::path::Path;
use std::process::{self, Command};

use crate::support::Engine::{Raw, Stdio};
use crate::support::Interface::Prompt;
use crate::support::interface::own_directories;
use crate::support::test_dir::{
    create_user_files, create_user_files_with_our_names, set_age, write,
};
use crate::support::{
    Ended, FileSystem, INTERFACES, Interface, Phase, Running, Snapshot, TestDir, Volume, Work,
    is_root,
};

/// Performs a run and unmounts its file system in a phase. Checks the report, the exit status and
/// the files. `beneath_it` creates files in the directory that the mount covers.
fn goes_away(
    interface: Interface,
    phase: Phase,
    subdirectories: u32,
    beneath_it: impl Fn(&Path),
) -> Ended {
    goes_away_from(
        |work, test_dir| interface.begin(work, test_dir, phase),
        phase,
        subdirectories,
        beneath_it,
    )
}

/// Does the same as `goes_away`, but `begin` starts the run.
fn goes_away_from(
    begin: impl Fn(&Work, &TestDir) -> Running,
    phase: Phase,
    subdirectories: u32,
    beneath_it: impl Fn(&Path),
) -> Ended {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    beneath_it(&location);
    let beneath = Snapshot::of(&location);
    let mut volume = Volume::new(FileSystem::Ext4, &test_dir, &location);
    create_user_files(&location);
    let before = Snapshot::of(&location);
    let work = Work::long_on_disk(&location, phase).in_subdirectories(subdirectories);
    let running = begin(&work, &test_dir);
    volume.unmount_lazily();
    let ended = running.finish();
    ended.ends("1 | unmounted | PARTIAL");
    ended
        .does_not_show("somebody else")
        .does_not_show("cannot be removed");
    beneath.assert_kept(&location, &ended);
    volume.mount();
    before.assert_kept(&location, &ended);
    ended
}

fn goes_away_in(phase: Phase) {
    if !FileSystem::Ext4.is_available() {
        return;
    }
    for interface in INTERFACES {
        for subdirectories in [1, 5] {
            goes_away(
                interface,
                phase,
                subdirectories,
                create_user_files_with_our_names,
            );
        }
    }
}

#[test]
fn run_fails_if_unmounted_in_prepare() {
    goes_away_in(Phase::Prepare);
}

#[test]
fn run_fails_if_unmounted_in_transactions() {
    goes_away_in(Phase::Transactions);
}

#[test]
fn run_fails_if_unmounted_in_delete() {
    goes_away_in(Phase::Delete);
}

/// The run notices late that its file system was unmounted. Until then it must neither create nor
/// use files in the directory that the mount covered.
#[test]
fn no_files_are_created_in_the_uncovered_directory() {
    if !FileSystem::Ext4.is_available() {
        return;
    }
    for interface in [Prompt(Stdio), Prompt(Raw)] {
        let begin = |work: &Work, test_dir: &TestDir| {
            let mut running = Running::start(
                late_to_hear(&interface.command(work, test_dir)),
                &work.locations[0],
            );
            interface.wait_for(&mut running, work, Phase::Prepare);
            running
        };
        let ended = goes_away_from(begin, Phase::Prepare, 1, |location| {
            write(&location.join("own"), "mine\n", 0o600);
            set_age(location, 1_000);
        });
        ended.does_not_show("not removed");
    }
}

/// Wraps the command in strace, which delays each return of `poll`. So the program notices the
/// unmount late.
fn late_to_hear(command: &Command) -> Command {
    let mut late = Command::new("strace");
    late.args([
        "-f",
        "--seccomp-bpf",
        "-o",
        "/dev/null",
        "-e",
        "trace=poll,ppoll",
    ]);
    late.args(["-e", "inject=poll,ppoll:delay_exit=400000"]);
    late.arg(command.get_program()).args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        late.current_dir(directory);
    }
    late.stdin(process::Stdio::null());
    late.stdout(process::Stdio::piped())
        .stderr(process::Stdio::piped());
    late
}

/// The file system is unmounted while the run creates its subdirectories.
#[test]
fn no_subdirectories_are_created_in_the_uncovered_directory() {
    if !FileSystem::Tmpfs.is_available() {
        return;
    }
    let test_dir = TestDir::new();
    let location = test_dir.directory("location");
    create_user_files(&location);
    let beneath = Snapshot::of(&location);
    let mut volume = Volume::new(FileSystem::Tmpfs, &test_dir, &location);
    let work = Work {
        subdirectories: 100_000,
        ..Work::small(&location)
    };
    let mut running = Running::start(Prompt(Raw).command(&work, &test_dir), &location);
    running.until("some directories", |_| location.join("s100").exists());
    volume.unmount_lazily();
    let ended = running.finish();
    ended
        .code(1)
        .shows("unmounted")
        .does_not_show("not removed");
    beneath.assert_kept(&location, &ended);
}

#[test]
fn directory_mounted_over_the_location_is_unchanged() {
    if !is_root() {
        return;
    }
    for interface in INTERFACES {
        let test_dir = TestDir::in_memory();
        let location = test_dir.directory("location");
        create_user_files(&location);
        let before = Snapshot::of(&location);
        let other = test_dir.directory("other");
        create_user_files_with_our_names(&other);
        let others = Snapshot::of(&other);
        let work = Work::long(&location, Phase::Prepare);
        let running = interface.begin(&work, &test_dir, Phase::Prepare);
        let mut over = Volume::bound(&other, &location);
        let ended = running.finish();
        ended.code(1).shows("location").shows("PARTIAL");
        others.assert_kept(&other, &ended);
        over.unmount();
        before.assert_kept(&location, &ended);
    }
}

/// During the run, the location is moved away, and another directory is moved to its path. No root
/// rights are necessary for this.
#[test]
fn directory_that_replaces_the_location_is_unchanged() {
    for interface in INTERFACES {
        let test_dir = TestDir::in_memory();
        let location = test_dir.directory("location");
        create_user_files(&location);
        let before = Snapshot::of(&location);
        let other = test_dir.directory("other");
        create_user_files_with_our_names(&other);
        let others = Snapshot::of(&other);
        let work = Work::long(&location, Phase::Prepare);
        let running = interface.begin(&work, &test_dir, Phase::Prepare);
        let away = test_dir.path().join("away");
        std::fs::rename(&location, &away).unwrap();
        std::fs::rename(&other, &location).unwrap();
        let ended = running.finish();
        ended.code(1).shows("it was moved").shows("PARTIAL");
        others.assert_kept(&location, &ended);
        before.assert_kept(&away, &ended);
    }
}

/// During the run, the location is replaced by another directory. The other directory is newer than
/// the run, but older than the last check of the location.
#[test]
fn newer_directory_that_replaces_the_location_is_unchanged() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let work = Work {
        files: 20_000,
        ..Work::long(&location, Phase::Transactions)
    };
    let mut running = Prompt(Raw).begin(&work, &test_dir, Phase::Prepare);
    let other = test_dir.directory("other");
    create_user_files_with_our_names(&other);
    let others = Snapshot::of(&other);
    // The location is checked next at the barrier between the phases.
    Prompt(Raw).wait_for(&mut running, &work, Phase::Transactions);
    std::fs::rename(&location, test_dir.path().join("away")).unwrap();
    std::fs::rename(&other, &location).unwrap();
    let ended = running.finish();
    ended.code(1).shows("it was moved");
    others.assert_kept(&location, &ended);
}

/// A mount hides the files of the directory that is its mount point. As the worst case, these files
/// have all names of the pool. When the unmount exposes them, the run must not use any of them.
#[test]
fn files_with_all_names_of_the_pool_are_unchanged() {
    if !FileSystem::Tmpfs.is_available() {
        return;
    }
    for (interface, phase) in [
        (Prompt(Stdio), Phase::Transactions),
        (Prompt(Raw), Phase::Delete),
        (Prompt(Stdio), Phase::Prepare),
    ] {
        // The directory is in memory, because the test creates tens of thousands of files, which is
        // slow on a disk.
        let test_dir = TestDir::in_memory();
        let location = test_dir.directory("location");
        let work = Work::long_on_disk(&location, phase);
        for number in 1..=work.files + work.transactions {
            std::fs::write(location.join(number.to_string()), "mine\n").unwrap();
        }
        let beneath = Snapshot::of(&location);
        let mut volume = Volume::new(FileSystem::Tmpfs, &test_dir, &location);
        let running = interface.begin(&work, &test_dir, phase);
        volume.unmount_lazily();
        let ended = running.finish();
        ended
            .code(1)
            .shows("unmounted")
            .does_not_show("not removed");
        beneath.assert_kept(&location, &ended);
    }
}

/// The user moves directories. Afterwards the path of the run leads to new files of the user, with
/// names, owner and mode as in the run. An earlier version of the program removed such files. That
/// version assumed that the run had created them below the mount point after an unmount.
#[test]
fn recent_files_that_replace_the_location_stay() {
    for interface in INTERFACES {
        for phase in [Phase::Prepare, Phase::Transactions] {
            let test_dir = TestDir::in_memory();
            let location = test_dir.directory("mail");
            let before = Snapshot::of(&location);
            let work = Work::long(&location, phase);
            let running = interface.begin(&work, &test_dir, phase);
            let away = test_dir.path().join("mail.old");
            std::fs::rename(&location, &away).unwrap();
            std::fs::create_dir(&location).unwrap();
            // The new directory of the user also contains a directory with the name of the run
            // directory.
            let mut places = vec![location.clone()];
            for own in own_directories(&away) {
                let place = location.join(own.file_name().unwrap());
                std::fs::create_dir(&place).unwrap();
                places.push(place);
            }
            for place in &places {
                for number in 1..=50 {
                    std::fs::write(place.join(number.to_string()), format!("letter {number}\n"))
                        .unwrap();
                }
            }
            let guests = Snapshot::of(&location);
            let ended = running.finish();
            ended.ends("1 | it was moved | PARTIAL");
            ended.does_not_show("beneath");
            guests.assert_kept(&location, &ended);
            before.assert_kept(&away, &ended);
        }
    }
}
