//! Runs that are refused before they change anything: too little space, no permission, or an output
//! file that cannot be written.

use std::os::unix::process::CommandExt as _;
use std::path::Path;

use testkit::table;

use crate::support::interface::{postmark, program_for_all};
use crate::support::test_dir::{create_user_files, set_age, set_mode, write};
use crate::support::{FileSystem, INTERFACES, Interface, Running, Snapshot, TestDir, Volume, Work};

/// Exit status of a refused run: 1 for a session of the prompt, 2 for `postmark run`.
fn refused(interface: Interface) -> i32 {
    if interface.is_prompt() { 1 } else { 2 }
}

/// Asserts that a run is refused for lack of space, and that the location is unchanged.
fn has_no_room(location: &Path, test_dir: &TestDir, work: &Work, words: &[&str]) {
    create_user_files(location);
    let before = Snapshot::of(location);
    for interface in INTERFACES {
        let ended = interface.perform(work, test_dir);
        ended
            .code(refused(interface))
            .shows("not enough space on the file system of")
            .shows(&location.display().to_string())
            .shows("--no-space-check")
            .does_not_show("Creating");
        for word in words {
            ended.shows(word);
        }
        before.assert_kept(location, &ended);
    }
}

#[test]
fn run_without_space_for_its_bytes_is_refused() {
    if !FileSystem::Ext4.is_available() {
        return;
    }
    let test_dir = TestDir::new();
    let location = test_dir.directory("tmpfs");
    let _memory = Volume::in_memory(&location, "size=2m");
    let work = Work {
        files: 1_000,
        sizes: (3_000, 4_000),
        ..Work::small(&location)
    };
    has_no_room(&location, &test_dir, &work, &["iB at its peak"]);

    let location = test_dir.directory("ext4");
    let _disk = Volume::with_image(FileSystem::Ext4, &test_dir, &location, 16, &[]);
    let work = Work {
        files: 6_000,
        locations: vec![location.clone()],
        ..work
    };
    has_no_room(&location, &test_dir, &work, &["iB at its peak"]);
}

#[test]
fn run_without_space_for_its_inodes_is_refused() {
    if !FileSystem::Ext4.is_available() {
        return;
    }
    let test_dir = TestDir::new();
    let location = test_dir.directory("tmpfs");
    let _memory = Volume::in_memory(&location, "size=64m,nr_inodes=100");
    let work = Work {
        files: 200,
        ..Work::small(&location)
    };
    has_no_room(&location, &test_dir, &work, &["inodes at its peak"]);

    let location = test_dir.directory("ext4");
    let options = ["-N", "128", "-b", "1024"];
    let _disk = Volume::with_image(FileSystem::Ext4, &test_dir, &location, 16, &options);
    let work = Work {
        locations: vec![location.clone()],
        ..work
    };
    has_no_room(&location, &test_dir, &work, &["inodes at its peak"]);
}

#[test]
fn locations_on_one_file_system_share_its_free_space() {
    if !FileSystem::Tmpfs.is_available() {
        return;
    }
    let test_dir = TestDir::new();
    let point = test_dir.directory("tmpfs");
    let _memory = Volume::in_memory(&point, "size=4m");
    let locations = vec![
        test_dir.directory("tmpfs/one"),
        test_dir.directory("tmpfs/two"),
    ];
    set_age(&point, 1_000);
    let before = Snapshot::of(&point);
    for interface in INTERFACES {
        // The free space suffices for half of the files.
        let work = Work {
            files: 1_200,
            transactions: 10,
            sizes: (4_000, 4_000),
            locations: locations.clone(),
            ..Work::small(&point)
        };
        let ended = interface.perform(&work, &test_dir);
        ended.code(refused(interface)).shows("not enough space");
        before.assert_kept(&point, &ended);
    }
}

/// Options of growing pools that do not fit, each with a text of the error message. Not only the
/// files of the pool need inodes. A directory for deliveries contains two more directories. A
/// writer that replaces a file needs an inode for the new file while the old file exists.
const GROWING: &str = "
    --mix create=1 --for 3s --files 2000 --size 10 | inodes at its peak
    --mix create=1 --for 3s --files 400 --size 64KiB | iB at its peak
    --mix replace=1,deliver=1 --for 3s --files 10 --size 10 --dirs subdirs:200 | inodes at its peak
    --mix create=1,deliver=1 --for 3s --files 10 --size 10 --workers 4 --dirs tree:7x2
        | inodes at its peak
    --mix replace=1 --transactions 100 --files 380 --size 10 --writers 128 | inodes at its peak
";

/// If a pool grows until a time limit, its final size is not known in advance. The initial size
/// must fit.
#[test]
fn initial_size_of_a_growing_pool_must_fit() {
    if !FileSystem::Ext4.is_available() {
        return;
    }
    let test_dir = TestDir::new();
    let small = test_dir.directory("tmpfs");
    let _memory = Volume::in_memory(&small, "size=8m,nr_inodes=500");
    let disk = test_dir.directory("ext4");
    let _disk = Volume::with_image(FileSystem::Ext4, &test_dir, &disk, 16, &["-N", "512"]);
    for location in [&small, &disk] {
        for [words, told] in table(GROWING) {
            let before = Snapshot::of(location);
            let mut command = postmark("run --quiet");
            command.args(words.split(' ')).arg("--target").arg(location);
            let ended = Running::run_to_end(command, location);
            ended.ends("2 | not enough space on the file system of");
            ended.shows(told);
            before.assert_kept(location, &ended);
        }
    }
    // If the initial pool fits, the run continues until the file system is full.
    let mut command =
        postmark("run --quiet --no-overhead --mix create=1 --files 10 --for 20s --target");
    command.arg(&small);
    let ended = Running::run_to_end(command, &small);
    ended.code(1).shows("No space left on device");
}

