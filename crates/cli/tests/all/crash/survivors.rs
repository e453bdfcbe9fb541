//! Rounds that continue: on the pool that survived, and after a restart of the machine.

use std::path::Path;

use serde_json::Value;

use super::{Place, json};
use crate::original::tree;
use crate::support::{Running, names};

#[test]
fn runs_continue_on_the_pool_that_survived() {
    let place = Place::new();
    let words = [
        "--rounds",
        "4",
        "--survivors",
        "continue",
        "--durability",
        "fsync+dir",
    ];
    // After the crash of round 2, a file is missing, another one has a wrong size, and a temporary
    // file is left.
    let crash = place.script(
        "damage",
        "test $POSTMARK_ROUND -eq 2 || exit 0\n\
         cd \"$POSTMARK_TARGET\"/postmark-* || exit 1\n\
         set -- $(find . -type f -path '*/new/*' | sort)\n\
         rm \"$1\"; echo more >> \"$2\"\n",
    );
    let ended = place.crash(&[&words[..], &["--crash", &crash]].concat());
    ended.ends("1 | LOST: 1 of 4 rounds | First missing | in round 2 | log: ack.");
    ended.shows("In 3 rounds the run continued on the surviving pool");
    assert_eq!(
        names(place.beside.path()).unwrap(),
        ["ack.2", "ack.rounds", "damage"]
    );
    place.nothing_remains_on_the_target();
    let report = json(place.resume(&["--format", "json"]).code(1));
    let rounds = report["rounds"].as_array().unwrap();
    let of = |field: &str| {
        rounds
            .iter()
            .map(|round| round[field].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("pool"), [Value::Null, 1.into(), 1.into(), 1.into()]);
    assert!(rounds[1]["repaired"].as_u64() >= Some(2), "{report:#}");
    assert_eq!(rounds[3]["repaired"], 0, "the last round repairs nothing");
    // Files of all rounds are verified after each crash.
    let checked: Vec<u64> = of("checked")
        .iter()
        .map(|of| of.as_u64().unwrap())
        .collect();
    assert!(
        checked.is_sorted() && checked[0] < checked[3],
        "{checked:?}"
    );

    // A pool with a foreign file cannot be used.
    let place = Place::new();
    let alien = "cd \"$POSTMARK_TARGET\"/postmark-* && : > alien-$POSTMARK_ROUND";
    let ended =
        place.crash(&[&words[..2], &["--survivors", "continue", "--crash", alien]].concat());
    ended.ends("0 | Round 1: the next run makes a new pool: it contains the foreign file");

    // Neither can one in which another program has written its contents under a name of the run.
    let place = Place::new();
    let exchanged = place.script(
        "exchange",
        "test $POSTMARK_ROUND -eq 1 || exit 0\n\
         cd \"$POSTMARK_TARGET\"/postmark-* || exit 1\n\
         set -- $(find . -type f -path '*/new/*' | sort)\n\
         echo precious >exchanged && mv exchanged \"$1\"\n",
    );
    let ended = place.crash(
        &[
            &words[..2],
            &["--survivors", "continue", "--crash", &exchanged],
        ]
        .concat(),
    );
    ended.ends("0 | Round 1: the next run makes a new pool: | not removed");
    let kept = tree(place.target.path());
    assert!(
        kept.iter()
            .any(|(_, size)| *size == Some("precious\n".len() as u64)),
        "{ended}\n{kept:?}"
    );
}

#[test]
fn round_whose_crash_ended_the_machine_is_verified_after_the_restart() {
    let place = Place::new();
    let crash = place.script(
        "crash",
        "test $POSTMARK_ROUND -eq 2 || kill -9 $(cat \"$0.pid\")\n",
    );
    let words = [
        "--rounds",
        "2",
        "--crash",
        &crash,
        "--survivors",
        "continue",
    ];
    let mut command = place.command(&words);
    command.args(["--crash-within", "50ms", "--durability", "fsync+dir"]);
    let mut shell = Running::command(Path::new("sh"));
    shell
        .args(["-c", "echo $$ >\"$0\"; exec \"$@\""])
        .arg(place.beside("crash.pid"))
        .arg(command.get_program())
        .args(command.get_args());
    Running::run_to_end(shell, place.target.path()).signal(9);
    // The state file is text, so that the test can pretend that the machine was started again.
    let state = place.beside("ack.rounds");
    let text = std::fs::read_to_string(&state).unwrap();
    let (before, behind) = text.split_once("\"boot\":\"").unwrap();
    std::fs::write(&state, format!("{before}\"boot\":\"earlier {behind}")).unwrap();
    let ended = place.resume(&[]);
    ended.ends("0 | round 1 of 2: crash | round 2 of 2 | No loss in 2 rounds");
    ended.shows("In 1 round the run continued on the surviving pool");
    place.nothing_remains_on_the_target();
}
