//! `postmark check` with unchanged records, altered records, and files that are not records.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::Assert;
use verdict::check::DIFFERENCES_MAX;

use crate::support::interface::postmark;
use crate::support::{Ended, Running, TestDir};

/// Options of a small run. The run is INVALID only if it takes less than 1 ms.
const LITTLE: &str = "--files 40 --transactions 200 --seed 7";

/// Runs the program with the arguments in `words`, separated by blanks.
fn shows(test_dir: &TestDir, words: &str) -> Ended {
    let mut command = postmark(words);
    command.current_dir(test_dir.path());
    Running::run_to_end(command, test_dir.path())
}

/// Performs a run with additional options. Writes its record to the file `name` in the test
/// directory, and returns the path of the file.
fn run(test_dir: &TestDir, name: &str, options: &str) -> PathBuf {
    test_dir.directory("target");
    let words = format!(
        "run --quiet --no-overhead --target target --format json --output {name} {options}"
    );
    shows(test_dir, &words).code(0);
    test_dir.path().join(name)
}

/// Writes a copy of the record in which one value is changed.
fn altered(record: &Path, name: &str, pointer: &str, alter: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_str(&fs::read_to_string(record).unwrap()).unwrap();
    alter(
        value
            .pointer_mut(pointer)
            .unwrap_or_else(|| panic!("no {pointer}")),
    );
    fs::write(record.with_file_name(name), value.to_string()).unwrap();
}

fn answer(ended: &Ended) -> Vec<Value> {
    let lines = ended.output.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Expected exit status of `check`: 1 if the run is INVALID because it took less than 1 ms.
fn code_of(record: &Path) -> i32 {
    let value: Value = serde_json::from_str(&fs::read_to_string(record).unwrap()).unwrap();
    i32::from(value["summary"]["verdict"]["level"] == "invalid")
}

#[test]
fn records_of_all_kinds_of_runs_break_no_rule() {
    let test_dir = TestDir::in_memory();
    for (number, options) in [
        "",
        "--compat 1.0 --workers 3",
        "--no-latencies",
        "--no-series --no-sync-phases --calls",
        "--preset mail --files 100 --transactions 500",
        "--preset mail --files 100 --for 2500ms --warm-up 500ms --durability fsync",
        "--writers 2 --readers 2 --mix read=50,create=25,delete=25 --for 1500ms",
        "--rate 500 --for 2s --workers 2",
        "--mix create=2,delete=1,copy-tree=2,link-tree=1,remove-tree=1,mkdir=1 --dirs subdirs:5",
        "--mix create=2,delete=1,copy-tree=2,remove-tree=1 --dirs subdirs:5 --tree-levels 1",
    ]
    .into_iter()
    .enumerate()
    {
        let options = if options.contains("--files") || options.contains("--for") {
            options.to_owned()
        } else {
            format!("{LITTLE} {options}")
        };
        let name = format!("run-{number}.json");
        let record = run(&test_dir, &name, &options);
        let ended = shows(&test_dir, &format!("check {name}"));
        let code = code_of(&record);
        ended
            .code(code)
            .assert(ended.output.lines().count() == 1, &options);
        ended.shows(if code == 0 {
            ": agrees: summary and verdict follow from its data; "
        } else {
            "breaks a rule; INVALID ("
        });
    }
}

/// Earlier versions of the program have written these records, so their stored summaries may differ
/// from derived ones.
#[test]
fn records_of_earlier_versions_break_no_rule() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../verdict/tests/versions");
    let test_dir = TestDir::in_memory();
    let names = crate::support::names(&kept).unwrap();
    assert!(names.iter().any(|name| name == "1-sweep.json"), "{names:?}");
    for name in names
        .iter()
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "json"))
    {
        let ended = shows(
            &test_dir,
            &format!("check --format json {}", kept.join(name).display()),
        );
        let found = &answer(&ended)[0];
        assert_eq!(found["broken"], json!([]), "{name:?}");
        assert_eq!(found["unchecked"], json!([]), "{name:?}");
    }
}

#[test]
fn altered_values_are_reported_with_path_stored_and_derived_value() {
    let test_dir = TestDir::in_memory();
    let record = run(&test_dir, "run.json", LITTLE);
    let rate: Value = serde_json::from_str(&fs::read_to_string(&record).unwrap()).unwrap();
    let rate = rate["summary"]["transactions"]["per_second"].clone();
    altered(
        &record,
        "rate.json",
        "/summary/transactions/per_second",
        |value| *value = json!(1e6),
    );
    let ended = shows(&test_dir, "check rate.json");
    ended.code(1).shows("rate.json: differs").shows(&format!(
        "  summary.transactions.per_second: 1000000.0 in the file, {rate} derived"
    ));

    altered(&record, "verdict.json", "/summary/verdict/level", |value| {
        *value = if *value == "valid" {
            json!("doubtful")
        } else {
            json!("valid")
        };
    });
    shows(&test_dir, "check verdict.json")
        .code(1)
        .shows("summary.verdict.level: \"");

    altered(&record, "lacking.json", "", |value| {
        drop(value.as_object_mut().unwrap().remove("summary"));
    });
    shows(&test_dir, "check lacking.json")
        .code(1)
        .shows("summary: not in the file, {");

    altered(&record, "many.json", "/summary", |value| {
        let fields = (0..50).map(|number| (format!("field{number}"), json!([number])));
        value.as_object_mut().unwrap().extend(fields);
    });
    let ended = shows(&test_dir, "check many.json --format json");
    let found = &answer(ended.code(1))[0];
    assert_eq!(
        found["differences"]["first"].as_array().unwrap().len(),
        DIFFERENCES_MAX,
        "{found}"
    );
    assert_eq!(
        found["differences"]["more"],
        50 - DIFFERENCES_MAX,
        "{found}"
    );
    assert_eq!(found["is_right"], false);
    shows(&test_dir, "check many.json")
        .code(1)
        .shows("  and 30 more differences");
}

