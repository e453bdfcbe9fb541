//! Mixes, workers and shared pools, as requested on the command line. Runs must agree with their
//! plans and leave no files.

use std::ffi::OsStr;
use std::path::Path;

use serde_json::Value;
use testkit::{Assert, Shows};
use workload::Action;

use crate::original::{answer, directory, ended, json, ours, say, split, tree};

const SMALL: &str = "--files 40 --transactions 400";

fn presets() -> Vec<String> {
    let all = workload::presets::all();
    all.into_iter()
        .map(|preset| preset.name.to_owned())
        .collect()
}

#[test]
fn presets_are_listed_with_descriptions_and_sources() {
    let at = directory();
    let listed = answer(&["presets"], at.path());
    for preset in workload::presets::all() {
        for word in [preset.name, preset.what, preset.source] {
            listed.shows(word);
        }
    }
    // The lists of operations agree with the refusal of a run.
    let lacks = "not with s3://, which lacks: ";
    listed.shows(lacks);
    let sections: Vec<&str> = listed.split("\n\n").collect();
    for preset in workload::presets::all() {
        let name = preset.full_name();
        let mut own = sections.iter();
        let section = own
            .find(|text| text.lines().any(|line| line == name))
            .unwrap();
        let words = format!("plan --durability none -t s3://127.0.0.1:1/b/x --preset {name}");
        let planned = ended(&split(&words), at.path());
        let told = String::from_utf8_lossy(&planned.errors).into_owned();
        let reasons = ["S3 has no call for", "no cache of this machine"];
        let is_refused = reasons.iter().any(|reason| told.contains(reason));
        assert_eq!(
            section.contains(lacks),
            is_refused,
            "{name}: {told}\n{section}"
        );
    }
    // The message about an engine that lacks operations has a mix without them.
    let mail = "plan --durability none -t s3://127.0.0.1:1/b/x --preset mail";
    let told = ended(&split(mail), at.path());
    let told = String::from_utf8_lossy(&told.errors).into_owned();
    let (_, mix) = told.split_once("(use --mix ").unwrap();
    let (mix, _) = mix.split_once(')').unwrap();
    let other = format!("{mail} --mix {mix}");
    let planned = ended(&split(&other), at.path());
    let errors = String::from_utf8_lossy(&planned.errors).into_owned();
    assert!(!errors.contains("has no call for"), "{mix}: {errors}");
    let one = answer(&["presets", "mail"], at.path());
    one.shows_all("mail-1 | mix deliver | From our own choice:");
    assert_eq!(one, answer(&["presets", "mail-1"], at.path()));
    let refused = ended(&["presets", "mial"], at.path());
    assert_eq!(refused.code, Some(2));
    let said = String::from_utf8_lossy(&refused.errors).into_owned();
    said.shows("'mial': no preset has this name (did you mean 'mail'?");
}

#[test]
fn scale_multiplies_the_files_of_a_preset() {
    let at = directory();
    let plan = |words: &str| json(&split(&format!("plan --transactions 0 {words}")), at.path());
    let files = |plan: &Value| plan["spec"]["workload"]["work"]["files"].clone();
    let plain = plan("--preset containers-1");
    let scaled = plan("--preset containers --scale 3");
    assert_eq!(files(&plain), 16_156);
    assert_eq!(files(&scaled), 3 * 16_156);
    assert_eq!(scaled["spec"]["preset"], "containers-1");
    let same = plan("--preset containers --files 16156");
    assert_eq!(plain["plan"]["fingerprint"], same["plan"]["fingerprint"]);
    assert_ne!(plain["plan"]["fingerprint"], scaled["plan"]["fingerprint"]);
}

#[test]
fn engines_are_listed_with_capabilities() {
    let at = directory();
    let text = answer(&["engines"], at.path());
    let csv = answer(&["engines", "--format", "csv"], at.path());
    let all: Vec<Value> =
        serde_json::from_str(&answer(&["engines", "--format", "json"], at.path())).unwrap();
    assert_eq!(csv.lines().count(), 1 + all.len());
    assert!(csv.starts_with("name,targets,protocol,depth_max,capabilities,cache,direct,"));
    for (row, listed) in engines::registry::ROWS.iter().zip(&all) {
        let facts = row.facts;
        assert!(text.contains(&format!("\n\n{}\n", facts.name)), "{text}");
        assert_eq!(listed["name"], facts.name);
        assert_eq!(listed["depth_max"], facts.depth_max);
        assert_eq!(listed["direct"], facts.direct);
        let durability = listed["durability"].as_array().unwrap();
        assert_eq!(durability.len(), facts.durability.len());
        let identity = facts.namespace.map(|known| known.identity);
        assert_eq!(listed["identity"], Value::from(identity));
    }
    assert!(
        text.contains("targets: nfs://host[:port]/export/path\n"),
        "{text}"
    );
}

