//! Runs of presets are traced with strace and learned: the learned mix, sizes and durability are
//! those of the run.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testkit::table;
use workload::{Phase, Work, Workers, presets};

use crate::original;
use crate::support::TestDir;

const FILES: u64 = 300;
const TRANSACTIONS: u64 = 2000;
/// Each row: a preset, and its durability.
const PRESETS: &str = "
    mail         | append=fdatasync,deliver=fsync+dir
    mail-expunge | append=fdatasync
    varmail      | create=fsync,append=fsync
    news         | none
    photo-store  | none
    web-cache    | none
";
/// The largest total variation distance of two mixes.
const DISTANCE_MAX: f64 = 0.02;
/// The largest relative difference of a quantile of sizes.
const QUANTILE_ERROR_MAX: f64 = 0.05;

type Mix = BTreeMap<String, i64>;

/// What a traced run recorded, and what its trace shows.
struct Traced {
    recorded: Mix,
    created_bytes: u64,
    /// The report about the learned workload.
    report: Value,
    /// The option `durability` of the learned workload.
    durability: String,
}

#[test]
fn learned_mix_sizes_and_durability_of_presets_are_those_of_the_run() {
    let Some(strace) = original::strace() else {
        return;
    };
    for [preset, durability] in table(PRESETS) {
        // Preparation and removal also request attributes and make directories. The difference of
        // two runs contains only transactions.
        let many = traced(strace, preset, TRANSACTIONS);
        let few = traced(strace, preset, 1);
        let recorded = without(&many.recorded, &few.recorded);
        let learned = without(&mix(&many.report), &mix(&few.report));
        let distance = total_variation(&recorded, &learned);
        assert!(
            distance <= DISTANCE_MAX,
            "{preset}: {distance}\nrecorded {recorded:?}\nlearned {learned:?}"
        );
        let sizes = created_sizes(preset);
        assert_eq!(sizes.iter().sum::<u64>(), many.created_bytes, "{preset}");
        assert_sizes_match(&many.report, &sizes, preset);
        assert_eq!(many.durability, durability, "{preset}");
    }
}

/// The sizes of the files that a run of the preset creates, sorted.
fn created_sizes(preset: &str) -> Vec<u64> {
    let mut workload = presets::find(preset).unwrap().workload;
    if let Work::Mix(mix) = &mut workload.work {
        (mix.files, mix.transactions) = (FILES, TRANSACTIONS);
    }
    workload.workers = Workers::Private { workers: 1 };
    let mut stream = workload.stream(0, |_| ()).unwrap();
    let mut sizes = Vec::new();
    for phase in [Phase::Prepare, Phase::Transactions] {
        while let Some(intent) = stream.next(phase) {
            if intent.action.creates() {
                sizes.push(intent.bytes);
            }
        }
    }
    sizes.sort_unstable();
    sizes
}

/// Checks the sum and the quantiles of the learned sizes. Files of the run itself, such as its
/// manifest, are below the target too.
fn assert_sizes_match(report: &Value, sizes: &[u64], preset: &str) {
    let all = report["comparisons"].as_array().unwrap();
    let of = all
        .iter()
        .find(|of| of["what"] == "sizes of files")
        .unwrap();
    let learned = of["observed-mean"].as_f64().unwrap() * of["count"].as_f64().unwrap();
    let ratio = learned / sizes.iter().sum::<u64>() as f64;
    assert!((ratio - 1.0).abs() < 0.01, "{preset}: {ratio}");
    let own = of["count"].as_u64().unwrap() as usize - sizes.len();
    for row in of["quantiles"].as_array().unwrap() {
        let [share, _, model] = [0, 1, 2].map(|at| row[at].as_f64().unwrap());
        let rank = (share * (sizes.len() + own) as f64).ceil() as usize;
        // At most `own` of the smaller files are those of the run itself.
        let least = sizes[(rank - 1).saturating_sub(own)] as f64;
        let most = sizes[rank.min(sizes.len()) - 1] as f64;
        let is_near = model >= least * (1.0 - QUANTILE_ERROR_MAX)
            && model <= most * (1.0 + QUANTILE_ERROR_MAX);
        let what = format!("{preset}: p{share}: {model} for {least} to {most}, {own} own files");
        assert!(is_near, "{what}");
    }
    assert!(own < 10, "{preset}: {own}");
}

/// Copies, links and removes directories, as backups by `cp -al` do.
const BACKUPS: &str = "cd $0 && cp -a source one && cp -al source two && rm -rf one two && \
                       cp -a source one && rm -rf one";

