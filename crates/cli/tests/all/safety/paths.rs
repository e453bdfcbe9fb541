//! Locations with paths of all kinds: with spaces, of bytes that are no text, relative, through
//! links, as long as the system takes them, and longer.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::support::faces::clean;
use crate::support::scene::{furnish, set_age};
use crate::support::{FACES, Face, Moment, Running, Scene, Snapshot, Work};

/// A run in this location works, and one that was killed there is cleaned.
fn works(scene: &Scene, location: &Path, said: &Path) {
    furnish(location);
    let before = Snapshot::of(location);
    for face in FACES {
        for subdirectories in [1, 3] {
            let work = Work::little(said).in_subdirectories(subdirectories);
            let ended = face.perform(&work, scene);
            ended.code(0);
            if face.is_prompt() {
                ended.says("seconds total");
            }
            before.assert_kept(location, &ended);
        }
    }
}

#[test]
fn with_spaces_and_other_signs() {
    for name in [
        &b"a b"[..],
        b" leading and  double",
        b"quote's \"and\" $HOME `x` \\ ; & | * ?",
        b"-at",
        b"+plus",
        "größe".as_bytes(),
        b"no text \xff\xfe",
        b"tab\there",
    ] {
        let scene = Scene::new();
        let location = scene.path().join(OsStr::from_bytes(name));
        std::fs::create_dir(&location).unwrap();
        works(&scene, &location, &location);
    }
}

#[test]
fn relative_and_through_links() {
    let scene = Scene::new();
    let location = scene.directory("some/where");
    std::os::unix::fs::symlink("some", scene.path().join("link")).unwrap();
    furnish(&location);
    let before = Snapshot::of(&location);
    for said in [
        "some/where",
        "./some//where/",
        "link/where",
        "link/../some/where/.",
    ] {
        for face in FACES {
            let ended = face.perform(&Work::little(Path::new(said)), &scene);
            ended.code(0);
            before.assert_kept(&location, &ended);
        }
    }
}

#[test]
fn the_working_directory_is_the_default() {
    let scene = Scene::new();
    let location = scene.directory("location");
    furnish(&location);
    let before = Snapshot::of(&location);
    for words in [
        &["run", "--quiet"][..],
        &["run", "--storage", "posix"],
        &["../commands"],
    ] {
        std::fs::write(scene.path().join("commands"), "run\n").unwrap();
        let mut command = Running::command(crate::support::faces::program());
        command.args(words).current_dir(&location);
        let ended = Running::to_its_end(command, &location);
        ended.code(0);
        before.assert_kept(&location, &ended);
    }
}

/// A directory below the scene whose path has so many bytes, made part by part.
fn deep(scene: &Scene, bytes: usize) -> PathBuf {
    let mut path = scene.path().as_os_str().as_bytes().to_owned();
    while path.len() < bytes {
        // A separator and at least one sign; what is left over is never a separator alone.
        let left = bytes - path.len() - 1;
        let part = if left > 200 { left.min(402) / 2 } else { left };
        path.push(b'/');
        path.extend(std::iter::repeat_n(b'd', part));
    }
    let path = PathBuf::from(OsStr::from_bytes(&path));
    assert_eq!(path.as_os_str().len(), bytes);
    std::fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn of_four_thousand_bytes() {
    let scene = Scene::new();
    let location = deep(&scene, 4_000);
    works(&scene, &location, &location);
    for face in [FACES[1], FACES[4]] {
        let before = Snapshot::of(&location);
        let work = Work::long_on_disk(&location);
        let killed = face.begin(&work, &scene, Moment::Prepare).kill();
        let cleaned = clean(&location);
        cleaned.code(0);
        before.assert_kept(&location, &format!("{killed}\n{cleaned}"));
    }
}

/// Names of the run's have no room behind the path: known before the first file is made.
#[test]
fn too_long() {
    let refused = |face: Face| if face.is_prompt() { 1 } else { 2 };
    let scene = Scene::new();
    // 4,095 bytes are the most that a system call takes: the directory alone, with nothing behind
    // it.
    for bytes in [4_094, 4_095] {
        let location = deep(&scene, bytes);
        set_age(&location, 1_000);
        let before = Snapshot::of(&location);
        for face in FACES {
            for subdirectories in [1, 3] {
                let work = Work::little(&location).in_subdirectories(subdirectories);
                let ended = face.perform(&work, &scene);
                ended
                    .code(refused(face))
                    .says("4096 bytes")
                    .does_not_say("Creating");
                before.assert_kept(&location, &ended);
            }
        }
    }
    // The names of 4 bytes at most fit behind 4,090: of the prompt's runs only, which have nothing
    // between.
    let location = deep(&scene, 4_090);
    let before = Snapshot::of(&location);
    for face in FACES {
        let ended = face.perform(&Work::little(&location), &scene);
        ended.code(if face.is_prompt() { 0 } else { 2 });
        before.assert_kept(&location, &ended);
        let longer = Work {
            transactions: 100_000,
            ..Work::little(&location)
        };
        let ended = face.perform(&longer, &scene);
        ended.code(refused(face)).says("4096 bytes");
        before.assert_kept(&location, &ended);
    }
    // Longer than any call takes.
    let mut beyond = location.into_os_string();
    beyond.push("/beyond".repeat(10));
    for face in FACES {
        let ended = face.perform(&Work::little(Path::new(&beyond)), &scene);
        ended.code(refused(face)).says("4096 bytes");
    }
}
