//! Tests `postmark learn`: learned workloads match the trees from which they were learned, hostile
//! trees end with a report, and nothing is written to a tree.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, Mode, mkdirat, openat};
use serde_json::Value;
use testkit::Shows;
use workload::Action;
use workload::presets::{self, Preset};

use crate::original::{self, ours};
use crate::support::interface::{own_directories, program_for_all};
use crate::support::{Running, Snapshot, TestDir, Volume, is_met, is_root};

/// Runs `postmark learn DIR --format json` with further options, and parses the report.
fn learned(tree: &Path, options: &[&str]) -> Value {
    let mut words = vec![OsStr::new("learn"), tree.as_os_str()];
    words.extend(options.iter().map(OsStr::new));
    words.extend(["--format", "json"].map(OsStr::new));
    let output = Command::new(ours()).args(&words).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {told}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["schema"], 1);
    report
}

/// Sizes of all regular files below a directory, sorted.
fn sizes(directory: &Path) -> Vec<u64> {
    let files = original::tree(directory).into_iter();
    let mut sizes: Vec<u64> = files.filter_map(|(_, size)| size).collect();
    sizes.sort_unstable();
    sizes
}

/// The entry of the report about something that the workload does not have.
fn left_out<'a>(report: &'a Value, what: &str) -> &'a Value {
    let all = report["left-out"].as_array().unwrap().iter();
    let mut named = all.filter(|of| of["what"].as_str().unwrap().contains(what));
    named.next().unwrap_or_else(|| panic!("{what}: {report:#}"))
}

fn comparison<'a>(report: &'a Value, what: &str) -> &'a Value {
    let all = report["comparisons"].as_array().unwrap().iter();
    let mut named = all.filter(|of| of["what"] == what);
    named.next().unwrap_or_else(|| panic!("{what}: {report:#}"))
}

/// Checks that the quantiles of the model's sizes differ by at most 5 % from those of the files.
fn assert_sizes_match(report: &Value, sizes: &[u64], name: &str) {
    let of = comparison(report, "sizes of files");
    assert_eq!(of["count"], sizes.len(), "{name}");
    let quantiles = of["quantiles"].as_array().unwrap();
    assert_eq!(quantiles.len(), 5, "{name}");
    for row in quantiles {
        let share = row[0].as_f64().unwrap();
        let rank = (share * sizes.len() as f64).ceil() as usize;
        let exact = sizes[rank.max(1) - 1] as f64;
        let model = row[2].as_f64().unwrap();
        assert!(
            (model - exact).abs() <= exact / 20.0,
            "{name}: p{share}: {model} for {exact}"
        );
    }
    let distance = of["distance"].as_f64().unwrap();
    assert!(distance < 0.02, "{name}: {distance}");
}

/// Fills a target with the pool of a run, and returns the run's directory.
fn pool(target: &Path, options: &[String]) -> PathBuf {
    fs::create_dir(target).unwrap();
    let output = Command::new(ours())
        .args([
            "run",
            "--transactions",
            "0",
            "--keep",
            "--durability",
            "none",
        ])
        .args(["--archive", "none", "--no-overhead", "--target"])
        .arg(target)
        .args(options)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{options:?}: {told}");
    own_directories(target).remove(0)
}

/// The largest difference between the shares of two sorted lists up to the same number.
fn distance(one: &[u64], other: &[u64]) -> f64 {
    let share = |list: &[u64], most: u64| {
        list.partition_point(|size| *size <= most) as f64 / list.len() as f64
    };
    let numbers = one.iter().chain(other);
    let differences = numbers.map(|number| (share(one, *number) - share(other, *number)).abs());
    differences.fold(0.0, f64::max)
}

/// Options that make the pool of a preset, with fewer files.
fn of_pool(preset: &Preset) -> Vec<String> {
    let name = preset.full_name();
    let files = match &*name {
        "ai-checkpoint-1" => "2",
        _ => "2000",
    };
    let mix = preset.workload.mix().unwrap();
    let (sizes, shape) = (mix.sizes.to_string(), mix.layout.shape.to_string());
    // Phases have their own ends, and only some file systems clone files.
    let is_possible = preset.how.phases.is_empty() && !mix.weights.actions().any(Action::clones);
    let options = match is_possible {
        true => vec!["--preset", &name],
        false => vec!["--mix", "read=1", "--size", &sizes, "--dirs", &shape],
    };
    let options = options.into_iter().chain(["--files", files]);
    options.map(str::to_owned).collect()
}

