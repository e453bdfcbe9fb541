//! `--crash forget`: the file system of the program finds planted bugs, gives no false alarm, and
//! leaves nothing. `POSTMARK_CRASHES` multiplies the 20 rounds of the honest one; if it is set,
//! every bug is planted, for 50 rounds on new pools and 50 on surviving ones.

use std::path::Path;
use std::process::Command;

use faultfs::forget::Bug;
use rustix::process::Signal;
use serde_json::Value;

use super::{Place, json};
use crate::support::{Ended, Running, is_met};

/// Performs rounds with the file system that forgets; `None` if it cannot be mounted here.
fn forgets(place: &Place, bug: Option<Bug>, words: &[&str]) -> Option<Ended> {
    let crash = bug.map_or("forget".to_owned(), |bug| format!("forget:{}", bug.name()));
    let mut command = place.command(&["--durability", "fsync+dir", "--crash", &crash]);
    command.args(words);
    perform(place, command)
}

/// Performs rounds of a mix with durability policies, at random times.
fn forgets_at_any_time(place: &Place, mix: &str, policies: &str, rounds: &str) -> Option<Ended> {
    let mut command = place.command_with(mix, &["--durability", policies, "--rounds", rounds]);
    command.args(["--crash", "forget", "--aim", "time"]);
    perform(place, command)
}

fn perform(place: &Place, mut command: Command) -> Option<Ended> {
    let possible = faultfs::is_possible();
    if !is_met(possible.is_ok(), possible.err().unwrap_or_default()) {
        return None;
    }
    command.args(["--size", "100..3000", "--crash-within", "60ms"]);
    Some(Running::run_to_end(command, place.beside.path()))
}

/// The heartbeats of killed runs, which are removed when nothing remains on the target.
fn heartbeats() -> Vec<String> {
    let entries = std::fs::read_dir("/dev/shm").unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("postmark-")).collect()
}

