//! Tests what `postmark observe` reports about the command that it runs.

use std::path::Path;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::Assert;

use crate::support::interface::program;
use crate::support::{Ended, FileSystem, Running, TestDir, Volume};

/// A command that runs `observed` under `postmark observe`.
fn command(test_dir: &TestDir, target: &Path, options: &[&str], observed: &[&str]) -> Command {
    let mut command = Running::command(program());
    command
        .arg("observe")
        .arg("--target")
        .arg(target)
        .args(options);
    command
        .arg("--")
        .args(observed)
        .current_dir(test_dir.path());
    command
}

fn observe(test_dir: &TestDir, target: &Path, options: &[&str], observed: &[&str]) -> Ended {
    Running::run_to_end(
        command(test_dir, target, options, observed),
        test_dir.path(),
    )
}

/// Parses the JSON report, which is on standard error.
fn account(ended: &Ended) -> Value {
    let value: Value =
        serde_json::from_str(&ended.errors).unwrap_or_else(|error| panic!("{error}\n{ended}"));
    value["observation"].clone()
}

fn known(value: &Value) -> u64 {
    value["known"]
        .as_u64()
        .unwrap_or_else(|| panic!("not known: {value}"))
}

#[test]
fn observed_command_keeps_its_output_and_a_target_in_memory_has_no_devices() {
    let test_dir = TestDir::in_memory();
    let ended = observe(
        &test_dir,
        test_dir.path(),
        &[],
        &[
            "sh",
            "-c",
            "echo out; dd if=/dev/zero of=file bs=64k count=4 2>/dev/null",
        ],
    );
    ended.code(0);
    assert_eq!(ended.output, "out\n");
    ended
        .shows("Observed: sh -c")
        .shows("tmpfs (memory)")
        .shows("exit status 0");
    ended
        .shows("served by: not available")
        .does_not_show("Devices");

    let ended = observe(&test_dir, test_dir.path(), &["--format", "json"], &["true"]);
    let account = account(ended.code(0));
    assert_eq!(account["schema"], 1);
    assert_eq!(account["command"], serde_json::json!(["true"]));
    assert_eq!(account["end"]["exited"]["status"], 0);
    assert_eq!(account["performing"]["devices"], "not_applicable");
    assert!(account["wall_ns"].as_u64().unwrap() > 0);
}

#[test]
fn device_writes_of_command_and_final_sync_are_reported_separately() {
    if !FileSystem::Ext4.is_available() {
        return;
    }
    let test_dir = TestDir::new();
    let point = test_dir.directory("point");
    let _volume = Volume::new(FileSystem::Ext4, &test_dir, &point);
    let big = point.join("big");
    let output = format!("of={}", big.display());
    let dd = ["dd", "if=/dev/zero", &output, "bs=1M", "count=32"];
    let json = ["--format", "json", "--output", "account.json"];
    observe(&test_dir, &point, &json, &dd)
        .code(0)
        .does_not_show("Observed");
    let read = |name: &str| -> Value {
        let text = std::fs::read_to_string(test_dir.path().join(name)).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["observation"].clone()
    };
    let written = |stretch: &Value| {
        known(&stretch["devices"]["known"][0]["counters"]["known"]["written_bytes"])
    };
    let account = read("account.json");
    account.assert(known(&account["performing"]["own"]["written_bytes"]) >= 32 << 20);
    let (command, sync) = (
        written(&account["performing"]),
        written(&account["sync"]["counted"]),
    );
    assert!(command + sync >= 32 << 20, "{command} + {sync}");
    assert!(known(&account["sync"]["duration_ns"]) > 0);
    let allocated = known(&account["performing"]["allocated_bytes"])
        + known(&account["sync"]["counted"]["allocated_bytes"]);
    assert!(allocated >= 16 << 20, "{allocated}");

    // If the output file exists, it is not overwritten, and the command is not started.
    observe(
        &test_dir,
        &point,
        &json,
        &["rm", &big.display().to_string()],
    )
    .code(2)
    .shows("the file exists");
    assert!(big.exists());

    // A copy of cached contents reads nothing from the device. With direct I/O, the device reads
    // every byte.
    let input = format!("if={}", big.display());
    let copy = ["dd", &input, "of=/dev/null", "bs=1M"];
    let direct = [&copy[..], &["iflag=direct"]].concat();
    let fetched = |observed: &[&str]| {
        let ended = observe(
            &test_dir,
            &point,
            &["--format", "json", "--no-sync", "--output", "-"],
            observed,
        );
        let value: Value = serde_json::from_str(&ended.code(0).output).unwrap();
        assert_eq!(value["observation"]["sync"], Value::Null);
        known(&value["observation"]["performing"]["own"]["read_bytes"])
    };
    fetched(&copy);
    assert!(fetched(&copy) < 1 << 20);
    let bytes = fetched(&direct);
    assert!((32 << 20..33 << 20).contains(&bytes), "{bytes}");

    let ended = observe(
        &test_dir,
        &point,
        &[],
        &[
            "cp",
            &big.display().to_string(),
            &point.join("copy").display().to_string(),
        ],
    );
    ended.ends("0 | Devices | target | sync | everybody's work");
}