#[test]
fn pools_of_presets_are_learned_and_made_again() {
    let test_dir = original::directory();
    let all = presets::all().into_iter();
    let mixes: Vec<Preset> = all
        .filter(|preset| preset.workload.mix().is_some())
        .collect();
    assert!(mixes.len() > 12, "{}", mixes.len());
    for preset in mixes {
        let name = preset.full_name();
        let [first, again] = ["first", "again"].map(|name| test_dir.path().join(name));
        let config = test_dir.path().join("workload.toml");
        let tree = pool(&first, &of_pool(&preset));
        let report = learned(&tree, &["--force", "-o", config.to_str().unwrap()]);
        let known = sizes(&tree);
        assert_sizes_match(&report, &known, &name);
        let depths = comparison(&report, "depths of files");
        assert!(depths["distance"].as_f64().unwrap() <= 1.0, "{name}");
        let copy = pool(
            &again,
            &["--config".to_owned(), config.to_str().unwrap().to_owned()],
        );
        let made = sizes(&copy);
        // A manifest is beside the files.
        assert_eq!(made.len(), known.len() + 1, "{name}");
        if known.len() > 1000 {
            // Sizes are drawn, so two pools of 2,000 files differ by chance.
            let distance = distance(&known, &made);
            assert!(distance < 0.06, "{name}: {distance}");
        }
        for target in [first, again] {
            fs::remove_dir_all(target).unwrap();
        }
    }
}

/// A tree with two directories, links, names that are not UTF-8, a pipe and a socket.
fn odd_tree(tree: &Path) {
    fs::create_dir_all(tree.join("a/empty")).unwrap();
    for number in 0..10 {
        fs::write(
            tree.join(format!("a/file-{number}")),
            vec![b'x'; 5_000 + number],
        )
        .unwrap();
    }
    fs::hard_link(tree.join("a/file-0"), tree.join("a/file-0-again")).unwrap();
    symlink("..", tree.join("a/up")).unwrap();
    symlink("/", tree.join("a/root")).unwrap();
    fs::write(tree.join("top"), "top").unwrap();
    fs::write(tree.join(OsStr::from_bytes(b"\xff\x1b[2J\n")), "odd").unwrap();
    rustix::fs::mkfifoat(CWD, tree.join("pipe"), Mode::RWXU).unwrap();
    drop(UnixListener::bind(tree.join("socket")).unwrap());
}

#[test]
fn large_file_with_a_hole_is_left_out() {
    let test_dir = original::directory();
    let tree = test_dir.path().join("tree");
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join("small"), "small").unwrap();
    let hole = File::create(tree.join("hole")).unwrap();
    hole.write_at(b"end", 3 << 30).unwrap();
    let report = learned(&tree, &[]);
    assert_eq!(left_out(&report, "above 1 GiB")["count"], 1);
    assert_eq!(left_out(&report, "holes")["count"], 1);
}

#[test]
fn odd_tree_is_reported_and_unchanged() {
    let test_dir = original::directory();
    let tree = test_dir.path().join("tree");
    odd_tree(&tree);
    let before = Snapshot::of(&tree);
    let report = learned(&tree, &[]);
    let text = original::answer(&["learn", tree.to_str().unwrap()], test_dir.path());
    before.assert_kept(&tree, &"learn");
    let profile = &report["profile"];
    assert_eq!(profile["files"], 13);
    assert_eq!(profile["directories"], 2);
    assert_eq!(profile["symlinks"], 2);
    assert_eq!(left_out(&report, "hard links")["count"], 1);
    assert_eq!(left_out(&report, "symbolic links")["count"], 2);
    assert_eq!(left_out(&report, "sockets, pipes")["count"], 2);
    assert_eq!(left_out(&report, "directories without files")["count"], 1);
    let depths = &comparison(&report, "depths of files")["quantiles"];
    assert_eq!(depths[0], serde_json::json!([0.1, 0, 1]), "{depths}");
    text.shows_all("Not in the workload | sockets, pipes and devices | symbolic links")
        .does_not_show("\u{1b}");
}

/// Bytes without a pattern.
fn random(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let bytes = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    });
    bytes.take(length).collect()
}

