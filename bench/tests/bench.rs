//! Tests of the benchmarks themselves: equal calls, no mounts after an interruption, rounds of
//! applications, presets and replays, and thirty rounds of the safety campaign. The tests need root
//! for mounts, and gcc and strace. The campaign needs the tools of file systems and /dev/fuse. If
//! something is missing, a test prints the reason to standard error and passes, unless all tests
//! are required (`CI` is set, or `POSTMARK_TEST_ALL=1`).

#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

#[path = "../../crates/cli/tests/all/support/needs.rs"]
mod needs;

use needs::{is_met, is_root};

const PATIENCE: Duration = Duration::from_secs(60);

fn bench() -> Command {
    Command::new(env!("CARGO_BIN_EXE_bench"))
}

/// Whether benchmarks that need root, gcc and strace can run on this machine.
fn is_possible() -> bool {
    let is_there = |tool: &&str| Path::new("/usr/bin").join(tool).exists();
    is_root() && is_met(["gcc", "strace"].iter().all(is_there), "gcc and strace")
}

fn has_mounts(directory: &Path) -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    mounts.contains(directory.to_str().unwrap())
}

#[test]
fn c_program_makes_the_same_calls_as_the_posix_engine() {
    if !is_possible() {
        return;
    }
    let size = ["--files", "2000", "--transactions", "8000"];
    let output = bench()
        .args(["floor", "--calls", "--check"])
        .args(size)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(
        text.matches("names, bytes and order of all calls on files: the same")
            .count(),
        2,
        "{text}"
    );
}

#[test]
fn interrupted_benchmark_leaves_no_mounts() {
    if !is_possible() {
        return;
    }
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let place = tempfile::tempdir().unwrap();
        let mut child = bench()
            .args(["floor", "--pairs", "10000"])
            .env("TMPDIR", place.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let began = Instant::now();
        while !has_mounts(place.path()) {
            assert!(began.elapsed() < PATIENCE, "nothing was mounted");
            std::thread::sleep(Duration::from_millis(20));
        }
        // After this delay, the measurement has usually started. Without the delay, the signal
        // would only interrupt the preparation.
        std::thread::sleep(Duration::from_millis(1500));
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert!(!has_mounts(place.path()));
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}

/// Performs random rounds of `bench safety`: 30 rounds, or the number in `POSTMARK_ROUNDS`. Each
/// run of the test uses another seed, which is printed. After a failure, the command that repeats
/// the failed round is printed.
#[test]
fn random_safety_rounds_leave_user_files_unchanged() {
    let is_there = |tool: &&str| {
        ["/usr/sbin", "/usr/bin", "/sbin"]
            .iter()
            .any(|path| Path::new(path).join(tool).exists())
    };
    let lacks_tools = ["mkfs.ext4", "mkfs.xfs", "mkfs.btrfs"]
        .iter()
        .any(|tool| !is_there(tool));
    let has_all = !lacks_tools && faultfs::is_possible().is_ok();
    if !is_met(has_all, "root, /dev/fuse, and mkfs of ext4, xfs and btrfs") {
        return;
    }
    // Cargo builds `postmark` with the workspace, next to this package's own program.
    let ours = Path::new(env!("CARGO_BIN_EXE_bench")).with_file_name("postmark");
    assert!(
        ours.exists(),
        "{} is not there: cargo build -p cli",
        ours.display()
    );
    let rounds = std::env::var("POSTMARK_ROUNDS").unwrap_or_else(|_| "30".to_owned());
    let output = bench()
        .arg("--ours")
        .arg(ours)
        .args(["safety", "--rounds", &rounds])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains(&format!("{rounds} rounds in")), "{text}");
}

/// Runs `bench realism` on a tmpfs, with applications whose data is a tiny tree in `directory`.
fn realism(directory: &Path, more: &[&str]) -> String {
    let options = "realism --no-trace --on tmpfs --apps tar,rm --for 50ms";
    applications(directory, options, more)
}

/// Runs a benchmark of applications whose data is in `directory`, and returns its output.
fn applications(directory: &Path, options: &str, more: &[&str]) -> String {
    let path = |name: &str| directory.join(name).display().to_string();
    let ours = Path::new(env!("CARGO_BIN_EXE_bench")).with_file_name("postmark");
    let output = bench()
        .args(["--ours", &ours.display().to_string()])
        .args(options.split(' '))
        .args(["--small", "--size", "1GiB", "--images", &path("images")])
        .args([
            "--packages",
            &path("packages"),
            "--results",
            &path("results"),
        ])
        .args(more)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    text
}

/// A directory for a benchmark of applications.
fn bench_directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for name in ["images", "results", "tree/include"] {
        std::fs::create_dir_all(directory.path().join(name)).unwrap();
    }
    directory
}

