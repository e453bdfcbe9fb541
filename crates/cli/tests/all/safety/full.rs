//! A file system that runs full in the middle of a run (the check for room is left out): the run
//! stops with the path, the operation and the system's error, what it did is marked as partial, and
//! what it made is removed.

use std::path::Path;

use crate::support::Engine::Posix;
use crate::support::Face::Run;
use crate::support::faces::postmark;
use crate::support::running::in_shell;
use crate::support::scene::furnish;
use crate::support::{Ended, FACES, FileSystem, Running, Scene, Snapshot, Volume, Work, names};

fn stops(location: &Path, scene: &Scene, work: &Work, operation: &str) {
    furnish(location);
    rustix::fs::syncfs(std::fs::File::open(location).unwrap()).unwrap();
    let before = Snapshot::of(location);
    let work = Work {
        room_check: false,
        ..work.clone()
    };
    for face in FACES {
        let ended = face.perform(&work, scene);
        ended
            .code(1)
            .says(&format!("cannot {operation} {}/", location.display()))
            .says("No space left on device")
            .says("the file system is full")
            .says("PARTIAL")
            .does_not_say("seconds total")
            .does_not_say("not removed")
            .does_not_say("Left:");
        before.assert_kept(location, &ended);
    }
}

#[test]
fn no_more_blocks_for_new_files() {
    if !FileSystem::Ext4.is_at_hand() {
        return;
    }
    let scene = Scene::new();
    let location = scene.directory("tmpfs");
    let _memory = Volume::in_memory(&location, "size=2m");
    let work = Work {
        files: 2_000,
        sizes: (1_000, 20_000),
        ..Work::little(&location)
    };
    stops(&location, &scene, &work, "create");
    stops_again(&location, &scene, &work.in_subdirectories(10), "create");

    let location = scene.directory("ext4");
    let _disk = Volume::with_image(FileSystem::Ext4, &scene, &location, 16, &[]);
    let work = Work {
        files: 5_000,
        sizes: (1_000, 20_000),
        ..Work::little(&location)
    };
    stops(&location, &scene, &work, "create");
}

/// As [`stops`], in a location that is furnished already.
fn stops_again(location: &Path, scene: &Scene, work: &Work, operation: &str) {
    let before = Snapshot::of(location);
    for face in FACES {
        let work = Work {
            room_check: false,
            ..work.clone()
        };
        let ended = face.perform(&work, scene);
        ended.code(1).says(&format!("cannot {operation} "));
        before.assert_kept(location, &ended);
    }
}

#[test]
fn no_more_inodes() {
    if !FileSystem::Ext4.is_at_hand() {
        return;
    }
    let scene = Scene::new();
    let location = scene.directory("tmpfs");
    let _memory = Volume::in_memory(&location, "size=64m,nr_inodes=100");
    let work = Work {
        files: 200,
        ..Work::little(&location)
    };
    stops(&location, &scene, &work, "create");

    let location = scene.directory("ext4");
    let options = ["-N", "128", "-b", "1024"];
    let _disk = Volume::with_image(FileSystem::Ext4, &scene, &location, 16, &options);
    let work = Work {
        locations: vec![location.clone()],
        ..work
    };
    stops(&location, &scene, &work, "create");
}

/// Not even the subdirectories fit.
#[test]
fn no_more_inodes_for_subdirectories() {
    if !FileSystem::Tmpfs.is_at_hand() {
        return;
    }
    let scene = Scene::new();
    let location = scene.directory("location");
    let _volume = Volume::in_memory(&location, "size=64m,nr_inodes=60");
    let work = Work::little(&location).in_subdirectories(200);
    stops(&location, &scene, &work, "make directory");
}

/// The pool fits, and what is appended to it does not.
#[test]
fn no_more_blocks_for_appends() {
    if !FileSystem::Tmpfs.is_at_hand() {
        return;
    }
    let scene = Scene::new();
    let location = scene.directory("location");
    let _volume = Volume::in_memory(&location, "size=3m");
    // Two megabytes to begin with, and up to twice as much; nothing but appends in the
    // transactions.
    let work = Work {
        files: 40,
        transactions: 2_000,
        sizes: (1, 100_000),
        biases: (0, -1),
        ..Work::little(&location)
    };
    stops(&location, &scene, &work, "append to");
}

/// Commands that write an archive or a page meet the limit of sizes (ulimit -f) as an error, and
/// leave no part of a file.
#[test]
fn a_limit_of_file_sizes_of_archives_and_pages() {
    let scene = Scene::in_memory();
    let location = scene.directory("location");
    let archive = scene.path().join("archive.db");
    let page = scene.path().join("page.html");
    let command = |words: &str| {
        let mut command = postmark(words);
        command
            .env("POSTMARK_ARCHIVE", &archive)
            .current_dir(scene.path());
        command
    };
    let limited = |kib: u64, words: &str| {
        let mut command = in_shell(
            &format!("ulimit -f {} && exec \"$0\" \"$@\"", kib * 2),
            &command(words),
        );
        command.env("POSTMARK_ARCHIVE", &archive);
        Running::to_its_end(command, scene.path())
    };
    let run = format!(
        "run --quiet --no-overhead --files 20 --transactions 50 --target {}",
        location.display()
    );
    Running::to_its_end(command(&run), scene.path()).code(0);
    let bytes = std::fs::metadata(&archive).unwrap().len();
    limited(4, "report last -o page.html")
        .code(1)
        .says("File too large");
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
    ended.says("archive");
    Running::to_its_end(command("list"), scene.path()).code(0);
    assert_eq!(names(&location).unwrap(), [] as [&str; 0]);
}

/// A limit of the process's own (ulimit -f) is an error like any other.
#[test]
fn a_limit_of_file_sizes() {
    let scene = Scene::new();
    let location = scene.directory("location");
    furnish(&location);
    let before = Snapshot::of(&location);
    let work = Work {
        sizes: (1, 30_000),
        ..Work::little(&location)
    };
    for face in FACES {
        let command = in_shell(
            "ulimit -f 16 && exec \"$0\" \"$@\"",
            &face.command(&work, &scene),
        );
        let ended = Running::to_its_end(command, &location);
        ended.ends("1 | File too large | ulimit -f | PARTIAL");
        before.assert_kept(&location, &ended);
    }
    // Whoever sent the report to a file learns from standard error that the run failed, and why.
    let report = scene.directory("reports").join("report.txt");
    let mut command = in_shell(
        "ulimit -f 16 && exec \"$0\" \"$@\"",
        &Run(Posix).command(&work, &scene),
    );
    command.arg("--output").arg(&report);
    let ended = Running::to_its_end(command, &location);
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
    if !FileSystem::Tmpfs.is_at_hand() {
        return;
    }
    let scene = Scene::new();
    let location = scene.directory("location");
    let _volume = Volume::in_memory(&location, "size=2m");
    let work = Work {
        files: 2_000,
        sizes: (4_000, 4_000),
        room_check: false,
        ..Work::little(&location)
    };
    let mut command = Run(Posix).command(&work, &scene);
    command.args(["--format", "json"]);
    let ended: Ended = Running::to_its_end(command, &location);
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