#[test]
fn copies_and_compressible_contents_are_found_by_sample() {
    let test_dir = original::directory();
    let tree = test_dir.path().join("tree");
    let config = test_dir.path().join("workload.toml");
    for directory in ["first", "second"] {
        fs::create_dir_all(tree.join(directory)).unwrap();
        for number in 0..4_000 {
            // Two thirds of each file can be compressed.
            let mut content = random(number, 2_000 + number as usize);
            content.resize(3 * content.len(), b' ');
            fs::write(tree.join(directory).join(number.to_string()), content).unwrap();
        }
    }
    learned(&tree, &["-o", config.to_str().unwrap()]);
    let text = fs::read_to_string(&config).unwrap();
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let value = line.unwrap_or_else(|| panic!("{name}: {text}"));
        value.trim_matches('"').parse::<f64>().unwrap()
    };
    let (dedup, compression) = (value("dedup = "), value("contents = \"compressible:"));
    assert!((1.9..=2.1).contains(&dedup), "{text}");
    assert!((2.8..=3.1).contains(&compression), "{text}");
}

/// Access times of all files and directories below a directory, and of itself.
fn accessed(directory: &Path) -> Vec<(PathBuf, i64, i64)> {
    let names = original::tree(directory).into_iter().map(|(name, _)| name);
    let all = names.chain([PathBuf::new()]);
    let facts = all.map(|name| {
        let facts = fs::symlink_metadata(directory.join(&name)).unwrap();
        (name, facts.atime(), facts.atime_nsec())
    });
    facts.collect()
}

#[test]
fn access_times_are_kept_even_if_every_read_changes_them() {
    let Some(test_dir) = TestDir::rooted() else {
        return;
    };
    let point = test_dir.directory("strict");
    let _volume = Volume::in_memory(&point, "strictatime");
    odd_tree(&point.join("tree"));
    // The test itself lists the directories, so only the access time of the root is compared.
    let files = |all: Vec<(PathBuf, i64, i64)>| -> Vec<(PathBuf, i64, i64)> {
        let is_file = |name: &Path| !point.join(name).is_dir();
        all.into_iter()
            .filter(|(name, _, _)| is_file(name))
            .collect()
    };
    let before = files(accessed(&point));
    let root = || fs::symlink_metadata(&point).unwrap();
    let root_before = (root().atime(), root().atime_nsec());
    let report = learned(&point, &[]);
    assert_eq!((root().atime(), root().atime_nsec()), root_before);
    assert!(report["profile"]["contents"]["bytes"].as_u64().unwrap() > 50_000);
    assert_eq!(files(accessed(&point)), before);
}

#[test]
fn bind_mounts_in_a_tree_are_left_out_or_visited_once() {
    let Some(test_dir) = TestDir::rooted() else {
        return;
    };
    let tree = test_dir.directory("tree");
    fs::write(tree.join("file"), "1").unwrap();
    let [loops, memory] = ["tree/loop", "tree/memory"].map(|name| test_dir.directory(name));
    let _loop = Volume::bound(&tree, &loops);
    let _memory = Volume::in_memory(&memory, "size=1m");
    fs::write(memory.join("inside"), "1").unwrap();
    let report = learned(&tree, &[]);
    assert_eq!(report["profile"]["files"], 1);
    assert_eq!(left_out(&report, "other mounts")["count"], 2);
    let report = learned(&tree, &["--cross-mounts"]);
    assert_eq!(report["profile"]["files"], 2);
    let again = left_out(&report, "another path");
    assert_eq!(
        (&again["count"], &again["example"]),
        (&1.into(), &"loop".into())
    );
}

#[test]
fn unreadable_directories_are_counted_and_named() {
    if !is_root() || !is_met(Path::new("/usr/bin/setpriv").exists(), "setpriv") {
        return;
    }
    let test_dir = TestDir::in_memory();
    let tree = test_dir.directory("tree");
    let [closed, listed] = ["tree/closed", "tree/listed"].map(|name| test_dir.directory(name));
    fs::write(closed.join("file"), "1").unwrap();
    fs::write(listed.join("file"), "1").unwrap();
    crate::support::test_dir::set_mode(&closed, 0o700);
    // The names of this directory can be read, and their metadata cannot.
    crate::support::test_dir::set_mode(&listed, 0o744);
    let program = program_for_all(&test_dir);
    let learn = || {
        let mut command = Running::command(Path::new("/usr/bin/setpriv"));
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&program)
            .arg("learn")
            .arg(&tree);
        Running::run_to_end(command, test_dir.path())
    };
    learn()
        .code(2)
        .shows("has no regular files that can be read")
        .shows("closed: Permission denied");
    let open = tree.join("open");
    fs::write(&open, "secret").unwrap();
    learn()
        .code(0)
        .shows("directories that could not be read")
        .shows("names whose metadata could not be read")
        .shows("listed/file: Permission denied");
    crate::support::test_dir::set_mode(&open, 0o600);
    learn().code(0).shows("parts of the sample of contents");
}

