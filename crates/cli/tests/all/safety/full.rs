//! The file system becomes full during a run whose check for free space is disabled. The run ends
//! with a message that contains path, operation and error. Its result is marked as partial, and its
//! files are removed.

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
fn lack_of_blocks_for_new_files_ends_the_run() {
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

/// Asserts that runs of every interface end with an error of `operation`. The location already
/// contains files of the user, which must stay unchanged.
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
fn lack_of_inodes_for_new_files_ends_the_run() {
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

#[test]
fn lack_of_inodes_for_subdirectories_ends_the_run() {
    if !FileSystem::Tmpfs.is_available() {
        return;
    }
    let test_dir = TestDir::new();
    let location = test_dir.directory("location");
    let _volume = Volume::in_memory(&location, "size=64m,nr_inodes=60");
    let work = Work::small(&location).in_subdirectories(200);
    stops(&location, &test_dir, &work, "make directory");
}

/// The file system has space for the pool, but not for the appends.
#[test]
fn lack_of_blocks_for_appends_ends_the_run() {
    if !FileSystem::Tmpfs.is_available() {
        return;
    }
    let test_dir = TestDir::new();
    let location = test_dir.directory("location");
    let _volume = Volume::in_memory(&location, "size=3m");
    // The pool has 2 MB, and would grow to twice this size. All transactions are appends.
    let work = Work {
        files: 40,
        transactions: 2_000,
        sizes: (1, 100_000),
        biases: (0, -1),
        ..Work::small(&location)
    };
    stops(&location, &test_dir, &work, "append to");
}

/// If the file size limit (ulimit -f) is too small for an archive or a page, the command reports an
/// error. It leaves no partial file.
#[test]
fn archive_or_page_above_the_file_size_limit_is_an_error() {
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
        // The command must end with an error, and not be ended by a signal.
        assert!(matches!(ended.status.code(), Some(1 | 2)), "{ended}");
        ended.assert(!ended.errors.is_empty(), "it says nothing");
    }
    // If the archive cannot be written, the run reports that, and its results are not lost.
    let ended = limited(bytes / 1024, &run);
    assert!(ended.status.code().is_some(), "{ended}");
    ended.shows("archive");
    Running::run_to_end(command("list"), test_dir.path()).code(0);
    assert_eq!(names(&location).unwrap(), [] as [&str; 0]);
}

/// A file above the file size limit (ulimit -f) is reported as a write error. The signal SIGXFSZ
/// does not end the program.
#[test]
fn run_reports_a_file_above_the_size_limit_as_a_write_error() {
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
    // If the report is written to a file, the reason of the failure is also printed to standard
    // error.
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

/// If writing a new file fails, the record counts the creation as failed, and counts no bytes for
/// it.
#[test]
fn record_counts_only_completed_writes() {
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
    // The file system of 2 MiB has 512 pages, and the manifest uses one.
    assert!((480..512).contains(&created), "{created} files\n{ended}");
    assert_eq!(meter["bytes"], created * 4_000, "{ended}");
    assert_eq!(meter["failed"], 1, "{ended}");
    let error = &actual["errors"][0];
    assert_eq!(error["operation"], "create");
    assert_eq!(error["step"], "write");
    assert_eq!(error["errno"]["known"], 28);
    assert_eq!(error["count"], 1);
    // `clean_up` also counts the file whose write failed, because it had been created.
    assert_eq!(actual["clean_up"]["files"], created + 1, "{ended}");
    assert_eq!(actual["clean_up"]["left"], serde_json::json!([]));
}