/// Asserts that no heartbeat of the runs in the state file exists.
fn no_heartbeat_remains(place: &Place) {
    let text = std::fs::read_to_string(place.beside("ack.rounds")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let started = lines.filter_map(|line: Value| line["started"][1].as_u64());
    let found = heartbeats();
    for process in started {
        let part = format!("-{process}-");
        let of_run = found.iter().find(|name| name.contains(&part));
        assert_eq!(of_run, None, "a heartbeat remains");
    }
}

#[test]
fn honest_file_system_that_forgets_gives_no_false_alarm() {
    for seed in 1..=testkit::number_of("POSTMARK_CRASHES", 1) {
        for survivors in ["remove", "continue"] {
            let place = Place::new();
            let seed = seed.to_string();
            let words = ["--rounds", "10", "--format", "json", "--seed", &seed];
            let words = [&words[..], &["--survivors", survivors]].concat();
            let Some(ended) = forgets(&place, None, &words) else {
                return;
            };
            let report = json(ended.code(0));
            assert_eq!(report["crashes"], 10, "{ended}");
            assert_eq!(report["crashes_with_loss"], 0, "{report:#}");
            assert_eq!(report["foreign"], 0, "{report:#}");
            let moments = report["moments"].as_array().unwrap();
            assert!(moments.len() > 3, "moments are mixed: {moments:?}");
            let crashes = moments.iter().map(|of| of["crashes"].as_u64().unwrap());
            assert_eq!(crashes.sum::<u64>(), 10, "{moments:?}");
            let rounds = report["rounds"].as_array().unwrap();
            let continued = rounds.iter().filter(|round| round["pool"] == 1).count();
            let expected = if survivors == "continue" { 9 } else { 0 };
            assert_eq!(continued, expected, "{report:#}");
            place.only_the_state_remains();
            no_heartbeat_remains(&place);
        }
    }
}

#[test]
fn planted_bugs_are_found() {
    let is_long = std::env::var_os("POSTMARK_CRASHES").is_some();
    // Of new pools, the transcript of the book shows a bug.
    let (bugs, rounds, survivors) = match is_long {
        true => (&Bug::ALL[..], "50", &["remove", "continue"][..]),
        false => (&Bug::ALL[..1], "10", &["continue"][..]),
    };
    let all = bugs
        .iter()
        .flat_map(|bug| survivors.iter().map(move |survivors| (bug, *survivors)));
    for (bug, survivors) in all {
        let place = Place::new();
        let words = [
            "--rounds",
            rounds,
            "--format",
            "json",
            "--survivors",
            survivors,
        ];
        let Some(ended) = forgets(&place, Some(*bug), &words) else {
            return;
        };
        let report = json(ended.code(1));
        let rounds = report["rounds"].as_array().unwrap();
        let is_lossy = |round: &&Value| {
            let operations = round["operations"].as_array().unwrap();
            let has_loss =
                |of: &Value| of["lost"] != 0 || of["torn"] != 0 || of["resurrected"] != 0;
            !round["directory_lost"].is_null() || operations.iter().any(has_loss)
        };
        let first = rounds.iter().find(is_lossy);
        let first = first.unwrap_or_else(|| panic!("{bug:?} is not found: {report:#}"));
        let (at, lossy) = (&first["round"], &report["crashes_with_loss"]);
        eprintln!("{bug:?}, {survivors}: first loss in round {at}, {lossy} rounds with a loss");
        place.nothing_remains_on_the_target();
        no_heartbeat_remains(&place);
    }
}

#[test]
fn rounds_crash_at_the_moment_that_is_chosen() {
    for moment in ["sync", "rename", "directory-sync", "acknowledgement"] {
        let place = Place::new();
        let Some(ended) = forgets(&place, None, &["--rounds", "2", "--aim", moment]) else {
            return;
        };
        ended.ends(&format!("0 | ({moment}), | No loss in 2 rounds"));
        let report = json(place.resume(&["--format", "json"]).code(0));
        let moments = report["moments"].as_array().unwrap();
        assert_eq!((&moments[0]["moment"], moments.len()), (&moment.into(), 1));
        assert_eq!(moments[0]["crashes"], 2);
    }
    let place = Place::new();
    let ended = place.crash(&[
        "--rounds",
        "2",
        "--crash",
        "true",
        "--aim",
        "acknowledgement",
    ]);
    ended.ends("0 | (acknowledgement), | No loss in 2 rounds");
}

#[test]
fn crash_whose_moment_did_not_come_is_a_crash_at_a_random_time() {
    let place = Place::new();
    let words = ["--rounds", "1", "--crash", "forget", "--aim", "rename"];
    let Some(ended) = perform(&place, place.command_with("create=1", &words)) else {
        return;
    };
    ended.ends("0 | (no rename came), | at a random time | the moment did not come within 3 s");
    let report = json(place.resume(&["--format", "json"]).code(0));
    let round = &report["rounds"][0];
    assert_eq!(
        (&round["moment"], &round["missed"]),
        (&Value::Null, &"rename".into())
    );
}

#[test]
fn each_operation_is_judged_by_what_its_policy_promises() {
    let place = Place::new();
    let policies = "deliver=fsync+dir,append=fdatasync,rename=none";
    // Most operations do not sync, so crashes undo renames, but by chance not each of them does.
    let mix = "rename=8,deliver=2,append=2";
    let Some(ended) = forgets_at_any_time(&place, mix, policies, "16") else {
        return;
    };
    ended.ends("0 | No loss of a promised change in 16 rounds: fewer than 17.1 % | Allowed: ");
    ended
        .does_not_show("First missing")
        .does_not_show("is kept");
    let report = json(place.resume(&["--format", "json"]).code(0));
    let operations = report["operations"].as_array().unwrap();
    let of = |what: &str| operations.iter().find(|of| of["what"] == what).unwrap();
    for (what, policy, promise) in [
        ("deliver", "fsync+dir", "all"),
        ("append", "fdatasync", "contents"),
        ("rename", "none", "nothing"),
        ("create", "none", "nothing"),
    ] {
        let row = of(what);
        assert_eq!(
            (&row["durability"], &row["promise"]),
            (&policy.into(), &promise.into())
        );
    }
    assert!(of("rename")["lost"].as_u64().unwrap() > 0, "{report:#}");
    assert_eq!(of("deliver")["lost"], 0, "{report:#}");
    assert_eq!(
        (&report["crashes_with_loss"], &report["loss_share"]),
        (&0.into(), &Value::Null)
    );
    assert!(
        report["crashes_with_allowed_loss"].as_u64().unwrap() > 0,
        "{report:#}"
    );

    // A policy that promises nothing bounds nothing.
    let place = Place::new();
    let ended = forgets_at_any_time(&place, "create=1", "none", "4").unwrap();
    ended.ends("0 | Allowed: 4 of 4 rounds | Nothing was promised");
    ended.does_not_show("No loss");
}

#[test]
fn file_system_that_forgets_hides_nothing_and_vanishes_when_the_command_is_killed() {
    let place = Place::new();
    std::fs::write(place.target.path().join("own"), "mine").unwrap();
    let possible = faultfs::is_possible();
    if !is_met(possible.is_ok(), possible.err().unwrap_or_default()) {
        return;
    }
    let words = [
        "--rounds",
        "2",
        "--crash",
        "forget",
        "--durability",
        "fsync+dir",
        "--crash-within",
        "300h",
    ];
    let mut running = Running::start(place.command(&words), place.beside.path());
    running.until("that the run works", |_| {
        std::fs::metadata(place.beside("ack.1")).is_ok_and(|log| log.len() > 20_000)
    });
    let is_mounted = || {
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        mounts.contains(place.target.path().to_str().unwrap())
    };
    assert!(!is_mounted(), "other processes see the file system");
    running.kill().signal(9);
    assert_eq!(
        std::fs::read(place.target.path().join("own")).unwrap(),
        b"mine"
    );
    shorten(&place.beside("ack.rounds"));
    place.resume(&[]).ends("0 | No loss in 2 rounds");
    no_heartbeat_remains(&place);

    std::fs::remove_file(place.beside("ack.rounds")).unwrap();
    let mut running = Running::start(place.command(&words), place.beside.path());
    running.until("that the run works", |_| {
        std::fs::metadata(place.beside("ack.1")).is_ok_and(|log| log.len() > 20_000)
    });
    running.send(Signal::TERM);
    running
        .finish()
        .ends("143 | interrupted after 0 of 2 rounds");
    assert_eq!(crate::support::names(place.target.path()).unwrap(), ["own"]);
}

/// Shortens the time until the crash in a state file.
fn shorten(state: &Path) {
    let text = std::fs::read_to_string(state).unwrap();
    let (before, behind) = text.split_once("\"within_ns\":").unwrap();
    let (_, behind) = behind.split_once(',').unwrap();
    std::fs::write(state, format!("{before}\"within_ns\":1000000,{behind}")).unwrap();
}
