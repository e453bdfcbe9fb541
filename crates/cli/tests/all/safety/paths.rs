//! Locations with all kinds of paths: with spaces, not UTF-8, relative, through symbolic links, of
//! the maximum length, and too long.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::support::interface::clean;
use crate::support::test_dir::{create_user_files, set_age};
use crate::support::{INTERFACES, Interface, Phase, Running, Snapshot, TestDir, Work};

/// Asserts that runs in this location are complete and leave its files unchanged. The command names
/// the location by the path `said`.
fn works(test_dir: &TestDir, location: &Path, said: &Path) {
    create_user_files(location);
    let before = Snapshot::of(location);
    for interface in INTERFACES {
        for subdirectories in [1, 3] {
            let work = Work::small(said).in_subdirectories(subdirectories);
            let ended = interface.perform(&work, test_dir);
            ended.code(0);
            if interface.is_prompt() {
                ended.shows("seconds total");
            }
            before.assert_kept(location, &ended);
        }
    }
}

#[test]
fn run_in_a_path_with_special_characters_is_complete() {
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
        let test_dir = TestDir::new();
        let location = test_dir.path().join(OsStr::from_bytes(name));
        std::fs::create_dir(&location).unwrap();
        works(&test_dir, &location, &location);
    }
}

#[test]
fn run_in_a_relative_path_or_through_a_link_is_complete() {
    let test_dir = TestDir::new();
    let location = test_dir.directory("some/where");
    std::os::unix::fs::symlink("some", test_dir.path().join("link")).unwrap();
    create_user_files(&location);
    let before = Snapshot::of(&location);
    for said in [
        "some/where",
        "./some//where/",
        "link/where",
        "link/../some/where/.",
    ] {
        for interface in INTERFACES {
            let ended = interface.perform(&Work::small(Path::new(said)), &test_dir);
            ended.code(0);
            before.assert_kept(&location, &ended);
        }
    }
}

#[test]
fn working_directory_is_the_default_target() {
    let test_dir = TestDir::new();
    let location = test_dir.directory("location");
    create_user_files(&location);
    let before = Snapshot::of(&location);
    for words in [
        &["run", "--quiet", "--for", "200ms"][..],
        &["run", "--engine", "posix", "--for", "200ms"],
        &["../commands"],
    ] {
        std::fs::write(test_dir.path().join("commands"), "run\n").unwrap();
        let mut command = Running::command(crate::support::interface::program());
        command.args(words).current_dir(&location);
        let ended = Running::run_to_end(command, &location);
        ended.code(0);
        before.assert_kept(&location, &ended);
    }
}

/// Creates a directory whose absolute path has this length in bytes.
fn deep(test_dir: &TestDir, bytes: usize) -> PathBuf {
    let mut path = test_dir.path().as_os_str().as_bytes().to_owned();
    while path.len() < bytes {
        // If more than 200 bytes are left, a name uses at most half of them. So the next name has
        // at least one character.
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
fn run_in_a_path_of_4000_bytes_is_complete() {
    let test_dir = TestDir::new();
    let location = deep(&test_dir, 4_000);
    works(&test_dir, &location, &location);
    for interface in [INTERFACES[1], INTERFACES[4]] {
        let before = Snapshot::of(&location);
        let work = Work::long_on_disk(&location, Phase::Prepare);
        let killed = interface.begin(&work, &test_dir, Phase::Prepare).kill();
        let cleaned = clean(&location);
        cleaned.code(0);
        before.assert_kept(&location, &format!("{killed}\n{cleaned}"));
    }
}

/// If path and file name together are too long, the run is refused before it creates a file.
#[test]
fn run_in_a_path_that_is_too_long_is_refused() {
    let refused = |interface: Interface| if interface.is_prompt() { 1 } else { 2 };
    let test_dir = TestDir::new();
    // System calls accept paths of at most 4,095 bytes. The path of the directory already has 4,094
    // or 4,095 bytes, so no file name fits.
    for bytes in [4_094, 4_095] {
        let location = deep(&test_dir, bytes);
        set_age(&location, 1_000);
        let before = Snapshot::of(&location);
        for interface in INTERFACES {
            for subdirectories in [1, 3] {
                let work = Work::small(&location).in_subdirectories(subdirectories);
                let ended = interface.perform(&work, &test_dir);
                ended
                    .code(refused(interface))
                    .shows("4096 bytes")
                    .does_not_show("Creating");
                before.assert_kept(&location, &ended);
            }
        }
    }
    // After 4,090 bytes and a slash, only names of at most 4 bytes fit. Only the prompt has such
    // short names, because it creates no run directory.
    let location = deep(&test_dir, 4_090);
    let before = Snapshot::of(&location);
    for interface in INTERFACES {
        let ended = interface.perform(&Work::small(&location), &test_dir);
        ended.code(if interface.is_prompt() { 0 } else { 2 });
        before.assert_kept(&location, &ended);
        let longer = Work {
            transactions: 100_000,
            ..Work::small(&location)
        };
        let ended = interface.perform(&longer, &test_dir);
        ended.code(refused(interface)).shows("4096 bytes");
        before.assert_kept(&location, &ended);
    }
    // This path is longer than any system call accepts.
    let mut beyond = location.into_os_string();
    beyond.push("/beyond".repeat(10));
    for interface in INTERFACES {
        let ended = interface.perform(&Work::small(Path::new(&beyond)), &test_dir);
        ended.code(refused(interface)).shows("4096 bytes");
    }
}