#[test]
fn every_preset_equals_its_configuration_file() {
    let at = directory();
    // Most file systems refuse clones, so the preset that clones files cannot be planned on them.
    for preset in presets().into_iter().filter(|name| !name.contains("clone")) {
        // In debug builds, planning the largest presets would take minutes. So each preset is
        // planned with few files and transactions.
        let words = ["plan", "--preset", &preset, "--files", "50"];
        let phases = workload::presets::find(&preset).unwrap().how.phases;
        let end: &[&str] = match phases.is_empty() {
            true => &["--transactions", "300"],
            false => &[],
        };
        round_trip(&[&words[..], end].concat(), at.path());
        answer(
            &["plan", "--preset", &preset, "--format", "toml"],
            at.path(),
        );
    }
}

/// Converts options to a configuration file, reads this file, and asserts that it results in the
/// same file and the same plan.
fn round_trip(words: &[&str], at: &Path) {
    let file = at.join("config.toml");
    let toml = answer(&[words, &["--format", "toml"]].concat(), at);
    std::fs::write(&file, &toml).unwrap();
    let again = ["plan", "--config", file.to_str().unwrap()];
    let toml_again = answer(&[&again[..], &["--format", "toml"]].concat(), at);
    let specified = |toml: &str| -> String {
        let lines = toml.split_inclusive('\n');
        lines.filter(|line| !line.starts_with('#')).collect()
    };
    assert_eq!(specified(&toml), specified(&toml_again), "{words:?}");
    let (one, other) = (json(words, at), json(&again, at));
    assert_eq!(
        one["spec"]["workload"], other["spec"]["workload"],
        "{words:?}"
    );
    assert_eq!(one["plan"], other["plan"], "{words:?}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn options_survive_configuration_files() {
    let at = directory();
    std::fs::write(
        at.path().join("sizes.txt"),
        "0..1KiB 30\n1KiB..8KiB 50 # most\n64KiB 20\n",
    )
    .unwrap();
    for words in [
        "--workers 3 --worker-seeds same --dirs 4 --contents compressible:2.5 --pin \
         --durability batch:100",
        "--writers 2 --readers 3",
        "--writers 2 --readers 3 --bias-read 9 --bias-create -1 --size 100..200 --dirs 5 \
         --read-block 128",
        "--preset paper-1000-50000 --readers 2",
        "--mix read=5,append=2,create=1,delete=1 --size lognormal:median=8KiB,sigma=1.2,max=1MiB \
         --append-size 1..4KiB --range-size 512 --size-max 2MiB --popularity zipf:0.99 --dirs \
         tree:3x2 --entries-max 500 --names hashed:20 --contents incompressible --dedup 1.5 \
         --think exponential:1us --align 512 --seed 12345678901234",
        "--mix read=1,create=1,delete=1 --size histogram@sizes.txt --popularity hot:10%/90% \
         --names padded:9 --dirs 7",
        "--mix deliver=1,delete=1,list=1 --names maildir --workers 2 --durability fsync+dir \
         --direct",
        "--mix read=1 --size exponential:mean=2KiB,max=64KiB --cache cold-data --no-sync-phases \
         --no-check --verify --on-error 0.5% --stall-timeout 90s --calls",
        "--mix read=1 --on-error 17 --engine null --seed 18446744073709551615",
        "--mix read=1 --for 2m --warm-up 90s --rate 1234.5 --arrivals constant --workers 3",
        "--for 500ms --rate 0.25",
        "--steady snia --round 3s --for 1m --warm-up 5s",
        "--mix read=1 --steady slope --rate 70",
        "--mix read=1 --engine raw --cache warm --ack-log /proc/some.ack_log --keep",
        "--target . --weight 2 --target .. --mix create=1,delete=1",
    ] {
        round_trip(
            &[
                &["plan"][..],
                &split(SMALL),
                &words.split_whitespace().collect::<Vec<_>>(),
            ]
            .concat(),
            at.path(),
        );
    }
    // Each load level of a sweep ends after a time, even without `--for`. So these commands need no
    // option `--transactions`.
    for words in [
        "plan --files 40 --mix read=1 --sweep 10.5,20,300 --arrivals constant --for 20s --slo \
         p99<2500us",
        "plan --files 40 --sweep 10%,55.5%,110% --fresh --warm-up 3s",
        "plan --files 40 --sweep workers=1,2,4",
        "plan --files 40 --mix read=1 --sweep 10,20 --warm-up 0s",
    ] {
        round_trip(&split(words), at.path());
    }
}

#[test]
fn shared_pool_converts_classic_pairs_into_a_mix_with_a_note() {
    let at = directory();
    let words = [
        "plan",
        "--writers",
        "2",
        "--readers",
        "1",
        "--bias-read",
        "7",
        "--dirs",
        "3",
    ];
    let text = answer(&words, at.path());
    text.shows("The pool is shared, so the workload is the mix");
    let toml = answer(&[&words[..], &["--format", "toml"]].concat(), at.path());
    toml.shows_all(
        "# The pool is shared | mix = \"create=5,read=7,append=3,delete=5\" | \
         size = \"500..10000\" | append-size = \"1..10000\" | size-max = 10000 | \
         dirs = \"subdirs:3\" | read-block = 512 | writers = 2 | engine = \"posix\"",
    );
}

#[test]
fn direct_io_sets_the_default_alignment() {
    let at = directory();
    let words = split("plan --mix read=1 --direct --size 500..9000 --format toml");
    let toml = answer(&words, at.path());
    toml.shows_all("align = 4096 | read-block = 65536 | direct = true");
    let toml = answer(
        &split("plan --preset paper-1000-50000 --mix read=1 --direct --format toml"),
        at.path(),
    );
    toml.shows("read-block = 4096");
}

/// Performs a run, and returns its record. The run must be complete and leave no files.
fn run(words: &str, at: &Path) -> Value {
    let words = [&["run", "--quiet"][..], &split(words)].concat();
    let record = json(&words, at)["record"].take();
    assert_eq!(record["actual"]["outcome"], "complete", "{words:?}");
    assert_eq!(tree(at), [], "{words:?}");
    record
}

/// Number of operations of one kind in the transactions phase.
fn done(record: &Value, action: &str) -> u64 {
    let mut actions = workload::Action::operations();
    let action = actions.find(|known| known.name() == action).unwrap();
    let action = serde_json::to_value(action).unwrap();
    let phases = record["actual"]["phases"].as_array().unwrap();
    let phase = phases
        .iter()
        .find(|phase| phase["phase"] == "transactions")
        .unwrap();
    let operations = phase["segments"][0]["operations"].as_array().unwrap();
    let of_action = operations
        .iter()
        .filter(|operation| operation["action"] == action);
    of_action
        .map(|operation| operation["meter"]["operations"].as_u64().unwrap())
        .sum()
}

#[test]
fn every_kind_of_operation_is_verified_and_leaves_no_files() {
    let at = directory();
    let all: Vec<Action> = Action::operations()
        .filter(|action| action.is_asked_for())
        .collect();
    let mix = |actions: &[&str]| {
        let weights: Vec<String> = actions.iter().map(|action| format!("{action}=1")).collect();
        weights.join(",")
    };
    let rest = "--files 100 --transactions 3000 --size 1..20000 --append-size 1..5000 --size-max \
                40000 --verify --calls";
    for shape in [
        "--dirs flat",
        "--dirs tree:2x2 --tree-levels 1 --names hashed:20 --workers 2",
        "--writers 3 --readers 2 --dirs 3",
        "--engine uring --dirs flat",
        "--engine uring --depth 8 --dirs tree:2x2 --tree-levels 2 --names hashed:20 --workers 2",
        // These workloads use small directories. Once, with three directories on ext4 and a busy
        // machine, a listing of some 210 entries returned 370. That is not explained yet, and did
        // not happen again.
        "--engine uring --depth 8 --writers 3 --readers 2 --dirs 20",
        "--engine uring --depth 64 --dirs 20",
        "--engine uring --depth 64 --writers 3 --readers 2 --dirs 20",
    ] {
        let is_shared = shape.contains("--writers");
        let mut some: Vec<&str> = all
            .iter()
            .filter(|action| !is_shared || !action.is_on_tree())
            .map(|action| action.name())
            .collect();
        for (lack, actions) in [
            ("extended attributes", &["set-xattr", "get-xattr"][..]),
            (
                "files that share blocks",
                &["clone", "install-clone", "clone-tree"],
            ),
        ] {
            let actions: Vec<&str> = actions
                .iter()
                .copied()
                .filter(|of| some.contains(of))
                .collect();
            let few = [&["create", "append", "read"][..], &actions].concat();
            let words = format!("run --quiet --mix {} {rest} {shape}", mix(&few));
            let refused = ended(&split(&words), at.path());
            let lack = format!("does not support {lack}");
            if String::from_utf8_lossy(&refused.errors).contains(&lack) {
                some.retain(|action| !actions.contains(action));
            }
        }
        let record = run(&format!("--mix {} {rest} {shape}", mix(&some)), at.path());
        for action in &some {
            // `get-xattr` is skipped until an extended attribute was set, so a run may contain no
            // `get-xattr`.
            if *action != "get-xattr" {
                assert!(done(&record, action) > 0, "no {action} with {shape}");
            }
        }
        assert_eq!(record["spec"]["verify"], true);
    }
    let help = answer(&["run", "--help"], at.path());
    let help: Vec<&str> = help.split([' ', ',', '.', '\n']).collect();
    for action in &all {
        assert!(help.contains(&action.name()), "{help:?}");
    }
}

#[test]
fn every_mix_preset_is_performed_and_verified() {
    let at = directory();
    for preset in workload::presets::all() {
        let Some(mix) = preset.workload.mix() else {
            continue;
        };
        // The phases of a preset have their own ends; the time ends those that have none.
        let small = match mix.sizes.mean() > 1e6 {
            true => format!("{SMALL} --size 64KiB"),
            false if mix.phases.is_empty() => SMALL.to_owned(),
            false => "--files 40 --for 200ms".to_owned(),
        };
        let words = format!("--preset {} {small} --verify", preset.name);
        if mix.weights.actions().any(Action::clones) {
            let ended = ended(&split(&format!("run --quiet {words}")), at.path());
            let lack = "does not support files that share blocks";
            if String::from_utf8_lossy(&ended.errors).contains(lack) {
                continue;
            }
        }
        let record = run(&words, at.path());
        let policy = preset.how.durability.unwrap_or("none");
        assert_eq!(record["spec"]["durability"], policy, "{}", preset.name);
        let name = (!small.contains("--size")).then(|| preset.full_name());
        assert_eq!(record["spec"]["preset"], Value::from(name));
    }
    let record = run(&format!("--preset veritas-massive-1 {SMALL}"), at.path());
    let phase = &record["actual"]["phases"][1];
    assert_eq!(phase["workers"].as_array().unwrap().len(), 12);
    let record = run(
        &format!("--preset mail {SMALL} --durability none --workers 1"),
        at.path(),
    );
    assert_eq!(
        record["spec"]["durability"], "none",
        "options hold over presets"
    );
}

#[test]
fn classic_workload_runs_with_workers_and_other_contents() {
    let at = directory();
    let plain = run(SMALL, at.path());
    let other = run(
        &format!("{SMALL} --contents incompressible --verify"),
        at.path(),
    );
    assert_eq!(
        plain["actual"]["stream_hash"], other["actual"]["stream_hash"],
        "the same operations"
    );
    assert_ne!(
        plain["fingerprint"], other["fingerprint"],
        "of other contents"
    );
    assert_eq!(
        other["spec"]["workload"]["contents"]["kind"],
        "incompressible"
    );
    let many = run(
        &format!("{SMALL} --workers 3 --pin --cache warm --durability batch:50"),
        at.path(),
    );
    assert_eq!(many["spec"]["pin"], true);
    assert_eq!(many["spec"]["cache"], "warm");
}

#[test]
fn kept_pool_is_reused() {
    let at = directory();
    for words in [
        "--workers 2",
        "--mix read=3,create=1,delete=1 --workers 2",
        "--mix read=1 --readers 2",
    ] {
        let keep = format!("run --quiet {words} --files 40 --transactions 0 --keep");
        answer(&split(&keep), at.path());
        assert!(!tree(at.path()).is_empty(), "{words}: nothing was kept");
        let transactions = "--transactions 100";
        let record = run(
            &format!("{words} --files 40 {transactions} --reuse"),
            at.path(),
        );
        assert_eq!(record["spec"]["keeping"]["reuse"], true);
    }
}

#[test]
fn ack_log_of_a_complete_run_shows_no_loss() {
    let (at, beside) = (directory(), tempfile::tempdir().unwrap());
    let ack_log = beside.path().join("ack_log");
    let ack_log = ack_log.to_str().unwrap();
    let mix = "--mix create=3,deliver=2,rename=2,append=1,delete=1 --keep";
    let words = format!("run --quiet {SMALL} {mix} --ack-log {ack_log}");
    answer(&split(&words), at.path());
    let path = at.path().to_str().unwrap();
    let text = answer(&["verify-log", path, "--ack-log", ack_log], at.path());
    text.shows("No loss");
    // The test removes a file of the run, as another program might.
    let files = tree(at.path());
    let is_ours = |(path, size): &&(std::path::PathBuf, Option<u64>)| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        size.is_some() && name.bytes().all(|byte| byte.is_ascii_digit())
    };
    let victim = files.iter().find(is_ours).unwrap();
    std::fs::remove_file(at.path().join(&victim.0)).unwrap();
    let said = ended(&["verify-log", path, "--ack-log", ack_log], at.path());
    let text = String::from_utf8_lossy(&said.output).into_owned();
    assert_eq!(said.code, Some(1), "{text}");
    text.shows("LOST: 1 of").shows(&victim.0.to_string_lossy());
    let said = ended(
        &["verify-log", path, "--ack-log", ack_log, "--format", "json"],
        at.path(),
    );
    assert_eq!(said.code, Some(1));
    let verified: Value = serde_json::from_slice(&said.output).unwrap();
    assert_eq!(verified["lost"].as_array().unwrap().len(), 1);
}

