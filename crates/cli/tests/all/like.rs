//! `--like` repeats a run from its record. The new run has the same run spec, except where other
//! options override it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use campaign::run_spec::{RunRequest, Specified, specify};
use clap::FromArgMatches;
use cli::args::{Command, CommandLine};
use cli::commands::plan;
use cli::ui::problem::USER;
use engines::posix::Posix;
use engines::raw::Raw;
use engines::stdio::Stdio;
use record::{Climb, Note, Outcome, Record, Workers};
use runner::{Control, NoEvents, SystemClock};
use serde_json::{Value, json};
use testkit::Shows;

use crate::original::{self, answer, directory, ended, split, tree};

/// The run request that command-line arguments result in.
fn work(words: &[&str]) -> RunRequest {
    let words = [&["postmark", "plan"], words].concat();
    let matches = cli::args::command().try_get_matches_from(&words).unwrap();
    let Some(Command::Plan(mut arguments)) =
        CommandLine::from_arg_matches(&matches).unwrap().command
    else {
        panic!("{words:?} are no plan");
    };
    arguments.work.complete(matches.subcommand().unwrap().1);
    arguments.work.request()
}

/// The configuration file for a run, without its comments.
fn toml(specified: &Specified) -> String {
    let text = plan::text(specified, document::Format::Toml, (None, false))
        .unwrap()
        .0;
    let lines = text.split_inclusive('\n');
    lines.filter(|line| !line.starts_with('#')).collect()
}

/// The record of a run that a signal ended before it created a file. The record contains the
/// complete run spec.
fn recorded(specified: &Specified) -> Record {
    const SIGINT: usize = 2;
    let mut request = specified.spec.clone();
    if let Some(Climb::Workers(workers)) = request.drive.sweep.as_ref().map(|sweep| &sweep.climb) {
        // For a sweep over workers, the record is that of the first load level.
        request.workload.workers = Workers::Private {
            workers: workers[0],
        };
    }
    let mut stopped = || Control::stopped_by(Arc::new(AtomicUsize::new(SIGINT)));
    let record = match specified.spec.engine.name() {
        "stdio" => runner::run(&request, &Stdio, &SystemClock, &mut stopped, &mut NoEvents),
        "raw" => runner::run(&request, &Raw, &SystemClock, &mut stopped, &mut NoEvents),
        _ => runner::run(&request, &Posix, &SystemClock, &mut stopped, &mut NoEvents),
    };
    let record = record.unwrap();
    assert_eq!(record.actual.outcome, Outcome::Interrupted { signal: 2 });
    record
}

/// Options for a variety of workloads and run settings.
const KINDS: [&str; 25] = [
    "",
    "--compat 1.0 --files 700 --transactions 900 --size 10..5000 --seed 7 --bias-read -1 \
     --bias-create 9 --dirs 12",
    "--preset paper-1000-50000 --read-block 4096 --engine raw",
    "--workers 3 --worker-seeds same --contents compressible:2.5 --pin --durability batch:100",
    "--writers 2 --readers 3 --bias-read 9 --bias-create -1 --size 100..200 --dirs 5",
    "--preset mail --files 100 --transactions 100",
    "--preset varmail --scale 3 --transactions 100",
    "--preset web-cache --files 100 --transactions 100 --rate 5000",
    "--preset ai-samples --files 20 --transactions 20",
    "--mix read=5,append=2,create=1,delete=1 --size lognormal:median=8KiB,sigma=1.2,max=1MiB \
     --append-size 1..4KiB --range-size 512 --size-max 2MiB --popularity zipf:0.99 --dirs \
     tree:3x2 --entries-max 500 --names hashed:20 --contents incompressible --dedup 1.5 --think \
     exponential:1us --align 512 --seed 12345678901234",
    "--mix read=1,create=1,delete=1 --size histogram:0..1KiB=30,1KiB..8KiB=50 --popularity \
     hot:12.5%/90% --names padded:9",
    "--mix deliver=1,delete=1,list=1 --names maildir --workers 2 --durability fsync+dir",
    "--mix read=1 --popularity shuffled --cache cold-data --no-sync-phases --no-check --verify \
     --on-error 0.5% --stall-timeout 90s",
    "--mix read=1 --cache warm --on-error 17 --calls --seed 18446744073709551615",
    "--mix read=1 --no-latencies --no-overhead",
    "--no-series --keep --durability o-dsync --engine posix",
    "--mix read=1 --for 2m --warm-up 90s --rate 1234.5 --arrivals constant --workers 3",
    "--for 500ms --rate 0.25 --transactions 1000000",
    "--steady snia --round 3s --for 1m --warm-up 5s",
    "--mix read=1 --steady slope --rate 70",
    "--mix read=1 --sweep 10.5,20,300 --arrivals constant --for 20s --slo p99<2500us",
    "--mix read=1 --sweep 1000..8000:8 --warm-up 0s",
    "--sweep 10%,55.5%,110% --fresh --warm-up 3s",
    "--sweep auto",
    "--sweep workers=2,4",
];

