//! A file system that is unmounted lazily while a run goes on in it, a location that is moved, or
//! mounted over: the run ends as failed and says so; what lies at its path then is as before,
//! whatever it is called and whenever it was made; what the run had made is removed where it lies.

use std::path::Path;
use std::process::{self, Command};

use crate::support::Engine::{Raw, Stdio};
use crate::support::Face::Prompt;
use crate::support::faces::own_directories;
use crate::support::scene::{furnish, furnish_with_our_names, set_age, write};
use crate::support::{
    Ended, FACES, Face, FileSystem, Moment, Running, Scene, Snapshot, Volume, Work, is_root,
};

/// Everything about one run whose file system goes away in a phase.
fn goes_away(face: Face, moment: Moment, subdirectories: u32, beneath_it: impl Fn(&Path)) -> Ended {
    goes_away_from(
        |work, scene| face.begin(work, scene, moment),
        subdirectories,
        beneath_it,
    )
}

/// Everything about one run, begun somehow, whose file system goes away.
fn goes_away_from(
    begin: impl Fn(&Work, &Scene) -> Running,
    subdirectories: u32,
    beneath_it: impl Fn(&Path),
) -> Ended {
    let scene = Scene::in_memory();
    let location = scene.directory("location");
    beneath_it(&location);
    let beneath = Snapshot::of(&location);
    let mut volume = Volume::new(FileSystem::Ext4, &scene, &location);
    furnish(&location);
    let before = Snapshot::of(&location);
    let work = Work::long_on_disk(&location).in_subdirectories(subdirectories);
    let running = begin(&work, &scene);
    volume.unmount_lazily();
    let ended = running.finish();
    ended.ends("1 | unmounted | PARTIAL");
    ended
        .does_not_say("somebody else")
        .does_not_say("cannot be removed");
    beneath.assert_kept(&location, &ended);
    volume.mount();
    before.assert_kept(&location, &ended);
    ended
}

fn goes_away_in(moment: Moment) {
    if !FileSystem::Ext4.is_at_hand() {
        return;
    }
    for face in FACES {
        for subdirectories in [1, 5] {
            goes_away(face, moment, subdirectories, furnish_with_our_names);
        }
    }
}

#[test]
fn in_prepare() {
    goes_away_in(Moment::Prepare);
}

#[test]
fn in_transactions() {
    goes_away_in(Moment::Transactions);
}

#[test]
fn in_delete() {
    goes_away_in(Moment::Delete);
}

