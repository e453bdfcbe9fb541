//! The engine `uring`: its calls under strace, killed runs, pools that other engines reuse, and
//! reports of operations without requests.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use record::{Action, Phase};
use serde_json::Value;

use crate::original::strace;
use crate::runs::{Run, postmark};
use crate::support::interface::program;

const DEPTHS: [u32; 3] = [1, 8, 64];

/// Performs a run under strace; returns the calls of all threads.
fn traced(strace: &Path, at: &Path, options: &str) -> String {
    let log = at.with_extension("log");
    let status = Command::new(strace)
        .args(["-f", "-qq", "-o"])
        .arg(&log)
        .arg(program())
        .args(["run", "--quiet", "--target"])
        .arg(at)
        .args(options.split_whitespace())
        .output()
        .unwrap();
    assert!(status.status.success(), "{status:?}");
    std::fs::read_to_string(log).unwrap()
}

/// Splits a line of strace, such as `1234  openat(AT_FDCWD, ...`, into the name of the call and the
/// rest.
fn call(line: &str) -> Option<(&str, &str)> {
    let (_, call) = line.split_once(' ')?;
    call.trim_start().split_once('(')
}

#[test]
fn workers_make_no_calls_on_files_but_requests() {
    let Some(strace) = strace() else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path().join("at");
    for depth in DEPTHS {
        std::fs::create_dir(&at).unwrap();
        let calls = traced(
            strace,
            &at,
            &format!(
                "--engine uring --depth {depth} --files 50 --transactions 400 --no-check --mix \
                 create=2,read=3,append=1,delete=2,stat=1,rename=1,replace=1,deliver=1"
            ),
        );
        let mut enters = 0;
        for (name, rest) in calls.lines().filter_map(call) {
            enters += u32::from(name == "io_uring_enter");
            // Names of pool files are plain numbers, such as `"17"`.
            let is_pool = rest
                .split('"')
                .any(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()));
            let is_on_names = matches!(
                name,
                "openat" | "unlinkat" | "renameat2" | "newfstatat" | "statx" | "linkat"
            );
            assert!(!(is_pool && is_on_names), "depth {depth}: {name}({rest}");
        }
        assert!(
            enters > 10,
            "depth {depth}: {enters} calls of io_uring_enter"
        );
        assert_eq!(std::fs::read_dir(&at).unwrap().count(), 0);
        std::fs::remove_dir(&at).unwrap();
    }
}

#[test]
fn operations_without_requests_are_named_in_report_and_record() {
    let directory = tempfile::tempdir().unwrap();
    let options = "--engine uring --depth 8 --files 20 --transactions 200 --calls --mix \
                   create=1,read=1,list=1,set-attributes=1";
    let ran = Run::new(directory.path(), options).perform();
    ran.is_complete();
    let plain = &ran.record.plain_operations;
    assert!(
        plain.contains(&Action::List) && !plain.contains(&Action::Read),
        "{plain:?}"
    );
    let words = format!("run --full {options} --target");
    let words = words.split_whitespace().map(OsStr::new);
    let words: Vec<_> = words.chain([directory.path().as_os_str()]).collect();
    postmark(directory.path(), &words)
        .code(0)
        .shows("Plain calls")
        .shows("list (")
        .shows("system calls: those of ");
    let of_posix = Run::new(
        directory.path(),
        &options.replace("uring --depth 8", "posix"),
    );
    assert!(of_posix.perform().record.plain_operations.is_empty());
}

/// A pool does not depend on the I/O engine that created it, or on the queue depth.
#[test]
fn pool_of_one_engine_is_reused_and_verified_by_another() {
    let directory = tempfile::tempdir().unwrap();
    let mix = "--mix create=1,read=4,append=1,overwrite=1,delete=1 --files 100 --verify";
    let engines = ["uring --depth 8", "posix", "uring --depth 64", "uring"];
    let keep = Run::new(directory.path(), mix).and("--transactions 0 --keep");
    keep.and("--engine uring --depth 16").end().code(0);
    for engine in engines {
        let reuse = Run::new(directory.path(), mix).and("--transactions 300 --reuse --keep");
        reuse.and(&format!("--engine {engine}")).end().code(0);
    }
    postmark(
        directory.path(),
        &["clean".as_ref(), directory.path().as_ref()],
    )
    .code(0);
}

/// After SIGKILL, all acknowledged operations are in the file system, and `clean` removes the rest.
#[test]
fn acknowledged_operations_survive_a_kill_at_every_depth() {
    for (number, depth) in DEPTHS.into_iter().enumerate() {
        // The log must be on another file system than the target.
        let beside = tempfile::tempdir_in("/dev/shm").unwrap();
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let (at, log) = (directory.path().join("at"), beside.path().join("log"));
        std::fs::create_dir(&at).unwrap();
        let run = Run::new(
            &at,
            "--mix deliver=4,rename=2,delete=3,create=2,append=1 --files 200 --transactions \
             100000000 --no-space-check --dirs subdirs:3",
        );
        let run = run
            .and(&format!("--engine uring --depth {depth}"))
            .with("--ack-log", &log);
        let mut running = run.start();
        running.until("acknowledged operations", |_| {
            std::fs::metadata(&log).is_ok_and(|log| log.len() > 100_000)
        });
        std::thread::sleep(Duration::from_millis(37 * number as u64));
        running.kill();
        let verify = ["verify-log".as_ref(), at.as_os_str(), "--ack-log".as_ref()];
        let format = ["--format".as_ref(), "json".as_ref()];
        let verified = postmark(&at, &[&verify[..], &[log.as_os_str()], &format].concat());
        verified.code(0);
        let said: Value = serde_json::from_str(&verified.output).unwrap();
        verified.assert(
            said["checked"].as_u64() > Some(150),
            "too little was checked",
        );
        postmark(&at, &["clean".as_ref(), at.as_os_str()]).code(0);
        assert_eq!(std::fs::read_dir(&at).unwrap().count(), 0, "depth {depth}");
    }
}

/// Every durability policy syncs at every depth as with `posix`; the check of the record compares
/// the calls with the policy.
#[test]
fn durability_policies_are_performed_at_every_depth() {
    let directory = tempfile::tempdir().unwrap();
    for policy in [
        "fdatasync",
        "fsync+dir",
        "o-dsync",
        "o-sync",
        "batch:7",
        "deliver=fsync",
    ] {
        for depth in DEPTHS {
            let ran = Run::new(
                directory.path(),
                "--mix create=1,deliver=1,append=1,rename=1,truncate=1,delete=1 --files 20 \
                 --transactions 60 --calls --verify",
            )
            .and(&format!(
                "--engine uring --depth {depth} --durability {policy}"
            ))
            .perform();
            ran.is_complete().leaves_nothing();
            let done = ran.phase(Phase::Transactions).transactions.unwrap();
            ran.assert(done.count > 30, format_args!("{} were done", done.count));
        }
    }
}