#[test]
fn learned_commands_with_trees_and_hard_links_can_be_run() {
    let Some(strace) = original::strace() else {
        return;
    };
    let directory = TestDir::in_memory();
    let at = directory.path();
    let source = directory.directory("source");
    for number in 1..=40 {
        std::fs::write(source.join(number.to_string()), vec![b'x'; 100 * number]).unwrap();
    }
    let [log, workload] = ["log", "workload.toml"].map(|name| at.join(name));
    let mut command = Command::new(strace);
    command.args(["-f", "-y", "-s", "0", "-o"]).arg(&log);
    command.args(["sh", "-c", BACKUPS]).arg(at);
    assert!(command.status().unwrap().success());
    let mut learn = Command::new(original::ours());
    learn.args(["learn", "--trace"]).arg(&log);
    learn.arg("--below").arg(at).arg("--output").arg(&workload);
    let learned = mix(&json(learn));
    let target = directory.directory("target");
    let mut run = Command::new(original::ours());
    run.arg("run").arg("--config").arg(&workload);
    run.args([
        "--verify",
        "--transactions=500",
        "--archive=none",
        "--target",
    ]);
    run.arg(&target);
    let (recorded, _) = recorded(&json(run));
    for action in ["link", "remove-tree"] {
        let counts = [&learned, &recorded].map(|mix| mix.get(action).copied());
        assert!(
            counts.iter().all(|count| count > &Some(0)),
            "{action}: {counts:?}\n{learned:?}"
        );
    }
}

fn traced(strace: &Path, preset: &str, transactions: u64) -> Traced {
    let directory = TestDir::in_memory();
    let [log, target, workload] =
        ["log", "target", "workload.toml"].map(|name| directory.path().join(name));
    std::fs::create_dir(&target).unwrap();
    let mut command = Command::new(strace);
    command
        .args(["-f", "-ttt", "-T", "-s", "0", "-o"])
        .arg(&log)
        .arg(original::ours())
        .args(["run", "--preset", preset, "--target"])
        .arg(&target)
        .arg(format!("--files={FILES}"))
        .arg(format!("--transactions={transactions}"))
        .args(["--workers=1", "--think=none", "--archive=none"]);
    let run = json(command);
    let mut learn = Command::new(original::ours());
    learn.args(["learn", "--trace"]).arg(&log);
    learn
        .arg("--below")
        .arg(&target)
        .arg("--output")
        .arg(&workload);
    let report = json(learn);
    let text = std::fs::read_to_string(&workload).unwrap();
    let options: toml::Table = text.parse().unwrap();
    let durability = options.get("durability").and_then(toml::Value::as_str);
    let (recorded, created_bytes) = recorded(&run);
    Traced {
        durability: of_recorded(durability.unwrap_or("none"), &recorded),
        recorded,
        created_bytes,
        report,
    }
}

/// Runs a command with `--format json`, and parses its output.
fn json(mut command: Command) -> Value {
    let output = command.args(["--format", "json"]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The operations in a report about a learned workload.
fn mix(report: &Value) -> Mix {
    serde_json::from_value(report["profile"]["mix"].clone()).unwrap()
}

/// The policies of operations that the run recorded. The program also syncs files of its own.
fn of_recorded(durability: &str, recorded: &Mix) -> String {
    let is_recorded = |policy: &&str| match policy.split_once('=') {
        Some((name, _)) => recorded.contains_key(name),
        None => true,
    };
    let policies: Vec<&str> = durability.split(',').filter(is_recorded).collect();
    match policies.is_empty() {
        true => "none".to_owned(),
        false => policies.join(","),
    }
}

/// Operations of all phases, and the bytes of files that were created.
fn recorded(run: &Value) -> (Mix, u64) {
    let (mut mix, mut bytes) = (Mix::new(), 0);
    for phase in run["summary"]["phases"].as_array().unwrap() {
        for row in phase["operations"].as_array().unwrap() {
            let action = row["action"].as_str().unwrap();
            let count = row["operations"]["count"].as_i64().unwrap();
            *mix.entry(action.to_owned()).or_default() += count;
            if ["create", "deliver"].contains(&action) {
                bytes += row["bytes"]["count"].as_u64().unwrap();
            }
        }
    }
    (mix, bytes)
}

fn without(many: &Mix, few: &Mix) -> Mix {
    let counts = many.iter().map(|(action, count)| {
        let others = few.get(action).copied().unwrap_or_default();
        (action.clone(), (count - others).max(0))
    });
    counts.collect()
}

/// Half the sum of the differences of all shares: 0 for equal mixes, 1 without a common operation.
fn total_variation(one: &Mix, other: &Mix) -> f64 {
    let total = |mix: &Mix| mix.values().sum::<i64>().max(1) as f64;
    let share =
        |mix: &Mix, action: &str| mix.get(action).copied().unwrap_or_default() as f64 / total(mix);
    let mut actions: Vec<&String> = one.keys().chain(other.keys()).collect();
    actions.sort_unstable();
    actions.dedup();
    let differences = actions
        .into_iter()
        .map(|action| (share(one, action) - share(other, action)).abs());
    differences.sum::<f64>() / 2.0
}