/// Makes an archive of 50 small files, which replaces the sources of a project.
fn tiny_tree(directory: &Path) {
    let place = |name: &str| directory.join(name);
    std::fs::create_dir_all(place("packages/binutils")).unwrap();
    for number in 0..50 {
        std::fs::write(place(&format!("tree/include/{number}")), "text").unwrap();
    }
    let archive = place("packages/binutils/small.tar");
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(place("tree")).arg("-cf").arg(archive);
    assert!(tar.arg("include").status().unwrap().success());
}

#[test]
fn rounds_of_applications_and_presets_are_kept_and_continued() {
    if !is_possible() {
        return;
    }
    let directory = bench_directory();
    let place = |name: &str| directory.path().join(name);
    let text = realism(directory.path(), &["--rounds", "1"]);
    let missing = "tar is skipped; it needs: mkdir -p ";
    assert!(
        text.contains(missing) && text.contains("apt-get download"),
        "{text}"
    );

    tiny_tree(directory.path());
    let rounds = || std::fs::read_to_string(place("results/rounds.csv")).unwrap();
    realism(directory.path(), &["--rounds", "1"]);
    let first = rounds();
    for line in [
        "0,tmpfs,tar,tar,50,",
        "0,tmpfs,rm,rm,50,",
        "0,tmpfs,source-tree-1,unpack,",
    ] {
        assert!(first.contains(&format!("\nother-small,{line}")), "{first}");
    }
    let text = realism(directory.path(), &["--rounds", "2"]);
    assert!(rounds().starts_with(&first) && rounds().contains("\nother-small,1,tmpfs,tar,"));
    // Two applications, and seven phases of the preset without and with computing.
    assert_eq!(
        rounds().lines().count(),
        1 + 2 * (2 + 2 * 7),
        "{}",
        rounds()
    );
    // Ratios are relative to ext4, which was not measured, so the requirements are not met.
    assert!(
        text.contains("| tar | `source-tree` | 0 | - | - (1.3) | - | - (-) |"),
        "{text}"
    );
    assert!(
        text.contains("`source-tree` beside tar: the factor was not measured"),
        "{text}"
    );
    assert!(place("results/table-other-small.md").exists());
    assert_eq!(std::fs::read_dir(place("images")).unwrap().count(), 0);
    assert!(!has_mounts(directory.path()));
}

/// The presets of these rounds are also those of this program: rounds of a preset that was changed
/// do not count.
#[test]
fn page_of_presets_beside_applications_has_the_tables_of_the_kept_rounds() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let results = tempfile::tempdir().unwrap();
    for name in ["rounds.csv", "traces.json"] {
        let from = project.join("studies/realism").join(name);
        std::fs::copy(from, results.path().join(name)).unwrap();
    }
    let output = bench()
        .args(["realism", "--table", "--results"])
        .arg(results.path())
        .arg("--packages")
        .arg(results.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let page = project.join("docs/background/presets-beside-applications.md");
    let page = std::fs::read_to_string(page).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 50, "{text}");
    for row in rows {
        assert!(page.contains(row), "the page lacks {row}");
    }
}

#[test]
fn histories_keep_their_error_rates() {
    let words = ["history", "--series", "3", "--otava-series", "0", "--check"];
    let ended = bench().args(words).output().unwrap();
    let told = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{told}");
    for row in ["normal noise", "outliers", "drift", "correlated"] {
        let rows = told
            .lines()
            .filter(|line| line.trim_start_matches(['|', ' ']).starts_with(row));
        // 15 settings of noise and loss, and 3 of the gate.
        assert_eq!(rows.count(), 18, "{row}: {told}");
    }
}

#[test]
fn commands_are_measured_beside_their_replays_and_models() {
    if !is_possible() {
        return;
    }
    let directory = bench_directory();
    let place = |name: &str| directory.path().join(name);
    tiny_tree(directory.path());
    let options = "replays --on ext4 --commands tar,rm --rounds 1";
    let text = applications(directory.path(), options, &[]);
    let rounds = || std::fs::read_to_string(place("results/replays.csv")).unwrap();
    let first = rounds();
    for part in ["original", "replay", "model", "traced"] {
        for command in ["tar", "rm"] {
            let line = format!("\nother-small,0,ext4,{command}/{part},{part},");
            assert!(first.contains(&line), "{line}: {first}{text}");
        }
    }
    let created = std::fs::read_to_string(place("results/tar-other-small.json")).unwrap();
    assert!(created.contains("\"create\": 50"), "{created}");
    assert!(place("results/tar-other-small-tree.toml").exists());
    assert!(text.contains("| tar | ext4 | "), "{text}");
    applications(directory.path(), options, &[]);
    assert_eq!(rounds(), first, "nothing is measured twice");
    assert_eq!(std::fs::read_dir(place("images")).unwrap().count(), 0);
    assert!(!has_mounts(directory.path()));
}
