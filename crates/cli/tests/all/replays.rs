//! Traces are replayed: the replay has the operations of the trace, in an order that they permit,
//! and leaves nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;
use testkit::table;

use crate::original;
use crate::support::{Ended, Running, TestDir, names};

/// Each row: a preset, its options, and its number of workers.
const PRESETS: &str = "
    mail        | --files 100 --transactions 200       | 1
    mail        | --files 100 --transactions 200       | 2
    varmail     | --files 100 --transactions 200       | 2
    web-cache   | --files 50 --transactions 50         | 1
    build       | --files 100 --transactions 200       | 2
    source-tree | --files 50                           | 1
";

type Mix = BTreeMap<String, i64>;

/// A directory with a trace, and an empty target.
struct Place {
    directory: TestDir,
    trace: PathBuf,
    target: PathBuf,
}

impl Place {
    fn new(trace: &str) -> Self {
        let directory = TestDir::in_memory();
        let [trace_file, target] = ["trace.txt", "target"].map(|name| directory.path().join(name));
        std::fs::write(&trace_file, trace).unwrap();
        std::fs::create_dir(&target).unwrap();
        Self {
            directory,
            trace: trace_file,
            target,
        }
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Running::command(original::ours());
        command.arg("replay").arg(&self.trace);
        command.args(words.split_whitespace());
        command.arg("--target").arg(&self.target);
        command
    }

    fn replay(&self, words: &str) -> Ended {
        Running::run_to_end(self.command(words), self.directory.path())
    }

    /// Replays the trace with verification, and returns the result as JSON.
    fn replayed(&self, words: &str) -> Value {
        let ended = self.replay(&format!("{words} --verify --format json"));
        ended.code(0);
        let result: Value = serde_json::from_str(&ended.output).unwrap();
        let actual = &result["record"]["actual"];
        assert_eq!(actual["outcome"], "complete", "{ended}");
        assert_eq!(actual["errors"], Value::Array(Vec::new()));
        assert!(names(&self.target).unwrap().is_empty(), "files remain");
        result
    }
}

/// The operations of the transactions in a result.
fn transactions(result: &Value) -> Mix {
    let phases = result["summary"]["phases"].as_array().unwrap();
    let mut mix = Mix::new();
    for phase in phases
        .iter()
        .filter(|phase| phase["phase"] == "transactions")
    {
        for row in phase["operations"].as_array().unwrap() {
            let action = row["action"].as_str().unwrap().to_owned();
            *mix.entry(action).or_default() += row["operations"]["count"].as_i64().unwrap();
        }
    }
    mix
}

#[test]
fn replays_of_traced_presets_have_all_operations_of_the_trace() {
    let Some(strace) = original::strace() else {
        return;
    };
    for [preset, options, workers] in table(PRESETS) {
        let place = Place::new("");
        let traced = place.directory.path().join("traced");
        std::fs::create_dir(&traced).unwrap();
        let mut command = Running::command(strace);
        command
            .args(["-f", "-ttt", "-T", "-y", "-s", "0", "-o"])
            .arg(&place.trace);
        command
            .arg(original::ours())
            .args(["run", "--preset", preset, "--workers", workers]);
        command
            .args(options.split_whitespace())
            .arg("--target")
            .arg(&traced);
        command.args(["--think", "none", "--no-overhead", "--format", "json"]);
        let ended = Running::run_to_end(command, place.directory.path());
        ended.code(0);
        let run: Value = serde_json::from_str(&ended.output).unwrap();
        let request = trace::ReplayRequest {
            below: Some(traced.as_os_str().as_encoded_bytes().to_vec()),
            operations_max: 1_000_000,
        };
        let read = trace::read_for_replay(|| std::fs::File::open(&place.trace), &request).unwrap();
        let expected: Mix = read.profile.mix.unwrap().into_iter().map(in_text).collect();
        let words = format!("--below {}", traced.display());
        let replayed = transactions(&place.replayed(&words));
        assert_eq!(replayed, expected, "{preset} by {workers}");
        // The run performs other operations besides, but none of these kinds.
        for (action, count) in transactions(&run) {
            if ["read", "append", "overwrite", "deliver", "lock-file"].contains(&&*action) {
                assert_eq!(replayed.get(&action), Some(&count), "{preset}: {action}");
            }
        }
    }
}

fn in_text((action, count): (record::Action, u64)) -> (String, i64) {
    (action.name().to_owned(), count as i64)
}

