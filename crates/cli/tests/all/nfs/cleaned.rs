//! Killed runs on an NFS server. `clean` removes only the files of the run, and `verify-log` finds
//! all acknowledged files.

use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;

use super::ganesha::Ganesha;
use super::{about, start, text};
use crate::support::interface::{has_ended, own_directories};
use crate::support::test_dir::create_user_files;
use crate::support::{Running, Snapshot, files_below, wait_until_unchanged};

const LONG: &str = "--mix create=2,delete=2,append=1,rename=1,link=1,symlink=1 --dirs subdirs:3 \
                    --transactions 100000000 --no-space-check";

/// Starts a run, and waits until the run is in the middle of a phase. If `phase` is given, this is
/// 200 ms after that phase has ended. Otherwise, it is when the run has created more than ten
/// files.
fn in_the_middle(ganesha: &Ganesha, options: &str, phase: Option<&str>) -> Running {
    let mut running = start(ganesha, &ganesha.url("export"), options);
    running.until("that it works", |running| match phase {
        Some(phase) => has_ended(&running.errors(), phase),
        None => own_directories(&ganesha.served("export"))
            .iter()
            .any(|own| crate::support::names(&own.join("s0")).is_ok_and(|names| names.len() > 10)),
    });
    std::thread::sleep(std::time::Duration::from_millis(200));
    running
}

#[test]
fn clean_removes_only_files_of_a_killed_run() {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    let export = ganesha.served("export");
    create_user_files(&export);
    let before = Snapshot::of(&export);
    for (options, phase) in [
        ("--files 20000 --depth 1", None),
        ("--files 400 --depth 8", Some("prepare")),
        (
            "--files 400 --depth 8 --workers 2 --durability fsync",
            Some("prepare"),
        ),
    ] {
        let killed = in_the_middle(&ganesha, &format!("{LONG} {options}"), phase).kill();
        killed.signal(Signal::KILL.as_raw());
        wait_until_unchanged(|| files_below(&export));
        killed.assert(before != Snapshot::of(&export), "nothing was left");
        // Another user creates a file in the run directory.
        let own = own_directories(&export).remove(0);
        std::fs::write(own.join("notes.txt"), "mine\n").unwrap();
        let url = ganesha.url("export");
        let cleaned = about(&ganesha, &["clean", &url]);
        cleaned.code(1).shows("it contains files");
        assert_eq!(
            std::fs::read_to_string(own.join("notes.txt")).unwrap(),
            "mine\n"
        );
        std::fs::remove_file(own.join("notes.txt")).unwrap();
        let cleaned = about(&ganesha, &["clean", &url]);
        cleaned.code(0);
        before.assert_kept_but_for_directories(&export, &format!("{killed}\n{cleaned}"));
    }
    about(&ganesha, &["clean", &ganesha.url("export")])
        .code(0)
        .shows("no files of a killed run");
}

/// A run that ends normally removes its heartbeat files on the client machine.
#[test]
fn complete_run_leaves_no_heartbeat_files() {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    let mut running = in_the_middle(
        &ganesha,
        "--mix read=1 --files 50 --for 1s --warm-up 0s",
        Some("prepare"),
    );
    let process = format!("-{}-", running.worker());
    let heartbeats = || {
        let names = crate::support::names(std::path::Path::new("/dev/shm"))
            .unwrap()
            .into_iter();
        names
            .filter(|name| name.to_string_lossy().contains(&process))
            .count()
    };
    assert_eq!(heartbeats(), 1, "the run gives no signs of life");
    running.until("its removal", |running| {
        has_ended(&running.errors(), "delete")
    });
    let ended = running.finish();
    ended
        .code(0)
        .assert(heartbeats() == 0, "signs of life are left");
}

