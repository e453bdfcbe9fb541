//! A file system that runs full in the middle of a run (the check for room is left out): the run
//! stops with the path, the operation and the system's error, what it did is marked as partial, and
//! what it made is removed.

use std::path::Path;

use crate::support::Engine::Posix;
use crate::support::Interface::Run;
use crate::support::interface::postmark;
use crate::support::running::in_shell;
use crate::support::test_dir::create_user_files;
use crate::support::{
    Ended, FileSystem, INTERFACES, Running, Snapshot, TestDir, Volume, Work, names,
};

fn stops(location: &Path, test_dir: &TestDir, work: &Work, operation: &str) {
    create_user_files(location);
    rustix::fs::syncfs(std::fs::File::open(location).unwrap()).unwrap();
    let before = Snapshot::of(location);
    let work = Work {
        room_check: false,
        ..work.clone()
    };
    for interface in INTERFACES {
        let ended = interface.perform(&work, test_dir);
        ended
            .code(1)
            .shows(&format!("cannot {operation} {}/", location.display()))
            .shows("No space left on device")
            .shows("the file system is full")
            .shows("PARTIAL")
            .does_not_show("seconds total")
            .does_not_show("not removed")
            .does_not_show("Left:");
        before.assert_kept(location, &ended);
    }
}

#[test]
fn no_more_blocks_for_new_files() {
    if !FileSystem::Ext4.is_available() {
        return;
    }
    let test_dir = TestDir::new();
    let location = test_dir.directory("tmpfs");
    let _memory = Volume::in_memory(&location, "size=2m");
    let work = Work {
        files: 2_000,
        sizes: (1_000, 20_000),
        ..Work::small(&location)
    };
    stops(&location, &test_dir, &work, "create");
    stops_again(&location, &test_dir, &work.in_subdirectories(10), "create");

    let location = test_dir.directory("ext4");
    let _disk = Volume::with_image(FileSystem::Ext4, &test_dir, &location, 16, &[]);
    let work = Work {
        files: 5_000,
        sizes: (1_000, 20_000),
        ..Work::small(&location)
    };
    stops(&location, &test_dir, &work, "create");
}

/// As [`stops`], in a location that is furnished already.
fn stops_again(location: &Path, test_dir: &TestDir, work: &Work, operation: &str) {
    let before = Snapshot::of(location);
    for interface in INTERFACES {
        let work = Work {
            room_check: false,
            ..work.clone()
        };
        let ended = interface.perform(&work, test_dir);
        ended.code(1).shows(&format!("cannot {operation} "));
        before.assert_kept(location, &ended);
    }
}

#[test]
fn no_more_inodes() {
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
    stops(&location, &test_dir, &work, "create");

    let location = test_dir.directory("ext4");
    let options = ["-N", "128", "-b", "1024"];
    let _disk = Volume::with_image(FileSystem::Ext4, &test_dir, &location, 16, &options);
    let work = Work {
        locations: vec![location.clone()],
        ..work
    };
    stops(&location, &test_dir, &work, "create");
}

/// Not even the subdirectories fit.
#[test]
fn no_more_inodes_for_subdirectories() {
    if !FileSystem::Tmpfs.is_available() {
        return;
    }
    let test_dir = TestDir::new();
    let location = test_dir.directory("location");
    let _volume = Volume::in_memory(&location, "size=64m,nr_inodes=60");
    let work = Work::small(&location).in_subdirectories(200);
    stops(&location, &test_dir, &work, "make directory");
}

/// The pool fits, and what is appended to it does not.
#[test]
fn no_more_blocks_for_appends() {
    if !FileSystem::Tmpfs.is_available() {
        return;
    }
    let test_dir = TestDir::new();
    let location = test_dir.directory("location");
    let _volume = Volume::in_memory(&location, "size=3m");
    // Two megabytes to begin with, and up to twice as much; nothing but appends in the
    // transactions.
    let work = Work {
        files: 40,
        transactions: 2_000,
        sizes: (1, 100_000),
        biases: (0, -1),
        ..Work::small(&location)
    };
    stops(&location, &test_dir, &work, "append to");
}