/// A lost rename leaves the file under its former name. A renamed file without any name is a loss
/// of the operation that made it, whatever the policy of renames promises.
#[test]
fn renamed_file_without_any_name_is_a_loss_of_its_creation() {
    let (at, beside) = (directory(), tempfile::tempdir().unwrap());
    let ack_log = beside.path().join("ack_log");
    let ack_log = ack_log.to_str().unwrap();
    let mix = "--mix rename=1 --keep";
    answer(
        &split(&format!("run --quiet {SMALL} {mix} --ack-log {ack_log}")),
        at.path(),
    );
    let text = std::fs::read_to_string(ack_log).unwrap();
    let renames = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        (words.get(4) == Some(&"rename")).then(|| (words[6].to_owned(), words[7].to_owned()))
    });
    let (former, last) = renames.collect::<Vec<_>>().pop().unwrap();
    let files = tree(at.path());
    let (renamed, _) = files
        .iter()
        .find(|(path, _)| path.ends_with(&last))
        .unwrap();
    let renamed = at.path().join(renamed);
    let lost = |words: &str| -> Vec<(String, String)> {
        let words = format!("{words} --ack-log {ack_log} --format json");
        let said = ended(&split(&words), at.path());
        assert_eq!(said.code, Some(1));
        let verified: Value = serde_json::from_slice(&said.output).unwrap();
        let lost = verified["lost"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        lost.map(|loss| (text(&loss["what"]), text(&loss["why"])))
            .collect()
    };
    let verify = format!("verify-log {}", at.path().display());
    std::fs::rename(&renamed, renamed.with_file_name(&former)).unwrap();
    let both = lost(&verify);
    assert_eq!(both.len(), 2, "{both:?}");
    assert!(both.iter().all(|(what, _)| what == "rename"), "{both:?}");
    std::fs::remove_file(renamed.with_file_name(&former)).unwrap();
    let one = lost(&verify);
    let [(what, why)] = &one[..] else {
        panic!("{one:?}")
    };
    assert_eq!(what, "create");
    why.shows("nor does any name that the file had before");
}