#[test]
fn record_resolves_to_the_run_spec_of_its_options() {
    let at = directory();
    let place = ["--target", at.path().to_str().unwrap()];
    let file = at.path().join("run.json");
    let like = ["--like", file.to_str().unwrap()];
    for words in KINDS {
        let words: Vec<&str> = words.split_whitespace().collect();
        let specified = specify(&work(&[&words[..], &place].concat()), USER).unwrap();
        std::fs::write(&file, verdict::to_json(&recorded(&specified))).unwrap();
        let again = specify(&work(&[like, place].concat()), USER).unwrap();
        assert_eq!(toml(&again), toml(&specified), "{words:?}");
        assert_eq!(again.spec, specified.spec, "{words:?}");
        assert_eq!(again.notes, [], "{words:?}");
        // The command line that HTML pages print for this run resolves to the same run spec.
        let said = record::words_again(&specified.spec);
        let said: Vec<&str> = said.iter().map(String::as_str).chain(place).collect();
        let said = specify(&work(&said), USER).unwrap();
        assert_eq!(toml(&said), toml(&again), "{words:?}");
        // The record of the repeated run can be repeated as well.
        std::fs::write(&file, verdict::to_json(&recorded(&again))).unwrap();
        let once_more = specify(&work(&[like, place].concat()), USER).unwrap();
        assert_eq!(toml(&once_more), toml(&specified), "{words:?}");
        std::fs::remove_file(&file).unwrap();
        // Removes the pools that some of the runs keep.
        for (path, _) in tree(at.path()).into_iter().rev() {
            let path = at.path().join(path);
            std::fs::remove_dir(&path)
                .or_else(|_| std::fs::remove_file(&path))
                .unwrap();
        }
    }
}

/// Performs a run, which must be complete. Returns its record, and writes it to a file.
fn run(words: &str, at: &Path, file: &Path) -> Value {
    let words = [&["run", "--quiet", "--format", "json"][..], &split(words)].concat();
    let text = answer(&words, at);
    std::fs::write(file, &text).unwrap();
    let record = serde_json::from_str::<Value>(&text).unwrap()["record"].take();
    assert_eq!(record["actual"]["outcome"], "complete", "{words:?}");
    record
}

#[test]
fn repeated_run_has_the_same_workload_and_settings() {
    let (at, elsewhere, files) = (directory(), directory(), directory());
    let file = files.path().join("run.json");
    let again = files.path().join("again.json");
    let like = format!("--like {}", file.display());
    for words in [
        "--files 50 --transactions 300 --workers 2 --calls",
        "--mix read=3,create=1,delete=1 --files 50 --transactions 300 --durability fsync --verify",
        "--mix read=3,create=1,delete=1 --files 50 --transactions 300 --no-latencies --no-overhead",
    ] {
        let one = run(words, at.path(), &file);
        let other = run(&like, elsewhere.path(), &again);
        assert_eq!(one["fingerprint"], other["fingerprint"], "{words}");
        let but_for_words = |record: &Value| {
            let mut spec = record["spec"].clone();
            spec["command_line"].take();
            spec
        };
        assert_eq!(but_for_words(&one), but_for_words(&other), "{words}");
        assert_eq!(
            one["actual"]["stream_hash"], other["actual"]["stream_hash"],
            "{words}"
        );
        assert_eq!(other["hints"], one["hints"], "{words}");
        // The repeated run uses another target directory.
        let directory = other["locations"][0]["directory"].as_str().unwrap();
        directory.begins_with(elsewhere.path().to_str().unwrap());
        let plan = answer(
            &[&["plan"], &split(&like)[..], &["--format", "json"]].concat(),
            at.path(),
        );
        let plan: Value = serde_json::from_str(&plan).unwrap();
        assert_eq!(plan["plan"]["fingerprint"], one["fingerprint"], "{words}");
    }
    assert_eq!(
        (tree(at.path()), tree(elsewhere.path())),
        (Vec::new(), Vec::new())
    );
}