/// A trace in which one process creates files, and another one reads and removes each of them.
fn producer_and_consumer(rounds: u32, pause_us: u32) -> String {
    let mut text = String::new();
    for thread in [1, 2] {
        writeln!(text, "{thread} 1700000000.000000 chdir(\"/t\") = 0").unwrap();
    }
    for round in 0..rounds {
        let us = round * pause_us;
        let time = format!("{}.{:06}", 1_700_000_000 + us / 1_000_000, us % 1_000_000);
        for line in [
            format!("1 {time} openat(AT_FDCWD, \"{round}\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3"),
            format!("1 {time} write(3, \"\"..., 3000) = 3000"),
            format!("1 {time} close(3) = 0"),
            format!("2 {time} openat(AT_FDCWD, \"{round}\", O_RDONLY) = 3"),
            format!("2 {time} read(3, \"\"..., 4096) = 3000"),
            format!("2 {time} read(3, \"\", 4096) = 0"),
            format!("2 {time} close(3) = 0"),
            format!("2 {time} unlink(\"{round}\") = 0"),
        ] {
            writeln!(text, "{line}").unwrap();
        }
    }
    text
}

#[test]
fn consumer_finds_each_file_of_the_producer() {
    const ROUNDS: u32 = 2_000;
    let place = Place::new(&producer_and_consumer(ROUNDS, 1));
    for engine in ["posix", "raw"] {
        let result = place.replayed(&format!("--below /t --engine {engine}"));
        let expected = ["create", "delete", "read"].map(|name| (name.to_owned(), ROUNDS.into()));
        assert_eq!(transactions(&result), expected.into());
        let spec = &result["record"]["spec"]["workload"];
        assert_eq!(spec["workers"]["writers"], 2);
        // The producer also waits: changes of a directory keep their order.
        let dependencies = spec["work"]["replay"]["dependencies"].as_u64().unwrap();
        assert!(dependencies >= ROUNDS.into(), "{dependencies}");
    }
}

#[test]
fn replay_at_traced_times_takes_as_long_as_the_trace() {
    let place = Place::new(&producer_and_consumer(200, 2_000));
    let result = place.replayed("--below /t --timing traced");
    let replay = &result["summary"]["replay"];
    assert_eq!(replay["traced_ns"], 398_000_000);
    let replayed_ns = replay["replayed_ns"].as_u64().unwrap();
    assert!(replayed_ns >= 397_000_000, "{replayed_ns}");
    assert!(replay["timing_inaccuracy"].as_f64().unwrap() < 0.5);
    let asap = place.replayed("--below /t");
    assert!(asap["summary"]["replay"]["timing_inaccuracy"].is_null());
}