/// Performs a run under a file size limit of 4 KiB, so some creations fail and leave incomplete
/// files. Returns the exit status and the record.
fn with_small_files_only(words: &str, at: &Path) -> (Option<i32>, Value) {
    let script = format!(
        "trap '' XFSZ; ulimit -f 8; exec \"$0\" run --quiet --format json {words} --size \
         histogram:100..3000=98,9000..9500=2"
    );
    let arguments = ["-c", &script, ours().to_str().unwrap()].map(OsStr::new);
    let said = say(Path::new("/bin/sh"), &arguments, at, b"", &[]);
    let report: Value = serde_json::from_slice(&said.output)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&said.errors)));
    assert_eq!(tree(at), [], "something is left");
    (said.code, report["record"].clone())
}

#[test]
fn files_of_failed_operations_are_skipped_by_all_workers() {
    let at = directory();
    for seed in 1..6 {
        let words = format!(
            "--mix create=3,delete=2,link=1,rename=1 --writers 8 --dirs subdirs:4 --files 200 \
             --transactions 60 --on-error 1000 --seed {seed}"
        );
        let (code, record) = with_small_files_only(&words, at.path());
        assert_eq!(code, Some(0), "{record}");
        let errors = record["actual"]["errors"].as_array().unwrap();
        assert!(!errors.is_empty(), "nothing failed");
        for error in errors {
            assert_eq!(
                error["step"], "write",
                "a failure brings no other error: {errors:?}"
            );
        }
        let check = &record["actual"]["check"]["known"];
        assert_eq!(check["wrong"], 0, "{check}");
        assert!(check["left_out"].as_u64().unwrap() > 0, "{check}");
        // The check covers all directories, even those with the incomplete files of failed
        // operations.
        assert_eq!(check["directories"], 4, "{check}");
    }
}