#[test]
fn repeated_run_does_not_reuse_a_pool() {
    let (at, files) = (directory(), directory());
    let file = files.path().join("run.json");
    let words = "--files 50 --transactions 100 --engine posix";
    run(&format!("{words} --keep"), at.path(), &file);
    run(&format!("{words} --reuse --keep"), at.path(), &file);
    let like = format!("--like {} --no-keep", file.display());
    // The target of the repeated run contains no pool, so the run cannot reuse one.
    let elsewhere = directory();
    let again = run(
        &like,
        elsewhere.path(),
        &files.path().join("elsewhere.json"),
    );
    assert_eq!(
        again["spec"]["keeping"],
        json!({"keep": false, "reuse": false})
    );
    assert_eq!(tree(elsewhere.path()), []);
    let again = run(&format!("{like} --reuse"), at.path(), &file);
    assert_eq!(
        again["spec"]["keeping"],
        json!({"keep": false, "reuse": true})
    );
    assert_eq!(tree(at.path()), []);
}

#[test]
fn options_override_the_repeated_record() {
    let (at, files) = (directory(), directory());
    let file = files.path().join("run.json");
    let text = files.path().to_str().unwrap();
    let ack_log = format!("{text}/ack_log");
    run(
        "--mix read=1,create=1 --files 50 --transactions 100 --size 1KiB --target . --weight 3 \
         --no-latencies",
        at.path(),
        &file,
    );
    let path = file.to_str().unwrap();
    let plain = specify(&work(&["--like", path]), USER).unwrap();
    assert_eq!(
        plain.spec.workload.location_weights(),
        [3],
        "shares are a part of the work"
    );
    let place = "[[target]]\npath = \".\"\nweight = 3";
    assert!(
        toml(&plain).contains(place),
        "the place is the working directory\n{}",
        toml(&plain)
    );
    let words = "--transactions 7 --mix read=2 --durability fsync --latencies --engine \
                 raw --target /tmp --weight 5";
    let specified = specify(
        &work(&[&["--like", path], &split(words)[..]].concat()),
        USER,
    )
    .unwrap();
    assert_eq!(
        (
            specified.spec.workload.transactions(),
            specified.spec.workload.files()
        ),
        (7, 50)
    );
    assert_eq!(specified.spec.workload.location_weights(), [5]);
    assert_eq!(specified.spec.engine.name(), "raw");
    assert!(specified.spec.latencies && specified.spec.series);
    for line in [
        "mix = \"read=2\"",
        "durability = \"fsync\"",
        "size = \"1KiB\"",
        "path = \"/tmp\"",
    ] {
        assert!(
            toml(&specified).contains(line),
            "{line}\n{}",
            toml(&specified)
        );
    }
    assert_eq!(specified.notes, [Note::OtherWork { generators: None }]);
    // A note about the different workload is printed before the run and in the report.
    let other = ended(&["run", "--like", path, "--transactions", "7"], at.path());
    for said in [&other.errors, &other.output] {
        let said = String::from_utf8_lossy(said);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        said.shows("differs from that of the repeated run");
    }
    let planned = answer(&["plan", "--like", path, "--transactions", "7"], at.path());
    planned.shows("differs from that of the repeated run");
    // The repeated run does not write the acknowledgement log that the record names. If the record
    // is from a version of the program with other workload generators, a note reports that.
    let mut document: Value =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let record = &mut document["record"];
    record["spec"]["ack_log"] = json!(ack_log);
    record["spec"]["prepared"] = json!(true);
    record["tool"]["generators"] = json!(0);
    record["fingerprint"] = json!("xxh3-128:00000000000000000000000000000000");
    std::fs::write(&file, document.to_string()).unwrap();
    let specified = specify(&work(&["--like", path]), USER).unwrap();
    assert_eq!(specified.spec.ack_log, None);
    let other_work = Note::OtherWork {
        generators: Some(0),
    };
    assert_eq!(
        specified.notes,
        [other_work.clone(), Note::NoAckLog, Note::NotPrepared]
    );
    let specified = specify(&work(&["--like", path, "--ack-log", &ack_log]), USER).unwrap();
    assert_eq!(specified.spec.ack_log.as_deref(), Some(Path::new(&ack_log)));
    assert_eq!(specified.notes, [other_work, Note::NotPrepared]);
}

#[test]
fn repeated_record_can_be_read_from_standard_input() {
    let (at, files) = (directory(), directory());
    let file = files.path().join("run.json");
    run("--files 60 --transactions 70", at.path(), &file);
    let text = std::fs::read(&file).unwrap();
    let words = ["plan", "--like", "-", "--format", "toml"].map(std::ffi::OsStr::new);
    let said = original::say(original::ours(), &words, at.path(), &text, &[]);
    let toml = String::from_utf8(said.output).unwrap();
    toml.shows("files = 60\n").shows("transactions = 70\n");
    let said = original::say(original::ours(), &words, at.path(), b"{}", &[]);
    let errors = String::from_utf8(said.errors).unwrap();
    assert_eq!(said.code, Some(2));
    errors.shows("cannot use the run standard input: ");
}

