//! `run --ack-log -`: the log goes through a pipe, and nothing else goes to standard output.

use std::process::Stdio;

use super::Place;
use crate::original::ours;
use crate::support::Running;

/// A run whose log another program writes to a file.
fn piped(place: &Place, words: &str) -> Running {
    let mut shell = Running::command(std::path::Path::new("sh"));
    let target = place.target.path().display();
    shell
        .arg("-c")
        .arg(format!(
            "exec \"$0\" run --ack-log - --files 40 --mix create=3,rename=2,delete=2 \
             --durability fsync --target {target} {words} > \"$1\""
        ))
        .arg(ours())
        .arg(place.beside("pipe"));
    let made = std::process::Command::new("mkfifo")
        .arg(place.beside("pipe"))
        .status();
    assert!(made.unwrap().success());
    Running::start(shell, place.target.path())
}

fn reader(place: &Place) -> std::process::Child {
    std::process::Command::new("cat")
        .arg(place.beside("pipe"))
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(place.beside("log")).unwrap())
        .spawn()
        .unwrap()
}

fn verify(place: &Place) -> crate::support::Ended {
    let mut command = Running::command(ours());
    command.arg("verify-log").arg(place.target.path());
    command.arg("--ack-log").arg(place.beside("log"));
    Running::run_to_end(command, place.target.path())
}

#[test]
fn log_in_a_pipe_is_complete_and_the_report_goes_to_standard_error() {
    let place = Place::new();
    let run = piped(&place, "--transactions 100 --keep");
    let mut log = reader(&place);
    let ended = run.finish();
    assert!(log.wait().unwrap().success());
    ended.code(0);
    let is_report = |text: &str| text.contains("PostMark ") && text.contains("transactions");
    assert!(is_report(&ended.errors), "{ended}");
    let text = std::fs::read_to_string(place.beside("log")).unwrap();
    let is_line = |line: &str| line.as_bytes().get(16) == Some(&b' ');
    assert!(text.lines().all(is_line), "something else is in the log");
    verify(&place).code(0);
}

#[test]
fn log_in_a_pipe_survives_a_kill_of_the_run() {
    let place = Place::new();
    let mut run = piped(&place, "--for 10m");
    let mut log = reader(&place);
    run.until("that the run works", |_| {
        std::fs::metadata(place.beside("log")).is_ok_and(|log| log.len() > 20_000)
    });
    run.kill().signal(9);
    assert!(log.wait().unwrap().success());
    verify(&place).code(0).shows("No loss");
    crate::support::interface::clean(place.target.path()).code(0);
    place.nothing_remains_on_the_target();
}

#[test]
fn run_whose_reader_ends_fails_with_the_reason() {
    let place = Place::new();
    let mut run = piped(&place, "--for 10m");
    let mut log = reader(&place);
    run.until("that the run works", |_| {
        std::fs::metadata(place.beside("log")).is_ok_and(|log| log.len() > 20_000)
    });
    log.kill().unwrap();
    log.wait().unwrap();
    run.finish().ends("1 | standard output | roken pipe");
    place.nothing_remains_on_the_target();
}

#[test]
fn standard_output_is_refused_where_it_is_used_or_read() {
    let place = Place::new();
    for (words, told) in [
        ("run --ack-log - --output -", "both use standard output"),
        ("run --ack-log - --live -", "--live - "),
        ("crash --ack-log -", "it reads the logs of its runs"),
    ] {
        let mut command = Running::command(ours());
        command
            .args(words.split(' '))
            .arg("--target")
            .arg(place.target.path());
        Running::run_to_end(command, place.target.path())
            .code(2)
            .shows(told);
    }
    place.nothing_remains_on_the_target();
}