/// The run hears late of the change, and goes on for as long: nothing of that is made or met at the
/// path.
#[test]
fn nothing_is_made_beneath() {
    if !FileSystem::Ext4.is_at_hand() {
        return;
    }
    for face in [Prompt(Stdio), Prompt(Raw)] {
        let begin = |work: &Work, scene: &Scene| {
            let mut running =
                Running::start(late_to_hear(&face.command(work, scene)), &work.locations[0]);
            face.wait_for(&mut running, work, Moment::Prepare);
            running
        };
        let ended = goes_away_from(begin, 1, |location| {
            write(&location.join("own"), "mine\n", 0o600);
            set_age(location, 1_000);
        });
        ended.does_not_say("not removed");
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
    if !FileSystem::Tmpfs.is_at_hand() {
        return;
    }
    let scene = Scene::new();
    let location = scene.directory("location");
    furnish(&location);
    let beneath = Snapshot::of(&location);
    let mut volume = Volume::new(FileSystem::Tmpfs, &scene, &location);
    let work = Work {
        subdirectories: 100_000,
        ..Work::little(&location)
    };
    let mut running = Running::start(Prompt(Raw).command(&work, &scene), &location);
    running.until("some directories", |_| location.join("s100").exists());
    volume.unmount_lazily();
    let ended = running.finish();
    ended.code(1).says("unmounted").does_not_say("not removed");
    beneath.assert_kept(&location, &ended);
}

/// Another directory is mounted over the location.
#[test]
fn something_is_mounted_over_it() {
    if !is_root() {
        return;
    }
    for face in FACES {
        let scene = Scene::in_memory();
        let location = scene.directory("location");
        furnish(&location);
        let before = Snapshot::of(&location);
        let other = scene.directory("other");
        furnish_with_our_names(&other);
        let others = Snapshot::of(&other);
        let work = Work::long(&location);
        let running = face.begin(&work, &scene, Moment::Prepare);
        let mut over = Volume::bound(&other, &location);
        let ended = running.finish();
        ended.code(1).says("location").says("PARTIAL");
        others.assert_kept(&other, &ended);
        over.unmount();
        before.assert_kept(&location, &ended);
    }
}

/// The location is moved away and another directory takes its place: as above, and it needs no
/// root.
#[test]
fn another_directory_takes_its_place() {
    for face in FACES {
        let scene = Scene::in_memory();
        let location = scene.directory("location");
        furnish(&location);
        let before = Snapshot::of(&location);
        let other = scene.directory("other");
        furnish_with_our_names(&other);
        let others = Snapshot::of(&other);
        let work = Work::long(&location);
        let running = face.begin(&work, &scene, Moment::Prepare);
        let away = scene.path().join("away");
        std::fs::rename(&location, &away).unwrap();
        std::fs::rename(&other, &location).unwrap();
        let ended = running.finish();
        ended.code(1).says("it was moved").says("PARTIAL");
        others.assert_kept(&location, &ended);
        before.assert_kept(&away, &ended);
    }
}

/// As above, with a directory that is newer than the run, but not newer than the last look at the
/// location.
#[test]
fn a_newer_directory_takes_its_place() {
    let scene = Scene::in_memory();
    let location = scene.directory("location");
    let work = Work::long(&location);
    let mut running = Prompt(Raw).begin(&work, &scene, Moment::Prepare);
    let other = scene.directory("other");
    furnish_with_our_names(&other);
    let others = Snapshot::of(&other);
    // The next look is at the border of the phases.
    Prompt(Raw).wait_for(&mut running, &work, Moment::Transactions);
    std::fs::rename(&location, scene.path().join("away")).unwrap();
    std::fs::rename(&other, &location).unwrap();
    let ended = running.finish();
    ended.code(1).says("it was moved");
    others.assert_kept(&location, &ended);
}

/// Files beneath with the names of the whole pool: the worst that can lie there. None is met.
#[test]
fn a_whole_pool_beneath() {
    if !FileSystem::Tmpfs.is_at_hand() {
        return;
    }
    for (face, moment) in [
        (Prompt(Stdio), Moment::Transactions),
        (Prompt(Raw), Moment::Delete),
        (Prompt(Stdio), Moment::Prepare),
    ] {
        // Tens of thousands of files, one after the other.
        let scene = Scene::in_memory();
        let location = scene.directory("location");
        let work = Work::long_on_disk(&location);
        for number in 1..=work.files + work.transactions {
            std::fs::write(location.join(number.to_string()), "mine\n").unwrap();
        }
        let beneath = Snapshot::of(&location);
        let mut volume = Volume::new(FileSystem::Tmpfs, &scene, &location);
        let running = face.begin(&work, &scene, moment);
        volume.unmount_lazily();
        let ended = running.finish();
        ended.code(1).says("unmounted").does_not_say("not removed");
        beneath.assert_kept(&location, &ended);
    }
}

/// A user's files of a moment ago, with the run's names, owner and mode, come to its path by a move
/// of directories, one after the other: they were told as "made beneath the mount point" and
/// removed.
#[test]
fn young_files_that_take_its_place_stay() {
    for face in FACES {
        for moment in [Moment::Prepare, Moment::Transactions] {
            let scene = Scene::in_memory();
            let location = scene.directory("mail");
            let before = Snapshot::of(&location);
            let work = Work::long(&location);
            let running = face.begin(&work, &scene, moment);
            let away = scene.path().join("mail.old");
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
            ended.does_not_say("beneath");
            guests.assert_kept(&location, &ended);
            before.assert_kept(&away, &ended);
        }
    }
}