#[test]
fn record_that_contradicts_its_workload_breaks_a_named_rule() {
    let test_dir = TestDir::in_memory();
    let record = run(&test_dir, "run.json", LITTLE);
    type Alter = fn(&mut Value);
    let more: Alter = |value| *value = json!(value.as_u64().unwrap() + 1);
    let other_hash: Alter = |value| *value = json!("xxh3-128:00000000000000000000000000000000");
    let swapped: Alter = |value| value.as_array_mut().unwrap().swap(0, 1);
    let cases: [(&str, &str, Alter); 7] = [
        ("fingerprint", "/record/fingerprint", other_hash),
        (
            "stream-hash",
            "/record/actual/stream_hash/known",
            other_hash,
        ),
        ("fingerprint", "/record/spec/workload/work/seed", more),
        (
            "workers",
            "/record/actual/phases/1/segments/0/transactions",
            more,
        ),
        (
            "series",
            "/record/actual/phases/1/segments/0/operations/0/meter/bytes",
            more,
        ),
        (
            "latencies",
            "/record/actual/phases/1/segments/0/operations/0/meter/operations",
            more,
        ),
        ("phase-order", "/record/actual/phases", swapped),
    ];
    for (rule, pointer, alter) in cases {
        altered(&record, "altered.json", pointer, alter);
        let ended = shows(&test_dir, "check altered.json");
        ended.ends("1 | breaks a rule");
        ended.shows(&format!("  {rule}: record."));
    }
    altered(
        &record,
        "altered.json",
        "/record/actual/phases/1/segments/0/ended_ns",
        |value| *value = json!(0),
    );
    shows(&test_dir, "check altered.json").code(1).shows(
        "altered.json: breaks a rule\n  consistency: \
         record.actual.phases[1].segments[0].ended_ns: ",
    );
}

#[test]
fn invalid_run_breaks_a_rule_that_names_the_reasons() {
    let test_dir = TestDir::in_memory();
    let record = run(&test_dir, "short.json", "--files 5 --transactions 10");
    assert_eq!(code_of(&record), 1);
    let ended = shows(&test_dir, "check short.json");
    ended.ends("1 | short.json: breaks a rule; INVALID ( | too-short");
}

#[test]
fn invalid_records_exit_with_status_2() {
    let test_dir = TestDir::in_memory();
    let record = run(&test_dir, "run.json", LITTLE);
    let text = fs::read_to_string(&record).unwrap();
    let write = |name: &str, text: &str| fs::write(test_dir.path().join(name), text).unwrap();
    write("text.json", "no JSON\n");
    write("empty.json", "");
    write("cut.json", &text[..text.len() / 2]);
    write("object.json", "{\"a\": 1}");
    write(
        "newer.json",
        &text.replace("\"record\":{\"schema\":1,", "\"record\":{\"schema\":99,"),
    );
    for (name, told) in [
        ("text.json", "expected a JSON object"),
        ("empty.json", "it is empty"),
        ("cut.json", "truncated"),
        ("object.json", "not a record"),
        ("newer.json", "schema version 99"),
        ("missing.json", "cannot read it: "),
        ("target", "cannot read it: "),
    ] {
        let ended = shows(&test_dir, &format!("check {name}"));
        ended.code(2).shows(&format!("{name}: ")).shows(told);
        ended.assert(ended.output.lines().count() == 1, "one line");
        let answered = answer(shows(&test_dir, &format!("check --format json {name}")).code(2));
        assert_eq!(answered.len(), 1);
        assert_eq!(
            (&answered[0]["file"], &answered[0]["is_right"]),
            (&json!(name), &json!(false))
        );
        answered.assert(
            answered[0]["problem"]
                .as_str()
                .unwrap()
                .contains(told.trim()),
        );
    }
    // `check` continues with the next file.
    let ended = shows(&test_dir, "check text.json run.json");
    ended
        .code(2)
        .shows("text.json: not a record: ")
        .shows("run.json: ");
    assert_eq!(ended.output.lines().count(), 2);
    shows(&test_dir, "check").code(2);
}

#[test]
fn several_records_in_a_file_and_standard_input_are_checked_one_by_one() {
    let test_dir = TestDir::in_memory();
    let record = run(&test_dir, "run.json", LITTLE);
    altered(&record, "bad.json", "/summary/elapsed_ns", |value| {
        *value = json!(1)
    });
    let both = ["run.json", "bad.json"]
        .map(|name| fs::read_to_string(test_dir.path().join(name)).unwrap());
    fs::write(test_dir.path().join("both.json"), both.join("\n")).unwrap();
    let ended = shows(&test_dir, "check both.json");
    ended
        .code(1)
        .shows("both.json, document 1: ")
        .shows("both.json, document 2: differs");

    let mut command = postmark("check -");
    command.current_dir(test_dir.path());
    command.stdin(Stdio::from(fs::File::open(&record).unwrap()));
    let ended = Running::run_to_end(command, test_dir.path());
    ended.code(code_of(&record)).shows("standard input: ");
}
