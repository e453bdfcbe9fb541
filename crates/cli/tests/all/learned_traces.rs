//! Runs of presets are traced with strace and learned: the learned mix, sizes and durability are
//! those of the run.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testkit::table;

use crate::original;
use crate::support::TestDir;

const FILES: &str = "300";
const TRANSACTIONS: &str = "2000";
/// Each row: a preset, and its durability.
const PRESETS: &str = "
    mail         | append=fdatasync,deliver=fsync+dir
    mail-expunge | append=fdatasync
    varmail      | create=fsync,append=fsync
    news         | none
    photo-store  | none
    web-cache    | none
";
const TRANSACTIONS_FEW: &str = "1";
/// The largest total variation distance of two mixes.
const DISTANCE_MAX: f64 = 0.02;

type Mix = BTreeMap<String, i64>;

/// What a traced run recorded, and what its trace shows.
struct Traced {
    recorded: Mix,
    learned: Mix,
    created_bytes: u64,
    learned_bytes: u128,
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
        let many = traced(strace, preset, FILES, TRANSACTIONS);
        let few = traced(strace, preset, FILES, TRANSACTIONS_FEW);
        let recorded = without(&many.recorded, &few.recorded);
        let learned = without(&many.learned, &few.learned);
        let distance = total_variation(&recorded, &learned);
        assert!(
            distance <= DISTANCE_MAX,
            "{preset}: {distance}\nrecorded {recorded:?}\nlearned {learned:?}"
        );
        // Files of the run itself, such as its manifest, are below the target too.
        let (all, learned) = (many.created_bytes as f64, many.learned_bytes as f64);
        let ratio = learned / all;
        assert!((ratio - 1.0).abs() < 0.01, "{preset}: {ratio}");
        assert_eq!(many.durability, durability, "{preset}");
    }
}

fn traced(strace: &Path, preset: &str, files: &str, transactions: &str) -> Traced {
    let directory = TestDir::in_memory();
    let (log, target) = (
        directory.path().join("log"),
        directory.path().join("target"),
    );
    std::fs::create_dir(&target).unwrap();
    let mut command = Command::new(strace);
    command
        .args(["-f", "-ttt", "-T", "-s", "0", "-o"])
        .arg(&log);
    command
        .arg(original::ours())
        .args(["run", "--preset", preset, "--target"]);
    command
        .arg(&target)
        .args(["--files", files, "--transactions", transactions]);
    let plain = [
        "--workers",
        "1",
        "--think",
        "none",
        "--archive",
        "none",
        "--format",
        "json",
    ];
    let output = command.args(plain).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{preset}: {errors}");
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    let workload = directory.path().join("workload.toml");
    let learn = Command::new(original::ours())
        .args(["learn", "--trace"])
        .arg(&log)
        .arg("--below")
        .arg(&target)
        .arg("--output")
        .arg(&workload)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&learn.stderr);
    assert!(learn.status.success(), "{preset}: {errors}");
    let text = std::fs::read_to_string(&workload).unwrap();
    let options: toml::Table = text.parse().unwrap();
    let durability = options.get("durability").and_then(toml::Value::as_str);
    let request = trace::TraceRequest {
        below: Some(target.as_os_str().as_encoded_bytes().to_vec()),
        names: trace::Names::Plain,
    };
    let learned = trace::learn_trace(|| std::fs::File::open(&log), &request).unwrap();
    let (recorded, created_bytes) = recorded(&run);
    let mix = learned.profile.mix.unwrap_or_default();
    let mix = mix
        .iter()
        .map(|(action, count)| (action.name().to_owned(), *count as i64));
    Traced {
        learned: mix.collect(),
        created_bytes,
        learned_bytes: learned.profile.sizes.map_or(0, |sizes| sizes.sum()),
        durability: of_recorded(durability.unwrap_or("none"), &recorded),
        recorded,
    }
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