#[test]
fn error_share_is_checked_at_the_end_of_short_runs() {
    let at = directory();
    // With an alignment of 8 KiB, every file exceeds the file size limit of 4 KiB.
    let always = |share| {
        let words =
            format!("--mix create=1 --files 70 --transactions 0 --on-error {share}% --align 8192");
        with_small_files_only(&words, at.path())
    };
    let (code, record) = always(1);
    assert_eq!(code, Some(1));
    let why = record["actual"]["outcome"]["failed"]["why"]
        .as_str()
        .unwrap()
        .to_owned();
    why.shows("70 errors in 70 operations");
    assert_eq!(always(100).0, Some(0));
}

#[test]
fn claims_are_released_during_think_time() {
    let at = directory();
    let record = run(
        "--mix append=1,read=1 --size 10..20 --size-max 1MiB --files 2 --writers 3 --readers 3 \
         --think 200ms --transactions 6",
        at.path(),
    );
    let waits = record["actual"]["phases"][1]["claim_waits"]
        .as_array()
        .unwrap();
    for wait in waits {
        // The wait time is missing if no worker had to wait.
        let max_ns = wait["wait"]["max_ns"].as_u64().unwrap_or(0);
        assert!(
            max_ns < 150_000_000,
            "somebody waited for {max_ns} ns\n{wait}"
        );
    }
}

