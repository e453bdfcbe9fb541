//! A file system that is unmounted lazily while a run goes on in it, a location that is moved, or
//! mounted over: the run ends as failed and says so; what lies at its path then is as before,
//! whatever it is called and whenever it was made; what the run had made is removed where it lies.

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

/// Everything about one run whose file system goes away in a phase.
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

/// Everything about one run, begun somehow, whose file system goes away.
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
fn in_prepare() {
    goes_away_in(Phase::Prepare);
}

#[test]
fn in_transactions() {
    goes_away_in(Phase::Transactions);
}

#[test]
fn in_delete() {
    goes_away_in(Phase::Delete);
}

/// The run hears late of the change, and goes on for as long: nothing of that is made or met at the
/// path.
#[test]
fn nothing_is_made_beneath() {
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

/// The same command, hearing of what it polls for only some time after it has happened.
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

/// While the subdirectories are made, that is what happens to them.
#[test]
fn no_directories_are_made_beneath() {
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

/// Another directory is mounted over the location.
#[test]
fn something_is_mounted_over_it() {
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

/// The location is moved away and another directory takes its place: as above, and it needs no
/// root.
#[test]
fn another_directory_takes_its_place() {
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

/// As above, with a directory that is newer than the run, but not newer than the last look at the
/// location.
#[test]
fn a_newer_directory_takes_its_place() {
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
    // The next look is at the border of the phases.
    Prompt(Raw).wait_for(&mut running, &work, Phase::Transactions);
    std::fs::rename(&location, test_dir.path().join("away")).unwrap();
    std::fs::rename(&other, &location).unwrap();
    let ended = running.finish();
    ended.code(1).shows("it was moved");
    others.assert_kept(&location, &ended);
}

/// Files beneath with the names of the whole pool: the worst that can lie there. None is met.
#[test]
fn a_whole_pool_beneath() {
    if !FileSystem::Tmpfs.is_available() {
        return;
    }
    for (interface, phase) in [
        (Prompt(Stdio), Phase::Transactions),
        (Prompt(Raw), Phase::Delete),
        (Prompt(Stdio), Phase::Prepare),
    ] {
        // Tens of thousands of files, one after the other.
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

/// A user's files of a moment ago, with the run's names, owner and mode, come to its path by a move
/// of directories, one after the other: they were told as "made beneath the mount point" and
/// removed.
#[test]
fn young_files_that_take_its_place_stay() {
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
            // Of a run's own directory the name is taken over, too.
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