/// JSON pointers into a record, each with an invalid value and a text of the error message.
fn wrongs() -> Vec<(&'static str, Value, &'static str)> {
    let sweep = |climb: Value| {
        json!({"climb": climb, "arrivals": "poisson", "fresh": false,
        "slo_p99_ns": null})
    };
    vec![
        ("/schema", json!(999), "use a newer postmark"),
        ("/schema", json!(0), "schema version 0"),
        ("/spec/workload/work/edition", json!("3.0"), "3.0"),
        ("/spec/workload/work/files", json!(-5), "-5"),
        ("/spec/workload/work/files", json!(0), "number of files 0"),
        ("/spec/workload/work/bias-read", json!(11), "0 to 10"),
        (
            "/spec/workload/work/read-block-bytes",
            json!(0),
            "read block",
        ),
        ("/spec/workload/workers/workers", json!(0), "1 to 4096"),
        (
            "/spec/workload/workers/workers",
            json!(4_000_000),
            "1 to 4096",
        ),
        ("/spec/workload/workers/pools", json!("many"), "many"),
        (
            "/spec/storage",
            json!("simulated"),
            "expected one of `stdio`, `raw`, `posix`, `uring`, `null`",
        ),
        (
            "/spec/durability",
            json!("always\u{1b}[2J"),
            "expected none, fdatasync",
        ),
        (
            "/spec/cache",
            json!("hot\u{1b}[2J"),
            "expected one of `as-is`, `warm`, `cold`, `cold-data`",
        ),
        ("/spec/on_error", json!("never"), "never"),
        (
            "/spec/stall_timeout_ns",
            json!(0),
            "'0s' for --stall-timeout",
        ),
        (
            "/spec/drive/pace",
            json!({"open": {"per_second": -1.0, "arrivals": "poisson"}}),
            "-1",
        ),
        (
            "/spec/drive/pace",
            json!({"open": {"per_second": 1.0, "arrivals": "never"}}),
            "`constant` or `poisson`",
        ),
        ("/spec/drive/stop", json!({"after_ns": 0}), "'0s' for --for"),
        (
            "/spec/drive/stop",
            json!({"steady": {"rule": "slope", "round_ns": 1, "rounds_max": 3}}),
            "--round",
        ),
        (
            "/spec/drive/sweep",
            sweep(json!({"rates": []})),
            "it has no load levels",
        ),
        (
            "/spec/drive/sweep",
            sweep(json!({"rates": [2.0, 1.0]})),
            "loads must rise",
        ),
        (
            "/spec/drive/sweep",
            sweep(json!({"workers": [0]})),
            "not a number of workers",
        ),
    ]
}

#[test]
fn run_from_an_invalid_record_is_refused() {
    let (at, files) = (directory(), directory());
    let file = files.path().join("run.json");
    run("--files 10 --transactions 10", at.path(), &file);
    let document: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let path = file.to_str().unwrap();
    let refused = |told: &str| {
        let said = ended(&["run", "--like", path], at.path());
        let errors = String::from_utf8_lossy(&said.errors).into_owned();
        assert_eq!(said.code, Some(2), "{told}: {errors}");
        errors.shows(told).shows(path);
        assert!(!errors.contains('\u{1b}'), "{errors:?}");
        assert_eq!(tree(at.path()), [], "{told}");
    };
    for (place, value, told) in wrongs() {
        let mut wrong = document.clone();
        *wrong.pointer_mut(&format!("/record{place}")).unwrap() = value;
        std::fs::write(&file, wrong.to_string()).unwrap();
        refused(told);
    }
    for text in ["", "{}", "[]", "nothing", "{\"record\":{\"schema\":1}}"] {
        std::fs::write(&file, text).unwrap();
        refused("this is not a record of a PostMark run");
    }
    let plan = answer(&["plan", "--format", "json"], at.path());
    std::fs::write(&file, plan).unwrap();
    refused("this is not a record of a PostMark run");
    std::fs::write(&file, b"{\xff}").unwrap();
    refused("cannot read the run");
    std::fs::remove_file(&file).unwrap();
    refused("cannot read the run");
    for other in [["--preset", "mail"], ["--config", "x.toml"]] {
        let said = ended(&[&["run", "--like", path], &other[..]].concat(), at.path());
        assert_eq!(said.code, Some(2));
        assert!(String::from_utf8_lossy(&said.errors).contains("cannot be used with"));
    }
}