#[test]
fn timed_run_keeps_its_rate_and_reports_every_second() {
    let (at, beside) = (directory(), tempfile::tempdir().unwrap());
    let live = beside.path().join("live.json");
    let words = format!(
        "--mix read=2,create=1,delete=1 --files 100 --workers 2 --for 3s --warm-up 1s --rate 500 \
         --arrivals constant --live {}",
        live.display()
    );
    let report = json(
        &[&["run", "--quiet"][..], &split(&words)].concat(),
        at.path(),
    );
    let phase = &report["summary"]["phases"][1];
    let rate = phase["transactions"]["per_second"].as_f64().unwrap();
    // The offered rate is 500 per second. On a busy machine the achieved rate may be lower. It is
    // higher only while workers catch up.
    assert!((450.0..=520.0).contains(&rate), "{rate} a second");
    let warm_up = phase["warm_up"]["transactions"]["count"].as_u64().unwrap();
    assert!((400..=520).contains(&warm_up), "{warm_up} in the warm-up");
    for operation in phase["operations"].as_array().unwrap() {
        assert!(
            operation["service_ns"]["mean"].as_f64() <= operation["latency_ns"]["mean"].as_f64(),
            "{operation}"
        );
    }
    let record = &report["record"]["actual"]["phases"][1];
    let slices = record["slices"]["slices"].as_array().unwrap();
    assert!((4..=5).contains(&slices.len()), "{} slices", slices.len());
    let lines: Vec<Value> = std::fs::read_to_string(&live)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: u64 = lines
        .iter()
        .filter(|line| line["phase"] == "transactions")
        .map(|line| line["operations"].as_u64().unwrap())
        .sum();
    let all: u64 = record["segments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|segment| segment["transactions"].as_u64().unwrap())
        .sum();
    assert_eq!(told, all, "all was told");
    let counted = lines
        .iter()
        .filter(|line| line["phase"] == "transactions" && line["cpu_system_ns"].is_u64());
    assert!(
        counted.count() >= 4,
        "what the kernel counted is not told: {lines:?}"
    );
    let machine = &report["record"]["actual"]["phases"][1]["machine"];
    assert!(machine["index"].as_array().unwrap().len() >= 4, "{machine}");
    let slowest = record["slowest"].as_array().unwrap();
    assert_eq!(slowest.len(), 3, "of every kind");
    for slow in slowest
        .iter()
        .flat_map(|kind| kind["operations"].as_array().unwrap())
    {
        slow.assert(slow["path"].as_str().unwrap().contains("postmark-"));
    }
    let text = answer(
        &split("run --quiet --full --files 50 --mix read=1 --for 200ms --rate 100"),
        at.path(),
    );
    text.shows_all(
        "transactions for 0.2 s | requested rate 100/s (poisson arrivals) | service | \
         response times from due to completion | Slowest",
    );
}

#[test]
fn slow_reader_of_the_live_output_loses_lines_but_does_not_delay_the_run() {
    let at = directory();
    // Standard output is a pipe that is read only after the run. More lines are written than the
    // pipe can hold.
    let script = "{ \"$0\" run --quiet --mix read=1 --files 20 --for 2s --live - --output \
                  /dev/null; echo ended >&2; } | { sleep 4; cat; }";
    let arguments = ["-c", script, ours().to_str().unwrap()].map(OsStr::new);
    let began = std::time::Instant::now();
    let said = say(Path::new("/bin/sh"), &arguments, at.path(), b"", &[]);
    assert!(String::from_utf8_lossy(&said.errors).contains("ended"));
    assert!(began.elapsed().as_secs() < 30);
    let lines = String::from_utf8_lossy(&said.output).lines().count();
    assert!(lines >= 3, "{lines} lines");
}

#[test]
fn plan_of_an_endless_run_covers_a_limited_number_of_transactions() {
    let at = directory();
    let text = answer(&split("plan --for 2m"), at.path());
    assert!(
        text.contains("the first 1,000,000 transactions of each worker"),
        "{text}"
    );
    let planned = json(&split("plan --for 2m"), at.path());
    assert_eq!(planned["plan"]["transactions"], 1_000_000);
    let ran = json(&split("run --quiet --for 50ms"), at.path());
    assert_eq!(planned["plan"]["fingerprint"], ran["record"]["fingerprint"]);
}

#[test]
fn missing_measurement_is_reported() {
    let at = directory();
    // The pool of this run can grow without limit, so the check for free space is not possible. The
    // run must be performed without this check.
    run("--mix create=1 --files 10 --for 100ms", at.path());
    let text = answer(
        &split("run --quiet --files 20 --transactions 50 --warm-up 1m"),
        at.path(),
    );
    text.shows("too-short: the transactions ended during the warm-up: ");
}

#[test]
fn refused_run_leaves_the_live_file_unchanged() {
    let (at, beside) = (directory(), tempfile::tempdir().unwrap());
    let (kept, new) = (beside.path().join("kept"), beside.path().join("new"));
    std::fs::write(&kept, "mine").unwrap();
    for live in [&kept, &new] {
        let live = live.display().to_string();
        let refused = ended(
            &["run", "--quiet", "--reuse", "--force", "--live", &live],
            at.path(),
        );
        assert_eq!(refused.code, Some(2));
    }
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "mine");
    assert!(!new.exists());
}
