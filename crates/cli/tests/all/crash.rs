//! `postmark crash`: rounds find what a crash loses, end in a known state, and can be continued.

use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::original::{directory, ours};
use crate::support::interface::own_directories;
use crate::support::{Ended, Running, names};

mod device;
mod forget;
mod piped;
mod servers;
mod survivors;

/// A target, and a directory on another file system for the acknowledgement logs.
struct Place {
    target: TempDir,
    beside: TempDir,
}

impl Place {
    fn new() -> Self {
        Self {
            target: directory(),
            beside: tempfile::tempdir().unwrap(),
        }
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.beside.path().join(name)
    }

    /// A small workload with operations on names.
    fn command(&self, words: &[&str]) -> Command {
        self.command_with("create=3,deliver=3,rename=2,delete=2", words)
    }

    fn command_with(&self, mix: &str, words: &[&str]) -> Command {
        let mut command = Running::command(ours());
        command
            .args(["crash", "--files", "40", "--mix", mix])
            .arg("--target")
            .arg(self.target.path())
            .arg("--ack-log")
            .arg(self.beside("ack"))
            .args(words);
        command
    }

    /// Performs rounds whose crash times are short.
    fn crash(&self, words: &[&str]) -> Ended {
        let mut command = self.command(words);
        command.args(["--crash-within", "100ms"]);
        Running::run_to_end(command, self.target.path())
    }

    fn resume(&self, words: &[&str]) -> Ended {
        let mut command = Running::command(ours());
        command
            .args(["crash", "--resume"])
            .arg(self.beside("ack.rounds"))
            .args(words);
        Running::run_to_end(command, self.target.path())
    }

    /// A script that the commands --crash and --restore can name. It can be changed between rounds.
    fn script(&self, name: &str, text: &str) -> String {
        let path = self.beside(name);
        std::fs::write(&path, text).unwrap();
        format!("sh {}", path.display())
    }

    fn nothing_remains_on_the_target(&self) {
        assert_eq!(names(self.target.path()).unwrap(), [""; 0]);
    }

    fn only_the_state_remains(&self) {
        self.nothing_remains_on_the_target();
        assert_eq!(names(self.beside.path()).unwrap(), ["ack.rounds"]);
    }
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.output).unwrap_or_else(|error| panic!("{error}\n{ended}"))
}

#[test]
fn killed_runs_lose_nothing_and_show_nothing_about_durability() {
    let place = Place::new();
    let ended = place.crash(&["--rounds", "3"]);
    ended.ends("0 | No loss in 3 rounds | round 3 of 3 | show nothing about durability");
    ended.does_not_show("95 %");
    place.only_the_state_remains();
    let again = place.resume(&["--format", "json"]);
    let report = json(again.code(0));
    assert_eq!(report["crashes"], 3);
    assert_eq!(report["loss_share_max"], Value::Null);
    assert_eq!(report["crashes_system"], false);
}

#[test]
fn rounds_without_a_loss_have_a_bound() {
    let place = Place::new();
    let ended = place.crash(&["--rounds", "2", "--crash", "true", "--quiet"]);
    ended.ends("0 | No loss in 2 rounds: fewer than 77.6 % of crashes lose");
    ended.does_not_show("round 2 of 2");
    place.only_the_state_remains();
}

#[test]
fn lost_torn_and_resurrected_files_are_found_with_their_history() {
    let place = Place::new();
    // The script damages the files of the round as a crash of a bad file system might: it removes a
    // file, appends to another one, and creates one that the log does not mention.
    let crash = place.script(
        "damage",
        "cd \"$POSTMARK_TARGET\"/postmark-* || exit 1\n\
         set -- $(find . -type f -path '*/new/*' | sort)\n\
         rm \"$1\"; echo more >> \"$2\"; : > alien\n",
    );
    let restore = "rm -f \"$POSTMARK_TARGET\"/none";
    let words = ["--rounds", "1", "--crash", &crash, "--restore", restore];
    let ended = place.crash(&[&words[..], &["--durability", "fsync+dir"]].concat());
    ended.ends("1 | LOST: 1 of 1 round | First missing | First wrong size | acknowledged");
    ended.shows("Foreign: 1 file").shows("is kept");
    assert!(place.beside("ack.1").exists());
    let report = json(place.resume(&["--format", "json"]).code(1));
    let sum = |count: &str| -> u64 {
        let operations = report["operations"].as_array().unwrap().iter();
        operations.map(|of| of[count].as_u64().unwrap()).sum()
    };
    assert_eq!((sum("lost"), sum("torn"), sum("resurrected")), (1, 1, 0));
    for example in report["examples"].as_array().unwrap() {
        let history = example["history"].as_array().unwrap();
        // An operation in flight may be the last one.
        let is_acknowledged = |entry: &Value| entry.as_str().unwrap().ends_with("acknowledged");
        assert!(history.iter().any(is_acknowledged), "{history:?}");
    }
}

#[test]
fn removed_run_directory_is_a_loss() {
    let place = Place::new();
    let crash = "rm -r \"$POSTMARK_TARGET\"/postmark-*";
    let ended = place.crash(&["--rounds", "2", "--crash", crash]);
    ended.ends("1 | LOST: 2 of 2 rounds | cannot find the run directory");
    place.nothing_remains_on_the_target();
}