#[test]
fn paths_out_of_the_directory_are_never_touched() {
    let place = Place::new("");
    let outside = place.directory.path().join("outside");
    std::fs::write(&outside, "unchanged").unwrap();
    let shown = outside.display();
    let text = format!(
        "1 chdir(\"/t/a\") = 0
1 openat(AT_FDCWD, \"x\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3
1 write(3, \"\"..., 9) = 9
1 close(3) = 0
1 unlink(\"{shown}\") = 0
1 unlink(\"../../../../../..{shown}\") = 0
1 truncate(\"{shown}\", 0) = 0
1 symlink(\"{shown}\", \"link\") = 0
1 truncate(\"link\", 0) = 0
1 rename(\"x\", \"{shown}\") = 0
"
    );
    std::fs::write(&place.trace, text).unwrap();
    let result = place.replayed("--below /t");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "unchanged");
    let deviations = &result["record"]["spec"]["workload"]["work"]["replay"]["deviations"];
    let what = "operations on files outside of the directory";
    let mut rows = deviations.as_array().unwrap().iter();
    let row = rows.find(|row| row["what"] == what).unwrap();
    assert_eq!(
        (&row["count"], &row["is_left_out"]),
        (&4.into(), &true.into())
    );
}

#[test]
fn truncated_trace_is_replayed_up_to_its_end() {
    let whole = producer_and_consumer(20, 10);
    for part in [whole.len() / 3, whole.len() / 2, whole.len() - 7] {
        let result = Place::new(&whole[..part]).replayed("--below /t");
        assert!(transactions(&result)["create"] > 5);
    }
}

#[test]
fn killed_replay_is_removed_by_clean() {
    let place = Place::new(&producer_and_consumer(500, 100_000));
    let command = place.command("--below /t --timing traced --verbose");
    let mut running = Running::start(command, place.directory.path());
    running.until("the transactions begin", |running| {
        running.errors().contains("transactions")
    });
    running.kill();
    assert!(!names(&place.target).unwrap().is_empty());
    let mut clean = Running::command(original::ours());
    clean.arg("clean").arg(&place.target);
    let ended = Running::run_to_end(clean, place.directory.path());
    ended.code(0);
    assert!(names(&place.target).unwrap().is_empty(), "{ended}");
}

#[test]
fn signal_ends_a_replay_that_waits() {
    let place = Place::new(&producer_and_consumer(500, 1_000_000));
    let command = place.command("--below /t --timing traced --verbose");
    let mut running = Running::start(command, place.directory.path());
    running.until("the transactions begin", |running| {
        running.errors().contains("transactions")
    });
    running.send(Signal::INT);
    let ended = running.finish();
    ended.code(130);
    assert!(names(&place.target).unwrap().is_empty(), "{ended}");
}

/// Each row: options, and a part of the refusal.
const REFUSED: &str = "
    --files 10            | --files 10 cannot be used with a replay: the trace determines
    --workers 2           | --workers 2 cannot be used with a replay
    --transactions 5      | --transactions 5 cannot be used with a replay
    --for 1s              | --for 1s cannot be used with a replay
    --mix read=1          | --mix read=1 cannot be used with a replay
    --depth 4             | --depth 4 cannot be used with a replay (remove it)
    --keep                | --keep cannot be used with a replay (remove it)
    --direct              | --direct cannot be used with a replay (remove it)
    --preset mail         | --preset and --replay cannot be combined
    --limit-operations 9  | more than 9 operations
    --limit-operations 0  | invalid value '0' for --limit-operations
    --below /other        | no operation on files below /other
    --timing late         | expected asap, pauses or traced
";

#[test]
fn options_without_a_meaning_for_a_replay_are_refused() {
    let place = Place::new(&producer_and_consumer(20, 1));
    for [options, part] in table(REFUSED) {
        let ended = place.replay(options);
        ended.code(2);
        ended.shows(part);
        assert!(names(&place.target).unwrap().is_empty(), "{options}");
    }
    let untimed = "1 chdir(\"/t\") = 0\n1 unlink(\"a\") = 0\n";
    Place::new(untimed)
        .replay("--timing traced")
        .shows("it contains no times");
    Place::new(untimed)
        .replay("--timing pauses")
        .shows("it contains no durations of calls");
    Place::new("").replay("").shows("the trace changes no file");
}

#[test]
fn plan_of_a_replay_shows_its_operations_and_what_is_left_out() {
    let text = producer_and_consumer(20, 1) + "1 1700000001.0 unlink(\"/etc/hosts\") = 0\n";
    let place = Place::new(&text);
    let ended = place.replay("--below /t --dry-run");
    ended.code(0);
    for part in [
        "plan, replay,",
        "60 operations of 2 threads by 2 workers",
        "left out: operations on files outside of the directory",
    ] {
        assert!(ended.output.contains(part), "{part}: {ended}");
    }
    assert!(names(&place.target).unwrap().is_empty());
}

#[test]
fn replay_is_repeated_from_its_record_and_compared_in_a_study() {
    let place = Place::new(&producer_and_consumer(50, 1));
    let record = place.directory.path().join("record.json");
    let first = place.replayed("--below /t");
    std::fs::write(&record, first.to_string()).unwrap();
    let mut like = Running::command(original::ours());
    like.args(["run", "--like"])
        .arg(&record)
        .args(["--format", "json", "--target"]);
    like.arg(&place.target);
    let ended = Running::run_to_end(like, place.directory.path());
    let second: Value = serde_json::from_str(&ended.output).unwrap();
    assert_eq!(
        first["record"]["fingerprint"],
        second["record"]["fingerprint"]
    );
    let mut study = Running::command(original::ours());
    study
        .args("study --blocks 1 --quiet-time 0s --below /t --replay".split(' '))
        .arg(&place.trace);
    for name in ["one", "other"] {
        let target = place.directory.path().join(name);
        std::fs::create_dir(&target).unwrap();
        study.arg("--target").arg(target);
    }
    study
        .arg("--archive")
        .arg(place.directory.path().join("archive.db"));
    let ended = Running::run_to_end(study, place.directory.path());
    ended.code(0);
    ended.shows("transactions/s");
}

/// The archive keeps the spec of a replay: the report of an archived run shows it.
#[test]
fn report_of_an_archived_replay_shows_its_trace() {
    let place = Place::new(&producer_and_consumer(50, 1));
    let archive: &Path = &place.directory.path().join("archive.db");
    let words = format!("--below /t --archive {}", archive.display());
    place.replay(&words).code(0);
    let mut show = Running::command(original::ours());
    show.args(["show", "last", "--full", "--archive"])
        .arg(archive);
    let ended = Running::run_to_end(show, place.directory.path());
    assert!(
        ended
            .output
            .contains("Replay: 150 operations of the trace, 0 left out"),
        "{ended}"
    );
}