#[test]
fn observe_exits_with_the_status_of_the_command() {
    let test_dir = TestDir::in_memory();
    let file = test_dir.path().join("file");
    std::fs::write(&file, "no program").unwrap();
    let file = file.display().to_string();
    for (observed, code, told) in [
        (&["sh", "-c", "exit 37"][..], 37, "exit status 37"),
        (&["sh", "-c", "kill -9 $$"], 128 + 9, "killed by signal 9"),
        (&["./is-not-there"], 127, "cannot run ./is-not-there: "),
        (&[&file], 126, "cannot run "),
        (&["/"], 126, "cannot run /: "),
    ] {
        let ended = observe(&test_dir, test_dir.path(), &["--no-sync"], observed);
        ended.code(code).shows(told);
        ended.assert(
            (126..=127).contains(&code) != ended.errors.contains("Observed"),
            "an account",
        );
    }
    for target in ["nowhere", "file"] {
        let target = test_dir.path().join(target);
        observe(&test_dir, &target, &[], &["touch", "touched"])
            .code(2)
            .shows("cannot observe the target");
    }
    assert!(!test_dir.path().join("touched").exists());
    // If the command cannot be started, its empty output file is removed.
    observe(
        &test_dir,
        test_dir.path(),
        &["--output", "account"],
        &["./is-not-there"],
    )
    .code(127);
    assert!(!test_dir.path().join("account").exists());
}

#[test]
fn observe_forwards_signals_and_then_reports() {
    let test_dir = TestDir::in_memory();
    let script =
        "trap 'echo caught; exit 5' INT TERM HUP QUIT; echo ready; while :; do sleep 0.05; done";
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        let observed = command(&test_dir, test_dir.path(), &[], &["sh", "-c", script]);
        // The signals are reset to their defaults: a shell may have started the tests with SIGINT
        // and SIGQUIT ignored.
        let mut started = Running::command(Path::new("env"));
        started
            .arg("--default-signal=INT,QUIT,HUP")
            .arg(program())
            .args(observed.get_args());
        let mut running = Running::start(started, test_dir.path());
        running.until("that the command goes on", |running| {
            running.output().contains("ready")
        });
        running.send(signal);
        let ended = running.finish();
        ended.code(5).shows("caught").shows("exit status 5");
        assert_eq!(ended.output.matches("caught").count(), 1, "{ended}");
    }
    // `sleep` has no handler for the signal, so the signal ends it.
    let mut running = Running::start(
        command(&test_dir, test_dir.path(), &[], &["sleep", "60"]),
        test_dir.path(),
    );
    running.until("that the command goes on", |running| {
        !running.children().is_empty()
    });
    let child: i32 = running.children()[0].parse().unwrap();
    kill_process(Pid::from_raw(child).unwrap(), Signal::TERM).unwrap();
    running.finish().code(128 + 15).shows("killed by signal 15");
}

/// A pipe as a target is refused at once. If `observe` opened the pipe, it would wait for a writer.
#[test]
fn observe_refuses_a_target_that_is_no_directory() {
    let test_dir = TestDir::in_memory();
    let pipe = test_dir.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    std::fs::write(test_dir.path().join("file"), "").unwrap();
    for name in ["pipe", "file"] {
        let ended = observe(&test_dir, &test_dir.path().join(name), &[], &["true"]);
        ended.code(2).shows("it is not a directory");
    }
}