#[test]
fn failing_commands_are_named_and_the_rounds_continue_when_they_are_corrected() {
    let place = Place::new();
    let crash = place.script("crash", "echo no device; exit 3\n");
    let restore = place.script("restore", "echo waiting; sleep 1000\n");
    let words = ["--rounds", "2", "--crash", &crash, "--restore", &restore];
    let ended = place.crash(&[&words[..], &["--restore-timeout", "300ms"]].concat());
    ended.ends("1 | --crash failed in round 1 | exit status: 3: no device | --resume");
    place.nothing_remains_on_the_target();

    place.script("crash", "true\n");
    // The crash of the failed round may have happened, so the target is restored first.
    let ended = place.resume(&[]);
    ended.ends("1 | --restore failed in round 1 | did not end within 0.3 s: waiting");
    place.script("restore", "true\n");
    let ended = place.resume(&[]);
    ended.ends("0 | No loss in 2 rounds");
    place.nothing_remains_on_the_target();
}

#[test]
fn interrupted_and_killed_rounds_continue() {
    let place = Place::new();
    let words = ["--rounds", "3", "--crash", "true", "--seed", "7"];
    let long = [&words[..], &["--crash-within", "300h"]].concat();
    let start = || {
        let mut running = Running::start(place.command(&long), place.target.path());
        running.until("that the run works", |_| {
            std::fs::metadata(place.beside("ack.1")).is_ok_and(|log| log.len() > 20_000)
        });
        running
    };
    let running = start();
    running.send(Signal::INT);
    let ended = running.finish();
    ended.ends("130 | interrupted after 0 of 3 rounds | --resume");
    place.nothing_remains_on_the_target();
    names(place.beside.path())
        .unwrap()
        .iter()
        .for_each(|name| std::fs::remove_file(place.beside.path().join(name)).unwrap());

    start().kill().signal(9);
    assert_eq!(own_directories(place.target.path()).len(), 1);
    // The state file is text, so that the test can shorten the time until the crash.
    let state = place.beside("ack.rounds");
    let text = std::fs::read_to_string(&state).unwrap();
    let (before, behind) = text.split_once("\"within_ns\":").unwrap();
    let (_, behind) = behind.split_once(',').unwrap();
    std::fs::write(
        &state,
        format!("{before}\"within_ns\":1000000,{behind}{{\"round\":{{\"ro"),
    )
    .unwrap();
    place.resume(&[]).ends("0 | No loss in 3 rounds");
    place.only_the_state_remains();
}

#[test]
fn full_log_ends_the_rounds_with_its_reason() {
    let place = Place::new();
    let command = place.command(&["--rounds", "2", "--crash-within", "300h"]);
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -f 32; exec \"$0\" \"$@\""])
        .arg(command.get_program())
        .args(command.get_args())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let ended = Running::run_to_end(limited, place.target.path());
    ended.ends("1 | the run of round 1 failed before its crash");
    place.nothing_remains_on_the_target();
}

#[test]
fn wrong_input_is_refused_before_anything_is_touched() {
    let place = Place::new();
    for (words, told) in [
        (&["--keep"][..], "--keep"),
        (&["--kill-server", "pid"], "--restore"),
        (
            &["--rounds", "0"],
            "expected a whole number from 1 to 1000000",
        ),
        (&["--engine", "null"], "null"),
        (&["--resume", "x"], "--resume"),
        (
            &["--aim", "rename", "--crash", "true"],
            "needs --crash forget",
        ),
        (
            &["--crash", "forget:none"],
            "no bug 'none' (use no-directory-sync",
        ),
        (
            &["--crash", "forget", "--restore", "true"],
            "remove --restore",
        ),
        (&["--crash", "flakey:../x"], "no name of a device"),
        (
            &["--crash", "write-log:x"],
            "--crash write-log:x is neither a way to crash nor a command",
        ),
        (&["--crash", "flakey"], "flakey:NAME"),
        (
            &["--survivors", "continue", "--on-error", "5"],
            "(use --on-error stop)",
        ),
        (
            &["--survivors", "continue", "--writers", "2"],
            "the state of a shared pool",
        ),
    ] {
        place.crash(words).code(2).shows(told);
    }
    let mut on_target = Running::command(ours());
    on_target
        .args(["crash", "--ack-log", "ack", "--target", "."])
        .current_dir(place.target.path());
    Running::run_to_end(on_target, place.target.path()).ends("2 | same file system as the target");
    std::fs::write(place.beside("other.rounds"), "{}\n").unwrap();
    let mut foreign = Running::command(ours());
    foreign
        .args(["crash", "--resume"])
        .arg(place.beside("other.rounds"));
    Running::run_to_end(foreign, place.target.path()).ends("2 | cannot use the state file");
    std::fs::write(place.beside("ack.toml"), "").unwrap();
    place.crash(&["--rounds", "1"]).ends("2 | ack.toml exists");
    place.nothing_remains_on_the_target();
}

#[test]
fn killed_server_is_named_by_its_file() {
    let place = Place::new();
    let file = place.beside("pid");
    // The server of this test is a process that only sleeps: the target does not depend on it.
    let restore = format!("sleep 1000 >/dev/null 2>&1 & echo $! > {}", file.display());
    let first = Command::new("sh").args(["-c", &restore]).status().unwrap();
    assert!(first.success());
    let words = ["--rounds", "2", "--kill-server", file.to_str().unwrap()];
    let ended = place.crash(&[&words[..], &["--restore", &restore]].concat());
    ended.ends("0 | No loss in 2 rounds: fewer than 77.6 % | kill of the server of");
    kill(&file);
    std::fs::remove_file(place.beside("ack.rounds")).unwrap();
    std::fs::write(&file, "none\n").unwrap();
    let ended = place.crash(&[&words[..], &["--restore", "true"]].concat());
    ended.ends("1 | does not contain a process number");
    place.nothing_remains_on_the_target();
}

/// Kills the process whose number is in a file.
fn kill(file: &Path) {
    let number: i32 = std::fs::read_to_string(file)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let process = rustix::process::Pid::from_raw(number).unwrap();
    rustix::process::kill_process(process, Signal::KILL).unwrap();
}