#[test]
fn deep_and_wide_trees_end() {
    let test_dir = original::directory();
    let tree = test_dir.path().join("tree");
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join("file"), "1").unwrap();
    let mut at: std::os::fd::OwnedFd = File::open(&tree).unwrap().into();
    for _ in 0..600 {
        mkdirat(&at, "deeper", Mode::RWXU).unwrap();
        let flags = rustix::fs::OFlags::DIRECTORY;
        at = openat(&at, "deeper", flags, Mode::empty()).unwrap();
    }
    let wide = tree.join("wide");
    fs::create_dir(&wide).unwrap();
    for number in 0..100_000 {
        File::create(wide.join(number.to_string())).unwrap();
    }
    let report = learned(&tree, &[]);
    assert_eq!(report["profile"]["files"], 100_001);
    assert_eq!(left_out(&report, "below 511 levels")["count"], 1);
    let of = comparison(&report, "files in a directory");
    assert_eq!(of["quantiles"][4][1], 100_000, "{of}");
}

#[test]
fn files_may_change_while_a_tree_is_read() {
    let test_dir = original::directory();
    let tree = test_dir.path().join("tree");
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join("stays"), "1").unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let directory = tree.join("directory");
                fs::create_dir(&directory).unwrap();
                for number in 0..100 {
                    fs::write(directory.join(number.to_string()), "1").unwrap();
                    let other = directory.join(format!("renamed-{number}"));
                    fs::rename(directory.join(number.to_string()), other).unwrap();
                }
                fs::remove_dir_all(&directory).unwrap();
                symlink("stays", &directory).unwrap();
                fs::remove_file(&directory).unwrap();
            }
        });
        for _ in 0..50 {
            let report = learned(&tree, &[]);
            assert!(report["profile"]["files"].as_u64().unwrap() >= 1);
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn outputs_and_sources_are_checked() {
    let test_dir = original::directory();
    let at = test_dir.path();
    fs::create_dir(at.join("tree")).unwrap();
    let refused = |words: &str| {
        let said = original::ended(&original::split(words), at);
        assert_eq!(said.code, Some(2), "{words}");
        String::from_utf8(said.errors).unwrap()
    };
    refused("learn").shows("DIR|--trace <FILE>");
    refused("learn tree --trace file").shows("cannot be used with");
    refused("learn --trace file").shows("cannot learn from the trace file");
    refused("learn missing").shows("cannot open the directory missing");
    refused("learn tree -o new.toml")
        .shows("cannot learn from tree: the tree has no regular files");
    assert!(
        !at.join("new.toml").exists(),
        "a refused command has left a file"
    );
    fs::write(at.join("tree/file"), "1").unwrap();
    refused("learn tree/file").shows("Not a directory");
    fs::write(at.join("old.toml"), "old").unwrap();
    refused("learn tree -o old.toml").shows("--force");
    refused("learn tree -o a --report a").shows("the same file");
    original::answer(
        &original::split("learn tree -o tree/new.toml --report page.html"),
        at,
    );
    let config: OsString = at.join("tree/new.toml").into();
    let text = fs::read_to_string(&config).unwrap();
    text.shows_all("files = 1\n | size = \"1\"\n | dirs = \"flat\" | names = \"padded:4\"");
    let page = fs::read_to_string(at.join("page.html")).unwrap();
    page.shows_all("<title>PostMark: learned workload</title> | Kolmogorov | lengths of names");
    let said = original::ended(&original::split("learn tree -o -"), at);
    String::from_utf8(said.output)
        .unwrap()
        .begins_with("files = 2\n");
    String::from_utf8(said.errors)
        .unwrap()
        .shows("Distributions");
}

#[test]
fn learned_workloads_of_the_examples_can_be_run() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models");
    let files = fs::read_dir(models)
        .unwrap()
        .map(|file| file.unwrap().path());
    let is_model = |path: &PathBuf| path.extension() == Some(OsStr::new("toml"));
    let models: Vec<PathBuf> = files.filter(is_model).collect();
    assert_eq!(models.len(), 6);
    for model in models {
        let mut plan = Command::new(ours());
        plan.arg("plan").arg("--config").arg(&model);
        let output = plan
            .args(["--engine", "null", "--transactions", "100"])
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {told}", model.display());
    }
}
