//! The program's JSON output agrees with its published schema.

use std::ffi::OsStr;
use std::path::Path;

use jsonschema::Validator;
use serde_json::Value;
use testkit::{Assert, Shows};

use crate::original::{answer, directory, ended, json, ours, say, split};

const PUBLISHED: &str = include_str!("../../../../docs/schema/run-1.json");

fn validator() -> Validator {
    jsonschema::draft202012::new(&serde_json::from_str(PUBLISHED).unwrap()).unwrap()
}

fn assert_valid(validator: &Validator, text: &str, words: &str) -> Value {
    let document: Value = serde_json::from_str(text).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, Vec::<String>::new(), "{words}");
    document
}

/// The JSON output of a run, which must be complete.
fn run(words: &str, at: &Path) -> String {
    answer(
        &[&["run", "--quiet", "--format", "json"], &split(words)[..]].concat(),
        at,
    )
}

#[test]
fn schema_command_prints_the_published_schema() {
    let of_crashes = include_str!("../../../../docs/schema/crash-1.json");
    for (words, published) in [
        (&["schema"][..], PUBLISHED),
        (&["schema", "run"], PUBLISHED),
        (&["schema", "crash"], of_crashes),
    ] {
        assert_eq!(answer(words, Path::new("/")), published);
    }
}

#[test]
fn records_of_all_kinds_of_runs_match_the_schema() {
    let at = directory();
    let validator = validator();
    let kinds = [
        "--files 50 --transactions 300",
        "--files 50 --transactions 300 --compat 1.0 --bias-read -1",
        "--files 50 --transactions 300 --engine null",
        "--files 50 --transactions 300 --workers 3 --worker-seeds same --pin --cache warm \
         --no-series --no-overhead",
        "--files 50 --transactions 300 --no-latencies --no-sync-phases --no-check",
        "--files 3 --transactions 300 --bias-create 0",
        "--preset mail --files 50 --transactions 300 --verify --cache cold-data --on-error 1%",
        "--preset news --files 50 --transactions 300 --on-error 7",
        "--mix read=5,list=1,stat=2,create=1,delete=1 --files 50 --transactions 300 --calls \
         --think 10us --entries-max 200",
        "--mix read=2,append=1,create=1,delete=1 --files 50 --transactions 300 --writers 2 \
         --readers 2 --durability fsync",
        "--mix read=1 --files 50 --for 1500ms --warm-up 300ms --rate 2000 --calls",
        "--mix read=1 --files 50 --steady snia --round 1s --for 5s --rate 2000 --arrivals constant",
        "--mix read=1 --files 50 --steady slope --round 5s --for 25s --transactions 2000",
        "--mix read=1 --files 50 --sweep 500 --warm-up 100ms --for 10s --slo p99<1s",
        "--mix read=1 --files 50 --think 2ms --sweep workers=2 --warm-up 0s --for 10s",
    ];
    // The runs are performed in parallel: some take ten seconds and use little processor time.
    std::thread::scope(|scope| {
        for words in kinds {
            let (at, validator) = (at.path(), &validator);
            scope.spawn(move || {
                let document = assert_valid(validator, &run(words, at), words);
                assert_eq!(
                    document["record"]["actual"]["outcome"], "complete",
                    "{words}"
                );
            });
        }
    });
    for words in ["--files 50 --keep", "--files 50 --reuse"] {
        assert_valid(&validator, &run(words, at.path()), words);
    }
}

#[test]
fn record_with_a_chosen_pool_size_matches_the_schema_and_is_repeatable() {
    // `--working-set` needs a target on a disk, because a target in memory is refused.
    let at = tempfile::tempdir().unwrap();
    let words = "run --quiet --format json --mix read=1 --size 4KiB --working-set 0.0001x \
                 --transactions 300";
    let said = ended(&split(words), at.path());
    let errors = String::from_utf8_lossy(&said.errors);
    if errors.contains("lies in memory") {
        eprintln!(
            "skipped: {} lies in memory: set TMPDIR",
            at.path().display()
        );
        return;
    }
    assert_eq!(said.code, Some(0), "{errors}");
    let text = String::from_utf8(said.output).unwrap();
    let document = assert_valid(&validator(), &text, words);
    let chosen = &document["record"]["sizing"];
    chosen.assert(chosen["calibration"]["created_per_second"].is_f64());
    let file = at.path().join("run.json");
    std::fs::write(&file, &text).unwrap();
    let again = json(&["plan", "--like", file.to_str().unwrap()], at.path());
    assert_eq!(
        again["spec"]["workload"],
        document["record"]["spec"]["workload"]
    );
    assert_eq!(
        (&again["plan"]["fingerprint"], &again["sizing"]),
        (&document["record"]["fingerprint"], &Value::Null)
    );
}

#[test]
fn origin_of_times_is_recorded_on_both_clocks() {
    let at = directory();
    let unix_ns = || {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        i64::try_from(since.unwrap().as_nanos()).unwrap()
    };
    let clocks = || {
        (
            system::Clocks::read(&system::Sources::default()).monotonic_ns,
            unix_ns(),
        )
    };
    let before = clocks();
    let record =
        record::Record::from_json(&run("--files 50 --transactions 300", at.path())).unwrap();
    let after = clocks();
    let origin = record.origin;
    origin.assert((before.0..after.0).contains(&origin.monotonic_ns));
    assert!((before.1..after.1).contains(&origin.unix_ns), "{origin:?}");
    assert!(origin.uncertainty_ns < 1_000_000, "{origin:?}");
    let last = record.actual.phases.last().unwrap().segments[0].ended_ns;
    origin.assert(origin.monotonic_ns + i64::try_from(last).unwrap() < after.0);
    assert!(record.host.boot_id.is_known() && record.during.clocks.clock_source_before.is_known());
}

#[test]
fn failed_run_matches_the_schema() {
    let at = directory();
    // Files are limited to 8 KiB (16 blocks of 512 bytes), and SIGXFSZ is ignored.
    let script = "trap '' XFSZ; ulimit -f 16; exec \"$0\" run --quiet --format json --files 20 \
                  --size 9000..20000";
    let words = [OsStr::new("-c"), OsStr::new(script), ours().as_os_str()];
    let said = say(Path::new("/bin/sh"), &words, at.path(), b"", &[]);
    assert_eq!(
        said.code,
        Some(1),
        "{}",
        String::from_utf8_lossy(&said.errors)
    );
    let document = assert_valid(
        &validator(),
        &String::from_utf8(said.output).unwrap(),
        script,
    );
    let actual = &document["record"]["actual"];
    assert!(actual["outcome"]["failed"]["why"].is_string(), "{actual}");
    // If a value is not available, the record contains the reason.
    let end = actual["end"]["unavailable"].as_str().unwrap();
    end.shows("did not reach the end");
    assert_eq!(actual["errors"][0]["errno"]["known"], 27, "EFBIG: {actual}");
}