/// There is not even space for the manifest of the run. The check for free space, which would
/// refuse the run earlier, is disabled.
#[test]
fn run_without_space_for_its_manifest_is_refused() {
    if !FileSystem::Tmpfs.is_available() {
        return;
    }
    for (options, filler_bytes) in [("size=64k", 1 << 20), ("size=64k,nr_inodes=14", 0)] {
        let test_dir = TestDir::new();
        let location = test_dir.directory("location");
        let _volume = Volume::in_memory(&location, options);
        create_user_files(&location);
        if filler_bytes > 0 {
            // This write fills the file system, and its error is expected.
            let _ = std::fs::write(location.join("filler"), vec![1; filler_bytes]);
        }
        set_age(&location, 1_000);
        let before = Snapshot::of(&location);
        for interface in INTERFACES {
            let work = Work {
                room_check: false,
                ..Work::small(&location)
            };
            let ended = interface.perform(&work, &test_dir);
            ended
                .code(refused(interface))
                .shows("No space left on device")
                .shows(&location.display().to_string());
            before.assert_kept(&location, &ended);
        }
    }
}

#[test]
fn read_only_file_system_is_refused() {
    for kind in [FileSystem::Tmpfs, FileSystem::Ext4, FileSystem::Xfs] {
        if !kind.is_available() {
            return;
        }
        let test_dir = TestDir::new();
        let location = test_dir.directory("location");
        let volume = Volume::new(kind, &test_dir, &location);
        create_user_files(&location);
        let before = Snapshot::of(&location);
        volume.make_read_only();
        for interface in INTERFACES {
            let ended = interface.perform(&Work::small(&location), &test_dir);
            ended
                .code(refused(interface))
                .shows("Read-only file system")
                .shows(&location.display().to_string())
                .does_not_show("Creating");
            before.assert_kept(&location, &ended);
        }
    }
}

#[test]
fn directory_without_permission_is_refused() {
    let Some(test_dir) = TestDir::rooted() else {
        return;
    };
    let program = program_for_all(&test_dir);
    let location = test_dir.directory("location");
    create_user_files(&location);
    // With these modes, other users can read the directory, write to it, only enter it, or not even
    // enter it.
    for mode in [0o755, 0o733, 0o711, 0o700] {
        set_mode(&location, mode);
        let before = Snapshot::of(&location);
        for interface in INTERFACES {
            let mut command = interface.command_of(&program, &Work::small(&location), &test_dir);
            command.uid(65_534).gid(65_534);
            let ended = Running::run_to_end(command, &location);
            ended
                .code(refused(interface))
                .shows("Permission denied")
                .shows(&location.display().to_string())
                .does_not_show("Creating");
            before.assert_kept(&location, &ended);
        }
    }
}

/// A user other than root can perform a run in a directory that this user owns. The times of the
/// directory are restored.
#[test]
fn unprivileged_user_can_run_in_a_directory_that_the_user_owns() {
    let Some(test_dir) = TestDir::rooted() else {
        return;
    };
    let program = program_for_all(&test_dir);
    let location = test_dir.directory("location");
    create_user_files(&location);
    std::os::unix::fs::chown(&location, Some(65_534), Some(65_534)).unwrap();
    let before = Snapshot::of(&location);
    for interface in INTERFACES {
        let mut command = interface.command_of(&program, &Work::small(&location), &test_dir);
        command.uid(65_534).gid(65_534);
        let ended = Running::run_to_end(command, &location);
        ended.code(0);
        before.assert_kept(&location, &ended);
    }
}

#[test]
fn location_that_is_no_directory_is_refused() {
    let test_dir = TestDir::new();
    let file = test_dir.path().join("file");
    write(&file, "mine\n", 0o600);
    let circle = test_dir.path().join("circle");
    std::os::unix::fs::symlink("circle", &circle).unwrap();
    for (location, words) in [
        (test_dir.path().join("nowhere"), "No such file or directory"),
        (file.clone(), "Not a directory"),
        (file.join("inner"), "Not a directory"),
        (circle, "Too many levels of symbolic links"),
    ] {
        for interface in INTERFACES {
            let ended = interface.perform(&Work::small(&location), &test_dir);
            ended
                .code(refused(interface))
                .shows(words)
                .shows(&location.display().to_string())
                .does_not_show("Creating");
        }
    }
    assert_eq!(std::fs::read(file).unwrap(), b"mine\n");
}

#[test]
fn first_location_is_unchanged_if_the_second_is_refused() {
    let test_dir = TestDir::new();
    let location = test_dir.directory("location");
    create_user_files(&location);
    let before = Snapshot::of(&location);
    for interface in INTERFACES {
        let nowhere = test_dir.path().join("nowhere");
        let work = Work {
            locations: vec![location.clone(), nowhere],
            ..Work::small(&location)
        };
        let ended = interface.perform(&work, &test_dir);
        ended.code(refused(interface)).shows("nowhere");
        before.assert_kept(&location, &ended);
    }
}