#[test]
fn clean_refuses_a_run_in_progress() {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    let mut running = in_the_middle(&ganesha, &format!("{LONG} --files 400"), Some("prepare"));
    let cleaned = about(&ganesha, &["clean", &ganesha.url("export")]);
    assert!(running.status().is_none(), "the run has ended\n{cleaned}");
    cleaned.assert(
        !own_directories(&ganesha.served("export")).is_empty(),
        "a run was cleaned that works",
    );
    running.kill();
    wait_until_unchanged(|| files_below(&ganesha.served("export")));
    about(&ganesha, &["clean", &ganesha.url("export")]).code(0);
}

/// After a client was killed, all acknowledged operations must be on the server.
#[test]
fn verify_log_finds_acknowledged_operations() {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    let ack_log = ganesha.test_dir().path().join("ack_log");
    for (round, options) in [
        "--durability fsync --depth 8",
        "--depth 1 --durability o-dsync",
    ]
    .into_iter()
    .enumerate()
    {
        let options = format!(
            "--mix deliver=4,rename=2,delete=3,create=2 --files 200 --transactions 100000000 \
             --no-space-check {options} --ack-log {}",
            text(&ack_log)
        );
        let running = in_the_middle(&ganesha, &options, Some("prepare"));
        // In this time the run creates files besides the pool. One second might not suffice,
        // because this server sometimes needs a second for a RENAME.
        std::thread::sleep(std::time::Duration::from_secs(2));
        running.kill();
        wait_until_unchanged(|| files_below(&ganesha.served("export")));
        let url = ganesha.url("export");
        let verify = [
            "verify-log",
            &url,
            "--ack-log",
            text(&ack_log),
            "--format",
            "json",
        ];
        let verified = about(&ganesha, &verify);
        verified.code(0);
        let said: Value = serde_json::from_str(&verified.output).unwrap();
        verified.assert(
            said["checked"].as_u64() > Some(150),
            "too little was checked",
        );
        let acknowledged = said["acknowledged"].as_object().unwrap().values();
        let acknowledged: u64 = acknowledged.filter_map(Value::as_u64).sum();
        verified.assert(acknowledged > 200, "nothing but the pool was acknowledged");
        if round == 0 {
            let damaged = damage(&ganesha);
            let verified = about(&ganesha, &verify);
            verified.code(1);
            let said: Value = serde_json::from_str(&verified.output).unwrap();
            let lost = said["lost_counts"].as_array().unwrap().iter();
            let lost: u64 = lost.map(|count| count["count"].as_u64().unwrap()).sum();
            verified.assert(lost == 2, "two files were damaged");
            // `clean` would not remove the damaged files, because their contents no longer match
            // those of the run.
            damaged
                .iter()
                .for_each(|path| std::fs::remove_file(path).unwrap());
        }
        about(&ganesha, &["clean", &url]).code(0);
        std::fs::remove_file(&ack_log).unwrap();
    }
    assert!(ganesha.names().is_empty(), "{:?} is left", ganesha.names());
}

/// Truncates one file of the run, and flips a bit in another file. The writes of both files were
/// acknowledged long before. Returns the paths of the two files.
fn damage(ganesha: &Ganesha) -> [PathBuf; 2] {
    let own = own_directories(&ganesha.served("export")).remove(0);
    let mut files = Vec::new();
    for folder in [own.clone(), own.join("new")] {
        let names = crate::support::names(&folder)
            .unwrap_or_default()
            .into_iter();
        files.extend(names.map(|name| folder.join(name)));
    }
    let mut large = files
        .into_iter()
        .filter(|path| path.is_file() && std::fs::metadata(path).unwrap().len() > 1_000);
    let damaged = [large.next().unwrap(), large.next().unwrap()];
    let [one, other] = &damaged;
    std::fs::OpenOptions::new()
        .write(true)
        .open(one)
        .unwrap()
        .set_len(7)
        .unwrap();
    let mut bytes = std::fs::read(other).unwrap();
    bytes[500] ^= 1;
    // The file is changed in place, because a new file would not belong to the run.
    use std::os::unix::fs::FileExt as _;
    std::fs::OpenOptions::new()
        .write(true)
        .open(other)
        .unwrap()
        .write_all_at(&bytes, 0)
        .unwrap();
    damaged
}