/// Commands that write an archive or a page meet the limit of sizes (ulimit -f) as an error, and
/// leave no part of a file.
#[test]
fn a_limit_of_file_sizes_of_archives_and_pages() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let archive = test_dir.path().join("archive.db");
    let page = test_dir.path().join("page.html");
    let command = |words: &str| {
        let mut command = postmark(words);
        command
            .env("POSTMARK_ARCHIVE", &archive)
            .current_dir(test_dir.path());
        command
    };
    let limited = |kib: u64, words: &str| {
        let mut command = in_shell(
            &format!("ulimit -f {} && exec \"$0\" \"$@\"", kib * 2),
            &command(words),
        );
        command.env("POSTMARK_ARCHIVE", &archive);
        Running::run_to_end(command, test_dir.path())
    };
    let run = format!(
        "run --quiet --no-overhead --files 20 --transactions 50 --target {}",
        location.display()
    );
    Running::run_to_end(command(&run), test_dir.path()).code(0);
    let bytes = std::fs::metadata(&archive).unwrap().len();
    limited(4, "report last -o page.html")
        .code(1)
        .shows("File too large");
    assert!(!page.exists(), "a part of a page is left");
    let long = format!("note last {}", "x".repeat(20_000));
    for words in ["tag last x", &long] {
        let ended = limited(4, words);
        // Refused or failed, and never ended by the signal.
        assert!(matches!(ended.status.code(), Some(1 | 2)), "{ended}");
        ended.assert(!ended.errors.is_empty(), "it says nothing");
    }
    // A run that finds no room for an archive says so, and is not lost.
    let ended = limited(bytes / 1024, &run);
    assert!(ended.status.code().is_some(), "{ended}");
    ended.shows("archive");
    Running::run_to_end(command("list"), test_dir.path()).code(0);
    assert_eq!(names(&location).unwrap(), [] as [&str; 0]);
}

/// A limit of the process's own (ulimit -f) is an error like any other.
#[test]
fn a_limit_of_file_sizes() {
    let test_dir = TestDir::new();
    let location = test_dir.directory("location");
    create_user_files(&location);
    let before = Snapshot::of(&location);
    let work = Work {
        sizes: (1, 30_000),
        ..Work::small(&location)
    };
    for interface in INTERFACES {
        let command = in_shell(
            "ulimit -f 16 && exec \"$0\" \"$@\"",
            &interface.command(&work, &test_dir),
        );
        let ended = Running::run_to_end(command, &location);
        ended.ends("1 | File too large | ulimit -f | PARTIAL");
        before.assert_kept(&location, &ended);
    }
    // Whoever sent the report to a file learns from standard error that the run failed, and why.
    let report = test_dir.directory("reports").join("report.txt");
    let mut command = in_shell(
        "ulimit -f 16 && exec \"$0\" \"$@\"",
        &Run(Posix).command(&work, &test_dir),
    );
    command.arg("--output").arg(&report);
    let ended = Running::run_to_end(command, &location);
    ended.code(1);
    let said = ended.errors.as_str();
    for word in ["the run failed", "File too large", "report.txt"] {
        assert!(said.contains(word), "{word}\n{ended}");
    }
    assert!(
        std::fs::read_to_string(&report)
            .unwrap()
            .contains("PARTIAL"),
        "{ended}"
    );
}

/// No byte is counted that was not written, and every file that was made is counted.
#[test]
fn the_record_tells_what_was_done() {
    if !FileSystem::Tmpfs.is_available() {
        return;
    }
    let test_dir = TestDir::new();
    let location = test_dir.directory("location");
    let _volume = Volume::in_memory(&location, "size=2m");
    let work = Work {
        files: 2_000,
        sizes: (4_000, 4_000),
        room_check: false,
        ..Work::small(&location)
    };
    let mut command = Run(Posix).command(&work, &test_dir);
    command.args(["--format", "json"]);
    let ended: Ended = Running::run_to_end(command, &location);
    ended.code(1);
    let record: serde_json::Value = serde_json::from_str(&ended.output).unwrap();
    let actual = &record["record"]["actual"];
    let phases = actual["phases"].as_array().unwrap();
    assert_eq!(phases.len(), 1, "{ended}");
    assert_eq!(phases[0]["complete"], false);
    let meter = &phases[0]["segments"][0]["operations"][0]["meter"];
    let created = meter["operations"].as_u64().unwrap();
    // 512 pages, of which the manifest has one.
    assert!((480..512).contains(&created), "{created} files\n{ended}");
    assert_eq!(meter["bytes"], created * 4_000, "{ended}");
    assert_eq!(meter["failed"], 1, "{ended}");
    let error = &actual["errors"][0];
    assert_eq!(error["operation"], "create");
    assert_eq!(error["step"], "write");
    assert_eq!(error["errno"]["known"], 28);
    assert_eq!(error["count"], 1);
    // The one that failed was there, too.
    assert_eq!(actual["clean_up"]["files"], created + 1, "{ended}");
    assert_eq!(actual["clean_up"]["left"], serde_json::json!([]));
}
